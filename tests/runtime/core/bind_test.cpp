// The binder's rules for shapes, broadcasting, outputs, layouts and aliasing.
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

/// add(a, b) -> result, tensors of these ranks.
Manifest add(std::int64_t a, std::int64_t b) {
    ManifestBuilder builder;
    builder.add("add", {with_gradient(tensor("a", a)), with_gradient(tensor("b", b)),
                        as(Role::result, tensor("result", std::max(a, b)))});
    return builder.get();
}

TEST(BindShape, BroadcastsAsNumPyDoes) {
    struct Case {
        Dims a, b, shape;
    };
    for (const Case& c : {Case{{3}, {3}, {3}}, Case{{1}, {3}, {3}}, Case{{3}, {1}, {3}}, Case{{1}, {1}, {1}},
                          Case{{0}, {1}, {0}}, Case{{0}, {0}, {0}}}) {
        EXPECT_EQ(forward(add(1, 1), {G::tensor(at(A, c.a)), G::tensor(at(B, c.b)), G::none()}).shape,
                  c.shape);
    }
    for (const Case& c : {Case{{2, 3}, {3}, {2, 3}}, Case{{2, 1}, {3}, {2, 3}}, Case{{1, 3}, {1}, {1, 3}},
                          Case{{2, 1}, {1}, {2, 1}}}) {
        EXPECT_EQ(forward(add(2, 1), {G::tensor(at(A, c.a)), G::tensor(at(B, c.b)), G::none()}).shape,
                  c.shape);
    }
}

TEST(BindShape, GivesBroadcastDimensionsStrideZero) {
    const auto binding = forward(add(2, 1), {G::tensor(at(A, {2, 1})), G::tensor(at(B, {3})), G::none()});
    EXPECT_EQ(binding.arguments[0].data.strides, (Dims{1, 0}));
    EXPECT_EQ(binding.arguments[1].data.strides, (Dims{0, 1}));
    EXPECT_EQ(binding.arguments[2].data.strides, (Dims{3, 1}));
    EXPECT_TRUE(binding.arguments[2].allocate);
    EXPECT_EQ(binding.arguments[2].allocate_shape, (Dims{2, 3}));
    EXPECT_EQ(binding.total, 6);
}

TEST(BindShape, RefusesExtentsThatDisagree) {
    expect_error(ErrorCode::shape_mismatch,
                 AllOf(StartsWith("add: argument 'b': dimension 0 "), HasSubstr("extent 4"),
                       HasSubstr("extent 3 of argument 'a'")),
                 [] {
                     forward(add(1, 1), {G::tensor(at(A, {3})), G::tensor(at(B, {4})), G::none()});
                 });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("argument 'b'"), [] {
        forward(add(1, 1), {G::tensor(at(A, {3})), G::tensor(at(B, {0})), G::none()});
    });
}

TEST(BindShape, RefusesAnOutputThatIsBroadcast) {
    for (const std::int64_t extent : {1, 4}) {
        expect_error(ErrorCode::shape_mismatch,
                     AllOf(StartsWith("add: argument 'result': an output is never broadcast: dimension 0"),
                           HasSubstr("expected extent 3 of argument 'a'"),
                           HasSubstr("found " + std::to_string(extent))),
                     [&] {
                         forward(add(1, 1),
                                 {G::tensor(at(A, {3})), G::tensor(at(B, {3})), G::tensor(at(C, {extent}))});
                     });
    }
    // In the backward pass too.
    expect_error(ErrorCode::shape_mismatch, HasSubstr("argument 'result'"), [] {
        backward(add(1, 1),
                 {G::tensor(at(A, {3})).out(at(D, {3})), G::tensor(at(B, {3})), G::tensor(at(C, {1}))});
    });
}

TEST(BindShape, LetsAGivenOutputWidenTheCall) {
    const auto binding =
        forward(add(1, 1), {G::tensor(at(A, {1})), G::tensor(at(B, {1})), G::tensor(at(C, {5}))});
    EXPECT_EQ(binding.shape, (Dims{5}));
    EXPECT_EQ(binding.total, 5);
}

/// negate(x): a number a call, in elements of three for its last dimension.
Manifest in_triples() {
    ManifestBuilder builder;
    Argument result = as(Role::result, tensor("result", 1, ScalarType::float32, {3}));
    result.call_rank = 2;
    result.trailing.clear();
    builder.add("negate", {tensor("x", 2), result}, false);
    return builder.get();
}

