// Inputs are laid out and filled as the call's kinds imply.
#include "check/argument_data.h"

#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "core/items.h"
#include "runtime/core/manifests.h"

namespace kf::check {
namespace {

using manifest::Role;
using test::as;
using test::tensor;
using test::value;
using test::with_gradient;
using testing::ElementsAre;

manifest::Function differentiated(std::vector<manifest::Argument> arguments, std::int64_t rank) {
    manifest::Function function;
    function.name = "f";
    manifest::Call& call = function.calls.emplace_back();
    for (manifest::Argument& argument : arguments) {
        argument.map.clear();
        for (std::int64_t k = 0; k < argument.call_rank; ++k)
            argument.map.push_back(rank - argument.call_rank + k);
    }
    call.arguments = std::move(arguments);
    test::set_leaves(call);
    call.rank = rank;
    call.has_backward = true;
    call.backward = {0, 1, 2};
    return function;
}

manifest::Argument whole(manifest::Argument argument, manifest::Access access) {
    argument.kind = manifest::kinds::WholeTensor{access};
    argument.inner_rank = argument.rank;
    argument.call_rank = 0;
    return argument;
}

std::vector<std::int64_t> shape_of(const ArgumentData& item) {
    return {item.shape.begin(), item.shape.end()};
}

TEST(Items, EveryFormHasItsCase) {
    const auto function = differentiated(
        {with_gradient(tensor("a", 2)), with_gradient(tensor("b", 1)), as(Role::result, tensor("result", 2))},
        2);
    const auto cases = cases_of(function, function.calls[0], {});
    ASSERT_EQ(cases.size(), 5U);
    std::set<Case::Layout> layouts;
    for (const Case& one : cases) {
        layouts.insert(one.layout);
        const Arguments made = lay_out(function, function.calls[0], one, {});
        const auto a = shape_of(made.items[0]);
        const auto b = shape_of(made.items[1]);
        EXPECT_EQ(shape_of(made.items[2]), one.shape) << case_name(one.layout);
        EXPECT_EQ(made.items[0].bytes.size(), made.leaves[0].positions.size() * 4);
        switch (one.layout) {
            case Case::Layout::whole:
                EXPECT_THAT(a, ElementsAre(3, 5));
                EXPECT_THAT(b, ElementsAre(5));
                EXPECT_EQ(made.items[0].gapped, 0U);
                break;
            case Case::Layout::strided:
                EXPECT_EQ(made.items[0].gapped, 2U);
                EXPECT_EQ(made.items[2].gapped, 2U);
                break;
            case Case::Layout::shared:
                EXPECT_THAT(a, ElementsAre(1, 5));
                EXPECT_THAT(b, ElementsAre(1));
                break;
            case Case::Layout::rows:
                EXPECT_THAT(a, ElementsAre(1, 33));
                EXPECT_THAT(b, ElementsAre(33));
                break;
            case Case::Layout::flat:
                EXPECT_THAT(a, ElementsAre(1, 5));
                EXPECT_THAT(b, ElementsAre(5));
                break;
        }
    }
    EXPECT_EQ(layouts.size(), cases.size());
}

TEST(Items, RowsAreLongWhereElementsLieInThem) {
    // A tensor of vectors whose scalars are calls of their own.
    manifest::Argument a = with_gradient(tensor("a", 2));
    a.element.extents = {3};
    a.call_rank = 3;
    const auto function = differentiated({a, as(Role::result, tensor("result", 3))}, 3);
    const auto cases = cases_of(function, function.calls[0], {});
    ASSERT_EQ(cases.back().layout, Case::Layout::rows);
    EXPECT_THAT(cases.back().shape, ElementsAre(2, 33, 3));
    const Arguments made = lay_out(function, function.calls[0], cases.back(), {});
    EXPECT_THAT(shape_of(made.items[0]), ElementsAre(1, 33));
}

TEST(Items, CombinedOutputsAreSharedToo) {
    for (const manifest::Accumulate way : {manifest::Accumulate::sum, manifest::Accumulate::first}) {
        manifest::Argument result = as(Role::result, tensor("result", 2));
        result.accumulate = way;
        const auto function =
            differentiated({with_gradient(tensor("a", 2)), with_gradient(tensor("b", 1)), result}, 2);
        for (const Case& one : cases_of(function, function.calls[0], {})) {
            SCOPED_TRACE(case_name(one.layout));
            const Arguments laid_out = lay_out(function, function.calls[0], one, {});
            const ArgumentData& made = laid_out.items[2];
            // Of arguments of different ranks only the flat case has contiguous kernels run.
            const bool apart = (one.layout == Case::Layout::whole || one.layout == Case::Layout::flat) &&
                               way == manifest::Accumulate::first;
            const std::int64_t rows = apart || one.layout == Case::Layout::rows ? one.shape[0] : 1;
            const std::int64_t columns = apart || one.layout == Case::Layout::shared ? one.shape[1] : 1;
            EXPECT_THAT(shape_of(made), ElementsAre(rows, columns));
            EXPECT_EQ(made.gapped, 0U);
        }
    }
}

TEST(Items, NothingIsSharedWhereTheSpecForbidsIt) {
    auto function = differentiated({with_gradient(tensor("a", 2)), as(Role::result, tensor("result", 2))}, 2);
    function.calls[0].strict_broadcasting = true;
    for (const Case& one : cases_of(function, function.calls[0], {})) {
        EXPECT_TRUE(one.layout == Case::Layout::whole || one.layout == Case::Layout::strided);
    }
}

TEST(Items, GivenShapesSettleExtents) {
    const auto function =
        differentiated({whole(with_gradient(tensor("w", 2)), manifest::Access::read),
                        with_gradient(tensor("x", 1)), as(Role::result, tensor("result", 1))},
                       1);
    const std::vector<GivenShape> shapes{{"w", {16, 21}}, {"f.x", {7}}, {"x", {9}}, {"x", {1, 2}}};
    const auto cases = cases_of(function, function.calls[0], shapes);
    const Arguments made = lay_out(function, function.calls[0], cases[0], shapes);
    EXPECT_THAT(shape_of(made.items[0]), ElementsAre(16, 21));
    EXPECT_THAT(shape_of(made.items[1]), ElementsAre(7));
    EXPECT_THAT(shape_of(made.items[2]), ElementsAre(7));
    EXPECT_TRUE(is_meant(shapes[0], function, function.calls[0].arguments[0]));
    EXPECT_FALSE(is_meant({"w", {16}}, function, function.calls[0].arguments[0]));
    EXPECT_FALSE(is_meant({"g.w", {16, 21}}, function, function.calls[0].arguments[0]));
}

TEST(Items, LaunchesHaveAThreadForEachElementAlongADimension) {
    auto function = differentiated({whole(with_gradient(tensor("x", 2)), manifest::Access::read),
                                    whole(with_gradient(tensor("y", 1)), manifest::Access::read_write)},
                                   0);
    manifest::Call& call = function.calls[0];
    call.rank = 3;
    const auto laid_out = [&](const GroupSize& group, const std::vector<GivenShape>& shapes) {
        const Case chosen = cases_of(function, call, shapes, group)[0];
        const Arguments made = lay_out(function, call, chosen, shapes);
        std::vector<std::int64_t> all = chosen.shape;
        for (const ArgumentData& item : made.items)
            all.insert(all.end(), item.shape.begin(), item.shape.end());
        EXPECT_EQ(element_count(function, call, call.arguments[0], chosen, shapes),
                  made.items[0].shape[0] * made.items[0].shape[1]);
        return all;
    };
    call.dispatch = manifest::Dispatch::threads;
    EXPECT_THAT(laid_out({256, 1, 1}, {}), ElementsAre(1, 1, 5, 5, 5, 5));
    EXPECT_THAT(laid_out({8, 8, 4}, {}), ElementsAre(5, 5, 5, 5, 5, 5));
    EXPECT_THAT(laid_out({16, 16, 1}, {{"f.x", {3, 7}}}), ElementsAre(1, 3, 3, 3, 7, 5));
    // Whole groups run of entry points.
    call.dispatch = manifest::Dispatch::groups;
    EXPECT_THAT(laid_out({16, 8, 1}, {}), ElementsAre(1, 8, 16, 16, 16, 16));
    EXPECT_THAT(laid_out({256, 1, 1}, {{"x", {9, 4}}, {"y", {300}}}), ElementsAre(1, 1, 4, 9, 4, 300));
}

TEST(Items, IndicesDifferFromCallToCallAndStayInside) {
    const auto function = differentiated({tensor("at", 2, ScalarType::int32),
                                          whole(with_gradient(tensor("x", 1)), manifest::Access::read_write)},
                                         2);
    const auto cases = cases_of(function, function.calls[0], {});
    for (const Case& one : cases) {
        Arguments made = lay_out(function, function.calls[0], one, {});
        std::mt19937_64 random(3);
        fill(made, function.calls[0], one, -1, 1, random);
        std::set<std::int32_t> found;
        for (const std::size_t position : made.leaves[0].positions) {
            std::int32_t index = -1;
            std::memcpy(&index, made.items[0].bytes.data() + position, sizeof index);
            EXPECT_GE(index, 0);
            EXPECT_LT(index, made.items[1].shape[0]);
            found.insert(index);
        }
        EXPECT_EQ(found.size(), made.leaves[0].positions.size());
    }
}

TEST(Items, NumbersComeFromTheRangeAndTheSeed) {
    const auto function = differentiated(
        {with_gradient(tensor("x", 1, ScalarType::float16)), with_gradient(value("k", ScalarType::float64)),
         as(Role::result, tensor("result", 1))},
        1);
    const auto numbers = [&](std::uint64_t seed) {
        const Case chosen = cases_of(function, function.calls[0], {})[0];
        Arguments made = lay_out(function, function.calls[0], chosen, {});
        std::mt19937_64 random(seed);
        fill(made, function.calls[0], chosen, 2, 3, random);
        std::vector<double> values;
        for (const std::size_t l : {0U, 1U}) {
            for (const std::size_t position : made.leaves[l].positions) {
                values.push_back(get(made.items[l].bytes, made.leaves[l].scalar, position));
            }
        }
        return values;
    };
    const std::vector<double> values = numbers(1);
    EXPECT_EQ(values.size(), 6U);
    for (const double number : values) {
        EXPECT_GE(number, 2);
        EXPECT_LE(number, 3);
    }
    EXPECT_EQ(numbers(1), values);
    EXPECT_NE(numbers(2), values);
}

}  // namespace
}  // namespace kf::check
