// Values that calls combine: which function stands for which ways, and how the binder writes outputs.
#include "core/bind.h"
#include "core/choose.h"
#include "core/items.h"
#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using testing::AnyOf;
using testing::HasSubstr;
using G = Given;

Argument combined(Accumulate way, Argument argument) {
    argument.role = Role::result;
    argument.accumulate = way;
    return argument;
}

/// f(x) with a result of `rank`, that is combined so.
Manifest copied(Accumulate way, std::int64_t rank = 2, ScalarType scalar = ScalarType::float32) {
    ManifestBuilder builder;
    builder.add("copied", {tensor("x", 2, scalar), combined(way, tensor("result", rank, scalar))}, false);
    return builder.get();
}

/// Two choices of two and three ways.
Manifest six() {
    ManifestBuilder builder;
    for (const char* name : {"f", "f1", "f2", "f3", "f4", "f5"}) {
        builder.add(name, {tensor("a", 1), combined(Accumulate::sum, tensor("result", 1))});
    }
    for (Function& function : builder.get().functions) {
        function.choices = {{"result", {"none", "sum"}}, {"a.grad", {"sum", "push", "first"}}};
        function.chosen = {0, 1, 2, 3, 4, 5};
    }
    return builder.get();
}

std::size_t chosen(const Manifest& manifest, std::size_t from, std::vector<Accumulation> ways) {
    return detail::chosen_function(manifest, from, ways);
}

TEST(Accumulate, ChoosesFromWhereItIs) {
    const Manifest manifest = six();
    EXPECT_EQ(artifact::read(artifact::write(manifest)).functions, manifest.functions);
    EXPECT_EQ(chosen(manifest, 0, {}), 0U);
    EXPECT_EQ(chosen(manifest, 0, {{"result", "sum"}}), 3U);
    EXPECT_EQ(chosen(manifest, 0, {{"a.grad", "first"}}), 2U);
    EXPECT_EQ(chosen(manifest, 2, {{"result", "sum"}}), 5U) << "the other choice stays";
    EXPECT_EQ(chosen(manifest, 5, {{"a.grad", "sum"}, {"result", "none"}}), 0U);
    EXPECT_TRUE(is_hidden(manifest, manifest.functions[1]));
    EXPECT_FALSE(is_hidden(manifest, manifest.functions[0]));
    try {
        (void)chosen(manifest, 0, {{"b.grad", "sum"}});
        FAIL() << "accepted";
    } catch (const ArgumentError& error) {
        EXPECT_EQ(error.code(), ErrorCode::unknown_name);
        EXPECT_THAT(error.what(), HasSubstr("no choice 'b.grad'; there is: 'result', 'a.grad'"));
    }
}

TEST(Accumulate, InconsistentChoicesAreRefused) {
    const auto expect_corrupt = [](const auto& edit, const char* what) {
        Manifest manifest = six();
        edit(manifest);
        try {
            (void)artifact::read(artifact::write(manifest));
            ADD_FAILURE() << "accepted: " << what;
        } catch (const ArtifactError& error) {
            EXPECT_THAT(error.what(), AnyOf(HasSubstr("choice"), HasSubstr("be chosen"))) << what;
        }
    };
    expect_corrupt([](Manifest& m) { m.functions[2].chosen.pop_back(); }, "a function too few");
    expect_corrupt([](Manifest& m) { m.functions[2].chosen[0] = 6; }, "no such function");
    expect_corrupt([](Manifest& m) { m.functions[2].chosen[2] = 1; }, "not one of its own choices");
    expect_corrupt([](Manifest& m) { m.functions[2].choices[0].ways[0] = "x"; },
                   "other choices than the rest");
    expect_corrupt([](Manifest& m) { m.functions[2].choices[0].ways.clear(); }, "a choice of nothing");
    expect_corrupt(
        [](Manifest& m) {
            for (Function& function : m.functions) {
                function.choices[0].ways.resize(3000, "x");
            }
        },
        "too many");
}

TEST(Accumulate, OutputsHaveModesAsGradients) {
    struct Case {
        Dims shape;
        GradMode mode;
        bool contiguous;
    };
    const Manifest manifest = copied(Accumulate::sum);
    for (const Case& c : {Case{{4, 5}, GradMode::injective, true}, Case{{1, 1}, GradMode::everywhere, true},
                          Case{{1, 5}, GradMode::partial, false}, Case{{4, 1}, GradMode::partial, false}}) {
        const auto binding = forward(manifest, {G::tensor(at(A, {4, 5})), G::tensor(at(B, c.shape))});
        EXPECT_EQ(binding.arguments[1].mode, c.mode) << to_string(c.shape);
        EXPECT_EQ(binding.arguments[1].grad_out.address, B) << to_string(c.shape);
        EXPECT_EQ(is_contiguous(manifest, binding), c.contiguous) << to_string(c.shape);
        EXPECT_EQ(binding.arguments[1].step, c.mode == GradMode::injective ? 1U : 0U);
    }
    const auto made = forward(manifest, {G::tensor(at(A, {4, 5})), G::none()});
    EXPECT_EQ(made.arguments[1].allocate_shape, (Dims{1, 1}));
    EXPECT_EQ(made.arguments[1].mode, GradMode::everywhere);
}