TEST(BindShape, ElementsOfAnOutputThatIsMadeHaveTheirExtents) {
    const auto binding = forward(in_triples(), {G::tensor(at(A, {4, 3})), G::none()});
    EXPECT_EQ(binding.arguments[1].allocate_shape, (Dims{4}));
    EXPECT_EQ(binding.arguments[1].data.strides, (Dims{3, 1}));
    // An extent of 1 is widened to the element's, as it is where the output is given.
    const auto wider = forward(in_triples(), {G::tensor(at(A, {4, 1})), G::none()});
    EXPECT_EQ(wider.shape, (Dims{4, 3}));
    EXPECT_EQ(wider.arguments[1].data.strides, (Dims{3, 1}));
    // The call would write past the tensor that is made, or leave some of it unwritten.
    for (const std::int64_t extent : {2, 5}) {
        expect_error(
            ErrorCode::shape_mismatch,
            AllOf(StartsWith("negate: argument 'result': an output is never broadcast: dimension 1"),
                  HasSubstr("expected extent " + std::to_string(extent) + " of argument 'x', found 3")),
            [&] {
                forward(in_triples(), {G::tensor(at(A, {4, extent})), G::none()});
            });
    }
}

TEST(BindShape, TakesTheShapeThatIsGiven) {
    const Dims shape{7};
    EXPECT_EQ(
        bind(add(1, 1), PassKind::forward, {G::tensor(at(A, {1})), G::tensor(at(B, {7})), G::none()}, &shape)
            .total,
        7);
    expect_error(ErrorCode::shape_mismatch, HasSubstr("extent 7 (equal"), [&] {
        bind(add(1, 1), PassKind::forward, {G::tensor(at(A, {3})), G::tensor(at(B, {1})), G::none()}, &shape);
    });
    const Dims wrong{1, 7};
    expect_error(ErrorCode::rank_mismatch, HasSubstr("[1, 7]"), [&] {
        bind(add(1, 1), PassKind::forward, {G::tensor(at(A, {3})), G::tensor(at(B, {1})), G::none()}, &wrong);
    });
}

TEST(BindShape, AsksForAShapeThatNothingGives) {
    ManifestBuilder builder;
    builder.add("f", {value("a"), as(Role::result, tensor("result", 1))}, false);
    expect_error(ErrorCode::missing_argument, HasSubstr("give the output or the shape"), [&] {
        forward(builder.get(), {G::value(), G::none()});
    });
    EXPECT_EQ(forward(builder.get(), {G::value(), G::tensor(at(A, {4}))}).total, 4);
}

TEST(BindShape, StrictBroadcastingForbidsIt) {
    Manifest manifest = add(2, 2);
    manifest.functions[0].calls[0].strict_broadcasting = true;
    EXPECT_EQ(forward(manifest, {G::tensor(at(A, {2, 3})), G::tensor(at(B, {2, 3})), G::none()}).total, 6);
    expect_error(ErrorCode::shape_mismatch,
                 AllOf(StartsWith("add: argument 'b': broadcasting is forbidden"), HasSubstr("dimension 0"),
                       HasSubstr("expected extent 2"), HasSubstr("found 1")),
                 [&] {
                     forward(manifest, {G::tensor(at(A, {2, 3})), G::tensor(at(B, {1, 3})), G::none()});
                 });
    Manifest missing = add(2, 1);
    missing.functions[0].calls[0].strict_broadcasting = true;
    expect_error(ErrorCode::shape_mismatch, HasSubstr("has no dimension for dimension 0"), [&] {
        forward(missing, {G::tensor(at(A, {2, 3})), G::tensor(at(B, {3})), G::none()});
    });
}

TEST(BindShape, MapsDimensions) {
    ManifestBuilder builder;
    Argument a = tensor("a", 2);
    a.map = {1, 0};
    builder.add("f", {a, as(Role::result, tensor("result", 2))}, false);
    const auto binding = forward(builder.get(), {G::tensor(at(A, {2, 3})), G::none()});
    EXPECT_EQ(binding.shape, (Dims{3, 2}));
    EXPECT_EQ(binding.arguments[0].data.strides, (Dims{1, 3}));
    EXPECT_FALSE(is_contiguous(builder.get(), binding));
}

