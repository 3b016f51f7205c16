// Tests which types of a module are recognised as tensors of kf.slang, with the real Slang.
#include <gmock/gmock.h>

#include "run/support.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

/// What `type` is as a parameter of a function in a module that imports `module`.
Type parameter_type(const std::string& type, const std::string& module = "kf", const std::string& more = "") {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, support_modules());
    const std::string import = module.empty() ? "" : "import " + module + ";\n";
    const std::string text = import + more + "void f(" + type + " x) {}\n";
    Outcome<Module> reflected = compiler->reflect({folder.write("sample.slang", text)});
    if (!reflected) {
        ADD_FAILURE() << describe(reflected.errors());
        return {};
    }
    return function_named(reflected.value(), "f").parameters.at(0).type;
}

struct FormRow {
    std::string name;
    TensorForm form;
};

void PrintTo(const FormRow& row, std::ostream* out) { *out << row.name; }

class TensorFormTest : public testing::TestWithParam<FormRow> {};

TEST_P(TensorFormTest, IsRecognised) {
    for (const std::string module : {"kf", "slangpy"}) {
        SCOPED_TRACE(module);
        const Type type = parameter_type(GetParam().name + "<float3, 2>", module);
        EXPECT_EQ(type.kind, TypeKind::tensor);
        EXPECT_EQ(form_name(type.form), form_name(GetParam().form));
        EXPECT_EQ(type.extent, 2);
        ASSERT_EQ(type.element.size(), 1U);
        EXPECT_EQ(type.element.front().kind, TypeKind::vector);
        EXPECT_EQ(type.element.front().columns, 3);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Names, TensorFormTest,
    testing::Values(
        FormRow{"Tensor", TensorForm::read}, FormRow{"WTensor", TensorForm::write},
        FormRow{"RWTensor", TensorForm::read_write}, FormRow{"AtomicTensor", TensorForm::atomic},
        FormRow{"DiffTensor", TensorForm::diff_read}, FormRow{"WDiffTensor", TensorForm::diff_write},
        FormRow{"RWDiffTensor", TensorForm::diff_read_write}, FormRow{"ITensor", TensorForm::read},
        FormRow{"IWTensor", TensorForm::write}, FormRow{"IRWTensor", TensorForm::read_write},
        FormRow{"PrimalTensor", TensorForm::read}, FormRow{"WPrimalTensor", TensorForm::write},
        FormRow{"RWPrimalTensor", TensorForm::read_write}, FormRow{"IDiffTensor", TensorForm::diff_read},
        FormRow{"IWDiffTensor", TensorForm::diff_write},
        FormRow{"IRWDiffTensor", TensorForm::diff_read_write}));

TEST(TensorTypes, HaveElementsOfEveryKind) {
    EXPECT_EQ(parameter_type("Tensor<double, 5>").element.front().scalar, ScalarType::float64);
    EXPECT_EQ(parameter_type("Tensor<float2x3, 1>").element.front().kind, TypeKind::matrix);
    const Type arrays = parameter_type("Tensor<float[3], 1>");
    EXPECT_EQ(arrays.element.front().kind, TypeKind::array);
    EXPECT_EQ(arrays.element.front().extent, 3);
}

TEST(TensorTypes, AreNotTheUsersOwn) {
    const Type type =
        parameter_type("Tensor<float, 2>", "", "struct Tensor<T, let D : int> { T values[D]; }\n");
    EXPECT_EQ(type.kind, TypeKind::structure);
}

}  // namespace
}  // namespace kf::gen
