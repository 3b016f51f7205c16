// Structs of C++ headers against Slang's: what fits, and what is said where it doesn't.
#include "run/host_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tool/plan/fixture.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using test::array_of;
using test::FieldText;
using test::struct_of;
using test::type_named;
using testing::IsEmpty;

class FakeTypes final : public TypeLookup {
public:
    Outcome<std::optional<Type>> type_named(const std::string& name) override {
        const auto found = types.find(name);
        return found == types.end() ? std::optional<Type>() : found->second;
    }
    Outcome<bool> conforms(const std::string&, const std::string&) override { return false; }

    std::map<std::string, Type> types;
};

class HostTypesTest : public testing::Test {
protected:
    /// The one struct S, which stands for Slang's with these fields.
    Outcome<HostTypes> read(const std::string& header, const std::vector<FieldText>& fields,
                            std::vector<NamedText> renamed = {}) {
        (void)folder_.write("a.h", header);
        types_.types["S"] = struct_of("S", fields);
        spec_.directory = folder_.path();
        spec_.name = "spec";
        spec_.structs = {{"S", "a.h", "S", std::move(renamed), {}, {"a.kf.json", 3, 1}}};
        spec_.structs[0].header_location = {"a.kf.json", 3, 2};
        spec_.structs[0].type_location = {"a.kf.json", 3, 3};
        return read_host_types(spec_, types_);
    }

    using Places = std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>;

    /// Where its fields' first scalars are, and what lies between them.
    static Places places_of(const HostStruct& host) {
        Places all;
        for (const HostStruct::Place& place : host.fields) all.emplace_back(place.offset, place.spacing);
        return all;
    }

    Places places(const std::string& header, const std::vector<FieldText>& fields) {
        const Outcome<HostTypes> hosts = read(header, fields);
        if (hosts) return places_of(*hosts.value().structs.at("S"));
        ADD_FAILURE() << format_text(hosts.errors().front());
        return {};
    }

    /// What is wrong, with the header's folder left out.
    std::string refusal(const std::string& header, const std::vector<FieldText>& fields,
                        std::vector<NamedText> renamed = {}) {
        const Outcome<HostTypes> hosts = read(header, fields, std::move(renamed));
        if (hosts) return "";
        std::string text;
        for (const Diagnostic& error : hosts.errors()) text += format_text(error) + "\n";
        const std::string folder = folder_.path().string() + "/";
        for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder))
            text.erase(at, folder.size());
        return text;
    }

    ScratchFolder folder_;
    FakeTypes types_;
    Spec spec_;
};

TEST_F(HostTypesTest, FindsNumbersInTypesOfManyKinds) {
    EXPECT_EQ(
        places("struct V { union { float x, r; }; union { float y, g; }; };"
               "struct S { bool flag; V v; float a[2]; short n; };",
               {{"v", type_named("float2")}, {"a", type_named("float2")}, {"flag", type_named("bool")}}),
        (Places{{4, {}}, {12, {}}, {0, {}}}));
    EXPECT_EQ(places("struct alignas(16) V { float x, y, z; }; struct S { V rows[2]; V v; };",
                     {{"rows", type_named("float2x3")}, {"v", type_named("float3")}}),
              (Places{{0, {4, 1}}, {32, {}}}));
    EXPECT_EQ(
        places("struct C { float x, y, z; }; struct M { using col_type = C; C c[2]; }; struct S { M m; };",
               {{"m", type_named("float3x2")}}),
        (Places{{0, {1, 3}}}));
    EXPECT_EQ(
        places("struct V { union { struct { double x, y; }; double e[2]; }; }; struct S { int i; V v[3]; };",
               {{"v", type_named("double2[3]")}}),
        (Places{{8, {}}}));
    EXPECT_EQ(places("typedef float F4 __attribute__((vector_size(16))); struct S { F4 v; float m[6]; };",
                     {{"v", type_named("float4")}, {"m", type_named("float2x3")}}),
              (Places{{0, {}}, {16, {}}}));
    EXPECT_EQ(places("struct S { unsigned short h; };", {{"h", type_named("half")}}), (Places{{0, {}}}));
}

