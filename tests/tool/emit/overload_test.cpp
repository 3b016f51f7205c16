// How kfgen list and inspect print overloads.
#include "emit/overload.h"

#include <gtest/gtest.h>

#include "runtime/core/manifests.h"

namespace kf::gen {
namespace {

using manifest::Form;
using manifest::Role;

manifest::Argument leaf(const std::string& name, std::vector<std::int64_t> extents, bool tensor, Role role) {
    manifest::Argument argument;
    argument.name = name;
    argument.element = {ScalarType::float32, std::move(extents)};
    if (tensor) argument.kind = manifest::kinds::Tensor{};
    argument.rank = tensor ? 2 : 0;
    argument.role = role;
    return argument;
}

manifest::ParameterTree node(const std::string& name, Form form, std::int64_t first, std::int64_t leaves,
                             const std::string& type = {}) {
    manifest::ParameterTree parameter;
    parameter.name = name;
    parameter.form = form;
    parameter.leaf = first;
    parameter.leaves = leaves;
    parameter.type = type;
    return parameter;
}

TEST(OverloadText, SpellsKinds) {
    manifest::Call call;
    call.rank = 2;
    call.arguments = {leaf("a", {3}, false, Role::in), leaf("x", {2, 3}, true, Role::inout),
                      leaf("result", {}, true, Role::result)};
    call.arguments[1].type = "float3[2]";
    kf::test::set_leaves(call);
    EXPECT_EQ(overload_text(call),
              "(a: value<float3>, inout x: tensor<float3[2]>[2]) -> tensor<float>[2], rank 2");
}

// Structs that are passed whole are one argument, whatever they hold.
TEST(OverloadText, SpellsStructs) {
    manifest::Call call;
    call.rank = 2;
    call.arguments = {leaf("ray.pos", {3}, false, Role::in),       leaf("ray.t", {}, false, Role::in),
                      leaf("hit.pos", {3}, true, Role::out),       leaf("hit.t", {}, true, Role::out),
                      leaf("soa.pos", {3}, false, Role::in),       leaf("soa.t", {}, true, Role::inout),
                      leaf("result.pos", {3}, true, Role::result), leaf("result.t", {}, true, Role::result)};
    call.parameters = {node("ray", Form::value, 0, 2, "Ray"), node("hit", Form::tensor, 2, 2, "Ray"),
                       node("soa", Form::fields, 4, 2, "Ray"), node("result", Form::tensor, 6, 2, "Ray")};
    call.parameters[0].extents = {4, 2};
    call.parameters[2].fields = {node("pos", Form::leaf, 4, 1), node("t", Form::leaf, 5, 1)};
    EXPECT_EQ(overload_text(call),
              "(ray: value<Ray[4][2]>, out hit: tensor<Ray>[2], inout soa: {pos: value<float3>, "
              "t: tensor<float>[2]}) -> tensor<Ray>[2], rank 2");
}

}  // namespace
}  // namespace kf::gen
