// The binder's gradients: modes, scratch, missing ones, and what may not share memory.
#include "core/bind.h"
#include "core/launch_size.h"
#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using G = Given;

constexpr std::uint64_t E = 0x40000;

Manifest scale(ScalarType scalar, std::vector<std::int64_t> extents = {},
               Gradient gradient = Gradient::automatic) {
    ManifestBuilder builder;
    builder.add("scale", {with_gradient(tensor("a", 2, scalar, extents), gradient),
                          with_gradient(tensor("b", 2, scalar, extents)),
                          as(Role::result, tensor("result", 2, scalar, extents))});
    return builder.get();
}

struct ModeCase {
    Dims shape;    ///< of the argument with the gradient
    Dims strides;  ///< of its gradient; empty: row-major
    Dims other;    ///< shape of the other input
    GradMode mode;
    bool contiguous;
};

TEST(BindGradients, ChooseModes) {
    const Manifest manifest = scale(ScalarType::float32);
    for (const ModeCase& c : {
             ModeCase{{4, 5}, {}, {4, 5}, GradMode::injective, true},
             ModeCase{{4, 5}, {}, {1, 1}, GradMode::injective, true},
             ModeCase{{4, 5}, {1, 4}, {4, 5}, GradMode::injective, false},
             ModeCase{{1, 1}, {}, {4, 5}, GradMode::everywhere, true},
             ModeCase{{1, 1}, {}, {1, 1}, GradMode::injective, true},
             ModeCase{{1, 5}, {}, {4, 5}, GradMode::partial, false},
             ModeCase{{4, 1}, {}, {4, 5}, GradMode::partial, false},
             ModeCase{{1, 5}, {}, {1, 5}, GradMode::injective, true},
             ModeCase{{1, 1}, {}, {1, 5}, GradMode::everywhere, true},
             ModeCase{{4, 5}, {0, 1}, {4, 5}, GradMode::partial, false},  // the gradient is a broadcast view
             ModeCase{{4, 5}, {0, 0}, {4, 5}, GradMode::everywhere, false},
             ModeCase{{4, 5}, {1, 1}, {4, 5}, GradMode::partial, false},  // elements share memory
         }) {
        const auto binding = backward(manifest, {G::tensor(at(A, c.shape)).out(at(D, c.shape, c.strides)),
                                                 G::tensor(at(B, c.other)), G::none()});
        EXPECT_EQ(binding.arguments[0].mode, c.mode) << to_string(c.shape) << to_string(c.strides);
        EXPECT_EQ(is_contiguous(manifest, binding), c.contiguous)
            << to_string(c.shape) << to_string(c.strides);
        EXPECT_EQ(binding.arguments[1].mode, GradMode::none);
        EXPECT_EQ(binding.temporary.size, 0);
    }
}

TEST(BindGradients, AskOnlyOfThePassWhatItTouches) {
    const Manifest manifest = scale(ScalarType::float32);
    // Neither the output's elements nor an unwanted gradient need be dense.
    const auto binding =
        backward(manifest, {G::tensor(at(A, {4, 5})).out(at(D, {4, 5})), G::tensor(at(B, {4, 5})),
                            G::tensor(at(C, {4, 5}, {1, 4})).out(at(E, {4, 5}, {0, 0}))});
    EXPECT_TRUE(is_contiguous(manifest, binding));
    // The gradient that flows in is read.
    EXPECT_FALSE(is_contiguous(
        manifest, backward(manifest, {G::tensor(at(A, {4, 5})).out(at(D, {4, 5})), G::tensor(at(B, {4, 5})),
                                      G::tensor(at(C, {4, 5})).in(at(E, {4, 5}, {1, 4}))})));
}

TEST(BindGradients, MissingOutputGradientIsAddressZero) {
    const auto binding = backward(scale(ScalarType::float32), {G::tensor(at(A, {4, 5})).out(at(D, {4, 5})),
                                                               G::tensor(at(B, {4, 5})), G::none()});
    EXPECT_FALSE(binding.arguments[2].grad_in.present);
    EXPECT_EQ(binding.arguments[2].grad_in.address, 0U);
}