/// GLM's and Eigen's own types, as a scene has them: the latter are in base classes that depend on templates'
/// arguments, write out how they are copied, and keep matrices by columns unless they say otherwise.
TEST_F(HostTypesTest, FindsNumbersInGlmAndEigen) {
    spec_.cpp.options = {"-I/usr/include/eigen3"};
    const std::string header =
        "#include <glm/glm.hpp>\n#include <glm/gtc/quaternion.hpp>\n#include <Eigen/Geometry>\n#include "
        "<array>\n"
        "namespace app { struct Named { int id; }; template <class T> struct Light : T {"
        " glm::vec3 position; glm::mat4x3 place; glm::quat turn; std::array<glm::vec2, 2> corners;"
        " Eigen::Vector3f color; Eigen::Matrix<float, 3, 4> model; Eigen::Matrix<float, 3, 4, "
        "Eigen::RowMajor> rows;"
        " Eigen::Quaternionf spin; Eigen::Affine3f all; std::array<Eigen::Matrix2d, 2> doubles; }; }\n"
        "using S = app::Light<app::Named>;";
    const Outcome<HostTypes> hosts = read(header, {{"position", type_named("float3")},
                                                   {"place", type_named("float3x4")},
                                                   {"turn", type_named("float4")},
                                                   {"corners", type_named("float2[2]")},
                                                   {"color", type_named("float3")},
                                                   {"model", type_named("float3x4")},
                                                   {"rows", type_named("float3x4")},
                                                   {"spin", type_named("float4")},
                                                   {"all", type_named("float4x4")},
                                                   {"doubles", type_named("double2x2[2]")},
                                                   {"id", type_named("int")}});
    ASSERT_TRUE(hosts) << format_text(hosts.errors().front());
    const HostStruct& host = *hosts.value().structs.at("S");
    EXPECT_FALSE(host.is_copied_by_bytes);
    EXPECT_EQ(places_of(host), (Places{{4, {}},
                                       {16, {1, 3}},
                                       {64, {}},
                                       {80, {}},
                                       {96, {}},
                                       {112, {1, 3}},
                                       {160, {}},
                                       {208, {}},
                                       {224, {1, 4}},
                                       {288, {4, 1, 2}},
                                       {0, {}}}));
}

TEST_F(HostTypesTest, ReadsMatricesByColumnsWhereTheirMembersSaySo) {
    EXPECT_EQ(
        places("struct V { float x, y; }; struct M { V columns[3]; }; struct N { V col0, col1, col2; };"
               "struct C { V colors[2]; }; struct S { M m; N n; C c; };",
               {{"m", type_named("float2x3")}, {"n", type_named("float2x3")}, {"c", type_named("float2x2")}}),
        (Places{{0, {1, 2}}, {24, {1, 2}}, {48, {}}}));
}

TEST_F(HostTypesTest, ReadsMatricesByColumnsWhereTheSpecSaysSo) {
    const std::string header =
        "struct V { float x, y; }; struct S { float a[6]; float b[2][3][2]; V c[3]; float d[2][6]; };";
    const std::vector<FieldText> fields{{"a", type_named("float2x3")},
                                        {"b", type_named("float2x3[2]")},
                                        {"c", type_named("float2x3")},
                                        {"d", type_named("float2x3[2]")}};
    spec_.structs.resize(1);
    (void)refusal(header, fields);
    spec_.structs[0].columns = {{"a", {}, {}}, {"b", {}, {}}, {"c", {}, {}}, {"d", {}, {}}};
    const Outcome<HostTypes> hosts = read_host_types(spec_, types_);
    ASSERT_TRUE(hosts) << format_text(hosts.errors().front());
    for (const HostStruct::Place& place : hosts.value().structs.at("S")->fields) {
        const std::vector<std::int64_t> last(place.spacing.end() - 2, place.spacing.end());
        EXPECT_THAT(last, testing::ElementsAre(1, 2)) << place.member;
    }
    const auto reason = [&](const std::string& type, const std::string& text) {
        (void)refusal(text + " struct S { T x; };", {{"x", type_named(type)}});
        spec_.structs[0].columns = {{"x", {}, {}}};
        const Outcome<HostTypes> refused = read_host_types(spec_, types_);
        const std::string message = refused ? "" : refused.errors().front().message;
        return message.substr(message.find(": ") + 2);
    };
    EXPECT_EQ(reason("float4", "using T = float[4];"), "'x' is no matrix, which alone has \"columns\"");
    EXPECT_THAT(
        reason("float2x2", "struct T { using col_type = float; float m[2][2]; };"),
        testing::EndsWith("is a 'T', which says itself how its numbers lie: \"columns\" must not name it"));
    spec_.structs[0].columns = {{"y", {}, {}}};
    EXPECT_THAT(read_host_types(spec_, types_).errors().front().message,
                testing::EndsWith("'S' has no field 'y'"));
}