TEST(BindShape, CountsPast32Bits) {
    const auto binding =
        forward(add(2, 1), {G::tensor(at(A, {1 << 20, 1 << 20})), G::tensor(at(B, {1})), G::none()});
    EXPECT_EQ(binding.total, std::int64_t{1} << 40);
    EXPECT_EQ(binding.arguments[0].data.strides[0], 1 << 20);
    expect_error(ErrorCode::shape_mismatch, HasSubstr("too large"), [] {
        forward(add(2, 1), {G::tensor(at(A, {std::int64_t{1} << 40, 1}, {0, 0})),
                            G::tensor(at(B, {std::int64_t{1} << 40}, {0})), G::none()});
    });
}

TEST(BindArguments, ChecksTypesRanksAndTrailingExtents) {
    ManifestBuilder builder;
    Argument x = tensor("x", 2);  // tensor<float>[2] for a float3
    x.call_rank = 1;
    x.trailing = {3};
    builder.add("f", {x, value("s"), as(Role::result, tensor("result", 1))}, false);
    const Manifest manifest = builder.get();
    EXPECT_EQ(forward(manifest, {G::tensor(at(A, {5, 3})), G::value(), G::none()}).shape, (Dims{5}));
    expect_error(ErrorCode::shape_mismatch,
                 AllOf(StartsWith("f: argument 'x': dimension 1 of shape [5, 4]"),
                       HasSubstr("expected extent 3"), HasSubstr("found 4")),
                 [&] {
                     forward(manifest, {G::tensor(at(A, {5, 4})), G::value(), G::none()});
                 });
    expect_error(ErrorCode::shape_mismatch, HasSubstr("expected extent 3, found 1"), [&] {
        forward(manifest, {G::tensor(at(A, {5, 1})), G::value(), G::none()});
    });
    expect_error(ErrorCode::rank_mismatch,
                 AllOf(HasSubstr("argument 'x': expected float tensor[2]"), HasSubstr("shape [5]")), [&] {
                     forward(manifest, {G::tensor(at(A, {5})), G::value(), G::none()});
                 });
    expect_error(ErrorCode::type_mismatch,
                 AllOf(HasSubstr("argument 'x': expected float tensor[2]"), HasSubstr("found an int tensor")),
                 [&] {
                     forward(manifest, {G::tensor(at(A, {5, 3}), ScalarType::int32), G::value(), G::none()});
                 });
    expect_error(ErrorCode::type_mismatch, HasSubstr("argument 'x': expected float tensor[2], found a value"),
                 [&] {
                     forward(manifest, {G::value(), G::value(), G::none()});
                 });
    expect_error(ErrorCode::type_mismatch, HasSubstr("argument 's': expected float, found a float tensor"),
                 [&] {
                     forward(manifest, {G::tensor(at(A, {5, 3})), G::tensor(at(A, {5})), G::none()});
                 });
    expect_error(ErrorCode::missing_argument, HasSubstr("argument 's': expected float, found nothing"), [&] {
        forward(manifest, {G::tensor(at(A, {5, 3})), G::none(), G::none()});
    });
    expect_error(ErrorCode::missing_argument, HasSubstr("expected 3 arguments"), [&] {
        forward(manifest, {G::tensor(at(A, {5, 3}))});
    });
}

TEST(BindArguments, RefusesBackwardWithoutOne) {
    ManifestBuilder builder;
    builder.add("f", {tensor("x", 1), as(Role::result, tensor("result", 1))}, false);
    expect_error(ErrorCode::not_differentiable, StartsWith("f: "), [&] {
        backward(builder.get(), {G::tensor(at(A, {5})), G::none()});
    });
}

