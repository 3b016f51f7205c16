// Finds fields that lie where others do.
#include "core/field_places.h"

#include <algorithm>
#include <vector>

#include "core/host_scalars.h"
#include "core/items.h"
#include "core/kinds/questions.h"

namespace kf::manifest {
namespace {

bool is_changed(const Argument& leaf) { return writes_elements(leaf) || leaf.gradient != Gradient::never; }

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> shared_places(std::span<const Argument> leaves,
                                                                 std::int64_t size) {
    if (std::ranges::none_of(leaves, is_changed)) return {};
    std::vector<std::size_t> owners(static_cast<std::size_t>(size), leaves.size());
    std::optional<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < leaves.size() && !found; ++i) {
        const Argument& leaf = leaves[i];
        if (std::ranges::find(leaf.element.extents, 0) != leaf.element.extents.end()) continue;
        const std::int64_t bytes = scalar_bytes(leaf.element.scalar);
        detail::for_each_scalar(leaf, detail::host_strides(leaf), [&](const auto&, std::int64_t place) {
            const std::int64_t begin = leaf.offset + place;
            for (std::int64_t byte = begin; byte < begin + bytes; ++byte) {
                std::size_t& owner = owners[static_cast<std::size_t>(byte)];
                const bool is_shared = owner != leaves.size() && owner != i;
                if (is_shared && (is_changed(leaf) || is_changed(leaves[owner]))) found = {owner, i};
                if (!is_shared || is_changed(leaf)) owner = i;
            }
        });
    }
    return found;
}

std::optional<StructScalars> struct_scalars(const ParameterTree& structure,
                                            std::span<const Argument> leaves) {
    if (structure.form != Form::tensor || leaves.empty()) return {};
    const ScalarType scalar = leaves.front().element.scalar;
    const std::int64_t bytes = scalar_bytes(scalar);
    std::vector<bool> is_taken(static_cast<std::size_t>(byte_size(structure) / bytes), false);
    for (const Argument& leaf : leaves) {
        if (leaf.element.scalar != scalar || !passes_tensor(leaf) || leaf.offset % bytes != 0) return {};
        if (std::ranges::find(leaf.element.extents, 0) != leaf.element.extents.end()) return {};
        bool is_apart = true;
        detail::for_each_scalar(leaf, detail::host_strides(leaf), [&](const auto&, std::int64_t place) {
            const auto at = static_cast<std::size_t>((leaf.offset + place) / bytes);
            is_apart = is_apart && at < is_taken.size() && !is_taken[at];
            if (is_apart) is_taken[at] = true;
        });
        if (!is_apart) return {};
    }
    if (std::ranges::find(is_taken, false) != is_taken.end()) return {};
    StructScalars found{scalar, structure.extents};
    found.extents.push_back(structure.size / bytes);
    return found;
}

}  // namespace kf::manifest