TEST(Accumulate, OutputsMayLackDimensions) {
    const auto made = forward(copied(Accumulate::sum, 1), {G::tensor(at(A, {4, 5})), G::none()});
    EXPECT_EQ(made.arguments[1].allocate_shape, (Dims{5}));
    EXPECT_EQ(made.arguments[1].mode, GradMode::partial);
    expect_error(ErrorCode::shape_mismatch, HasSubstr("it has no dimension 0 of the call, of extent 4"), [] {
        (void)forward(copied(Accumulate::none, 1), {G::tensor(at(A, {4, 5})), G::none()});
    });
}

TEST(Accumulate, HalfIsSummedInScratch) {
    const auto binding = forward(
        copied(Accumulate::sum, 2, ScalarType::float16),
        {G::tensor(at(A, {4, 5}), ScalarType::float16), G::tensor(at(B, {1, 5}), ScalarType::float16)});
    EXPECT_EQ(binding.arguments[1].scratch_count, 5);
}

TEST(Accumulate, TheFirstTakesIndices) {
    const Manifest manifest = copied(Accumulate::first);
    const auto shared = forward(manifest, {G::tensor(at(A, {4, 5})), G::tensor(at(B, {1, 1}))});
    EXPECT_EQ(shared.arguments[1].mode, GradMode::injective);
    EXPECT_FALSE(is_contiguous(manifest, shared)) << "contiguous kernels know no indices";
    EXPECT_TRUE(
        is_contiguous(manifest, forward(manifest, {G::tensor(at(A, {4, 5})), G::tensor(at(B, {4, 5}))})));
}

TEST(Accumulate, PushedGradientsHaveTheCallsShape) {
    ManifestBuilder builder;
    Argument a = with_gradient(tensor("a", 1));
    a.accumulate = Accumulate::push;
    builder.add("f", {a, tensor("x", 2), as(Role::result, tensor("result", 2))});
    const Manifest manifest = builder.get();
    const auto binding =
        backward(manifest, {G::tensor(at(A, {1})).out(at(C, {4, 5})), G::tensor(at(B, {4, 5})), G::none()});
    EXPECT_EQ(binding.arguments[0].mode, GradMode::injective);
    EXPECT_EQ(binding.arguments[0].grad_out.strides, (Dims{5, 1}));
    EXPECT_EQ(binding.arguments[0].step, 0U);
    EXPECT_TRUE(is_contiguous(manifest, binding));
    EXPECT_FALSE(is_contiguous(manifest, backward(manifest, {G::tensor(at(A, {1})).out(at(C, {4, 5}, {1, 4})),
                                                             G::tensor(at(B, {4, 5})), G::none()})));
}

TEST(Accumulate, FusedResultsAreSummedWhileTheirGradientsFlowIn) {
    ManifestBuilder builder;
    builder.add("f", {with_gradient(tensor("a", 2)), combined(Accumulate::sum, tensor("result", 2))});
    Manifest manifest = builder.get();
    Call& call = manifest.functions.front().calls.front();
    call.arguments.back().differentiable = true;
    call.has_fused = true;
    call.fused = call.backward;
    const Given a = G::tensor(at(A, {4, 5})).out(at(B, {4, 5}));
    const auto fused = [&](const Given& result) {
        return kf::test::bind(manifest, detail::PassKind::fused, {a, result});
    };
    const auto rows = fused(G::tensor(at(C, {4, 1})).in(at(2 * C, {4, 1})));
    EXPECT_EQ(rows.arguments[0].mode, GradMode::injective);
    EXPECT_EQ(rows.arguments[1].mode, GradMode::partial);
    EXPECT_EQ(rows.arguments[1].grad_out.address, C);
    EXPECT_EQ(rows.arguments[1].grad_in.strides, (Dims{1, 0}));
    EXPECT_EQ(fused(G::none()).arguments[1].allocate_shape, (Dims{1, 1}));
    EXPECT_EQ(fused(G::none()).arguments[1].mode, GradMode::everywhere);
    expect_error(ErrorCode::aliasing, HasSubstr("shares memory with argument 'result'"), [&] {
        (void)fused(G::tensor(at(B, {4, 1})));
    });
    expect_error(ErrorCode::aliasing, HasSubstr("shares memory with the gradient of 'result', which is read"),
                 [&] {
                     (void)fused(G::tensor(at(C, {4, 1})).in(at(C, {4, 1})));
                 });
}

}  // namespace
