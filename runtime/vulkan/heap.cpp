// Sub-allocation: which ranges of which blocks are free.
#include "vulkan/heap.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace kf::vulkan {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
    return (value + step - 1) / step * step;
}

}  // namespace

std::uint64_t Heap::rounded(std::uint64_t size) {
    size = std::max(size, alignment);
    if (size > small_limit) {
        return round_up(size, alignment);
    }
    // Four classes to a power of two, none finer than the alignment.
    const std::uint64_t power = std::bit_floor(size);
    return round_up(size, std::max(power / 4, alignment));
}

std::size_t Heap::class_of(std::uint64_t rounded_size) {
    const std::uint64_t power = std::bit_floor(rounded_size);
    const std::uint64_t step = std::max(power / 4, alignment);
    return static_cast<std::size_t>(std::countr_zero(power)) * 4 +
           static_cast<std::size_t>((rounded_size - power) / step);
}

std::set<Heap::Range, Heap::BySize>::iterator Heap::find(std::uint64_t size, std::uint64_t place) const {
    auto found = free_.lower_bound(Range{0, 0, size});
    while (found != free_.end() && round_up(found->offset, place) + size > found->offset + found->size) {
        ++found;
    }
    return found;
}

std::optional<Heap::Range> Heap::take(std::uint64_t size, std::uint64_t place) {
    size = rounded(size);
    if (size <= small_limit) {
        const std::size_t index = class_of(size);
        if (index < kept_.size() && !kept_[index].empty() && kept_[index].back().offset % place == 0) {
            const Range range = kept_[index].back();
            kept_[index].pop_back();
            kept_bytes_ -= size;
            used_ += size;
            return range;
        }
    }
    auto found = find(size, place);
    if (found == free_.end() && kept_bytes_ != 0) {  // what they lie between counts, too
        release_kept();
        found = find(size, place);
    }
    if (found == free_.end()) {
        return std::nullopt;
    }
    const Range whole = *found;
    const std::uint64_t begin = round_up(whole.offset, place);
    free_.erase(found);
    Block& block = blocks_[whole.block];
    block.free.erase(whole.offset);
    const auto keep = [&](const Range& rest) {
        if (rest.size != 0) {
            block.free.emplace(rest.offset, rest.size);
            free_.insert(rest);
        }
    };
    keep({whole.block, whole.offset, begin - whole.offset});
    keep({whole.block, begin + size, whole.offset + whole.size - begin - size});
    used_ += size;
    return Range{whole.block, begin, size};
}

void Heap::give(const Range& range) {
    used_ -= range.size;
    if (range.size > small_limit) {
        release(range);
        return;
    }
    const std::size_t index = class_of(range.size);
    if (index >= kept_.size()) {
        kept_.resize(index + 1);
    }
    kept_[index].push_back(range);
    kept_bytes_ += range.size;
    if (kept_bytes_ > kept_limit) {
        release_kept();
    }
}

void Heap::release(Range range) {
    Block& block = blocks_[range.block];
    auto next = block.free.lower_bound(range.offset);
    if (next != block.free.end() && next->first == range.offset + range.size) {
        range.size += next->second;
        free_.erase(Range{range.block, next->first, next->second});
        next = block.free.erase(next);
    }
    if (next != block.free.begin()) {
        const auto previous = std::prev(next);
        if (previous->first + previous->second == range.offset) {
            free_.erase(Range{range.block, previous->first, previous->second});
            range.offset = previous->first;
            range.size += previous->second;
            block.free.erase(previous);
        }
    }
    block.free.emplace(range.offset, range.size);
    free_.insert(range);
}

void Heap::release_kept() {
    for (std::vector<Range>& list : kept_) {
        for (const Range& range : list) {
            release(range);
        }
        list.clear();
    }
    kept_bytes_ = 0;
}

std::uint64_t Heap::next_block_size(std::uint64_t size, std::uint64_t max_block) const {
    size = rounded(size);
    const std::uint64_t wanted = block_count_ == 0 ? first_block : default_block;
    return std::max(size, std::min(wanted, max_block / alignment * alignment));
}

std::uint32_t Heap::add_block(std::uint64_t size) {
    auto slot = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return b.size == 0; });
    if (slot == blocks_.end()) {
        slot = blocks_.emplace(blocks_.end());
    }
    const auto index = static_cast<std::uint32_t>(std::distance(blocks_.begin(), slot));
    slot->size = size;
    slot->free.emplace(0, size);
    free_.insert(Range{index, 0, size});
    reserved_ += size;
    ++block_count_;
    return index;
}

std::vector<std::uint32_t> Heap::remove_unused() {
    release_kept();
    std::vector<std::uint32_t> removed;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
        Block& block = blocks_[i];
        if (block.size != 0 && block.free.size() == 1 && block.free.begin()->second == block.size) {
            free_.erase(Range{i, 0, block.size});
            block.free.clear();
            reserved_ -= block.size;
            block.size = 0;
            --block_count_;
            removed.push_back(i);
        }
    }
    return removed;
}

}  // namespace kf::vulkan
