// Tests which types of a module are recognised as tensors of kf.slang, with the real Slang.
#include <gmock/gmock.h>

#include "slang/tensor_constraints.h"
#include "support/support_modules.h"
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

/// What each of `types` is, of one module that has a function for each.
std::vector<Type> parameter_types(const std::vector<std::string>& types, const std::string& module) {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, support_modules());
    std::string text = "import " + module + ";\n";
    for (std::size_t i = 0; i < types.size(); ++i)
        text += "void f" + std::to_string(i) + "(" + types[i] + " x) {}\n";
    const Outcome<Module> reflected = compiler->reflect({folder.write("sample.slang", text)});
    std::vector<Type> found(types.size());
    if (!reflected) {
        ADD_FAILURE() << describe(reflected.errors());
        return found;
    }
    for (std::size_t i = 0; i < types.size(); ++i)
        found[i] = function_named(reflected.value(), "f" + std::to_string(i)).parameters.at(0).type;
    return found;
}

TEST(TensorTypes, EveryFormIsRecognised) {
    const std::vector<FormRow> rows{
        {"Tensor", TensorForm::read},
        {"WTensor", TensorForm::write},
        {"RWTensor", TensorForm::read_write},
        {"AtomicTensor", TensorForm::atomic},
        {"DiffTensor", TensorForm::diff_read},
        {"WDiffTensor", TensorForm::diff_write},
        {"RWDiffTensor", TensorForm::diff_read_write},
        {"ITensor", TensorForm::read},
        {"IWTensor", TensorForm::write},
        {"IRWTensor", TensorForm::read_write},
        {"PrimalTensor", TensorForm::read},
        {"WPrimalTensor", TensorForm::write},
        {"RWPrimalTensor", TensorForm::read_write},
        {"IDiffTensor", TensorForm::diff_read},
        {"IWDiffTensor", TensorForm::diff_write},
        {"IRWDiffTensor", TensorForm::diff_read_write},
    };
    std::vector<std::string> names;
    for (const FormRow& row : rows) names.push_back(row.name + "<float3, 2>");
    for (const std::string module : {"kf", "slangpy"}) {
        const std::vector<Type> types = parameter_types(names, module);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            SCOPED_TRACE(rows[i].name + " of " + module);
            EXPECT_EQ(types[i].kind, TypeKind::tensor);
            EXPECT_EQ(form_name(types[i].form), form_name(rows[i].form));
            EXPECT_EQ(types[i].extent, 2);
            ASSERT_EQ(types[i].element.size(), 1U);
            EXPECT_EQ(types[i].element.front().kind, TypeKind::vector);
            EXPECT_EQ(types[i].element.front().columns, 3);
        }
    }
}

TEST(TensorTypes, ViewsSayNoRank) {
    const std::vector<Type> types = parameter_types(
        {"TensorView<float3>", "DiffTensorView", "DiffTensorView<half>", "DiffTensorView<double, AtomicAdd>"},
        "kf");
    for (const Type& type : types) {
        EXPECT_EQ(type.kind, TypeKind::tensor);
        EXPECT_EQ(type.form, &type == &types.front() ? TensorForm::view : TensorForm::diff_view);
        EXPECT_EQ(type.extent, 0);
        ASSERT_EQ(type.element.size(), 1U);
    }
    EXPECT_EQ(types[0].element.front().columns, 3);
    EXPECT_EQ(types[2].element.front().scalar, ScalarType::float16);
}

TEST(TensorTypes, TexturesWithGradientsSayWhatLiesBeyondTheirEdges) {
    const std::string clamp = "TextureAddress.clamp";
    const std::string repeat = "TextureAddress.repeat";
    const std::vector<std::pair<std::string, std::string>> rows{
        {"DiffTexture2D<float3>", clamp + ", " + clamp},
        {"DiffTexture2D<float3, TextureAddress.repeat>", repeat + ", " + repeat},
        {"DiffTexture2D<float3, TextureAddress.repeat, TextureAddress.clamp>", repeat + ", " + clamp},
        {"DiffTexture2D<float3, TextureAddress.clamp, TextureAddress.repeat>", clamp + ", " + repeat}};
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(row.first);
    const std::vector<Type> types = parameter_types(names, "kf");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        SCOPED_TRACE(rows[i].first);
        EXPECT_EQ(types[i].kind, TypeKind::tensor);
        EXPECT_EQ(types[i].form, TensorForm::diff_texture);
        EXPECT_EQ(types[i].extent, 2);
        EXPECT_EQ(types[i].addressing, rows[i].second);
        ASSERT_EQ(types[i].element.size(), 1U);
        EXPECT_EQ(types[i].element.front().columns, 3);
    }
}

TEST(TensorTypes, EarlierReleasesOfSlangPyHaveThemByOtherNames) {
    const std::vector<FormRow> rows{{"NDBuffer", TensorForm::read},
                                    {"RWNDBuffer", TensorForm::read_write},
                                    {"GradOutTensor", TensorForm::diff_read},
                                    {"GradInTensor", TensorForm::diff_output},
                                    {"GradInOutTensor", TensorForm::diff_read_write}};
    std::vector<std::string> names;
    for (const FormRow& row : rows) names.push_back(row.name + "<float, 2>");
    const std::vector<Type> types = parameter_types(names, "slangpy");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(types[i].kind, TypeKind::tensor) << rows[i].name;
        EXPECT_EQ(types[i].form, rows[i].form) << rows[i].name;
    }
}

TEST(TensorTypes, HaveElementsOfEveryKind) {
    const std::vector<Type> types =
        parameter_types({"Tensor<double, 5>", "Tensor<float2x3, 1>", "Tensor<float[3], 1>"}, "kf");
    for (const Type& type : types) ASSERT_EQ(type.element.size(), 1U);
    EXPECT_EQ(types[0].element.front().scalar, ScalarType::float64);
    EXPECT_EQ(types[1].element.front().kind, TypeKind::matrix);
    EXPECT_EQ(types[2].element.front().kind, TypeKind::array);
    EXPECT_EQ(types[2].element.front().extent, 3);
}

TEST(TensorTypes, AreNotTheUsersOwn) {
    const Type type =
        parameter_type("Tensor<float, 2>", "", "struct Tensor<T, let D : int> { T values[D]; }\n");
    EXPECT_EQ(type.kind, TypeKind::structure);
    const Type texture =
        parameter_type("DiffTexture2D<float>", "", "struct DiffTexture2D<T> { T values[4]; }\n");
    EXPECT_EQ(texture.kind, TypeKind::structure);
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
    EXPECT_THAT(constraints_in("float g<T : DiffTexture2D<float>>(T t);\n"),
                ElementsAre("1:13 type 'DiffTexture2D<float>" + says));
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
