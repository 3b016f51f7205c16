// Sub-allocation: which ranges of which blocks are free. Knows nothing of Vulkan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace kf::vulkan {

/// Hands out ranges of blocks of memory: the best-fitting free range, merged with its neighbours when it
/// comes back. Small ranges are rounded up to a size class, and come back to a list of their class from
/// which the next request of that size is served at once. Not thread-safe.
class Heap {
public:
    static constexpr std::uint64_t alignment = 256;
    static constexpr std::uint64_t small_limit = 1ULL << 20;  ///< larger ranges have no class
    static constexpr std::uint64_t default_block = 64ULL << 20;
    static constexpr std::uint64_t first_block = 8ULL << 20;
    static constexpr std::uint64_t kept_limit = 32ULL << 20;  ///< bytes in the classes' lists

    struct Range {
        std::uint32_t block = 0;
        std::uint64_t offset = 0;
        std::uint64_t size = 0;

        auto operator<=>(const Range&) const = default;
    };

    /// Returns how much a request of `size` bytes takes: a multiple of `alignment`, at most 25 % above it.
    static std::uint64_t rounded(std::uint64_t size);

    /// A range of rounded(size) bytes from the blocks there are, or nothing. It begins at a multiple of
    /// `place`, a power of two.
    std::optional<Range> take(std::uint64_t size, std::uint64_t place = alignment);
    void give(const Range& range);

    /// How large a block to add for a request that found nothing, no larger than `max_block` unless the
    /// request is. The first block is smaller, so that small programs stay small.
    [[nodiscard]] std::uint64_t next_block_size(std::uint64_t size, std::uint64_t max_block) const;
    /// A new block's number; numbers of removed blocks are used again.
    std::uint32_t add_block(std::uint64_t size);
    /// Removes the blocks of which nothing is in use and returns their numbers.
    std::vector<std::uint32_t> remove_unused();

    [[nodiscard]] std::uint64_t reserved() const { return reserved_; }  ///< bytes of all blocks
    [[nodiscard]] std::uint64_t used() const { return used_; }          ///< bytes handed out
    [[nodiscard]] std::size_t block_count() const { return block_count_; }

private:
    struct BySize {
        bool operator()(const Range& a, const Range& b) const {
            return a.size != b.size ? a.size < b.size : a < b;
        }
    };
    struct Block {
        std::uint64_t size = 0;                       ///< 0: no such block
        std::map<std::uint64_t, std::uint64_t> free;  ///< offset to size, neither empty nor touching
    };

    static std::size_t class_of(std::uint64_t rounded_size);
    /// The free range that fits best.
    [[nodiscard]] std::set<Range, BySize>::iterator find(std::uint64_t size, std::uint64_t place) const;
    void release(Range range);
    void release_kept();

    std::vector<Block> blocks_;
    std::set<Range, BySize> free_;
    std::vector<std::vector<Range>> kept_;  ///< by class
    std::uint64_t kept_bytes_ = 0;
    std::uint64_t reserved_ = 0;
    std::uint64_t used_ = 0;
    std::size_t block_count_ = 0;
};

}  // namespace kf::vulkan