TEST_F(HostTypesTest, TakesTheStructsInStructsAlong) {
    types_.types.clear();
    const Type inner = struct_of("ns.Inner", {{"x", type_named("float")}, {"n", type_named("int")}});
    const Outcome<HostTypes> hosts = read(
        "namespace app { template <class T> struct Inner { int n; T x; }; }"
        "struct Both { app::Inner<float> one; }; struct S { Both both; app::Inner<float> all[2][3]; };",
        {{"one", inner}, {"all", array_of(array_of(inner, 3), 2)}}, {{"one", "both.one", {}}});
    ASSERT_TRUE(hosts) << format_text(hosts.errors().front());
    const HostStruct& made = *hosts.value().structs.at("ns.Inner");
    EXPECT_EQ(made.type, "app::Inner<float>");
    EXPECT_EQ(made.fields.at(0).offset, 4);
    EXPECT_EQ(made.fields.at(1).offset, 0);
    EXPECT_FALSE(made.is_laid_out_as_slangs);
    EXPECT_EQ(hosts.value().structs.at("S")->fields.at(0).member, "both.one");
    EXPECT_EQ(hosts.value().structs.at("S")->fields.at(1).offset, 8);
}

TEST_F(HostTypesTest, KnowsMembersThatNoKernelWrites) {
    const auto unwritten = [&](const std::string& header) {
        const Outcome<HostTypes> hosts =
            read(header, {{"x", type_named("float")}, {"y", type_named("float")}}, {{"y", "t.y", {}}});
        if (!hosts) return format_text(hosts.errors().front());
        const std::string text = hosts.value().structs.at("S")->unwritten;
        return text.substr(0, text.find(" ("));
    };
    EXPECT_EQ(unwritten("struct S { float x; struct { float y; } t; };"), "");
    EXPECT_EQ(unwritten("struct S { float x; struct { union { float y; float e[1]; }; } t; };"), "");
    EXPECT_EQ(unwritten("struct S { float x; struct { float y; } t; int more; };"), "'more'");
    EXPECT_EQ(unwritten("struct S { float x; struct { float y; int more; } t; };"), "'t.more'");
    EXPECT_EQ(unwritten("struct I { int id; }; struct S { float x; struct { float y; I deep; } t; };"),
              "'t.deep'");
    EXPECT_EQ(unwritten("struct S { union { float x, r; }; struct { float y; } t; };"), "");
}

TEST_F(HostTypesTest, KnowsWhatIsLaidOutAsInSlang) {
    const auto is_so = [&](const std::string& header) {
        const auto hosts = read(header, {{"a", type_named("float")}, {"v", type_named("float3")}});
        return hosts && hosts.value().structs.at("S")->is_laid_out_as_slangs;
    };
    EXPECT_TRUE(is_so("struct S { float a; float v[3]; };"));
    EXPECT_FALSE(is_so("struct S { float v[3]; float a; };"));
    EXPECT_FALSE(is_so("struct S { float a; float v[3]; float more; };"));
    EXPECT_FALSE(is_so("struct alignas(16) V { float x, y, z; }; struct S { float a; V v; };"));
}

TEST_F(HostTypesTest, ShowsBothLayouts) {
    EXPECT_EQ(
        refusal("struct S {\n  float dir[3];\n  double t;\n  int more;\n};",
                {{"pos", type_named("float3")}, {"dir", type_named("float3")}, {"t", type_named("float")}}),
        "a.kf.json:3:3: error: the C++ struct 'S' can't stand for 'S': it has no member 'pos'; what is "
        "called "
        "otherwise is named in \"fields\": {\"pos\": \"…\"} [host-struct]\n"
        "    note: 't' (a.h:3:10) is a 'double', and Slang's a 'float'\n"
        "    note: Slang: S  type    offset | C++: S  type      offset\n"
        "    note: pos       float3       0 |\n"
        "    note: dir       float3      12 | dir     float[3]       0  a.h:2:9\n"
        "    note: t         float       24 | t       double        16  a.h:3:10\n"
        "    note:                          | more    int           24  a.h:4:7\n"
        "    note: size                  28 | size                  32\n");
}

