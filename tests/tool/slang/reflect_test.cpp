// Reflection by the real Slang.
#include <gmock/gmock.h>

#include <tuple>

#include "support/support_modules.h"
#include "tool/slang/scratch_folder.h"

namespace kf::gen {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

struct NamedScalar {
    std::string name;
    ScalarType type;
    bool differentiable;
};

const std::vector<NamedScalar> scalars = {
    {"bool", ScalarType::boolean, false},    {"int8_t", ScalarType::int8, false},
    {"int16_t", ScalarType::int16, false},   {"int", ScalarType::int32, false},
    {"int64_t", ScalarType::int64, false},   {"uint8_t", ScalarType::uint8, false},
    {"uint16_t", ScalarType::uint16, false}, {"uint", ScalarType::uint32, false},
    {"uint64_t", ScalarType::uint64, false}, {"half", ScalarType::float16, true},
    {"float", ScalarType::float32, true},    {"double", ScalarType::float64, true},
};

TEST(Reflect, ScalarsAndVectors) {
    std::string text;
    for (const NamedScalar& scalar : scalars) {
        text += scalar.name + " f_" + scalar.name + "(" + scalar.name + " a, " + scalar.name + "2 b, " +
                scalar.name + "3 c, vector<" + scalar.name + ", 4> d, " + scalar.name +
                "1 e) { return a; }\n";
    }
    const Module module = reflect_text(text);
    ASSERT_EQ(module.functions.size(), scalars.size());
    for (std::size_t index = 0; index < scalars.size(); ++index) {
        const NamedScalar& scalar = scalars[index];
        const Function& function = module.functions[index];
        SCOPED_TRACE(scalar.name);
        EXPECT_EQ(function.name, "f_" + scalar.name);
        EXPECT_EQ(function.result,
                  (Type{TypeKind::scalar, scalar.type, 1, 1, 0, {}, {}, scalar.name, scalar.differentiable}));
        ASSERT_EQ(function.parameters.size(), 5U);
        EXPECT_EQ(function.parameters[0].type, function.result);
        for (std::size_t vector = 1; vector < 5; ++vector) {
            const auto columns = static_cast<std::int64_t>(vector < 4 ? vector + 1 : 1);
            EXPECT_EQ(function.parameters[vector].type, (Type{TypeKind::vector,
                                                              scalar.type,
                                                              1,
                                                              columns,
                                                              0,
                                                              {},
                                                              {},
                                                              scalar.name + std::to_string(columns),
                                                              scalar.differentiable}));
        }
    }
}

TEST(Reflect, OtherTypes) {
    const Module module = reflect_text(
        "interface IShape { float area(); }\n"
        "enum Color { red, green }\n"
        "namespace ns { enum Small : uint8_t { one }; }\n"
        "void f(float2x3 m, float a[2][3], int3 v[4], float u[], float* p, Texture2D<float4> t,\n"
        "       SamplerState s, RWStructuredBuffer<int> b, IShape i, Color c, intptr_t n, ns.Small e[2]) "
        "{}\n");
    const Function& f = function_named(module, "f");
    ASSERT_EQ(f.parameters.size(), 12U);
    const auto type = [&](std::size_t index) { return f.parameters[index].type; };
    EXPECT_EQ(f.result.kind, TypeKind::void_type);
    EXPECT_EQ(type(0), (Type{TypeKind::matrix, ScalarType::float32, 2, 3, 0, {}, {}, "float2x3", true}));
    EXPECT_EQ(type(1).kind, TypeKind::array);
    EXPECT_EQ(type(1).extent, 2);
    EXPECT_EQ(type(1).name, "float[2][3]");
    ASSERT_EQ(type(1).element.size(), 1U);
    EXPECT_EQ(type(1).element[0].extent, 3);
    EXPECT_EQ(type(1).element[0].name, "float[3]");
    EXPECT_TRUE(type(1).differentiable);
    EXPECT_EQ(type(2).name, "int3[4]");
    EXPECT_FALSE(type(2).differentiable);
    EXPECT_EQ(type(3).kind, TypeKind::array);
    EXPECT_EQ(type(3).extent, 0);
    EXPECT_EQ(type(4).kind, TypeKind::pointer);
    EXPECT_EQ(type(5).kind, TypeKind::texture);
    EXPECT_EQ(type(6).kind, TypeKind::sampler);
    EXPECT_EQ(type(7).kind, TypeKind::buffer);
    EXPECT_EQ(type(8).kind, TypeKind::interface);
    EXPECT_EQ(type(9).kind, TypeKind::scalar);
    EXPECT_EQ(type(9).scalar, ScalarType::int32);
    EXPECT_EQ(type(9).name, "Color");
    EXPECT_TRUE(type(9).is_enum);
    EXPECT_FALSE(type(9).differentiable);
    EXPECT_EQ(type(10).scalar, ScalarType::int64);
    EXPECT_FALSE(type(10).is_enum);
    EXPECT_EQ(type(11).name, "ns.Small[2]");
    ASSERT_EQ(type(11).element.size(), 1U);
    EXPECT_EQ(type(11).element[0].scalar, ScalarType::uint8);
    EXPECT_TRUE(type(11).element[0].is_enum);
    EXPECT_THAT(type(9).members, ElementsAre(Pair("red", 0), Pair("green", 1)));
    EXPECT_THAT(type(11).element[0].members, ElementsAre(Pair("one", 0)));
}

TEST(Reflect, PointersToWhatLiesOtherwise) {
    const Module module = reflect_text(
        "typealias To<T, let layout : int> = Ptr<T, Access.ReadWrite, AddressSpace.Device, "
        "Std430DataLayout>;\n"
        "struct Node { float weight; float3 at; }\n"
        "struct Own { Ptr<float3, Access.Read, AddressSpace.Device, Std430DataLayout> at; }\n"
        "void f(To<Node, 1> a, Ptr<Node, Access.Read, AddressSpace.Device, ScalarDataLayout> b, Own c,\n"
        "       Ptr<StructuredBuffer<int, ScalarDataLayout>, Access.Read, AddressSpace.Device, "
        "Std430DataLayout> d)\n"
        "{}\n");
    const Function& f = function_named(module, "f");
    ASSERT_EQ(f.parameters.size(), 4U);
    EXPECT_EQ(f.parameters[0].type.kind, TypeKind::resource);
    EXPECT_EQ(f.parameters[1].type.kind, TypeKind::pointer);
    EXPECT_EQ(f.parameters[2].type.fields.at(0).type.kind, TypeKind::resource);
    EXPECT_EQ(f.parameters[3].type.kind, TypeKind::resource);
}

TEST(Reflect, PointersAndBuffers) {
    const Module module = reflect_text(
        "struct Node { float3 at; Node* next; float* values; Node* children[2]; }\n"
        "void f(float3* a, Ptr<float, Access.Read> b, Node* c, Atomic<uint>* d, void* e, float** g,\n"
        "       StructuredBuffer<Node> h, RWStructuredBuffer<Atomic<int>> i, ByteAddressBuffer j,\n"
        "       RWByteAddressBuffer k, RasterizerOrderedStructuredBuffer<int> l,\n"
        "       StructuredBuffer<int, Std140DataLayout> m) {}\n");
    const Function& f = function_named(module, "f");
    ASSERT_EQ(f.parameters.size(), 12U);
    const auto type = [&](std::size_t index) { return f.parameters[index].type; };
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(type(k).kind, TypeKind::pointer) << k;
    EXPECT_EQ(type(0).element.at(0).name, "float3");
    EXPECT_TRUE(type(0).is_writable);
    EXPECT_EQ(type(1).element.at(0).name, "float");
    EXPECT_FALSE(type(1).is_writable);
    const std::vector<Field> fields = type(2).element.at(0).fields;
    ASSERT_EQ(fields.size(), 4U);
    EXPECT_EQ(fields[1].type.kind, TypeKind::pointer);
    EXPECT_TRUE(fields[1].type.element.empty()) << "a struct may lead to itself";
    EXPECT_EQ(fields[2].type.element.at(0).name, "float");
    EXPECT_TRUE(fields[3].type.element.at(0).element.empty());
    EXPECT_EQ(type(3).element.at(0).name, "uint");
    EXPECT_TRUE(type(4).element.empty());
    EXPECT_TRUE(type(5).element.empty());
    EXPECT_TRUE(type(5).is_writable);
    for (std::size_t k = 6; k < 10; ++k) EXPECT_EQ(type(k).kind, TypeKind::buffer) << k;
    EXPECT_EQ(type(6).element.at(0).name, "Node");
    EXPECT_FALSE(type(6).is_writable);
    EXPECT_EQ(type(7).element.at(0).name, "int");
    EXPECT_TRUE(type(7).is_writable);
    EXPECT_TRUE(type(8).element.empty());
    EXPECT_FALSE(type(8).is_writable);
    EXPECT_TRUE(type(9).is_writable);
    for (std::size_t k = 10; k < 12; ++k) EXPECT_EQ(type(k).kind, TypeKind::resource) << k;
}

TEST(Reflect, OwnTypesAndBlocks) {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, support_modules());
    const Outcome<Module> module = compiler->reflect({folder.write(
        "sample.slang",
        "struct Look { float gain; }\ntypedef ConstantBuffer<Look> Block;\n"
        "void f(Buffer<half3> a, Buffer b, RWBuffer<int> c, AppendStructuredBuffer<Look> d,\n"
        "       ConstantBuffer<Look> e, Block f, Buffer<float, 3> g, Buffer<unorm float4> h) {}\n")});
    ASSERT_TRUE(module) << describe(module.errors());
    const Function& f = function_named(module.value(), "f");
    ASSERT_EQ(f.parameters.size(), 8U);
    const auto type = [&](std::size_t index) { return f.parameters[index].type; };
    for (const std::size_t k : {0U, 1U, 2U, 6U}) EXPECT_EQ(type(k).kind, TypeKind::buffer) << k;
    EXPECT_EQ(type(0).element.at(0).name, "half3");
    EXPECT_EQ(type(1).element.at(0).name, "float4");
    EXPECT_TRUE(type(2).is_writable);
    EXPECT_EQ(type(3).kind, TypeKind::structure);
    ASSERT_EQ(type(3).fields.size(), 2U);
    EXPECT_EQ(type(3).fields[0].type.kind, TypeKind::buffer);
    EXPECT_EQ(type(4).name, "Look");
    EXPECT_EQ(type(5).kind, TypeKind::resource);
    EXPECT_EQ(type(5).name.substr(0, 14), "ConstantBuffer");
    EXPECT_EQ(type(7).kind, TypeKind::resource) << "a format converts it";
}

