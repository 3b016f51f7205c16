// The generated C++: signatures, refusals, and that both compilers take it without a word.
#include "emit/cpp.h"

#include "emit/element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "tool/emit/plans.h"
#include "tool/emit/scratch.h"

namespace kf::gen {
namespace {

using manifest::Role;
using testing::call;
using testing::differentiable;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::tensor;
using testing::value;
using testing::with_role;

CppFiles emitted(const Plan& plan, const CppOptions& options = {}) {
    auto files = emit_cpp(plan, options);
    if (files) return files.value();
    for (const Diagnostic& error : files.errors()) ADD_FAILURE() << format_text(error);
    return {};
}

/// Text without line ends and runs of blanks, so that wrapping doesn't matter.
std::string flat(const std::string& text) {
    std::string result;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\n';
        if (!blank || (!result.empty() && result.back() != ' ')) result += blank ? ' ' : c;
    }
    return result;
}

const std::string abc = "kf::ScalarArg<float> a, kf::ScalarArg<float> b, kf::ScalarArg<float> c";

TEST(Cpp, ReturnsValuesAndTensors) {
    const std::string header = flat(emitted(testing::polynomial()).header);
    EXPECT_THAT(header,
                HasSubstr("kf::Overload<0, float(" + abc + ", kf::ScalarArg<float> x), kf::CallOnly>"));
    EXPECT_THAT(header, HasSubstr("kf::Overload<2, kf::Tensor<float, 2>(" + abc +
                                  ", const kf::Tensor<float, 2>& x)>"));
}

TEST(Cpp, TakesAGivenResult) {
    EXPECT_THAT(flat(emitted(testing::polynomial()).header),
                HasSubstr("kf::Overload<1, void(" + abc +
                          ", const kf::Tensor<float, 1>& x, const kf::Out<kf::Tensor<float, 1>>& result)>"));
}

TEST(Cpp, DifferentiatesValuesAndTensors) {
    const std::string header = flat(emitted(testing::polynomial()).header);
    EXPECT_THAT(header, HasSubstr("class Backward : public kf::Overloads< kf::PassKind::backward,"));
    EXPECT_THAT(
        header,
        HasSubstr("void(kf::DiffArg<float> a, kf::DiffArg<float> b, kf::DiffArg<float> c, "
                  "const kf::Tensor<float, 1>& x, const kf::Tensor<float, 1>& result), kf::CallOnly>"));
    EXPECT_THAT(header, HasSubstr("kf::DiffArg<float> x, kf::OutputArg<float> result), kf::CallOnly>"));
    EXPECT_THAT(header,
                HasSubstr("kf::DiffArg<float> x), kf::CallOnly, kf::Items<0, 1, 2, 3, kf::item::none>>"))
        << "the result may be left out";
}

TEST(Cpp, RecordsOnlyWhatNeedsNoReadBack) {
    const std::string header = flat(emitted(testing::polynomial()).header);
    EXPECT_THAT(header, HasSubstr("void(" + abc +
                                  ", const kf::Tensor<float, 1>& x, const kf::Tensor<float, 1>& result), "
                                  "kf::RecordOnly>"));
    EXPECT_THAT(header, Not(HasSubstr("x), kf::RecordOnly>")));
}

TEST(Cpp, KeepsOutputsInTheirPlaces) {
    const std::string header = flat(emitted(testing::everything()).header);
    EXPECT_THAT(header, HasSubstr("kf::Tensor<float, 1>(const kf::Tensor<float, 1>& x, "
                                  "const kf::Out<kf::Tensor<float, 1>>& whole, "
                                  "const kf::Tensor<float, 1>& total)>"));
    EXPECT_THAT(header, HasSubstr("float(kf::ScalarArg<float> x, float& whole, float& total), kf::CallOnly, "
                                  "kf::Items<0, 1, kf::item::inout(2), 3>>"));
    EXPECT_THAT(header, HasSubstr("SplitResult(const kf::Tensor<float, 1>& x, const kf::Tensor<float, 1>& "
                                  "total), kf::InPlace, kf::Items<0, 3, 1, 2>>"));
    EXPECT_THAT(header, HasSubstr("void(kf::ScalarArg<std::uint32_t> seed, const "
                                  "kf::Out<kf::Tensor<float, 2>>& target)"));
    EXPECT_THAT(header, HasSubstr("kf::Tensor<float, 2>(kf::ScalarArg<std::uint32_t> seed, const "
                                  "kf::Shape<2>& shape), kf::Shaped>"));
}

TEST(Cpp, HasNoBackwardWithoutGradients) {
    const Plan plan =
        testing::plan("p", {{"f", "", {call(1, {tensor("x", 1), with_role(tensor("", 1), Role::result)})}}});
    EXPECT_THAT(emitted(plan).header, Not(HasSubstr("ackward")));
}

TEST(Cpp, IncludesWhatItNeeds) {
    const Plan plan =
        testing::plan("p", {{"f", "", {call(1, {tensor("x", 1), with_role(tensor("", 1), Role::result)})}}});
    const std::string header = emitted(plan).header;
    EXPECT_THAT(header, HasSubstr("#include <kf/tensor.h>"));
    for (const char* other : {"dual.h", "generator.h", "matrix.h", "scalar_arg.h", "<array>", "<optional>"})
        EXPECT_THAT(header, Not(HasSubstr(other)));
}

TEST(Cpp, DocumentsArgumentsAndKeepsTheSourcesComment) {
    const std::string header = emitted(testing::everything()).header;
    EXPECT_THAT(header, HasSubstr("/// Splits x into its whole part and the rest.\n///\n/// Scales `total`"));
    EXPECT_THAT(header, HasSubstr("/// - x: in, float tensor [d0] or float, differentiable\n"));
    EXPECT_THAT(header, HasSubstr("/// - v: in, float"));
    EXPECT_THAT(header, HasSubstr("/// - m: in, double tensor [d1, d0], contiguous, differentiable\n"));
}

TEST(Cpp, DocumentsArraysAsArrays) {
    PlannedArgument points = testing::value("points", ScalarType::float32, {2, 3});
    points.host.type = points.element_name = "float3[2]";
    const Plan plan =
        testing::plan("p", {{"f", "", {call(0, {points, with_role(value(""), Role::result)})}}});
    EXPECT_THAT(emitted(plan).header, HasSubstr("/// - points: in, float3[2]\n"));
}

TEST(Cpp, AssertsTheLayoutOfHostValues) {
    const std::string header = flat(emitted(testing::everything()).header);
    EXPECT_THAT(
        header,
        HasSubstr("static_assert(sizeof(kf::float3) == 12 && std::is_trivially_copyable_v<kf::float3>);"));
    EXPECT_THAT(header, HasSubstr("offsetof(kf::half2, y) == 2"));
    EXPECT_THAT(header, HasSubstr("static_assert(sizeof(bool) == 1"));
}

TEST(Cpp, IsAFunctionOfThePlanAlone) {
    EXPECT_EQ(emitted(testing::everything()).source, emitted(testing::everything()).source);
}

TEST(Cpp, RefusesTwoOverloadsWithOneSignature) {
    Plan plan = testing::plan("p", {{"f", "", {}}});
    for (const std::int64_t column : {20, 40}) {
        plan.functions[0].calls.push_back(
            call(1, {testing::at(tensor("x", 1), 7, column), with_role(tensor("", 1), Role::result)}));
    }
    const auto outcome = emit_cpp(plan, {});
    ASSERT_FALSE(outcome);
    ASSERT_EQ(outcome.errors().size(), 1U);
    const Diagnostic& error = outcome.errors().front();
    EXPECT_EQ(error.id, "duplicate-signature");
    EXPECT_EQ(error.location, (Location{"spec.kf.json", 7, 40}));
    EXPECT_THAT(error.message, HasSubstr("'f'"));
    EXPECT_THAT(error.message, HasSubstr("const kf::Tensor<float, 1>&"));
    EXPECT_THAT(error.notes, ::testing::Contains(HasSubstr("spec.kf.json:7:20")));
}

TEST(Cpp, TellsInoutFromInByTheBackwardSignatureToo) {
    const auto in = call(1, {differentiable(tensor("x", 1)), with_role(tensor("y", 1), Role::out)});
    const auto inout = call(
        1, {differentiable(with_role(tensor("x", 1), Role::inout)), with_role(tensor("y", 1), Role::out)});
    EXPECT_FALSE(emit_cpp(testing::plan("p", {{"f", "", {in, inout}}}), {}));
}

TEST(Cpp, KeepsMembersApartFromTheModulesOwnAndFromClasses) {
    const PlannedCall one = call(1, {tensor("x", 1)});
    const auto outcome = emit_cpp(
        testing::plan(
            "p",
            {{"options", "", {one}}, {"f", "", {one}}, {"FFunction", "", {one}}, {"checked", "", {one}}}),
        {});
    ASSERT_TRUE(outcome);
    EXPECT_THAT(outcome.value().header, HasSubstr("OptionsFunction options_;"));
    EXPECT_THAT(outcome.value().header, HasSubstr("FFunctionFunction FFunction_;"));
    EXPECT_THAT(outcome.value().header, HasSubstr("CheckedFunction checked_;"));
}

TEST(Cpp, SpellsMatricesAndArrays) {
    EXPECT_EQ(cpp_type("float1"), "std::array<float, 1>");
    EXPECT_EQ(cpp_type("float2x3"), "kf::float2x3");
    EXPECT_EQ(cpp_type("int[4]"), "std::array<std::int32_t, 4>");
    EXPECT_EQ(cpp_type("half2[3]"), "std::array<kf::half2, 3>");
    EXPECT_EQ(cpp_type("bool[2][3]"), "std::array<std::array<bool, 3>, 2>");
    EXPECT_EQ(cpp_type("float32_t4"), "kf::float4");
}

TEST(Cpp, KeepsFieldsApartThatDifferByAKeywordsUnderscore) {
    PlannedCall one =
        call(1, {value("t.delete"), value("t.delete_"), with_role(tensor("result", 1), Role::result)});
    PlannedParameter taken;
    taken.host.name = "t";
    taken.host.form = manifest::Form::fields;
    taken.host.leaves = 2;
    taken.type.kind = TypeKind::structure;
    taken.type.name = "Taken";
    for (const char* name : {"delete", "delete_"}) {
        manifest::ParameterTree& field = taken.host.fields.emplace_back();
        field.name = name;
        field.leaf = static_cast<std::int64_t>(taken.type.fields.size());
        taken.type.fields.push_back({name, one.arguments[taken.type.fields.size()].type});
    }
    PlannedParameter result;
    result.host.name = "result";
    result.host.leaf = 2;
    result.role = Role::result;
    one.parameters = {taken, result};
    EXPECT_THAT(emitted(testing::plan("p", {{"f", "", {one}}})).header,
                HasSubstr("std::tie(whole.delete__, whole.delete_); }"));
}

TEST(Cpp, KeepsFunctionsApartWhoseClassesWouldMeet) {
    const PlannedCall one = call(1, {tensor("x", 1), with_role(tensor("", 1), Role::result)});
    const std::string header =
        emitted(testing::plan("p", {{"foo_bar", "", {one}}, {"fooBar", "", {one}}})).header;
    EXPECT_THAT(header, HasSubstr("class FooBarFunction\n"));
    EXPECT_THAT(header, HasSubstr("class FooBarFunction_\n"));
    EXPECT_THAT(header, HasSubstr("    FooBarFunction foo_bar;\n    FooBarFunction_ fooBar;\n"));
}

// ---- compiled

/// A program that calls overloads as users do.
constexpr const char* user_code = R"(
#include "everything.h"
#include "polynomial.h"
#include <kf/kf.h>

void use(const kf::Device& device, kf::Encoder& encoder) {
    const polynomial::Module m(device);
    auto x = device.tensor<float>({1, 2, 3, 4}).with_grads();
    kf::Tensor<float, 1> y = m.polynomial(2.f, 8.f, -1.f, x);
    m.polynomial(2, 8, -1, x, kf::out(y));
    m.polynomial.backward(2, 8, -1, x, y);
    kf::Diff<float> a{2.f};
    m.polynomial.backward(a, 8, -1, x, y);
    m.polynomial.backward(a, 8, -1, 3.f);
    m.polynomial.backward(a, 8, -1, 3.f, kf::Diff<float>{9.f, 0.5f});
    m.polynomial.append_to(encoder, 2, 8, -1, x, kf::out(y));
    m.polynomial.backward.append_to(encoder, 2, 8, -1, x, y);
    float value = m.polynomial(2, 8, -1, 3.f);
    kf::Result<kf::Tensor<float, 1>> tried = m.polynomial.try_call(2, 8, -1, x);
    if (!m.polynomial.backward.try_call(2, 8, -1, x, tried.value())) value = 0;
    kf::Result<polynomial::Module> again = polynomial::Module::try_load(device, "polynomial.kfa");
    again.value().loaded().load_all();
    polynomial::Module copy = m;
    copy = again.value();

    app::kernels::Module e(device, "everything.kfa");
    float whole = 0, total = 0;
    value += e.split(value, whole, total);
    e.split(x, kf::out(y), x, kf::out(y));
    e.split.backward(x, y, x, y);
    e.fill(7, kf::out(device.empty<float>({2, 3})));
    kf::half h = e.negate(kf::half(1.f));
    std::int64_t i = e.negate(std::int64_t{5});
    kf::float3 v = e.normalize(kf::float3{1, 2, 3});
    kf::Tensor<kf::float3, 1> vs = e.normalize(device.tensor<kf::float3>({v}));
    kf::Tensor<bool, 1> any = e.any_of({1.f, 2.f}, device.zeros<kf::bool4>({5}));
    e.delete_.backward(x, 1, 2, 3, 4, 5, 6, 7, 8, y);
    kf::Diff<double> scale{2.0};
    e.turn.backward(device.empty<double>({2, 3}), scale, {});
    (void)h, (void)i, (void)vs, (void)any;
}
)";

