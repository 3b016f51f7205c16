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
    EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier 'RWGradTensor'")).notes,
                ElementsAre("write 'RWDiffTensor', with 'import kf;'"));
    for (const std::string name :
         {"NDBuffer", "RWNDBuffer", "GradInTensor", "GradOutTensor", "GradInOutTensor"})
        EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier '" + name + "'")).notes,
                    ElementsAre(HasSubstr("write 'import slangpy;'")));
    EXPECT_THAT(with_tensor_names(error("slang-E30015", "undefined identifier 'IDiffTensor'")).notes,
                ElementsAre(HasSubstr("write 'import kf;'")));
    EXPECT_THAT(
        with_tensor_names(error("slang-E30027", "'setv' is not a member of 'RWTensor<half, 2>'")).notes,
        ElementsAre(
            "write t.store(index, value), or t[index] = value; with 'import slangpy;' it is a member, too"));
    EXPECT_THAT(
        with_tensor_names(error("slang-E30027", "'diff' is not a member of 'DiffTensor<half, 2>'")).notes,
        ElementsAre(HasSubstr("write t._grad_out.add(index, value)")));
}

TEST(OlderNames, OtherErrorsStayAsTheyAre) {
    for (const Diagnostic& other : {error("slang-E30015", "undefined identifier 'GradIn'"),
                                    error("slang-E30027", "'get' is not a member of 'Ray'"),
                                    error("slang-E30027", "'get' is not a member of 'TensorView<float>'"),
                                    error("slang-E30019", "undefined identifier 'NDBuffer'")})
        EXPECT_EQ(with_tensor_names(other), other);
}

TEST(OlderNames, ParametersSayWhatToWrite) {
    EXPECT_THAT(tensor_cure("ValueRef<float3>"), HasSubstr("'Tensor<float3, N>'"));
    EXPECT_THAT(tensor_cure("DiffTensorView<half,Mine>"), HasSubstr("without a second argument"));
    EXPECT_THAT(tensor_cure("TorchTensor<float>"), HasSubstr("name the one that it dispatches"));
    EXPECT_TRUE(is_foreign_tensor("GradInTensor<float, 1>"));
    EXPECT_FALSE(is_foreign_tensor("Tensor<float, 1>"));
}

}  // namespace
}  // namespace kf::gen