TEST(Reflect, NamesThatModulesDeclare) {
    const ScratchFolder folder;
    const auto compiler = make_compiler({}, support_modules());
    std::ignore = folder.write("other.slang", "public struct RWBuffer<T> { public T value; }\n");
    const Outcome<Module> module = compiler->reflect(
        {folder.write("sample.slang", "import other;\nvoid f(RWBuffer<int> a, Buffer<int> b) {}\n")});
    ASSERT_TRUE(module) << describe(module.errors());
    const Function& f = function_named(module.value(), "f");
    EXPECT_EQ(f.parameters.at(0).type.kind, TypeKind::structure);
    EXPECT_EQ(f.parameters.at(1).type.kind, TypeKind::resource);
    EXPECT_EQ(f.parameters.at(1).type.name.substr(0, 7), "Buffer<");
}

TEST(Reflect, Structs) {
    const Module module = reflect_text(
        "namespace geo { struct Inner : IDifferentiable { float z; half2 h; };  }\n"
        "struct Ray : IDifferentiable { float3 o; no_diff float3 d; float w[4]; geo::Inner inner; int id; }\n"
        "struct Plain { int a; bool2 b; }\n"
        "Ray f(Ray r, Plain p) { return r; }\n");
    const Function& f = function_named(module, "f");
    const Type& ray = f.result;
    EXPECT_EQ(ray.kind, TypeKind::structure);
    EXPECT_EQ(ray.name, "Ray");
    EXPECT_TRUE(ray.differentiable);
    ASSERT_EQ(ray.fields.size(), 5U);
    EXPECT_EQ(ray.fields[0].name, "o");
    EXPECT_EQ(ray.fields[0].type.name, "float3");
    EXPECT_FALSE(ray.fields[0].no_diff);
    EXPECT_TRUE(ray.fields[1].no_diff);
    EXPECT_EQ(ray.fields[2].type.name, "float[4]");
    EXPECT_EQ(ray.fields[3].type.name, "geo.Inner");
    ASSERT_EQ(ray.fields[3].type.fields.size(), 2U);
    EXPECT_EQ(ray.fields[3].type.fields[1].type.name, "half2");
    EXPECT_FALSE(ray.fields[4].type.differentiable);
    EXPECT_FALSE(ray.fields[4].no_diff);
    EXPECT_FALSE(f.parameters[1].type.differentiable);
    EXPECT_EQ(f.parameters[1].type.fields.at(1).type.name, "bool2");
}