void expect_compiles(const std::string& compiler, ArtifactPlace place) {
    testing::ScratchFolder folder;
    std::vector<std::byte> artifact(1003);
    for (std::size_t i = 0; i < artifact.size(); ++i) artifact[i] = static_cast<std::byte>(i * 7);
    CppOptions options;
    options.place = place;
    options.artifact = artifact;
    options.sha256 = std::string(64, 'a');
    for (const Plan& plan : {testing::polynomial(), testing::everything()}) {
        const CppFiles files = emitted(plan, options);
        folder.write(plan.name + ".h", files.header);
        folder.write(plan.name + ".cpp", files.source);
    }
    // Headers are the same wherever the artifact is, but for comments.
    const std::string user = place == ArtifactPlace::file ? "user.cpp" : "";
    folder.write("user.cpp", user_code);
    EXPECT_EQ(folder.complaints(compiler +
                                " -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Wpedantic -Werror "
                                "-fsyntax-only -I. -I" KF_SOURCE_DIR
                                "/runtime/include polynomial.cpp everything.cpp " +
                                user),
              "");
}

// Compilers for Windows know neither attributes of GCC's nor its assembler.
TEST(CppSource, IsPlainForWindows) {
    CppOptions options;
    options.sha256 = std::string(64, 'a');
    options.place = ArtifactPlace::object;
    EXPECT_NE(emitted(testing::polynomial(), options).source.find("__attribute__"), std::string::npos);
    options.place = ArtifactPlace::coff_object;
    const std::string source = emitted(testing::polynomial(), options).source;
    EXPECT_EQ(source.find("__attribute__"), std::string::npos) << source;
    EXPECT_EQ(source.find("asm"), std::string::npos) << source;
    EXPECT_NE(source.find("extern \"C\" const std::byte kf_artifact_polynomial_"), std::string::npos)
        << source;
}

