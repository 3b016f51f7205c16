// The binder's rules for the tangents of forward derivatives.
#include "core/bind.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using testing::AllOf;
using testing::HasSubstr;
using G = Given;

Argument tangent_of(std::int64_t primal, Argument argument) {
    argument.tangent_of = primal;
    argument.differentiable = true;
    return argument;
}

/// f(x, k, tangents of x and k) -> result and its tangent.
Manifest derivative() {
    ManifestBuilder builder;
    Argument along = tangent_of(4, tensor("tangents.return", 1));
    along.role = Role::out;
    builder.add("f.jvp",
                {tensor("x", 1), value("k"), tangent_of(0, tensor("tangents.x", 1)),
                 tangent_of(1, value("tangents.k")), as(Role::result, tensor("result", 1)), along},
                false);
    return builder.get();
}

TEST(BindTangents, MayBeAbsent) {
    const auto binding = forward(
        derivative(), {G::tensor(at(A, {3})), G::value(), G::none(), G::none(), G::none(), G::none()});
    EXPECT_EQ(binding.arguments[2].data.address, 0U);
    EXPECT_FALSE(binding.arguments[2].allocate);
    EXPECT_TRUE(binding.arguments[4].allocate);
    EXPECT_TRUE(binding.arguments[5].allocate) << "what comes out has a tangent all the same";
    EXPECT_EQ(binding.arguments[5].allocate_shape, (Dims{3}));
    EXPECT_EQ(binding.total, 3);
    EXPECT_EQ(binding.temporary.size, 0);
}

TEST(BindTangents, AreNoShapesOfTheirOwn) {
    for (const Dims& shape : {Dims{1}, Dims{4}, Dims{0}}) {
        expect_error(
            ErrorCode::shape_mismatch,
            AllOf(HasSubstr("f.jvp: argument 'tangents.x': it has shape [" + std::to_string(shape[0])),
                  HasSubstr("'x' has shape [3]")),
            [&] {
                forward(derivative(), {G::tensor(at(A, {3})), G::value(), G::tensor(at(B, shape)), G::none(),
                                       G::none(), G::none()});
            });
    }
}

TEST(BindTangents, AreTensorsWhereTheirArgumentsAre) {
    expect_error(
        ErrorCode::type_mismatch, HasSubstr("'tangents.x': expected float tensor[1], found a value"), [] {
            forward(derivative(),
                    {G::tensor(at(A, {3})), G::value(), G::value(), G::none(), G::none(), G::none()});
        });
    expect_error(ErrorCode::type_mismatch, HasSubstr("'tangents.x'"), [] {
        forward(derivative(), {G::tensor(at(A, {3})), G::value(), G::tensor(at(B, {3}), ScalarType::float64),
                               G::none(), G::none(), G::none()});
    });
    expect_error(ErrorCode::missing_argument, HasSubstr("argument 'x'"), [] {
        forward(derivative(),
                {G::none(), G::value(), G::tensor(at(B, {3})), G::none(), G::none(), G::none()});
    });
}

TEST(BindTangents, MayLieInAnotherOrder) {
    const Manifest manifest = derivative();
    const auto binding = forward(manifest, {G::tensor(at(A, {3})), G::value(), G::tensor(at(B, {3}, {-2})),
                                            G::none(), G::none(), G::none()});
    EXPECT_FALSE(is_contiguous(manifest, binding));
    EXPECT_EQ(binding.arguments[2].data.strides, (Dims{-2}));
}

TEST(BindTangents, AbsentValuesAreZero) {
    const Manifest manifest = derivative();
    const auto binding =
        forward(manifest, {G::tensor(at(A, {3})), G::value(), G::none(), G::none(), G::none(), G::none()});
    const Call& call = manifest.functions[0].calls[0];
    const Kernel& kernel = manifest.kernels.at(static_cast<std::size_t>(binding.kernel));
    const BlockLayout& layout = kernel.layouts.at("fake");
    std::vector<std::byte> block(static_cast<std::size_t>(layout.size), std::byte{0xcd});
    const float k = 2;
    const std::array<const void*, 6> values{nullptr, &k, nullptr, nullptr, nullptr, nullptr};
    detail::pack(call, kernel, layout, binding, values, 0, block);
    int found = 0;
    for (std::size_t i = 0; i < kernel.records.size(); ++i) {
        if (kernel.records[i].kind != RecordKind::value) continue;
        float packed = 0;
        std::memcpy(&packed, block.data() + layout.offsets[i], sizeof packed);
        EXPECT_EQ(packed, kernel.records[i].argument == 1 ? 2.F : 0.F);
        ++found;
    }
    EXPECT_EQ(found, 2);
}

}  // namespace
