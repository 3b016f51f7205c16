// Which overload takes which arguments.
#include "core/resolve.h"

#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::ArgShape;
using detail::resolve;
using testing::AllOf;
using testing::HasSubstr;
using Kind = ArgShape::Kind;

ArgShape weak(ScalarType scalar, Dims shape = {}) { return {Kind::weak, scalar, shape}; }
ArgShape whole_value(Dims shape = {}) { return weak(ScalarType::int64, shape); }
ArgShape real(Dims shape = {}) { return weak(ScalarType::float64, shape); }
ArgShape given(ScalarType scalar, Dims shape) { return {Kind::tensor, scalar, shape}; }
ArgShape array(ScalarType scalar, Dims shape) { return {Kind::array, scalar, shape}; }
ArgShape none() { return {}; }

Argument result(Argument argument) { return as(Role::result, std::move(argument)); }

Function overloads() {
    ManifestBuilder builder;
    builder.add("add", {value("a"), value("b"), result(value("result"))}, false)
        .add("add", {tensor("a", 1), value("b"), result(tensor("result", 1))}, false)
        .add("add", {tensor("a", 1), tensor("b", 1), result(tensor("result", 1))}, false)
        .add("add", {tensor("a", 2), tensor("b", 1), result(tensor("result", 2))}, false);
    return builder.get().functions[0];
}

TEST(Resolve, GoesByRank) {
    const Function add = overloads();
    EXPECT_EQ(resolve(add, std::vector{whole_value(), real(), none()}), 0U);
    EXPECT_EQ(resolve(add, std::vector{whole_value({3}), whole_value(), none()}), 1U);
    EXPECT_EQ(resolve(add, std::vector{whole_value({3}), whole_value({4}), none()}), 2U);
    EXPECT_EQ(resolve(add, std::vector{given(ScalarType::float32, {2, 3}), array(ScalarType::float32, {3}),
                                       none()}),
              3U);
}

TEST(Resolve, ListsCandidates) {
    expect_error(ErrorCode::no_overload,
                 AllOf(HasSubstr("add: no overload takes (an int32 tensor of shape (3,), a whole number)"),
                       HasSubstr("; candidates:\n  add(a: float tensor[1], b: float) -> float tensor[1]\n"
                                 "    argument 'a': expected float tensor[1], found an int32 tensor of shape "
                                 "(3,); made of floats it is one, kf.Tensor([1., …]), or with "
                                 "dtype=np.float32\n"),
                       HasSubstr(" more, farther off: 'add.signatures' lists them")),
                 [] {
                     resolve(overloads(), std::vector{given(ScalarType::int32, {3}), whole_value(), none()});
                 });
}

TEST(Resolve, PrefersTheNearestScalarType) {
    ManifestBuilder builder;
    for (const ScalarType scalar : {ScalarType::float64, ScalarType::float32, ScalarType::int64,
                                    ScalarType::int32, ScalarType::boolean}) {
        builder.add("f", {value("a", scalar), result(value("result", scalar))}, false);
    }
    const Function f = builder.get().functions[0];
    EXPECT_EQ(resolve(f, std::vector{real(), none()}), 1U);
    EXPECT_EQ(resolve(f, std::vector{whole_value(), none()}), 3U);
    EXPECT_EQ(resolve(f, std::vector{weak(ScalarType::boolean), none()}), 4U);
    EXPECT_EQ(resolve(f, std::vector{array(ScalarType::float64, {}), none()}), 0U);
    EXPECT_EQ(resolve(f, std::vector{array(ScalarType::int64, {}), none()}), 2U);
}

ArgShape components(ScalarType scalar, Dims shape) {
    ArgShape named = weak(scalar, shape);
    named.components = true;
    return named;
}