TEST(BindVariant, IsContiguousForDenseAndSingleTensors) {
    const Manifest one = add(1, 1);
    const Manifest two = add(2, 2);
    const auto contiguous = [](const Manifest& manifest, detail::ScalarView a, detail::ScalarView b) {
        return is_contiguous(manifest, forward(manifest, {G::tensor(a), G::tensor(b), G::none()}));
    };
    EXPECT_TRUE(contiguous(one, at(A, {9}), at(B, {9})));
    EXPECT_TRUE(contiguous(one, at(A, {9}), at(B, {1})));
    EXPECT_TRUE(contiguous(one, at(A + 4, {9}), at(B, {9})));     // an offset
    EXPECT_TRUE(contiguous(one, at(A, {9}), at(B, {9}, {0})));    // all calls share one element
    EXPECT_FALSE(contiguous(one, at(A, {9}, {2}), at(B, {9})));   // gaps
    EXPECT_FALSE(contiguous(one, at(A, {9}, {-1}), at(B, {9})));  // reversed
    EXPECT_TRUE(contiguous(two, at(A, {2, 3}), at(B, {2, 3})));
    EXPECT_TRUE(contiguous(two, at(A, {2, 3}), at(B, {1, 1})));
    EXPECT_FALSE(contiguous(two, at(A, {2, 3}), at(B, {1, 3})));          // broadcast along one dimension
    EXPECT_FALSE(contiguous(two, at(A, {2, 3}, {1, 2}), at(B, {2, 3})));  // transposed
    EXPECT_TRUE(
        contiguous(two, at(A, {1, 3}, {99, 1}), at(B, {1, 3})));  // the stride of an extent of 1 is free
    EXPECT_TRUE(contiguous(two, at(A, {1, 1}, {7, 9}), at(B, {1, 1})));
}

TEST(BindVariant, GivesStepsToContiguousKernels) {
    const auto binding = forward(add(1, 1), {G::tensor(at(A, {9})), G::tensor(at(B, {1})), G::none()});
    EXPECT_EQ(binding.arguments[0].step, 1U);
    EXPECT_EQ(binding.arguments[1].step, 0U);
    EXPECT_EQ(binding.arguments[2].step, 1U);
}

TEST(BindVariant, AsksForTheAlignmentOfWholeElements) {
    ManifestBuilder builder;
    builder.add("f",
                {tensor("x", 1, ScalarType::float32, {4}),
                 as(Role::result, tensor("result", 1, ScalarType::float32, {4}))},
                false);
    const Manifest manifest = builder.get();
    const auto contiguous = [&](std::uint64_t address) {
        return is_contiguous(manifest, forward(manifest, {G::tensor(at(address, {5, 4})), G::none()}));
    };
    EXPECT_TRUE(contiguous(A));
    EXPECT_TRUE(contiguous(A + 16));
    EXPECT_FALSE(contiguous(A + 4));
}

TEST(BindVariant, ChecksTrailingStrides) {
    ManifestBuilder builder;
    builder.add("f",
                {tensor("x", 1, ScalarType::float32, {3}),
                 as(Role::result, tensor("result", 1, ScalarType::float32, {3}))},
                false);
    const Manifest manifest = builder.get();
    const auto contiguous = [&](detail::ScalarView view) {
        return is_contiguous(manifest, forward(manifest, {G::tensor(view), G::none()}));
    };
    EXPECT_TRUE(contiguous(at(A, {5, 3})));
    EXPECT_TRUE(contiguous(at(A, {5, 3}, {0, 1})));
    EXPECT_FALSE(contiguous(at(A, {5, 3}, {1, 5})));
    EXPECT_FALSE(contiguous(at(A, {5, 3}, {4, 1})));
}

TEST(BindVariant, ChecksAGivenOutput) {
    const Manifest manifest = add(1, 1);
    EXPECT_FALSE(is_contiguous(manifest, forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(B, {9})),
                                                            G::tensor(at(C, {9}, {2}))})));
}

TEST(BindVariant, RefusesWhatOnlyStridedKernelsCanTake) {
    Manifest manifest = add(1, 1);
    manifest.functions[0].calls[0].forward.strided = -1;
    expect_error(ErrorCode::layout_mismatch,
                 AllOf(StartsWith("add: argument 'b': only contiguous kernels"), HasSubstr("strides [2]")),
                 [&] {
                     forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(B, {9}, {2})), G::none()});
                 });
    Manifest asked = add(1, 1);
    asked.functions[0].calls[0].arguments[0].kind = kinds::Tensor{.contiguous_only = true};
    expect_error(ErrorCode::layout_mismatch,
                 AllOf(HasSubstr("argument 'a'"), HasSubstr("\"layout\": \"contiguous\"")), [&] {
                     forward(asked, {G::tensor(at(A, {9}, {2})), G::tensor(at(B, {9})), G::none()});
                 });
}