// Their base's fields are not among the fields.
TEST(Reflect, StructsThatInherit) {
    const Module module = reflect_text(
        "interface IAny {}\nstruct Base { float a; half3 d[2]; }\nstruct Derived : Base { uint8_t b; }\n"
        "struct Own : IAny { Base base; float c; }\nfloat f(Derived x, Own y) { return x.a + y.c; }\n");
    const Function& f = function_named(module, "f");
    EXPECT_TRUE(f.parameters[0].type.inherits);
    EXPECT_FALSE(f.parameters[1].type.inherits);
    EXPECT_FALSE(f.parameters[1].type.fields.at(0).type.inherits);
}

// Slang crashes when it is asked for the layout of such a struct, or of one around it.
TEST(Reflect, NoDiffArraysOfBrackets) {
    const Module module = reflect_text(
        "struct Faded : IDifferentiable { float a; no_diff half w[2]; }\nstruct Around { Faded faded[3]; }\n"
        "struct Other : IDifferentiable { float a; no_diff Array<half, 2> w; half v[2]; }\n"
        "float f(Around x, Other y) { return x.faded[0].a * y.a; }\n");
    const Function& f = function_named(module, "f");
    EXPECT_TRUE(f.parameters[0].type.no_diff_array);
    EXPECT_TRUE(f.parameters[0].type.fields.at(0).type.element.at(0).no_diff_array);
    EXPECT_FALSE(f.parameters[1].type.no_diff_array);
}

TEST(Reflect, Directions) {
    const Module module = reflect_text(
        "float f(float a, in float b, out float c, inout float d, const float e, in out float f, out in "
        "float g)\n"
        "{ c = a; return e; }\n");
    std::vector<Direction> directions;
    for (const Parameter& parameter : function_named(module, "f").parameters) {
        directions.push_back(parameter.direction);
    }
    EXPECT_THAT(directions, ElementsAre(Direction::in, Direction::in, Direction::out, Direction::inout,
                                        Direction::in, Direction::inout, Direction::inout));
}

TEST(Reflect, OverloadsAndPlaces) {
    const Module module = reflect_text("float add(float a) { return a; }\nint add(int a) { return a; }\n");
    ASSERT_EQ(module.functions.size(), 2U);
    EXPECT_EQ(module.functions[0].name, "add");
    EXPECT_EQ(module.functions[1].name, "add");
    EXPECT_EQ(module.functions[0].result.name, "float");
    EXPECT_EQ(module.functions[1].result.name, "int");
    EXPECT_THAT(module.functions[1].location.file, EndsWith("/sample.slang"));
    EXPECT_EQ(module.functions[1].location.line, 2);
    EXPECT_EQ(module.functions[1].location.column, 5);
    EXPECT_THAT(module.module_names, ElementsAre("sample"));
}

TEST(Reflect, Docs) {
    const Module module = reflect_text(
        "// License\n\n"
        "/// Adds two.\n/// And more.\n[Differentiable]\nfloat f(float a) { return a; }\n"
        "/** Block\n * doc\n */\nint g() { return 1; }\n"
        "int h() { return 1; } // not h's\nint i() { return 2; }\n");
    EXPECT_EQ(function_named(module, "f").doc, "Adds two.\nAnd more.");
    EXPECT_EQ(function_named(module, "g").doc, "Block\ndoc");
    EXPECT_EQ(function_named(module, "h").doc, "");
    EXPECT_EQ(function_named(module, "i").doc, "");
}

TEST(Reflect, Differentiability) {
    const Module module = reflect_text(
        "[Differentiable] float plain(float x, no_diff float k, int n) { return x * k; }\n"
        "[BackwardDifferentiable] float backward(float x) { return x; }\n"
        "[ForwardDifferentiable] float forward(float x) { return x; }\n"
        "[BackwardDerivative(custom_bwd)] float custom(float x) { return x; }\n"
        "void custom_bwd(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d * 3); }\n"
        "float substituted(float x) { return x; }\n"
        "[BackwardDerivativeOf(substituted)]\n"
        "void substituted_bwd(inout DifferentialPair<float> x, float d) { x = diffPair(x.p, d * 3); }\n"
        "no_diff float quiet(float x) { return x; }\n"
        "float none(float x) { return x; }\n");
    EXPECT_TRUE(function_named(module, "plain").backward_differentiable);
    EXPECT_FALSE(function_named(module, "plain").no_diff_result);
    EXPECT_FALSE(function_named(module, "plain").parameters.at(0).no_diff);
    EXPECT_TRUE(function_named(module, "plain").parameters.at(1).no_diff);
    EXPECT_FALSE(function_named(module, "plain").parameters.at(2).no_diff);
    EXPECT_TRUE(function_named(module, "backward").backward_differentiable);
    EXPECT_FALSE(function_named(module, "forward").backward_differentiable);
    EXPECT_TRUE(function_named(module, "custom").backward_differentiable);
    EXPECT_TRUE(function_named(module, "substituted").backward_differentiable);
    for (const char* name : {"plain", "backward", "forward"})
        EXPECT_TRUE(function_named(module, name).forward_differentiable) << name;
    for (const char* name : {"custom", "substituted", "none"})
        EXPECT_FALSE(function_named(module, name).forward_differentiable) << name;
    EXPECT_TRUE(function_named(module, "quiet").no_diff_result);
    EXPECT_FALSE(function_named(module, "none").backward_differentiable);
}