TEST(BindGradients, AreNeededWhereTheSpecSaysSo) {
    expect_error(ErrorCode::missing_gradient, StartsWith("scale: argument 'a': backward: "), [] {
        backward(scale(ScalarType::float32, {}, Gradient::required),
                 {G::tensor(at(A, {4, 5})), G::tensor(at(B, {4, 5})).out(at(D, {4, 5})), G::none()});
    });
    expect_error(ErrorCode::missing_gradient,
                 AllOf(HasSubstr("no input carries a gradient"), HasSubstr("'a', 'b'")), [] {
                     backward(scale(ScalarType::float32),
                              {G::tensor(at(A, {4, 5})), G::tensor(at(B, {4, 5})), G::none()});
                 });
    // grad_in of an input doesn't count.
    expect_error(ErrorCode::missing_gradient, HasSubstr("no input"), [] {
        backward(scale(ScalarType::float32),
                 {G::tensor(at(A, {4, 5})).in(at(D, {4, 5})), G::tensor(at(B, {4, 5})), G::none()});
    });
}

TEST(BindGradients, HaveTheShapeOfTheirTensor) {
    expect_error(ErrorCode::shape_mismatch, HasSubstr("argument 'a': its gradient has shape [1, 5]"), [] {
        backward(scale(ScalarType::float32),
                 {G::tensor(at(A, {4, 5})).out(at(D, {1, 5})), G::tensor(at(B, {4, 5})), G::none()});
    });
}

TEST(BindGradients, OfValuesAddUpInTemporaryMemory) {
    const Manifest manifest = polynomial();
    const auto binding = backward(
        manifest, {G::diff(), G::value(), G::diff(), G::tensor(at(A, {9})).out(at(D, {9})), G::none()});
    EXPECT_TRUE(is_contiguous(manifest, binding));
    EXPECT_EQ(binding.arguments[0].mode, GradMode::everywhere);
    EXPECT_EQ(binding.arguments[1].mode, GradMode::none);
    EXPECT_EQ(binding.arguments[2].mode, GradMode::everywhere);
    EXPECT_EQ(binding.arguments[0].gradient_at, 0);
    EXPECT_EQ(binding.arguments[1].gradient_at, -1);
    EXPECT_EQ(binding.arguments[2].gradient_at, 16);
    EXPECT_EQ(binding.temporary.zeroed, 32);
    EXPECT_EQ(binding.temporary.read_begin, 0);
    EXPECT_EQ(binding.temporary.read_end, 32);
    EXPECT_EQ(backward(manifest, {G::diff(), G::value(), G::diff(), G::tensor(at(A, {1})), G::none()})
                  .arguments[0]
                  .mode,
              GradMode::injective);
}

