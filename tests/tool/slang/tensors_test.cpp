// Tests which types of a module are recognised as tensors of kf.slang, with the real Slang.
#include <gmock/gmock.h>

#include "run/support.h"
#include "slang/tensor_constraints.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

/// Where each module's text has a tensor that constrains, "line:column type", by the error that names it.
std::vector<std::string> constraints_in(const std::string& text, const std::string& imported = {}) {
    const ScratchFolder folder;
    const auto other = folder.write("some-other.slang", imported);
    const auto file = folder.write("sample.slang", text);
    std::vector<std::string> found;
    for (const Diagnostic& error : find_tensor_constraints({file}, {})) {
        const Location& place = error.location;
        EXPECT_EQ(place.file, place.line > 100 ? other : file);
        found.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                        error.message);
    }
    return found;
}

TEST(TensorTypes, ThatConstrainAreFound) {
    const std::string says = "' cannot be used as a constraint";
    EXPECT_THAT(
        constraints_in("import kf;\nfloat g<T : IDiffTensor<float,1>>(T t);\nstruct L<let N : int, T : "
                       "ITensor<Pair<float, int>, N>> {}\n"),
        ElementsAre("2:13 type 'IDiffTensor<float, 1>" + says,
                    "3:27 type 'ITensor<Pair<float, int>, N>" + says));
    EXPECT_THAT(constraints_in("import slangpy;\nfloat g<T, U>(T t) where T : IFoo where U\n: IFoo /* & */ & "
                               "RWDiffTensor <half, 2> { return 1; }\n"),
                ElementsAre("3:18 type 'RWDiffTensor<half, 2>" + says));
    for (const std::string import : {"import some_other;", "__include \"some-other\";",
                                     "import \"some-other.slang\";", "#include \"some-other.slang\""}) {
        EXPECT_THAT(constraints_in(import + "\nimport kf;\n",
                                   std::string(100, '\n') + "float g<T : ITensor<float, 1>>(T t);\n"),
                    ElementsAre("101:13 type 'ITensor<float, 1>" + says))
            << import;
    }
}

TEST(TensorTypes, ThatDoNotConstrainAreNotFound) {
    for (const std::string text :
         {"float g<T : IFloat>(DiffTensor<T, 1> t);", "struct L : ITensor<float, 1> {}",
          "extension<T : IFloat> Box<T> : ITensor<T, 1> {}", "float g<T : IBox<Tensor<float, 1>>>(T t);",
          "float g<T>(T t) where T == Tensor<float, 1>;", "float g<T : IFoo = Tensor<float, 1>>(T t);",
          "// <T : ITensor<float, 1>>", "var n = a < b ? a : Tensor<float, 1>(b).n;",
          "void g() { switch (a < b) { case 1 : Tensor<float, 1> t; } }",
          "interface ITensor<T, let D : int> {}\nfloat g<T : ITensor<float, 1>>(T t);"}) {
        EXPECT_THAT(constraints_in("import kf;\n" + text + "\n"), IsEmpty()) << text;
    }
    EXPECT_THAT(constraints_in("float g<T : ITensor<float, 1>>(T t);\n"), IsEmpty()) << "someone else's";
}

// Slang says so of the first, and crashes on the others.
TEST(TensorTypes, AreNoConstraints) {
    const std::string function = "float g<T : IDiffTensor<float, 1>>(int i, T t) { return t[i] * 2; }\n";
    for (const std::string& text :
         {function, "[Differentiable] " + function,
          "[Differentiable] float g<T>(int i, T t) where T : IRWTensor<float, 1> { return t[i]; }\n"s,
          "struct L<T : ITensor<float, 1>> { T t; [Differentiable] float g(int i) { return t[i]; } }\n"s}) {
        const ScratchFolder folder;
        const auto file = folder.write("sample.slang", "import kf;\n\n" + text);
        const auto compiler = make_compiler({}, support_modules());
        const Outcome<Module> reflected = compiler->reflect({file});
        ASSERT_FALSE(reflected.ok()) << text;
        ASSERT_FALSE(reflected.errors().empty());
        const Diagnostic& error = reflected.errors().front();
        EXPECT_EQ(error.id, "slang-E30401") << describe(reflected.errors());
        EXPECT_EQ(error.location.file, file);
        EXPECT_EQ(error.location.line, 3);
        EXPECT_GE(error.location.column, 9);
        EXPECT_THAT(error.message, HasSubstr("Tensor<float, 1>' cannot be used as a constraint"));
        EXPECT_THAT(error.notes, Contains(HasSubstr("'IDiffTensor<float, 1> t' for 'T t'")));
    }
}

}  // namespace
}  // namespace kf::gen