TEST(CppCompiled, TakenByGcc) { expect_compiles("g++", ArtifactPlace::text); }
TEST(CppCompiled, TakenByGccBesideTheArtifact) { expect_compiles("g++", ArtifactPlace::file); }
TEST(CppCompiled, TakenByGccWithAnAssembler) { expect_compiles("g++", ArtifactPlace::assembler); }
TEST(CppCompiled, TakenByClang) { expect_compiles("clang++", ArtifactPlace::text); }
TEST(CppCompiled, TakenByClangBesideTheArtifact) { expect_compiles("clang++", ArtifactPlace::file); }
TEST(CppCompiled, TakenByClangWithAnAssembler) { expect_compiles("clang++", ArtifactPlace::assembler); }

TEST(CppCompiled, GradientsThatNobodyCouldReadAreRefused) {
    testing::ScratchFolder folder;
    const CppFiles files = emitted(testing::polynomial());
    folder.write("polynomial.h", files.header);
    const auto complaints = [&](const std::string& compiler, const std::string& statements) {
        folder.write(
            "user.cpp",
            "#include \"polynomial.h\"\n#include <kf/kf.h>\n"
            "void use(const polynomial::Module& m, kf::Diff<float>& a, const kf::Tensor<float, 1>& x) {\n" +
                statements + "\n}\n");
        return folder.complaints(compiler + " -std=c++20 -fsyntax-only -I. -I" KF_SOURCE_DIR
                                            "/runtime/include user.cpp");
    };
    for (const std::string compiler : {"g++", "clang++"}) {
        EXPECT_EQ(complaints(compiler, "m.polynomial.backward(a, 8, -1, 3.f, kf::Diff<float>{9.f, 0.5f});"),
                  "");
        for (const std::string refused : {"m.polynomial.backward(kf::Diff<float>{3.f}, 8, -1, 3.f);",
                                          "m.polynomial.backward(2, kf::Diff{8.f}, -1, x, x);",
                                          "m.polynomial.backward(2, 8, std::move(a), 3.f);"}) {
            EXPECT_THAT(complaints(compiler, refused), HasSubstr("deleted")) << compiler << ": " << refused;
        }
        EXPECT_THAT(complaints(compiler, "kf::Diff b{2};"), HasSubstr("has no derivative"));
        EXPECT_THAT(complaints(compiler, "kf::Diff<kf::int3> b{};"), HasSubstr("has no derivative"));
        EXPECT_THAT(complaints(compiler, "m.polynomial.backward(true, 8, -1, 3.f);"), Not(IsEmpty()));
    }
}