TEST(BindGradients, OfHalvesAddUpInScratch) {
    const Manifest manifest = scale(ScalarType::float16, {3});
    const auto half_tensor = [](detail::ScalarView view) { return G::tensor(view, ScalarType::float16); };
    const auto run = [&](Dims shape, Dims gradient_strides) {
        return backward(manifest, {half_tensor(at(A, shape)).out(at(D, shape, gradient_strides)),
                                   half_tensor(at(B, {4, 5, 3})), G::none()});
    };
    const auto injective = run({4, 5, 3}, {});
    EXPECT_EQ(injective.arguments[0].mode, GradMode::injective);
    EXPECT_EQ(injective.arguments[0].scratch_count, 0);
    EXPECT_EQ(injective.temporary.counter_at, -1);

    const auto everywhere = run({1, 1, 3}, {});
    EXPECT_EQ(everywhere.arguments[0].mode, GradMode::everywhere);
    EXPECT_EQ(everywhere.arguments[0].scratch_count, 3);
    EXPECT_EQ(everywhere.arguments[0].scratch_strides, (Dims{0, 0}));
    EXPECT_EQ(everywhere.temporary.counter_at, 0);
    EXPECT_EQ(everywhere.arguments[0].scratch_at, 16);
    EXPECT_GE(everywhere.temporary.zeroed, 16 + 12);
    EXPECT_EQ(everywhere.temporary.read_begin, everywhere.temporary.read_end);

    const auto partial = run({4, 1, 3}, {6, 3, 2});
    EXPECT_EQ(partial.arguments[0].mode, GradMode::partial);
    EXPECT_EQ(partial.arguments[0].scratch_count, 12);
    EXPECT_EQ(partial.arguments[0].scratch_strides, (Dims{3, 0}));

    // A broadcast gradient view has one sum for what shares an element.
    const auto view = run({4, 5, 3}, {0, 3, 1});
    EXPECT_EQ(view.arguments[0].scratch_count, 15);
    EXPECT_EQ(view.arguments[0].scratch_strides, (Dims{0, 3}));

    expect_error(ErrorCode::layout_mismatch, HasSubstr("argument 'a': elements of its half gradient"), [&] {
        run({4, 1, 3}, {1, 3, 1});
    });
}

TEST(BindGradients, ThatAreDeterministicAddUpInScratch) {
    Manifest manifest = scale(ScalarType::float64, {3});
    manifest::Call& call = manifest.functions[0].calls[0];
    call.deterministic = call.backward;
    const auto run = [&](bool wanted, Dims shape) {
        return bind(manifest, PassKind::backward,
                    {G::tensor(at(A, shape), ScalarType::float64).out(at(D, shape)),
                     G::tensor(at(B, {4, 5, 3}), ScalarType::float64), G::none()},
                    nullptr, {2, 65535}, {.deterministic = wanted});
    };
    EXPECT_FALSE(run(false, {4, 1, 3}).exact);
    EXPECT_EQ(run(false, {4, 1, 3}).arguments[0].scratch_count, 0);
    const auto shared = run(true, {4, 1, 3});
    EXPECT_TRUE(shared.exact);
    EXPECT_EQ(shared.arguments[0].mode, GradMode::partial);
    EXPECT_EQ(shared.arguments[0].scratch_count, 12);
    EXPECT_GE(shared.temporary.zeroed, 12 * 90 * 8);
    EXPECT_EQ(run(true, {4, 5, 3}).arguments[0].scratch_count, 0);
    call.backward = {};
    EXPECT_TRUE(run(false, {4, 1, 3}).exact) << "there are no others";
}

TEST(BindGradients, ThatAreDeterministicMustBeGenerated) {
    const Manifest manifest = scale(ScalarType::float32);
    const auto run = [&](Dims shape, const Given& b) {
        return bind(manifest, PassKind::backward, {G::tensor(at(A, shape)).out(at(D, shape)), b, G::none()},
                    nullptr, {2, 65535}, {.deterministic = true});
    };
    const Given b = G::tensor(at(B, {4, 4}));
    EXPECT_FALSE(run({4, 4}, b).exact) << "nothing is shared";
    EXPECT_FALSE(run({4, 4}, b.out(at(D, {4, 4}))).exact) << "each call adds to its own element twice";
    // What calls share: an element of one gradient, or of the gradients of two inputs.
    const std::vector<std::pair<Dims, Given>> sums = {
        {{4, 1}, b}, {{4, 4}, b.out(at(D, {4, 4}, {1, 4}))}, {{4, 4}, b.out(at(D + 4, {4, 4}))}};
    for (const auto& sum : sums) {
        expect_error(ErrorCode::no_deterministic_kernel, HasSubstr("argument 'a': deterministic"),
                     [&] { run(sum.first, sum.second); });
    }
}