TEST(Reflect, ScopesMethodsAndGenerics) {
    const Module module = reflect_text(
        "namespace a { namespace b { float f(float x) { return x; } } float g() { return 1; }\n"
        "  struct U { float v; }; }\n"
        "struct T : IDifferentiable { float v; float m(float x) { return x; }\n"
        "  static float s(float x) { return x; } __init(float x) { v = x; } }\n"
        "extension T { float extended() { return v; } [Differentiable] static float q(float x) { return x; } "
        "}\n"
        "extension a.U { __init(float x) { v = x; } }\n"
        "extension float { float half_of() { return this / 2; } }\n"
        "T id<T : IFloat>(T x) { return x; }\n"
        "float sum<let N : int>(float x[N]) { return x[0]; }\n");
    std::vector<std::string> names;
    for (const Function& function : module.functions) {
        names.push_back(function.name);
    }
    EXPECT_THAT(names, ElementsAre("a.b.f", "a.g", "T.m", "T.s", "T.__init", "T.extended", "T.q",
                                   "a.U.__init", "float.half_of", "id", "sum"));
    EXPECT_EQ(function_named(module, "T.extended").member, Member::method);
    EXPECT_EQ(function_named(module, "T.extended").parameters.at(0).type.kind, TypeKind::structure);
    EXPECT_EQ(function_named(module, "T.q").member, Member::static_one);
    EXPECT_EQ(function_named(module, "a.U.__init").result.name, "a.U");
    EXPECT_EQ(function_named(module, "T.m").member, Member::method);
    EXPECT_EQ(function_named(module, "T.s").member, Member::static_one);
    EXPECT_EQ(function_named(module, "T.__init").member, Member::constructor);
    EXPECT_EQ(function_named(module, "T.__init").result.name, "T");
    EXPECT_EQ(function_named(module, "a.g").member, Member::none);
    EXPECT_FALSE(function_named(module, "a.g").is_generic());
    EXPECT_TRUE(function_named(module, "id").is_generic());
    EXPECT_TRUE(function_named(module, "sum").is_generic());
    EXPECT_EQ(function_named(module, "sum").parameters.at(0).name, "x");
}

std::string parameters_text(const Function& function) {
    std::string text;
    for (const GenericParameter& generic : function.generics) {
        text += (text.empty() ? "" : ", ") + generic.name;
        if (!generic.value_type.empty()) {
            text += ": let " + generic.value_type;
        }
        for (const std::string& constraint : generic.constraints) {
            text += ": " + constraint;
        }
        text += "@" + std::to_string(generic.part);
    }
    return text;
}

TEST(Reflect, GenericParametersComeInOrder) {
    const Module module = reflect_text(
        "interface IPlain { int get(); }\n"
        "T mixed<let N : int, T : __BuiltinFloatingPointType, let M : uint, U>(vector<T, N> x, U y[M])\n"
        "    where U : IPlain where U : IArithmetic { return x[0]; }\n"
        "namespace ns { struct Acc<T : IFloat> { T v; static T make<U>(T x, U y) { return x; } }; }\n"
        "float grid<let N : int, let M : int>(vector<float, M> x[N], float y[N][M], float z[N + 1]) { return "
        "0; }\n");
    EXPECT_EQ(parameters_text(function_named(module, "mixed")),
              "N: let int@0, T: __BuiltinFloatingPointType@0, M: let uint@0, U: IArithmetic: IPlain@0");
    EXPECT_EQ(parameters_text(function_named(module, "ns.Acc.make")), "T: IFloat@1, U@2");
    const Function& mixed = function_named(module, "mixed");
    EXPECT_EQ(mixed.result.name, "T");
    EXPECT_EQ(mixed.parameters.at(0).type.name, "vector<T,N>");
    EXPECT_EQ(mixed.parameters.at(1).type.name, "U[int(M)]");  // Slang's own extents are int
    const Function& grid = function_named(module, "grid");
    EXPECT_EQ(grid.parameters.at(0).type.name, "vector<float,M>[N]");
    EXPECT_EQ(grid.parameters.at(1).type.name, "float[N][M]");
    EXPECT_EQ(grid.parameters.at(2).type.name, "float[N+1]");
}

TEST(Reflect, BoolsAreWrittenAsSlangReadsThem) {
    const Module module = reflect_text(
        "struct Box<let A : bool, T, let N : int> { T v[N]; }\n"
        "float f(Box<true, Box<false, float, 1>, 2> b, RWStructuredBuffer<Box<false, int, 3>> c) { return 0; "
        "}\n");
    const Function& f = function_named(module, "f");
    EXPECT_EQ(f.parameters.at(0).type.name, "Box<true, Box<false, float, 1>, 2>");
    EXPECT_EQ(f.parameters.at(1).type.name, "RWStructuredBuffer<Box<false, int, 3>, DefaultDataLayout>");
}

TEST(Reflect, ExtensionsOfGenerics) {
    const Module module = reflect_text(
        "struct Box<T : IArithmetic, let N : int> { T v[N]; }\n"
        "extension<T : IArithmetic, let N : int> Box<T, N>\n"
        "{ T at(int i) { return v[i]; } U as<U : IArithmetic>(U u) { return u; } }\n"
        "extension Box<float, 2> { float sum() { return v[0] + v[1]; } }\n"
        "extension<U : IArithmetic> Box<U, 3> { U first() { return v[0]; } }\n");
    EXPECT_EQ(parameters_text(function_named(module, "Box.at")), "T: IArithmetic@0, N: let int@0");
    EXPECT_EQ(parameters_text(function_named(module, "Box.as")),
              "T: IArithmetic@0, N: let int@0, U: IArithmetic@1");
    EXPECT_EQ(function_named(module, "Box.at").parameters.at(0).type.name, "Box<T, N>");
    const Function& sum = function_named(module, "Box<float, 2>.sum");
    EXPECT_FALSE(sum.is_generic());
    EXPECT_EQ(sum.parameters.at(0).type.kind, TypeKind::structure);
    EXPECT_EQ(module.functions.size(), 3U);
}

TEST(Reflect, ExtensionsInsideOfNamespaces) {
    const Module module = reflect_text(
        "struct Global<T> { T v; };\n"
        "struct Ray { float3 o; };\n"
        "namespace shop {\n"
        "interface IPriced { float price(); };\n"
        "struct Ray { float3 o; };\n"
        "struct Pair<T, U> { T first; U second; };\n"
        "struct Box<T> { T v; };\n"
        "extension<T : __BuiltinFloatingPointType> Pair<T, float> { float sum() { return second; } };\n"
        "extension<T> Pair<T, Box<Ray>> { T one() { return first; } };\n"
        "extension<T> Box<T> { T got() { return v; } };\n"
        "extension<T> Global<T> { T here() { return v; } };\n"
        "extension<T : IPriced> T { float dear() { return 2 * price(); } };\n"
        "extension Pair<Ray, Box<int>> { int plain() { return 1; } };\n"
        "namespace back { extension<T> Box<T> { T again() { return v; } } }\n"
        "}\n"
        "extension<T> shop::Pair<T, int> { T told() { return first; } };\n"
        "extension<T> shop::Box<T> { T outside() { return v; } };\n");
    std::vector<std::string> names;
    for (const Function& function : module.functions) {
        names.push_back(function.name);
    }
    EXPECT_THAT(names, ElementsAre("shop.Box.got", "Global.here", "shop.Pair<shop.Ray, shop.Box<int>>.plain",
                                   "shop.Box.again", "shop.Box.outside"));
    EXPECT_EQ(parameters_text(function_named(module, "shop.Box.got")), "T@1");
    EXPECT_EQ(parameters_text(function_named(module, "Global.here")), "T@0");
    EXPECT_EQ(parameters_text(function_named(module, "shop.Box.again")), "T@1");
    EXPECT_EQ(parameters_text(function_named(module, "shop.Box.outside")), "T@1");
    EXPECT_EQ(function_named(module, "shop.Box.got").parameters.at(0).type.name, "shop.Box<T>");
    names.clear();
    for (const SharedMember& member : module.shared) {
        names.push_back(member.owner + "." + member.function.name);
    }
    EXPECT_THAT(names, ElementsAre("shop.Pair<T,float>.sum", "shop.Pair<T,shop.Box<shop.Ray>>.one", "T.dear",
                                   "shop.Pair<T,int>.told"));
}

