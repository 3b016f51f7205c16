// What to write for names of older SlangPy and of slang-torch.
#include "slang/older_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Diagnostic error(const std::string& id, const std::string& message) {
    return {Severity::error, id, {"m.slang", 1, 2}, message, {"m.slang:1:2: did you mean 'GradInTensor'?"}};
}

TEST(OlderNames, TypesAndMembersHaveOthers) {
    EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier 'GradInOutTensor'")).notes,
                ElementsAre("write 'RWDiffTensor', with 'import kf;'"));
    EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier 'NDBuffer'")).notes,
                ElementsAre(HasSubstr("write 'Tensor'")));
    EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier 'IDiffTensor'")).notes,
                ElementsAre(HasSubstr("write 'import kf;'")));
    EXPECT_THAT(
        with_tensor_names(error("slang-E30027", "'setv' is not a member of 'RWTensor<half, 2>'")).notes,
        ElementsAre(HasSubstr("t.store(index, value)")));
}

TEST(OlderNames, OtherErrorsStayAsTheyAre) {
    for (const Diagnostic& other : {error("slang-E30015", "undefined identifier 'GradIn'"),
                                    error("slang-E30027", "'get' is not a member of 'Ray'"),
                                    error("slang-E30019", "undefined identifier 'NDBuffer'")})
        EXPECT_EQ(with_tensor_names(other), other);
}

TEST(OlderNames, ParametersAreNamedWithTheirElement) {
    EXPECT_THAT(tensor_cure("TensorView<float3>"), HasSubstr("'Tensor<float3, N>'"));
    EXPECT_THAT(tensor_cure("DiffTensorView<half,AtomicAdd>"), HasSubstr("'DiffTensor<half, N>'"));
    EXPECT_THAT(tensor_cure("GradInTensor<float,1>"), HasSubstr("'WDiffTensor<float, N>'"));
    EXPECT_EQ(tensor_instead_of("Tensor<float, 1>"), "");
}

}  // namespace
}  // namespace kf::gen