TEST(BindGradients, ScratchGoesByTheArgumentsOwnOrder) {
    ManifestBuilder builder;
    Argument a = with_gradient(tensor("a", 2, ScalarType::float16));
    a.map = {2, 1};
    builder.add("f", {a, tensor("b", 3, ScalarType::float16),
                      as(Role::result, tensor("result", 3, ScalarType::float16))});
    const auto binding =
        backward(builder.get(), {G::tensor(at(A, {5, 4}), ScalarType::float16).out(at(D, {5, 4})),
                                 G::tensor(at(B, {3, 4, 5}), ScalarType::float16), G::none()});
    EXPECT_EQ(binding.arguments[0].scratch_strides, (Dims{0, 1, 4}));
    EXPECT_EQ(binding.arguments[0].scratch_count, 20);
}

TEST(BindGradients, MayBeSharedByInputs) {
    const Manifest manifest = scale(ScalarType::float32);
    const auto run = [&](detail::ScalarView a, detail::ScalarView b) {
        return backward(manifest,
                        {G::tensor(at(A, a.extents)).out(a), G::tensor(at(B, b.extents)).out(b), G::none()});
    };
    // f(x, x): each call adds to its own element, twice.
    const auto same = run(at(D, {4, 5}), at(D, {4, 5}));
    EXPECT_EQ(same.arguments[0].mode, GradMode::injective);
    EXPECT_FALSE(is_contiguous(manifest, same)) << "contiguous kernels read both gradients first";
    // f(x, x[:1]): all additions are atomic.
    const auto mixed = run(at(D, {4, 5}), at(D, {1, 5}));
    EXPECT_EQ(mixed.arguments[0].mode, GradMode::partial);
    EXPECT_EQ(mixed.arguments[1].mode, GradMode::partial);
    const auto single = run(at(D, {4, 5}), at(D, {1, 1}));
    EXPECT_EQ(single.arguments[0].mode, GradMode::partial);
    EXPECT_EQ(single.arguments[1].mode, GradMode::everywhere);
    EXPECT_FALSE(is_contiguous(manifest, single));
    const auto apart = run(at(D, {4, 5}), at(E, {4, 5}));
    EXPECT_EQ(apart.arguments[1].mode, GradMode::injective);
}

TEST(BindGradients, MayNotShareMemoryWithWhatIsRead) {
    const Manifest manifest = scale(ScalarType::float32);
    expect_error(
        ErrorCode::aliasing,
        AllOf(StartsWith("scale: argument 'a': its gradient"), HasSubstr("the gradient of 'result'")), [&] {
            backward(manifest, {G::tensor(at(A, {4, 5})).out(at(D, {4, 5})), G::tensor(at(B, {4, 5})),
                                G::tensor(at(C, {4, 5})).in(at(D, {4, 5}))});
        });
    expect_error(ErrorCode::aliasing, HasSubstr("argument 'b'"), [&] {
        backward(manifest,
                 {G::tensor(at(A, {4, 5})).out(at(B + 8, {4, 5})), G::tensor(at(B, {4, 5})), G::none()});
    });
}

TEST(BindGradients, ThatAreOverwrittenMustBeContiguous) {
    Manifest manifest = scale(ScalarType::float32);
    manifest.functions[0].calls[0].arguments[0].overwrite = true;
    const auto run = [&](Dims strides) {
        return backward(manifest, {G::tensor(at(A, {4, 5})).out(at(D, {4, 5}, strides)),
                                   G::tensor(at(B, {4, 5})), G::none()});
    };
    EXPECT_NO_THROW(run({}));
    expect_error(ErrorCode::layout_mismatch, HasSubstr("overwritten"), [&] { run({1, 4}); });
    EXPECT_NO_THROW(backward(
        manifest, {G::tensor(at(A, {4, 0})).out(at(D, {4, 0}, {1, 1})), G::tensor(at(B, {4, 1})), G::none()}))
        << "none of its elements lie anywhere";
}