TEST(Resolve, ANumberMayBeAVector) {
    ManifestBuilder builder;
    Argument numbers = value("v", ScalarType::float32, {4});
    numbers.type = "float[4]";
    builder.add("f", {value("v", ScalarType::float32, {3}), result(value("result"))}, false)
        .add("g", {numbers, result(value("result"))}, false)
        .add("h", {value("v", ScalarType::float32, {2}), result(value("result"))}, false)
        .add("h", {value("v", ScalarType::float32, {3}), result(value("result"))}, false)
        .add("i", {value("v", ScalarType::float32, {2}), result(value("result"))}, false)
        .add("i", {value("v"), result(value("result"))}, false)
        .add("j", {value("v", ScalarType::float32, {2, 2}), result(value("result"))}, false);
    const Manifest manifest = builder.get();
    const auto pick = [&](std::size_t function, const ArgShape& v) {
        return resolve(manifest.functions.at(function), std::vector{v, none()});
    };
    EXPECT_EQ(pick(0, whole_value()), 0U);
    EXPECT_EQ(pick(0, real()), 0U);
    EXPECT_EQ(pick(0, components(ScalarType::float64, {3})), 0U);
    expect_error(ErrorCode::rank_mismatch, HasSubstr("expected float3, found a bool"),
                 [&] { pick(0, weak(ScalarType::boolean)); });
    expect_error(ErrorCode::rank_mismatch, HasSubstr("expected float[4], found a floating number"),
                 [&] { pick(1, real()); });
    expect_error(ErrorCode::type_mismatch, HasSubstr("expected float[4], found x, y, z, w of whole numbers"),
                 [&] { pick(1, components(ScalarType::int64, {4})); });
    expect_error(ErrorCode::no_overload, HasSubstr("could be a float2 or a float3: give every component"),
                 [&] { pick(2, real()); });
    EXPECT_EQ(pick(2, real({3})), 1U);
    EXPECT_EQ(pick(3, real()), 1U);
    expect_error(ErrorCode::rank_mismatch, HasSubstr("expected float2x2, found a whole number"),
                 [&] { pick(4, whole_value()); });
}

TEST(Resolve, TellsWhatIsWrongWithASingleCandidate) {
    ManifestBuilder builder;
    builder.add("f",
                {value("n", ScalarType::int32), tensor("x", 1, ScalarType::float32, {3}),
                 result(tensor("result", 1))},
                false);
    const Function f = builder.get().functions[0];
    const ArgShape x = given(ScalarType::float32, {5, 3});
    EXPECT_EQ(resolve(f, std::vector{whole_value(), x, none()}), 0U);
    expect_error(ErrorCode::type_mismatch,
                 testing::Eq("f: argument 'n': expected int, found a floating number"), [&] {
                     resolve(f, std::vector{real(), x, none()});
                 });
    expect_error(ErrorCode::type_mismatch,
                 HasSubstr("argument 'n': expected int, found a bool; int() converts it"), [&] {
                     resolve(f, std::vector{weak(ScalarType::boolean), x, none()});
                 });
    expect_error(
        ErrorCode::rank_mismatch,
        HasSubstr("argument 'x': expected float3 tensor[1] (shape (d0, 3)), found a list of shape (3,)"),
        [&] {
            resolve(f, std::vector{whole_value(), real({3}), none()});
        });
    expect_error(ErrorCode::missing_argument,
                 HasSubstr("argument 'x': expected float3 tensor[1], found nothing"), [&] {
                     resolve(f, std::vector{whole_value(), none(), none()});
                 });
    expect_error(ErrorCode::no_overload, HasSubstr("f(n: int, x: float3 tensor[1]) -> float tensor[1]"),
                 [&] { resolve(f, std::vector{whole_value()}); });
}

TEST(Resolve, LeavesExtentsToTheBinderUnlessTheyDecide) {
    ManifestBuilder builder;
    builder.add("f", {tensor("x", 1, ScalarType::float32, {3}), result(tensor("result", 1))}, false)
        .add("f", {tensor("x", 1, ScalarType::float32, {4}), result(tensor("result", 1))}, false);
    const Function f = builder.get().functions[0];
    EXPECT_EQ(resolve(f, std::vector{given(ScalarType::float32, {5, 4}), none()}), 1U);
    EXPECT_EQ(resolve(f, std::vector{given(ScalarType::float32, {5, 3}), none()}), 0U);
    EXPECT_EQ(resolve(f, std::vector{given(ScalarType::float32, {5, 7}), none()}), 0U);
}

}  // namespace
