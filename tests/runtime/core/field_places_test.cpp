// Fields that lie where others do: found where calls write them.
#include "core/field_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "runtime/core/manifests.h"

namespace kf::manifest {
namespace {

using testing::Eq;
using testing::Optional;
using testing::Pair;

Argument field(std::int64_t offset, Role role, std::vector<std::int64_t> extents = {},
               std::vector<std::int64_t> spacing = {}) {
    Argument argument = test::tensor("field", 1, ScalarType::float32, std::move(extents));
    argument.role = role;
    argument.offset = offset;
    argument.spacing = std::move(spacing);
    return argument;
}

TEST(FieldPlaces, AreApartInStructs) {
    EXPECT_THAT(shared_places(std::vector{field(0, Role::inout, {3}), field(12, Role::inout)}, 16),
                Eq(std::nullopt));
    // One field's numbers lie between the other's, and in an array of structs.
    EXPECT_THAT(shared_places(
                    std::vector{field(0, Role::inout, {2, 3}, {4, 1}), field(12, Role::inout, {2}, {4})}, 32),
                Eq(std::nullopt));
}

TEST(FieldPlaces, MayBeSharedByWhatIsRead) {
    EXPECT_THAT(shared_places(std::vector{field(0, Role::in, {3}), field(0, Role::in)}, 12),
                Eq(std::nullopt));
}

TEST(FieldPlaces, AreNotSharedByWhatIsWritten) {
    for (const auto& [one, other] : {std::pair(Role::inout, Role::in), {Role::in, Role::out}}) {
        EXPECT_THAT(shared_places(std::vector{field(0, one, {3}), field(8, other)}, 12),
                    Optional(Pair(0U, 1U)));
        EXPECT_THAT(shared_places(std::vector{field(12, Role::in), field(0, one, {2, 3}, {4, 1}),
                                              field(4, other, {2}, {4})},
                                  32),
                    Optional(Pair(1U, 2U)));
    }
    std::vector<Argument> with_gradient{field(0, Role::in, {3}), field(4, Role::in)};
    with_gradient[1].gradient = Gradient::automatic;
    EXPECT_THAT(shared_places(with_gradient, 12), Optional(Pair(0U, 1U)));
}

ParameterTree structs(std::int64_t size, std::vector<std::int64_t> extents = {}) {
    ParameterTree tree;
    tree.form = Form::tensor;
    tree.size = size;
    tree.extents = std::move(extents);
    return tree;
}

TEST(StructScalars, AreOfOneTypeWithoutGaps) {
    EXPECT_THAT(struct_scalars(structs(16), std::vector{field(12, Role::in), field(0, Role::in, {3})}),
                Optional(StructScalars{ScalarType::float32, {4}}));
    std::vector<Argument> mixed{field(0, Role::in), field(4, Role::in)};
    mixed[1].element.scalar = ScalarType::int32;
    EXPECT_THAT(struct_scalars(structs(8), mixed), Eq(std::nullopt));
    EXPECT_THAT(struct_scalars(structs(16), std::vector{field(0, Role::in), field(8, Role::in, {2})}),
                Eq(std::nullopt));
    EXPECT_THAT(struct_scalars(structs(16), std::vector{field(0, Role::in, {3}), field(8, Role::in, {2})}),
                Eq(std::nullopt));
}

TEST(StructScalars, OfArraysHaveTheArraysExtents) {
    const std::vector fields{field(0, Role::in, {2, 3}, {4, 1}), field(12, Role::in, {2}, {4})};
    EXPECT_THAT(struct_scalars(structs(16, {2}), fields),
                Optional(StructScalars{ScalarType::float32, {2, 4}}));
    ParameterTree by_value = structs(16, {2});
    by_value.form = Form::value;
    EXPECT_THAT(struct_scalars(by_value, fields), Eq(std::nullopt));
}

}  // namespace
}  // namespace kf::manifest