TEST(BindGradients, ThatHoldNothingAreStored) {
    Manifest manifest = scale(ScalarType::float32);
    const auto run = [&](bool overwrites, std::int64_t n, std::int64_t extent, std::uint64_t address) {
        manifest.functions[0].calls[0].arguments[0].overwrite = overwrites;
        return backward(
            manifest,
            {G::tensor(at(A, {extent, extent == 1 ? 1 : 4})).out(at(D, {extent, extent == 1 ? 1 : 4})),
             G::tensor(at(B, {n, 4})).out(at(address, {n, 4})), G::none()});
    };
    const auto expect = [](const detail::Binding& binding, GradMode mode, bool zeroes) {
        EXPECT_EQ(binding.arguments[0].mode, mode);
        EXPECT_EQ(binding.arguments[0].zeroes_gradient, zeroes);
    };
    expect(run(false, 5, 5, E), GradMode::injective, false);
    expect(run(true, 5, 5, E), GradMode::set_injective, false);
    expect(run(true, 5, 1, E), GradMode::set_everywhere, false);
    // Several groups add up, and so do two arguments with one gradient.
    expect(run(true, 3000, 1, E), GradMode::everywhere, true);
    expect(run(true, 5, 5, D), GradMode::injective, true);
    // No calls store nothing.
    expect(run(true, 0, 1, E), GradMode::everywhere, true);
    // Sums in memory of their own are added to what is there, in the end.
    manifest = scale(ScalarType::float16);
    manifest.functions[0].calls[0].arguments[0].overwrite = true;
    const auto halves = backward(manifest, {G::tensor(at(A, {1, 1}), ScalarType::float16).out(at(D, {1, 1})),
                                            G::tensor(at(B, {5, 4}), ScalarType::float16), G::none()});
    expect(halves, GradMode::everywhere, true);
}

TEST(BindGradients, OfLessAreShared) {
    struct Case {
        Dims strides;
        GradMode mode;
        std::int64_t scratch;
    };
    // As invoke() gives one of extent 1: with the argument's extents.
    for (const ScalarType scalar : {ScalarType::float32, ScalarType::float16}) {
        const Manifest manifest = scale(scalar);
        for (const Case& c : {Case{{5, 1}, GradMode::injective, 0}, Case{{0, 1}, GradMode::partial, 5},
                              Case{{1, 0}, GradMode::partial, 4}, Case{{0, 0}, GradMode::everywhere, 1}}) {
            const auto binding =
                backward(manifest, {G::tensor(at(A, {4, 5}), scalar).out(at(D, {4, 5}, c.strides)),
                                    G::tensor(at(B, {4, 5}), scalar), G::none()});
            EXPECT_EQ(binding.arguments[0].mode, c.mode) << to_string(c.strides);
            EXPECT_EQ(binding.arguments[0].scratch_count, scalar == ScalarType::float16 ? c.scratch : 0);
            EXPECT_EQ(is_contiguous(manifest, binding), c.mode == GradMode::injective);
        }
    }
}

TEST(BindGradients, SumsTakeAsManyGroupsAsRunAtOnce) {
    const Manifest manifest = scale(ScalarType::float32);
    const auto groups = [&](std::int64_t n) {
        return bind(manifest, PassKind::backward,
                    {G::tensor(at(A, {1, 1})).out(at(D, {1, 1})), G::tensor(at(B, {n, 1})), G::none()},
                    nullptr, {4, 65535})
            .groups;
    };
    EXPECT_EQ(groups(1), 1U);
    EXPECT_EQ(groups(64 * 6), 6U);
    EXPECT_EQ(groups(1 << 14), 4 * detail::summing_threads_per_processor / 64);
}

TEST(BindGradients, AreCheckedForEmptyCallsToo) {
    expect_error(ErrorCode::missing_gradient, HasSubstr("no input"), [] {
        backward(scale(ScalarType::float32), {G::tensor(at(0, {0, 5})), G::tensor(at(0, {0, 5})), G::none()});
    });
    EXPECT_EQ(backward(scale(ScalarType::float32),
                       {G::tensor(at(0, {0, 5})).out(at(0, {0, 5})), G::tensor(at(0, {0, 5})), G::none()})
                  .groups,
              0U);
}

}  // namespace
