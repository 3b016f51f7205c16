// Calls that kernels walk row by row: what makes up a row, and how much of it a subgroup takes at a time.
#include <algorithm>
#include <cmath>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/bind_parts.h"
#include "core/overlap.h"
#include "core/rows.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::GradMode;

/// Kernels count the scalars of a row, rows and tiles in 32 bits.
constexpr std::int64_t longest_row = std::int64_t{1} << 26;
constexpr std::int64_t most_rows = std::int64_t{1} << 30;
constexpr std::int64_t most_tiles = std::int64_t{1} << 30;
constexpr std::int64_t fewest_lanes = 4;

class RowFinder {
public:
    RowFinder(const BindRequest& request, Binding& binding) : request_(request), binding_(binding) {}

    bool find() {
        // A run's old gradients are all read before the first is written.
        if (binding_.adds_twice) {
            return false;
        }
        for (std::size_t i = 0; i < request_.arguments.size(); ++i) {
            if (!is_packed(i)) {
                return false;
            }
        }
        const Dims& shape = binding_.shape;
        std::size_t split = shape.size();
        while (split > 0 && fits(split - 1)) {
            --split;
        }
        Walk& walk = binding_.walk;
        walk.split = split;
        walk.rows = 1;
        walk.row_length = 1;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            (d < split ? walk.rows : walk.row_length) *= shape[d];
        }
        if (walk.row_length < shortest_row || walk.row_length > longest_row || walk.rows > most_rows) {
            return false;
        }
        for (std::size_t i = 0; i < request_.arguments.size(); ++i) {
            BoundArgument& bound = binding_.arguments[i];
            bound.step = along(i, split).dense ? 1 : 0;
            walk.keeps_columns = walk.keeps_columns || (bound.mode == GradMode::partial && bound.step == 1);
        }
        return true;
    }

private:
    [[nodiscard]] bool is_packed(std::size_t i) const {
        bool packed = true;
        for_each_view(request_, binding_, i, [&](const CallView& view) {
            packed = packed && is_dense(Dims(request_.call.arguments[i].trailing), view.trailing);
        });
        return packed;
    }

    [[nodiscard]] Layout along(std::size_t i, std::size_t split) const {
        Layout result;
        const std::int64_t element = element_scalars(request_.call.arguments[i]);
        const auto join = [&](const Dims& strides) { result.join(binding_.shape, strides, element, split); };
        for_each_view(request_, binding_, i, [&](const CallView& view) { join(view.strides); });
        const BoundArgument& bound = binding_.arguments[i];
        if (bound.scratch_count > 0) {
            join(bound.scratch_strides);
        }
        return result;
    }

    [[nodiscard]] bool fits(std::size_t split) const {
        for (std::size_t i = 0; i < request_.arguments.size(); ++i) {
            const Layout found = along(i, split);
            const Argument& argument = request_.call.arguments[i];
            if (!found.dense && (!found.single || (is_output(argument) && !is_combined(argument)))) {
                return false;
            }
        }
        return true;
    }

    const BindRequest& request_;
    Binding& binding_;
};

}  // namespace

std::uint32_t along_reciprocal(std::int64_t along) {
    constexpr std::uint64_t whole = std::uint64_t{1} << 32;
    return static_cast<std::uint32_t>(std::min(whole - 1, whole / static_cast<std::uint64_t>(along)));
}

bool plan_walk(const BindRequest& request, Binding& binding) { return RowFinder(request, binding).find(); }

// Measured on an H200 with kernels that do little but read and write: tiles that a GPU takes in whole rounds,
// long enough to pay for their start and for the atomics that end them, and no longer, so that reads stay
// near each other.
std::int64_t size_walk(const manifest::Kernel& kernel, std::int64_t filling, Walk& walk) {
    constexpr std::int64_t longest_tile = 8;   // runs along a row
    constexpr std::int64_t tallest_tile = 64;  // rows
    constexpr std::int64_t least_tall = 4;
    const std::int64_t run = manifest::usual_lanes * kernel.calls_per_thread;
    const std::int64_t runs = (walk.row_length - 1) / run + 1;
    const std::int64_t in_group = std::max<std::int64_t>(1, kernel.group_size[0] / manifest::usual_lanes);
    // An estimate: totals may be close to the largest number there is.
    const double each =
        static_cast<double>(walk.rows) * static_cast<double>(runs) / static_cast<double>(filling * in_group);
    const auto most = static_cast<double>(walk.keeps_columns ? tallest_tile : longest_tile);
    const double rounds = std::max(1.0, std::ceil(each / most));
    const auto share = static_cast<std::int64_t>(std::ceil(each / rounds));
    if (walk.keeps_columns) {
        walk.tile_runs = 1;
        walk.tile_rows = std::min(walk.rows, std::max(share, least_tall));
    } else {
        // Tiles of the same length: what is left at a row's end would keep others waiting.
        const std::int64_t along = (runs - 1) / std::max<std::int64_t>(share, 1) + 1;
        walk.tile_runs = (runs - 1) / along + 1;
        walk.tile_rows = 1;
    }
    const std::int64_t shortest_tile = walk.tile_runs * fewest_lanes * kernel.calls_per_thread;
    const std::int64_t most_along = (walk.row_length - 1) / shortest_tile + 1;
    while ((walk.rows - 1) / walk.tile_rows + 1 > most_tiles / most_along) {
        walk.tile_rows *= 2;
    }
    walk.tiles_down = (walk.rows - 1) / walk.tile_rows + 1;
    walk.tiles_along = (runs - 1) / walk.tile_runs + 1;
    const std::int64_t tiles = walk.tiles_along * walk.tiles_down;
    return (tiles - 1) / in_group + 1;
}

}  // namespace kf::detail