/// That a program has the artifact's bytes, where NAME.cpp has them or the assembler takes them in.
void expect_embedded(const std::string& compiler, ArtifactPlace place, std::size_t size) {
    testing::ScratchFolder folder;
    std::string bytes(size, '\0');
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<char>((i * 2654435761U) >> 13U);
        sum = sum * 31 + static_cast<unsigned char>(bytes[i]);
    }
    CppOptions options;
    options.place = place;
    options.artifact = std::as_bytes(std::span(bytes));
    options.sha256 = std::string(64, 'a');
    const std::string source = emitted(testing::polynomial(), options).source;
    const bool text = place == ArtifactPlace::text;
    const auto from = source.rfind(text ? "namespace {" : "// Has the assembler");
    ASSERT_NE(from, std::string::npos);
    folder.write("there/polynomial.kfa", bytes);
    folder.write(
        "bytes.cpp",
        "#include <array>\n#include <bit>\n#include <cstddef>\n#include <cstdint>\n#include <span>\n"
        "namespace polynomial { namespace { std::span<const std::byte> artifact_bytes(); } }\n"
        "namespace polynomial {\n" +
            source.substr(from) +
            "int main() {\n    std::uint32_t sum = 0;\n"
            "    for (std::byte b : polynomial::artifact_bytes()) sum = sum * 31 + std::uint32_t(b);\n"
            "    return sum == " +
            std::to_string(sum) + "U && polynomial::artifact_bytes().size() == " + std::to_string(size) +
            " ? 0 : 1;\n}\n");
    EXPECT_EQ(folder.complaints(compiler + " -std=c++20 -Wall -Wextra -Wpedantic -Werror -Ithere bytes.cpp "
                                           "-o bytes && ./bytes"),
              "")
        << compiler << ' ' << size;
}

TEST(CppCompiled, EmbedsTheArtifactByteForByte) {
    for (const std::size_t size : {1U, 8U, 200'003U}) expect_embedded("g++", ArtifactPlace::text, size);
    for (const char* compiler : {"g++", "g++ -fPIE -pie -O2", "clang++"}) {
        expect_embedded(compiler, ArtifactPlace::assembler, 200'003);
    }
}

}  // namespace
}  // namespace kf::gen