TEST(Reflect, AGenericsGradientsAreThoseOfEveryArgument) {
    const Module module = reflect_text(
        "[Differentiable] T some<T : IFloat>(T x, no_diff T k, int n) { return x * k; }\n"
        "[Differentiable] T none<T : IArithmetic>(T x) { return x; }\n"
        "[Differentiable] Array<T, N> array<T : IFloat, let N : int>(T x[N]) { return x; }\n");
    const Function& some = function_named(module, "some");
    EXPECT_TRUE(some.backward_differentiable);
    EXPECT_FALSE(some.no_diff_result);
    EXPECT_FALSE(some.parameters.at(0).no_diff);
    EXPECT_TRUE(some.parameters.at(1).no_diff);
    EXPECT_TRUE(function_named(module, "none").no_diff_result);
    EXPECT_TRUE(function_named(module, "none").parameters.at(0).no_diff);
    EXPECT_FALSE(function_named(module, "array").no_diff_result);
    EXPECT_FALSE(function_named(module, "array").parameters.at(0).no_diff);
}

TEST(Reflect, OnlyTheSourcesNoDiffIsOfTensors) {
    const Module module = reflect_text(
        "struct Table { float t; }\n"
        "struct Layer { Table w; no_diff Table b; }\n"
        "[Differentiable] float f<let N : int>(Layer a, no_diff Layer b, Table c, no_diff Table d, float x)\n"
        "{ return x * N; }\n");
    const Function& f = function_named(module, "f");
    for (const std::size_t i : {0U, 1U, 2U, 3U, 4U})
        EXPECT_EQ(f.parameters.at(i).no_diff_written, i == 1 || i == 3) << i;
    EXPECT_FALSE(f.parameters[0].type.fields.at(0).no_diff);
    EXPECT_TRUE(f.parameters[0].type.fields.at(1).no_diff);
}

TEST(Reflect, MembersOfSeveralTypes) {
    const Module module = reflect_text(
        "interface IShape { float area(); float twice(int k) { return k * area(); } This self() { return "
        "this; } }\n"
        "interface ISmooth : IDifferentiable { [Differentiable] float once(float x) { return x; } }\n"
        "struct Box<T, U> { T a; U b; }\n"
        "extension<T : IInteger> Box<T, float> { T get<S>(S by) { return a; } }\n"
        "extension<T : IShape> T { static float three() { return 3; } }\n"
        "extension<let N : int> vector<float, N> { float top() { return this[0]; } }\n"
        "extension float2 { float low() { return this.y; } }\n");
    std::vector<std::string> names;
    for (const SharedMember& member : module.shared)
        names.push_back(member.owner + "." + member.function.name);
    EXPECT_THAT(names, ElementsAre("This.twice", "This.self", "This.once", "Box<T,float>.get", "T.three",
                                   "vector<float,N>.top"));
    const SharedMember& twice = module.shared.at(0);
    EXPECT_EQ(twice.generics, (std::vector<GenericParameter>{{"This", "", {"IShape"}, 0}}));
    EXPECT_FALSE(twice.function.is_generic());
    EXPECT_EQ(twice.function.member, Member::method);
    ASSERT_EQ(twice.function.parameters.size(), 2U);
    EXPECT_EQ(twice.function.parameters[0].type.name, "This");
    EXPECT_TRUE(twice.function.parameters[0].no_diff) << "IShape promises no derivative";
    EXPECT_EQ(module.shared.at(1).function.result.name, "This");
    EXPECT_FALSE(module.shared.at(2).function.parameters[0].no_diff);
    EXPECT_TRUE(module.shared.at(2).function.backward_differentiable);
    const SharedMember& get = module.shared.at(3);
    EXPECT_EQ(get.generics, (std::vector<GenericParameter>{{"T", "", {"IInteger"}, 0}}));
    ASSERT_EQ(get.function.generics.size(), 1U);
    EXPECT_EQ(get.function.generics[0].name, "S");
    EXPECT_EQ(module.shared.at(4).function.member, Member::static_one);
    EXPECT_EQ(module.shared.at(5).generics, (std::vector<GenericParameter>{{"N", "int", {}, 0}}));
    EXPECT_EQ(function_named(module, "float2.low").parameters.at(0).type.name, "float2");
}

TEST(Reflect, EntryPoints) {
    const Module module = reflect_text(
        "#define KERNEL [shader(\"compute\")] [numthreads(8, 1, 1)]\n"
        "[shader(\"compute\")] [numthreads(8, 1, 1)] void one(uint3 id : SV_DispatchThreadID) {}\n"
        "KERNEL void two(uint3 id : SV_DispatchThreadID) {}\n"
        "[numthreads(8, 1, 1)] void three(uint3 id : SV_DispatchThreadID) {}\n"
        "[ForceInline] void four(uint3 id) {}\n");
    EXPECT_EQ(function_named(module, "one").entry, EntryPoint::compute);
    EXPECT_EQ(function_named(module, "two").entry, EntryPoint::compute);
    EXPECT_EQ(function_named(module, "two").group_size, (std::array<std::int64_t, 3>{8, 1, 1}));
    EXPECT_EQ(function_named(module, "three").entry, EntryPoint::compute);
    EXPECT_EQ(function_named(module, "four").entry, EntryPoint::none);
    EXPECT_EQ(function_named(module, "four").parameters.size(), 1U);
}