TEST_F(HostTypesTest, RefusesWhatKernelsCantRead) {
    const auto reason = [&](const std::string& header, const std::string& type = "float") {
        const std::string text = refusal(header, {{"x", type_named(type)}});
        const std::string start = "a.kf.json:3:3: error: the C++ struct 'S' can't stand for 'S': ";
        return text.starts_with(start) ? text.substr(start.size(), text.find('\n') - start.size()) : text;
    };
    EXPECT_EQ(reason("struct S { float* x; };"),
              "'x' (a.h:1:19) is a 'float *', which no kernel can read [host-struct]");
    EXPECT_EQ(reason("struct S { int x : 3; };", "int"),
              "'x' (a.h:1:16) is a bit-field, which has no address [host-struct]");
    EXPECT_EQ(reason("class S { float x; };"),
              "'x' (a.h:1:17) is private or protected: generated code can't check where it is [host-struct]");
    EXPECT_EQ(reason("struct B { float x; }; class S : B {};"),
              "'x' (a.h:1:18) is private or protected: generated code can't check where it is [host-struct]");
    EXPECT_EQ(reason("struct __attribute__((packed)) S { char c; float x; };"),
              "'x' (a.h:1:50) isn't aligned to its numbers' size: the struct is packed [host-struct]");
    EXPECT_EQ(reason("struct S { unsigned x; };", "int"),
              "'x' (a.h:1:21) is a 'unsigned int', and Slang's a 'int' [host-struct]");
    EXPECT_EQ(reason("struct S { float x[4]; };", "float3"),
              "'x' (a.h:1:18) is a 'float[4]', and Slang's a 'float3' [host-struct]");
    EXPECT_EQ(reason("struct V { float x; int y; }; struct S { V x; };", "float2"),
              "'x' (a.h:1:44) is a 'V', and Slang's a 'float2' [host-struct]");
    EXPECT_EQ(
        reason("struct Q { float w, x, y, z; }; struct S { Q x; };", "float4"),
        "'x' (a.h:1:46) is a 'Q', whose numbers are w, x, y, z, and Slang's a 'float4'; a Slang struct with "
        "these fields fits [host-struct]");
    EXPECT_THAT(reason("struct Q { union { struct { float m_r, m_g, m_b; }; float e[3]; }; };"
                       "struct P { union { float b, z; }; union { float g, y; }; }; struct S { Q y; P x; };",
                       "float2"),
                testing::HasSubstr("is a 'P', whose numbers are b, g, and"));
    // What its base class holds isn't seen.
    EXPECT_THAT(reason("struct O { template <class T> struct I : T { float y; }; }; struct F { float x; };"
                       "struct S { O::I<F> x; };"),
                testing::HasSubstr("is a 'O::I<F>', and Slang's a 'float'"));
    EXPECT_THAT(reason("struct M { using col_type = int; float m[6]; }; struct S { M x; };", "float2x4"),
                testing::HasSubstr("is a 'M', and Slang's a 'float2x4'"));
}