// A new tensor without elements has strides that don't follow from its extents.
TEST(BindVariant, TakesAnyStridesWhereThereAreNoElements) {
    Manifest manifest = add(2, 2);
    manifest.functions[0].calls[0].forward.strided = -1;
    manifest.functions[0].calls[0].arguments[0].kind = kinds::Tensor{.contiguous_only = true};
    for (const Dims& shape : {Dims{3, 0}, Dims{0, 3}, Dims{2, 0}}) {
        for (const Dims& strides : {Dims{1, 1}, Dims{5, 2}}) {
            const Given a = G::tensor(at(A, shape, strides));
            EXPECT_NO_THROW(forward(manifest, {a, G::tensor(at(B, shape, strides)), G::none()}))
                << to_string(shape) << ", strides " << to_string(strides);
        }
    }
}

TEST(BindVariant, UsesTheStridedKernelWhereThereIsNoOther) {
    Manifest manifest = add(1, 1);
    manifest.functions[0].calls[0].forward.contiguous = -1;
    EXPECT_FALSE(is_contiguous(manifest,
                               forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(B, {9})), G::none()})));
}

TEST(BindLaunch, SizesTheGrid) {
    const auto groups = [](std::int64_t n, detail::DeviceLimits limits) {
        return bind(add(1, 1), PassKind::forward, {G::tensor(at(A, {n})), G::tensor(at(B, {1})), G::none()},
                    nullptr, limits)
            .groups;
    };
    const auto groups_of_runs = [](std::int64_t n, detail::DeviceLimits limits) {
        Manifest manifest = add(1, 1);
        for (auto& kernel : manifest.kernels) kernel.calls_per_thread = 4;
        return bind(manifest, PassKind::forward, {G::tensor(at(A, {n})), G::tensor(at(B, {1})), G::none()},
                    nullptr, limits)
            .groups;
    };
    const auto groups_of_texels = [](std::int64_t n, detail::DeviceLimits limits) {
        Manifest manifest = add(1, 1);
        for (auto& kernel : manifest.kernels) {
            kernel.resources = {{.name = "image", .kind = manifest::ResourceKind::writable_texture}};
        }
        return bind(manifest, PassKind::forward, {G::tensor(at(A, {n})), G::tensor(at(B, {1})), G::none()},
                    nullptr, limits)
            .groups;
    };
    EXPECT_EQ(groups(1, {4, 65535}), 1U);
    EXPECT_EQ(groups(64, {4, 65535}), 1U);
    EXPECT_EQ(groups(65, {4, 65535}), 2U);
    EXPECT_EQ(groups(1 << 30, {4, 65535}), 4 * detail::threads_per_processor / 64);
    EXPECT_EQ(groups(1 << 30, {1000, 100}), 100U);
    EXPECT_EQ(groups(std::int64_t{1} << 40, {0, 0}), 1U);
    EXPECT_EQ(groups(1 << 20, {1, 65535, 64}), (1U << 20) / 64 / 64) << "of 64 turns each";
    EXPECT_EQ(groups(1 << 10, {4, 65535, 64}), 16U) << "no fewer than the device runs at once";
    EXPECT_EQ(groups_of_runs(1 << 20, {1, 65535, 64}), (1U << 20) / 4 / 64) << "all there is to do, as ever";
    EXPECT_EQ(groups_of_runs(256, {4, 65535}), 1U);
    EXPECT_EQ(groups_of_runs(257, {4, 65535}), 2U);
    EXPECT_EQ(groups_of_runs(1 << 20, {4, 65535}), 4096U) << "not limited to what runs at once";
    EXPECT_EQ(groups_of_runs(1 << 30, {4, 65535}), 65535U);
    EXPECT_EQ(groups_of_texels(1 << 20, {4, 65535}), 16384U) << "a group for each tile";
    EXPECT_EQ(groups_of_texels(1 << 30, {4, 65535}), 65535U);
    // As many tiles as full groups, rows and columns: 2^31 of 64 calls are too many.
    EXPECT_EQ(groups_of_texels(2080374784, {4, 65535}), 65535U);
    expect_error(ErrorCode::shape_mismatch, HasSubstr("at most 2^31 tiles of 64; make several calls of it"),
                 [&] {
                     groups_of_texels(std::int64_t{1} << 31, {4, 65535});
                 });
    Manifest rows = add(2, 2);
    for (auto& kernel : rows.kernels) {
        kernel.resources = {{.name = "image", .kind = manifest::ResourceKind::writable_texture}};
    }
    const auto nothing = G::tensor(at(A, {0, std::int64_t{1} << 31}));
    EXPECT_EQ(bind(rows, PassKind::forward, {nothing, nothing, G::none()}).groups, 0U)
        << "no calls, no tiles";
    EXPECT_EQ(groups_of_texels(1 << 20, {4, 65535, 64}), 256U) << "on a CPU no more than others";
}