TEST(Reflect, GroupSizesAndSystemValues) {
    const Module module = reflect_text(
        "#define WIDE 16\n"
        "static const int tall = 4;\n"
        "namespace grid {\n"
        "[shader(\"compute\")] [numthreads(WIDE, 2 * tall, 1)]\n"
        "void macros(float a, uint2 id : SV_DispatchThreadID, uniform float b, uint lane : sv_groupindex) "
        "{}\n"
        "}\n"
        "[Differentiable] [numthreads(8u, 4)] void numbers() {}\n"
        "[CUDAKernel, AutoPyBindCUDA] void cuda(float x) {}\n"
        "[shader(\"fragment\")] float4 color() : SV_Target { return 0; }\n");
    using Size = std::array<std::int64_t, 3>;
    const Function& macros = function_named(module, "grid.macros");
    EXPECT_EQ(macros.group_size, (Size{16, 8, 1}));
    ASSERT_EQ(macros.parameters.size(), 2U);
    EXPECT_EQ(macros.parameters[1].name, "b");
    ASSERT_EQ(macros.system_values.size(), 2U);
    EXPECT_EQ(macros.system_values[0].semantic, "SV_DISPATCHTHREADID");
    EXPECT_EQ(macros.system_values[0].before, 1U);
    EXPECT_EQ(macros.system_values[0].type.name, "uint2");
    EXPECT_EQ(macros.system_values[0].location.line, 5);
    EXPECT_EQ(macros.system_values[1].semantic, "SV_GROUPINDEX");
    EXPECT_EQ(macros.system_values[1].before, 2U);
    EXPECT_EQ(function_named(module, "numbers").group_size, (Size{8, 4, 1}));
    EXPECT_TRUE(function_named(module, "numbers").backward_differentiable);
    EXPECT_EQ(function_named(module, "cuda").entry, EntryPoint::compute);
    EXPECT_EQ(function_named(module, "cuda").group_size, Size{});
    EXPECT_EQ(function_named(module, "color").entry, EntryPoint::other);
}

TEST(Reflect, StructsOfSystemValues) {
    const Module module = reflect_text(
        "struct Inner { uint lane : SV_GroupIndex; };\n"
        "[shader(\"compute\")] [numthreads(8, 1, 1)]\n"
        "void f(float a, Place place, uint3 group : SV_GroupID, float b, uint3 id : SV_DispatchThreadID) {}\n"
        "void plain(Place place) {}\n"
        "struct Place { uint2 id : SV_DispatchThreadID; Inner inner; float other; };\n");
    const Function& f = function_named(module, "f");
    ASSERT_EQ(f.parameters.size(), 2U);
    EXPECT_EQ(f.parameters[1].name, "b");
    ASSERT_EQ(f.system_values.size(), 3U);
    EXPECT_EQ(f.system_values[0].name, "place");
    EXPECT_EQ(f.system_values[0].before, 1U);
    EXPECT_EQ(f.system_values[1].before, 1U);
    EXPECT_EQ(f.system_values[2].before, 2U);
    const std::vector<SystemValue>& fields = f.system_values[0].fields;
    ASSERT_EQ(fields.size(), 3U);
    EXPECT_EQ(fields[0].semantic, "SV_DISPATCHTHREADID");
    EXPECT_EQ(fields[0].type.name, "uint2");
    EXPECT_EQ(fields[0].location.line, 5);
    ASSERT_EQ(fields[1].fields.size(), 1U);
    EXPECT_EQ(fields[1].fields[0].semantic, "SV_GROUPINDEX");
    EXPECT_EQ(fields[2].semantic, "") << "which planning refuses";
    EXPECT_EQ(function_named(module, "plain").parameters.size(), 1U) << "a struct like any other";
}

TEST(Reflect, StructsOfSystemValuesOfOtherModules) {
    const ScratchFolder folder;
    (void)folder.write("input_parts.slang",
                       "implementing inputs;\nnamespace ns { public struct Lane { public uint lane : "
                       "SV_GroupIndex; }; }\n");
    (void)folder.write(
        "inputs.slang",
        "module inputs;\n__include input_parts;\n"
        "public struct Input { public uint3 id : SV_DispatchThreadID; public ns.Lane inner; }\n");
    (void)folder.write("far.slang", "module far;\npublic struct Own { public uint3 id : SV_GroupID; }\n");
    const std::filesystem::path other = folder.write("other.slang", "import far;\nvoid use(Own own) {}\n");
    const std::filesystem::path file = folder.write("sample.slang",
                                                    "import inputs;\nstruct Own { uint3 id; };\n"
                                                    "[shader(\"compute\")] [numthreads(8, 1, 1)]\n"
                                                    "void f(float a, Input input, uniform Own own) {}\n");
    const Outcome<Module> module = make_compiler()->reflect({file, other});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    const Function& f = function_named(module.value(), "f");
    ASSERT_EQ(f.parameters.size(), 2U);
    EXPECT_EQ(f.parameters[1].name, "own");
    ASSERT_EQ(f.system_values.size(), 1U);
    EXPECT_EQ(f.system_values[0].before, 1U);
    const std::vector<SystemValue>& fields = f.system_values[0].fields;
    ASSERT_EQ(fields.size(), 2U);
    EXPECT_EQ(fields[0].semantic, "SV_DISPATCHTHREADID");
    EXPECT_THAT(fields[0].location.file, EndsWith("inputs.slang"));
    ASSERT_EQ(fields[1].fields.size(), 1U);
    EXPECT_EQ(fields[1].fields[0].semantic, "SV_GROUPINDEX");
}

TEST(Reflect, NamesOfSlangsOwnFunctions) {
    const Module module = reflect_text(
        "float lerp(float a, float b, float t) { return a; }\n"
        "float mine(float a) { return a; }\n"
        "float mine(int a) { return a; }\n");
    EXPECT_TRUE(function_named(module, "lerp").is_overload);
    EXPECT_FALSE(module.functions.at(1).is_overload);
    EXPECT_FALSE(module.functions.at(2).is_overload);
}

TEST(Reflect, Operators) {
    const Module module = reflect_text(
        "struct Sum { float total;\n"
        "  [mutating] void operator+=(float x) { total += x; }\n"
        "  float operator ( ) (float x) { return total; }\n"
        "  __subscript(int i, int j) -> float { get { return total; } set { total = newValue; } } }\n"
        "extension Sum { Sum operator|(Sum other) { return other; } }\n"
        "namespace ns { bool operator<=(Sum a, Sum b) { return true; } }\n"
        "__prefix Sum operator!(Sum a) { return a; }\n"
        "T operator,<T : IArithmetic>(Sum a, T b) { return b; }\n"
        "float plain(float x) { return x; }\n");
    std::vector<std::string> names;
    for (const Function& function : module.functions) {
        names.push_back(function.name);
        EXPECT_EQ(function.is_overload, function.name != "plain") << function.name;
    }
    EXPECT_THAT(names, ElementsAre("Sum.operator+=", "Sum.operator()", "Sum.operator[]", "Sum.operator|",
                                   "ns.operator<=", "operator!", "operator,", "plain"));
    const Function& subscript = function_named(module, "Sum.operator[]");
    EXPECT_EQ(subscript.member, Member::method);
    EXPECT_EQ(subscript.result.name, "float");
    ASSERT_EQ(subscript.parameters.size(), 3U);
    EXPECT_EQ(subscript.parameters.at(0).type.name, "Sum");
    EXPECT_EQ(subscript.parameters.at(2).name, "j");
}