TEST_F(HostTypesTest, RefusesTypesThatCantBeCopied) {
    const auto text = [&](const std::string& header) {
        return refusal(header, {{"x", type_named("float")}});
    };
    EXPECT_EQ(text("struct S { virtual ~S(); float x; };"),
              "a.kf.json:3:3: error: the C++ type 'S' has virtual functions or base classes, whose tables "
              "GPUs can't "
              "use [host-struct]\n    note: it is declared at a.h:1:8\n    note: give the data a struct of "
              "its own\n");
    EXPECT_EQ(
        text("struct S { ~S(); float x; };"),
        "a.kf.json:3:3: error: the C++ type 'S' can't be copied byte by byte: it has a copy constructor, a "
        "destructor, or a member with one [host-struct]\n    note: it is declared at a.h:1:8\n"
        "    note: give the data a struct of its own, without them\n");
    for (const char* const header :
         {"struct S { S(); S(const S&); float x; const char* name; };",
          "struct V { V(); V(const V&); ~V(); float y; }; struct S { V v; float x; };",
          "struct V { V(); V(const V&); virtual void f(); float y; }; struct S { V v; float x; };"})
        EXPECT_THAT(text(header), testing::HasSubstr("'S' can't be copied byte by byte")) << header;
    EXPECT_EQ(text("struct V { V(); V(const V&); float y; }; struct S { V v; float x; const char* name; };"),
              "");
    EXPECT_EQ(text("struct S { S(int); float x; };"),
              "a.kf.json:3:3: error: the C++ type 'S' has no default constructor, by which results are made "
              "[host-struct]\n    note: it is declared at a.h:1:8\n    note: add one: S() = default;\n");
    EXPECT_EQ(text("using S = float;"),
              "a.kf.json:3:3: error: the C++ type 'float' is no struct or class [host-struct]\n"
              "    note: name one; vectors and numbers need no entry\n");
}

TEST_F(HostTypesTest, ComparesEnums) {
    Type shape = type_named("int");
    shape.is_enum = true;
    shape.name = "Shape";
    shape.members = {{"sphere", 0}, {"plane", 1}};
    EXPECT_EQ(refusal("enum Shape : int { sphere, cube, plane }; struct S { Shape s; };", {{"s", shape}})
                  .substr(0, 109),
              "a.kf.json:3:3: error: the C++ struct 'S' can't stand for 'S': 's' (a.h:1:60) is a 'Shape', "
              "whose 'plane' "
              "is 2");
    // C++ chooses unsigned for the first one.
    EXPECT_THAT(refusal("enum Shape { sphere, plane }; struct S { Shape s; };", {{"s", shape}}), IsEmpty());
    EXPECT_THAT(
        refusal("enum Shape : unsigned { big = 0x80000000u }; struct S { Shape s; };", {{"s", shape}}),
        testing::HasSubstr("is a 'Shape', and Slang's a 'Shape'"));
    EXPECT_THAT(refusal("enum class Shape { sphere, plane }; struct S { Shape s; };", {{"s", shape}}),
                IsEmpty());
}

TEST_F(HostTypesTest, RefusesEntriesThatContradict) {
    (void)read("struct S { float x; };", {{"x", type_named("float")}});
    spec_.structs.push_back(spec_.structs[0]);
    spec_.structs[1].location = {"a.kf.json", 9, 1};
    EXPECT_EQ(format_text(read_host_types(spec_, types_).errors().at(0)),
              "a.kf.json:9:1: error: two entries of \"structs\" are for 'S' [host-struct]\n"
              "    note: the other one is at a.kf.json:3:1");
    spec_.structs.pop_back();
    spec_.structs[0].slang = "None";
    EXPECT_EQ(format_text(read_host_types(spec_, types_).errors().at(0)),
              "a.kf.json:3:1: error: the spec's modules have no struct 'None' [host-struct]");
    spec_.name = "a";
    EXPECT_EQ(
        format_text(read_host_types(spec_, types_).errors().at(0)),
        "a.kf.json:3:2: error: the header 'a.h' is called as the one that kfgen generates [host-struct]\n"
        "    note: name it with a folder, or give the spec another \"name\"");
}

TEST_F(HostTypesTest, CompilesAsTheDatabaseSays) {
    (void)folder_.write("compile_commands.json",
                        R"([{"directory": "/", "file": "/a.cpp", "arguments": ["c++", "-DNUMBER=double"]}])");
    const std::string header = "struct S { NUMBER x; };";
    EXPECT_NE(refusal(header, {{"x", type_named("double")}}), "");
    spec_.cpp.compile_commands = folder_.path() / "compile_commands.json";
    EXPECT_EQ(refusal(header, {{"x", type_named("double")}}), "");
    EXPECT_THAT(read_host_types(spec_, types_).value().files,
                testing::IsSupersetOf({folder_.path() / "a.h", folder_.path() / "compile_commands.json"}));
    spec_.cpp.options = {"-UNUMBER", "-DNUMBER=float"};
    EXPECT_NE(refusal(header, {{"x", type_named("double")}}), "");
}

}  // namespace
}  // namespace kf::gen
