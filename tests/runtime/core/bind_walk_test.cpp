// Which calls go row by row, what a row is, and how it is cut into tiles.
#include "core/bind.h"

#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using G = Given;

constexpr std::uint64_t FarB = std::uint64_t{1} << 45;
constexpr std::uint64_t FarD = std::uint64_t{1} << 50;
constexpr std::uint64_t FarE = std::uint64_t{1} << 55;

/// A product of rank 4 with a kernel that walks rows.
Manifest product(ScalarType scalar = ScalarType::float32) {
    ManifestBuilder builder;
    builder.add("product", {with_gradient(tensor("x", 4, scalar)), with_gradient(tensor("w", 4, scalar)),
                            as(Role::result, tensor("result", 4, scalar))});
    Manifest manifest = builder.get();
    manifest::Kernel kernel =
        manifest.kernels[static_cast<std::size_t>(manifest.functions[0].calls[0].backward.strided)];
    kernel.variant = Variant::rows;
    kernel.group_size = {128, 1, 1};
    kernel.calls_per_thread = 4;
    manifest.functions[0].calls[0].backward.rows = static_cast<std::int64_t>(manifest.kernels.size());
    manifest.kernels.push_back(kernel);
    return manifest;
}

detail::Binding share(const Manifest& manifest, Dims x, Dims w, Dims x_strides = {}) {
    return backward(manifest, {G::tensor(at(A, x, x_strides)).out(at(FarD, x)),
                               G::tensor(at(FarB, w)).out(at(FarE, w)), G::none()});
}

bool walks(const Manifest& manifest, const detail::Binding& binding) {
    return manifest.kernels.at(static_cast<std::size_t>(binding.kernel)).variant == Variant::rows;
}

struct WalkCase {
    Dims x;
    Dims w;
    std::size_t split;
    std::int64_t rows;
    std::int64_t row_length;
    std::uint32_t step;  ///< of w
    bool keeps_columns;
};

TEST(BindWalk, FindsRows) {
    const Manifest manifest = product();
    for (const WalkCase& c : {
             WalkCase{{2, 3, 8, 9}, {2, 3, 1, 1}, 2, 6, 72, 0, false},
             WalkCase{{2, 3, 8, 9}, {1, 3, 1, 1}, 2, 6, 72, 0, false},
             WalkCase{{2, 3, 8, 9}, {1, 1, 8, 9}, 2, 6, 72, 1, true},
             WalkCase{{2, 3, 8, 9}, {2, 1, 8, 9}, 2, 6, 72, 1, true},
             WalkCase{{2, 3, 8, 40}, {1, 3, 1, 40}, 3, 48, 40, 1, true},
             WalkCase{{2, 3, 8, 40}, {2, 3, 8, 1}, 3, 48, 40, 0, false},
             WalkCase{{5, 40, 1, 1}, {5, 1, 1, 1}, 1, 5, 40, 0, false},
         }) {
        const auto binding = share(manifest, c.x, c.w);
        ASSERT_TRUE(walks(manifest, binding)) << to_string(c.w);
        EXPECT_EQ(binding.walk.split, c.split) << to_string(c.w);
        EXPECT_EQ(binding.walk.rows, c.rows) << to_string(c.w);
        EXPECT_EQ(binding.walk.row_length, c.row_length) << to_string(c.w);
        EXPECT_EQ(binding.arguments[0].step, 1U);
        EXPECT_EQ(binding.arguments[1].step, c.step) << to_string(c.w);
        EXPECT_EQ(binding.walk.keeps_columns, c.keeps_columns) << to_string(c.w);
    }
}

TEST(BindWalk, LeavesOtherCallsToOtherKernels) {
    const Manifest manifest = product();
    EXPECT_FALSE(walks(manifest, share(manifest, {2, 3, 8, 9}, {2, 3, 8, 9}))) << "nothing is shared";
    EXPECT_FALSE(walks(manifest, share(manifest, {2, 3, 8, 9}, {1, 1, 1, 1}))) << "by all";
    EXPECT_FALSE(walks(manifest, share(manifest, {2, 3, 8, 9}, {2, 3, 8, 1}))) << "short rows";
    EXPECT_FALSE(walks(manifest, share(manifest, {2, 1, 1, 1 << 27}, {1, 1, 1, 1 << 27}))) << "long rows";
    EXPECT_FALSE(walks(manifest, share(manifest, {1, 1, 40, 40}, {1, 1, 40, 1}, {0, 0, 1, 40})))
        << "columns lie beside each other";
    EXPECT_TRUE(walks(manifest, share(manifest, {1, 1, 40, 40}, {1, 1, 40, 1}, {0, 0, 64, 1})))
        << "rows with gaps between";
}

TEST(BindWalk, TilesCoverTheCall) {
    const Manifest manifest = product();
    for (const Dims& w : {Dims{1000, 1, 1, 1}, Dims{1, 1, 1000, 40}}) {
        for (const std::int64_t n : {1, 3, 100'000}) {
            const Dims x{w[0] == 1 ? n : 1000, 1, w[0] == 1 ? 1000 : n, 40};
            const auto binding = share(manifest, x, w);
            ASSERT_TRUE(walks(manifest, binding) || n == 1) << to_string(x);
            if (!walks(manifest, binding)) continue;
            const detail::Walk& walk = binding.walk;
            EXPECT_GE(walk.tiles_down * walk.tile_rows, walk.rows);
            EXPECT_LT((walk.tiles_down - 1) * walk.tile_rows, walk.rows);
            EXPECT_GE(walk.tile_runs, 1);
            EXPECT_TRUE(walk.keeps_columns ? walk.tile_runs == 1 : walk.tile_rows == 1);
            EXPECT_GE(binding.groups, 1U);
            const std::int64_t tile = walk.tile_runs * 32 * 4;
            EXPECT_GE(walk.tiles_along * tile, walk.row_length);
            EXPECT_LT((walk.tiles_along - 1) * tile, walk.row_length);
        }
    }
}

TEST(BindWalk, TheReciprocalDividesExactly) {
    constexpr std::int64_t most_tiles = std::int64_t{1} << 30;
    for (const std::int64_t along : {1, 2, 3, 5, 7, 64, 1000, 65'537, 1 << 21}) {
        const std::uint64_t reciprocal = detail::along_reciprocal(along);
        for (const std::int64_t near : {std::int64_t{0}, along, 12'345 * along, most_tiles / along * along}) {
            for (std::int64_t tile = std::max<std::int64_t>(0, near - 2); tile <= near + 2; ++tile) {
                // As kf.tile_row() does.
                auto row = static_cast<std::int64_t>((static_cast<std::uint64_t>(tile) * reciprocal) >> 32);
                row += tile - row * along >= along ? 1 : 0;
                ASSERT_EQ(row, tile / along) << tile << " / " << along;
            }
        }
    }
}

TEST(BindWalk, RowsAndTilesAreCountedIn32Bits) {
    const Manifest manifest = product();
    EXPECT_FALSE(walks(manifest, share(manifest, {std::int64_t{1} << 34, 1, 1, 40}, {1, 1, 1, 40})));
    const auto binding = share(manifest, {std::int64_t{1} << 30, 1, 1, 40}, {1, 1, 1, 40});
    ASSERT_TRUE(walks(manifest, binding));
    EXPECT_LE(binding.walk.tiles_down, std::int64_t{1} << 30);
    EXPECT_EQ(binding.groups, 65535U);
}

}  // namespace