TEST(Reflect, TypesAreLookedUpByName) {
    const ScratchFolder folder;
    const auto compiler = make_compiler();
    const auto first = folder.write("first.slang",
                                    "interface IShape { float area(); }\n"
                                    "struct Circle : IShape { float r; float area() { return r; } }\n"
                                    "struct Box<T : IArithmetic, let N : int> { T data[N]; int tag; }\n");
    const auto second = folder.write("second.slang",
                                     "import first;\nextension int : IShape { float area() { return 1; } }\n"
                                     "namespace ns { struct Inner { half h; }; }\n");
    ASSERT_TRUE(compiler->reflect({first, second}));
    const auto named = [&](const std::string& name) { return compiler->type_named(name).value(); };
    EXPECT_EQ(named("vector<float, 3>").value().name, "float3");
    EXPECT_EQ(named("Array<Array<int, 3>, 2>").value().name, "int[2][3]");
    EXPECT_EQ(named("float.Differential").value().name, "float");
    EXPECT_EQ(named("ns.Inner").value().fields.at(0).type.name, "half");
    const Type box = named("Box<float, 3>").value();
    EXPECT_EQ(box.name, "Box<float, 3>");
    EXPECT_EQ(box.fields.at(0).type.name, "float[3]");
    EXPECT_FALSE(named("Box<Circle, 3>"));
    EXPECT_FALSE(named("Nothing"));
    EXPECT_TRUE(compiler->conforms("Circle", "IShape").value());
    EXPECT_TRUE(compiler->conforms("int", "IShape").value());
    EXPECT_FALSE(compiler->conforms("float", "IShape").value());
    EXPECT_FALSE(compiler->conforms("Nothing", "IShape").value());
    EXPECT_TRUE(compiler->conforms("float3", "IArithmetic").value());
}

TEST(Reflect, SeveralModulesImportsAndDependencies) {
    const ScratchFolder folder;
    const auto first =
        folder.write("first.slang",
                     "import sub.second;\n__include part;\n#include \"table.h\"\n"
                     "import kf;\nimport elsewhere;\n"
                     "float first(Shared s) { return s.v + TABLE + kf_one() + elsewhere() + DEFINED; }\n");
    const auto second = folder.write("sub/second.slang",
                                     "struct Shared { float v; }\nfloat second(Shared s) { return s.v; }\n");
    const auto part = folder.write(
        "part.slang", "implementing first;\n/// In a part.\nfloat part(float x) { return x; }\n");
    const auto table = folder.write("table.h", "#define TABLE 3\n");
    const auto elsewhere = folder.write("paths/elsewhere.slang", "float elsewhere() { return 4; }\n");
    CompilerOptions options;
    options.search_paths = {folder.path() / "paths"};
    options.defines = {{"DEFINED", "5"}};
    const auto compiler = make_compiler(options, {{"kf", "public float kf_one() { return 1; }\n"}});
    for (const auto& modules : {std::vector{first, second}, std::vector{second, first}}) {
        const Outcome<Module> module = compiler->reflect(modules);
        ASSERT_TRUE(module.ok()) << describe(module.errors());
        ASSERT_EQ(module.value().functions.size(), 3U);
        EXPECT_EQ(function_named(module.value(), "part").doc, "In a part.");
        EXPECT_EQ(function_named(module.value(), "first").parameters.at(0).type,
                  function_named(module.value(), "second").parameters.at(0).type);
        EXPECT_THAT(module.value().sources,
                    ElementsAre(Key(first.string()), Key(part.string()), Key(elsewhere.string()),
                                Key(second.string()), Pair(table.string(), "#define TABLE 3\n")));
    }
}

TEST(Reflect, ModulesThatCallsNameAreDescribed) {
    const ScratchFolder folder;
    const auto main =
        folder.write("main.slang",
                     "import sub.second;\nimport \"sub/../third-one\";\nstruct Both { int a; }\n"
                     "float f(float x) { return x; }\n");
    (void)folder.write("sub/second.slang",
                       "import deep;\nstruct Both { float b; float g(); float h<T>(T t) { return b; } }\n"
                       "/// Of the second.\nfloat f(float x) { return 2 * x; }\n"
                       "namespace ns { float f(Both x, Deep y) { return x.b + y.d; } }\n"
                       "extension float { float more() { return this; } }\n");
    (void)folder.write("sub/deep.slang", "struct Deep { half d; }\nfloat below(float x) { return x; }\n");
    (void)folder.write("third-one.slang", "float third(float x) { return x; }\n");
    CompilerOptions options;
    options.functions = {"f", "second.f", "main.f"};
    const auto compiler = make_compiler(options);
    const Outcome<Module> outcome = compiler->reflect({main});
    ASSERT_TRUE(outcome.ok()) << describe(outcome.errors());
    const Module& module = outcome.value();
    EXPECT_EQ(module.functions.size(), 1U);
    std::map<std::string, NamedModule> named;
    for (const NamedModule& one : module.modules) named.emplace(one.name, one);
    ASSERT_EQ(named.size(), 4U);
    EXPECT_EQ(named.at("main").import_name, "main");
    EXPECT_EQ(named.at("main").functions, module.functions);
    const NamedModule& second = named.at("sub.second");
    EXPECT_EQ(second.import_name, "kf_module_sub_second");
    EXPECT_THAT(second.function_names, ElementsAre("Both.g", "Both.h", "f", "ns.f"));
    ASSERT_EQ(second.functions.size(), 5U);
    EXPECT_EQ(second.functions.at(2).doc, "Of the second.");
    EXPECT_EQ(second.functions.at(4).name, "float.more");
    EXPECT_TRUE(second.is_meant_by("second"));
    EXPECT_FALSE(second.is_meant_by("econd"));
    EXPECT_TRUE(named.at("third_one").functions.empty());
    EXPECT_THAT(named.at("third_one").function_names, ElementsAre("third"));
    EXPECT_THAT(named.at("deep").function_names, ElementsAre("below"));
    EXPECT_TRUE(named.at("deep").is_meant_by("sub.deep"));

    // In the module a type of that name is its own.
    const auto within = compiler->within(second.import_name);
    EXPECT_EQ(within->type_named("Both").value().value().fields.at(0).name, "b");
    EXPECT_EQ(within->type_named("Deep").value().value().fields.at(0).name, "d");
    EXPECT_FALSE(within->conforms("Both", "IDifferentiable").value());
    EXPECT_TRUE(within->conforms("float", "IDifferentiable").value());

    const auto text = [](const std::string& import, const std::string& parameters, const std::string& body) {
        return KernelSource{
            "kern",
            "import " + import +
                ";\nstruct A { float* x; }\n[shader(\"compute\")] "
                "[numthreads(64, 1, 1)]\nvoid kern(uint3 t : SV_DispatchThreadID, uniform A a) { " +
                parameters + " a.x[t.x] = " + body + "; }\n",
            {}};
    };
    const auto compiles = [&](const std::string& import, const std::string& body) {
        return compiler->compile(text(import, {}, body), CodeTarget::spirv).ok();
    };
    EXPECT_TRUE(compiles("kf_module_sub_second", "f(2)"));
    EXPECT_TRUE(compiles("main", "f(2)"));
    EXPECT_FALSE(compiles("main", "fourth(2)"));
    // What names a type that only the module's own imports have is found there.
    EXPECT_TRUE(compiler->compile(
        text("kf_module_sub_second", "Both b = { 1 }; Deep d = { 2 };", "ns.f(b, d)"), CodeTarget::spirv));
}