TEST(BindLaunch, DoesNothingForNoCalls) {
    const auto binding = forward(add(1, 1), {G::tensor(at(0, {0})), G::tensor(at(B, {1})), G::none()});
    EXPECT_EQ(binding.total, 0);
    EXPECT_EQ(binding.groups, 0U);
    EXPECT_EQ(binding.arguments[2].allocate_shape, (Dims{0}));
    EXPECT_EQ(binding.temporary.size, 0);
}

TEST(BindLaunch, MakesRoomForValueOutputs) {
    ManifestBuilder builder;
    builder.add("f",
                {value("a"), as(Role::inout, value("b", ScalarType::float32, {3})),
                 as(Role::result, value("result"))},
                false);
    const auto binding = forward(builder.get(), {G::value(), G::value(), G::value()});
    EXPECT_EQ(binding.total, 1);
    EXPECT_EQ(binding.arguments[0].value_at, -1);
    EXPECT_EQ(binding.arguments[1].value_at, 0);
    EXPECT_EQ(binding.arguments[2].value_at, 16);
    EXPECT_EQ(binding.temporary.zeroed, 32) << "what lies between the two is read back too";
    EXPECT_EQ(binding.temporary.read_begin, 0);
    EXPECT_EQ(binding.temporary.read_end, 20);
    EXPECT_TRUE(is_contiguous(builder.get(), binding));
}

TEST(BindAliasing, AllowsInPlaceOnTheVerySameView) {
    const Manifest manifest = add(1, 1);
    EXPECT_NO_THROW(forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(B, {9})), G::tensor(at(A, {9}))}));
    EXPECT_NO_THROW(forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(A, {9})), G::tensor(at(A, {9}))}));
    EXPECT_NO_THROW(
        forward(manifest, {G::tensor(at(A, {9}, {2})), G::tensor(at(B, {9})), G::tensor(at(A, {9}, {2}))}));
    // Interleaved, but apart.
    EXPECT_NO_THROW(forward(
        manifest, {G::tensor(at(A, {9}, {2})), G::tensor(at(B, {9})), G::tensor(at(A + 4, {9}, {2}))}));
}

TEST(BindAliasing, RefusesOtherOverlaps) {
    const Manifest manifest = add(1, 1);
    for (const auto& view : {at(A + 4, {9}), at(A + 32, {9}, {-1}), at(A, {1}), at(A, {9}, {2})}) {
        SCOPED_TRACE(to_string(view.extents) + to_string(view.strides));
        expect_error(
            ErrorCode::aliasing,
            AllOf(StartsWith("add: argument 'result': "), HasSubstr("shares memory with argument 'a'")), [&] {
                forward(manifest, {G::tensor(view), G::tensor(at(B, {9})), G::tensor(at(A, {9}))});
            });
    }
    expect_error(ErrorCode::aliasing, HasSubstr("elements of the output share memory"), [&] {
        forward(manifest, {G::tensor(at(A, {9})), G::tensor(at(B, {9})), G::tensor(at(C, {9}, {0}))});
    });
    ManifestBuilder builder;
    builder.add("f", {tensor("x", 1), as(Role::out, tensor("u", 1)), as(Role::out, tensor("v", 1))}, false);
    expect_error(
        ErrorCode::aliasing, AllOf(HasSubstr("argument 'v'"), HasSubstr("'u', another output")), [&] {
            forward(builder.get(), {G::tensor(at(A, {9})), G::tensor(at(B, {9})), G::tensor(at(B, {9}))});
        });
}

TEST(BindAliasing, RefusesAMappedSelf) {
    ManifestBuilder builder;
    Argument a = tensor("a", 2);
    a.map = {1, 0};
    builder.add("transpose", {a, as(Role::result, tensor("result", 2))}, false);
    expect_error(ErrorCode::aliasing, HasSubstr("'a'"), [&] {
        forward(builder.get(), {G::tensor(at(A, {3, 3})), G::tensor(at(A, {3, 3}))});
    });
}

}  // namespace
