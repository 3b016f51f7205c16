// Finds fields that lie where others do.
#include "core/field_places.h"

#include <algorithm>
#include <vector>

#include "core/convert.h"
#include "core/kinds/questions.h"

namespace kf::manifest {
namespace {

bool is_changed(const Argument& leaf) { return writes_elements(leaf) || leaf.gradient != Gradient::never; }

/// Calls `visit` with the byte at which each scalar of a leaf begins.
template <class Visit>
void for_each_scalar(const Argument& leaf, Visit visit) {
    const std::vector<std::int64_t>& extents = leaf.element.extents;
    std::vector<std::int64_t> spacing = leaf.spacing;
    std::int64_t packed = 1;
    spacing.resize(extents.size());
    for (std::size_t i = extents.size(); i-- > 0 && leaf.spacing.empty();) {
        spacing[i] = packed;
        packed *= extents[i];
    }
    if (std::ranges::find(extents, 0) != extents.end()) return;
    std::vector<std::int64_t> index(extents.size(), 0);
    std::int64_t place = 0;
    while (true) {
        visit(leaf.offset + place * scalar_bytes(leaf.element.scalar));
        std::size_t i = extents.size();
        for (; i > 0; --i) {
            place += spacing[i - 1];
            if (++index[i - 1] < extents[i - 1]) break;
            place -= index[i - 1] * spacing[i - 1];
            index[i - 1] = 0;
        }
        if (i == 0) return;
    }
}

}  // namespace

std::optional<std::pair<std::size_t, std::size_t>> shared_places(std::span<const Argument> leaves,
                                                                 std::int64_t size) {
    if (std::ranges::none_of(leaves, is_changed)) return {};
    std::vector<std::size_t> owners(static_cast<std::size_t>(size), leaves.size());
    std::optional<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < leaves.size() && !found; ++i) {
        const std::int64_t bytes = scalar_bytes(leaves[i].element.scalar);
        for_each_scalar(leaves[i], [&](std::int64_t begin) {
            for (std::int64_t byte = begin; byte < begin + bytes; ++byte) {
                std::size_t& owner = owners[static_cast<std::size_t>(byte)];
                const bool is_shared = owner != leaves.size() && owner != i;
                if (is_shared && (is_changed(leaves[i]) || is_changed(leaves[owner]))) found = {owner, i};
                if (!is_shared || is_changed(leaves[i])) owner = i;
            }
        });
    }
    return found;
}

}  // namespace kf::manifest