TEST(Reflect, IncludedFilesWithExtensions) {
    const ScratchFolder folder;
    const auto file =
        folder.write("main.slang", "#include \"ray.h\"\n/// Of its own.\nfloat own(Ray r) { return r.t; }\n");
    const auto header = folder.write(
        "ray.h",
        "#ifndef RAY\n#define RAY\n/// A ray.\nstruct Ray : IDifferentiable { float t; }\n"
        "/// Scales.\n[Differentiable] float3 scale(float a, no_diff float3 b) { return a * b; }\n"
        "extension Ray { /// Longer.\n float longer(float by) { return t + by; } }\n#endif\n");
    const auto compiler = make_compiler();
    const Outcome<Module> outcome = compiler->reflect({file});
    ASSERT_TRUE(outcome.ok()) << describe(outcome.errors());
    const Module& module = outcome.value();
    ASSERT_EQ(module.functions.size(), 3U);
    const Function& scale = function_named(module, "scale");
    EXPECT_EQ(scale.doc, "Scales.");
    EXPECT_EQ(scale.location.file, header.string());
    EXPECT_EQ(scale.location.line, 6);
    EXPECT_TRUE(scale.backward_differentiable);
    EXPECT_TRUE(scale.parameters.at(1).no_diff_written);
    EXPECT_EQ(function_named(module, "Ray.longer").parameters.at(0).type.name, "Ray");
    EXPECT_EQ(function_named(module, "own").doc, "Of its own.");
    EXPECT_EQ(module.structs.at(0).doc, "A ray.");
}

TEST(Reflect, PlacesBehindABranchThatIsLeftOut) {
    const Module module = reflect_text(
        "#if 0\n[Differentiable] float3 old(float a, float3 b) { return a * b; }\n#endif\n"
        "/// Documented.\n[Differentiable]\nfloat first(float a, no_diff float3 b) { return a; }\n"
        "struct S {\n    float x;\n    /// A constructor.\n    __init(int k) { x = k; }\n}\n");
    ASSERT_EQ(module.functions.size(), 2U);
    const Function& first = function_named(module, "first");
    EXPECT_EQ(first.doc, "Documented.");
    EXPECT_EQ(first.location.line, 6);
    EXPECT_TRUE(first.parameters.at(1).no_diff_written);
    EXPECT_EQ(function_named(module, "S.__init").doc, "A constructor.");
}

TEST(Reflect, OddFileNames) {
    const ScratchFolder folder;
    const auto compiler = make_compiler();
    const auto odd = folder.write("2d-shapes.v1.slang", "float f(float x) { return x; }\n");
    const auto same = folder.write("other/2d-shapes.v1.slang", "float g(float x) { return x; }\n");
    const Outcome<Module> module = compiler->reflect({odd, same});
    ASSERT_TRUE(module.ok()) << describe(module.errors());
    EXPECT_THAT(module.value().module_names, ElementsAre("_2d_shapes_v1", "_2d_shapes_v1_2"));
    const KernelSource source{"k",
                              "import _2d_shapes_v1; import _2d_shapes_v1_2;\nstruct Args { float* x; }\n"
                              "[shader(\"compute\")] [numthreads(1, 1, 1)]\n"
                              "void k(uniform Args args) { args.x[0] = f(1) + g(2); }\n",
                              {}};
    const Outcome<CompiledKernel> kernel = compiler->compile(source, CodeTarget::spirv);
    EXPECT_TRUE(kernel.ok()) << describe(kernel.errors());
}

TEST(Reflect, CommentsOfStructsAndFields) {
    const Module module = reflect_text(
        "/// A ray.\n/// Of light.\n[Tag] struct Ray {\n  /// Where it starts.\n  float3 pos, dir; ///< not "
        "this\n"
        "  float t; ///< How far.\n  int plain; // internal\n  /// Calls.\n  float f() { return t; } }\n"
        "namespace ns { struct Box<T : IFloat> { T size;\n/** In metres. */ T depth; }; }\n"
        "struct Silent { float x; }\n");
    using Fields = std::vector<std::pair<std::string, std::string>>;
    ASSERT_EQ(module.structs.size(), 2U);
    EXPECT_EQ(module.structs[0].name, "Ray");
    EXPECT_EQ(module.structs[0].doc, "A ray.\nOf light.");
    EXPECT_EQ(module.structs[0].fields,
              (Fields{{"pos", "Where it starts."}, {"dir", "Where it starts."}, {"t", "How far."}}));
    EXPECT_EQ(module.structs[1].name, "ns.Box");
    EXPECT_EQ(module.structs[1].doc, "");
    EXPECT_EQ(module.structs[1].fields, (Fields{{"depth", "In metres."}}));
}

TEST(Reflect, AnEmptyModuleHasNoFunctions) { EXPECT_THAT(reflect_text("").functions, IsEmpty()); }

}  // namespace
}  // namespace kf::gen
