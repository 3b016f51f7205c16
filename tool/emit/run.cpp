// The calls of a thread, in numbers measured on an H200: see docs/decisions/0009 and 0020.
#include "emit/run.h"

#include <algorithm>

#include "emit/block.h"
#include "emit/kinds/questions.h"
#include "plan/types.h"

namespace kf::gen {

std::string Run::place(std::int64_t group_size) const {
    if (beside == 1) return "kf_u * " + std::to_string(group_size);
    const std::string count = std::to_string(beside);
    return "kf_u / " + count + " * " + step(group_size) + " + kf_u % " + count;
}

std::string Run::step(std::int64_t group_size) const { return std::to_string(beside * group_size); }

bool moves_in_quads(const PlannedArgument& argument) {
    const manifest::Argument& host = argument.host;
    return supply_of(host) == Supply::memory && !is_looped(argument) && !is_combined(host) &&
           host.pitch == 0 && host.trailing.empty() && manifest::scalar_bytes(host.element.scalar) > 1;
}

std::uint32_t tile_width(const PlannedCall& call) {
    const std::uint32_t width = call.group_width;
    const bool takes_textures =
        std::any_of(call.arguments.begin(), call.arguments.end(), [](const auto& argument) {
            return manifest::passed_as(argument.host) == manifest::HostPassing::texture;
        });
    const bool is_tiled =
        call.dispatch == manifest::Dispatch::elements && takes_textures && needs_indices(call);
    return is_tiled && width > 0 && call.group_size[0] % width == 0 ? width : 0;
}

Run run_of(const PlannedCall& call, bool rows, bool exact) {
    if (tile_width(call) > 0) return {};
    constexpr std::int64_t bytes_in_flight = 32;
    std::int64_t bytes = 0;
    bool quads = false;
    for (const PlannedArgument& argument : call.arguments) {
        const Supply supply = supply_of(argument.host);
        if (is_looped(argument) || supply == Supply::view || supply == Supply::texel ||
            argument.host.pitch != 0)
            return {};
        if (supply_of(argument.host) != Supply::memory) continue;
        bytes += manifest::scalar_bytes(argument.host.element.scalar) * scalar_count(argument.host.trailing);
        quads =
            quads || (moves_in_quads(argument) && manifest::scalar_bytes(argument.host.element.scalar) == 2);
    }
    // A warp that reads a scalar of 16 bits a thread moves half of what it could. And one small load a thread
    // leaves most of a GPU's bandwidth unused.
    if (!rows && !exact && quads && bytes <= bytes_in_flight)
        return {bytes <= bytes_in_flight / 2 ? 8 : 4, 4};
    if (bytes <= bytes_in_flight) return {4, 1};
    return {rows || bytes <= 2 * bytes_in_flight ? 2 : 1, 1};
}

}  // namespace kf::gen
