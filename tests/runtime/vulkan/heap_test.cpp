// Tests of the sub-allocator: no memory is touched, only numbers.
#include "vulkan/heap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kf::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Heap, RoundsToTheAlignmentAndWastesAtMostAQuarter) {
    EXPECT_EQ(Heap::rounded(0), 256);
    EXPECT_EQ(Heap::rounded(1), 256);
    EXPECT_EQ(Heap::rounded(256), 256);
    EXPECT_EQ(Heap::rounded(257), 512);
    EXPECT_EQ(Heap::rounded(1025), 1280);
    EXPECT_EQ(Heap::rounded(4097), 5120);
    EXPECT_EQ(Heap::rounded(Heap::small_limit), Heap::small_limit);
    EXPECT_EQ(Heap::rounded(Heap::small_limit + 1), Heap::small_limit + 256);
    for (std::uint64_t size = 1024; size < 3 * Heap::small_limit; size += 999) {
        const std::uint64_t rounded = Heap::rounded(size);
        EXPECT_EQ(rounded % 256, 0) << size;
        EXPECT_GE(rounded, size);
        EXPECT_LE(rounded, size + size / 4 + 256);
        EXPECT_EQ(Heap::rounded(rounded), rounded) << "a class is its own size";
    }
}

TEST(Heap, FindsNothingWithoutABlock) { EXPECT_FALSE(Heap().take(1)); }

TEST(Heap, TakesTheBestFitAndMergesWhatComesBack) {
    Heap heap;
    constexpr std::uint64_t mib = 1ULL << 20;
    ASSERT_EQ(heap.add_block(16 * mib), 0);
    const auto a = heap.take(4 * mib);
    const auto b = heap.take(2 * mib);
    const auto c = heap.take(4 * mib);
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(a->offset, 0);
    EXPECT_EQ(b->offset, 4 * mib);
    EXPECT_EQ(c->offset, 6 * mib);
    EXPECT_EQ(heap.used(), 10 * mib);
    heap.give(*b);
    const auto fits = heap.take(2 * mib);
    EXPECT_EQ(fits, b) << "the hole, not the larger rest of the block";
    heap.give(*fits);
    heap.give(*a);
    EXPECT_EQ(heap.take(6 * mib)->offset, 0) << "a and b became one";
    heap.give({0, 0, 6 * mib});
    heap.give(*c);
    EXPECT_EQ(heap.take(16 * mib)->offset, 0) << "all of it became one";
}

TEST(Heap, BeginsWhereItIsAskedTo) {
    Heap heap;
    constexpr std::uint64_t page = 64ULL << 10;
    heap.add_block(16 * page);
    std::vector<Heap::Range> taken;
    taken.push_back(*heap.take(300));
    for (int i = 0; i < 6; ++i) {
        taken.push_back(*heap.take(page + 1, page));
        taken.push_back(*heap.take(300));
        EXPECT_EQ(taken[taken.size() - 2].offset % page, 0) << i;
        EXPECT_EQ(taken.back().offset % 256, 0) << i;
    }
    EXPECT_FALSE(heap.take(4 * page, page));
    std::ranges::sort(taken, {}, &Heap::Range::offset);
    for (std::size_t i = 1; i < taken.size(); ++i) {
        EXPECT_LE(taken[i - 1].offset + taken[i - 1].size, taken[i].offset);
    }
    const Heap::Range small = taken.front();
    heap.give(small);
    EXPECT_EQ(*heap.take(300, 256), small);
    for (const Heap::Range& range : taken) heap.give(range);
    EXPECT_EQ(heap.used(), 0);
    const std::optional<Heap::Range> whole = heap.take(16 * page, page);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->offset, 0) << "all of it became one";
}

TEST(Heap, KeepsSmallRangesByClassAndGivesThemUpForALargeOne) {
    Heap heap;
    heap.add_block(4ULL << 20);
    std::vector<Heap::Range> ranges;
    for (int i = 0; i < 4096; ++i) {
        ranges.push_back(heap.take(1024).value());
    }
    EXPECT_FALSE(heap.take(1)) << "full";
    const Heap::Range last = ranges.back();
    heap.give(last);
    EXPECT_EQ(heap.take(1000), last) << "the same class, the last one first";
    for (const Heap::Range& range : ranges) {
        heap.give(range);
    }
    EXPECT_EQ(heap.used(), 0);
    EXPECT_TRUE(heap.take(4ULL << 20));
}

TEST(Heap, ServesASmallSizeFromKeptRangesOfAnotherClass) {
    Heap heap;
    heap.add_block(1ULL << 20);
    std::vector<Heap::Range> ranges;
    while (const auto range = heap.take(256)) {
        ranges.push_back(*range);
    }
    for (const Heap::Range& range : ranges) {
        heap.give(range);
    }
    EXPECT_TRUE(heap.take(65536)) << "no new block is needed while this one is empty";
}

TEST(Heap, RemovesOnlyUnusedBlocksAndReusesTheirNumbers) {
    Heap heap;
    heap.add_block(1ULL << 20);
    const auto kept = heap.take(1ULL << 20);
    EXPECT_EQ(heap.add_block(8ULL << 20), 1);
    const auto freed = heap.take(100);
    EXPECT_EQ(freed->block, 1);
    heap.give(*freed);
    EXPECT_THAT(heap.remove_unused(), ElementsAre(1));
    EXPECT_THAT(heap.remove_unused(), IsEmpty());
    EXPECT_EQ(heap.reserved(), 1ULL << 20);
    EXPECT_EQ(heap.block_count(), 1);
    EXPECT_FALSE(heap.take(256)) << "nothing of a removed block is handed out";
    EXPECT_EQ(heap.add_block(1ULL << 20), 1);
    EXPECT_TRUE(kept);
}

TEST(Heap, SizesBlocks) {
    Heap heap;
    EXPECT_EQ(heap.next_block_size(1, 1ULL << 40), Heap::first_block);
    heap.add_block(Heap::first_block);
    EXPECT_EQ(heap.next_block_size(1, 1ULL << 40), Heap::default_block);
    EXPECT_EQ(heap.next_block_size(1ULL << 30, 1ULL << 40), 1ULL << 30) << "huge ones have their own";
    EXPECT_EQ(heap.next_block_size(1, 1ULL << 20), 1ULL << 20) << "the device's limit";
}

TEST(Heap, NeverHandsOutOverlappingRanges) {
    std::mt19937 random(7);
    Heap heap;
    heap.add_block(8ULL << 20);
    heap.add_block(32ULL << 20);
    std::vector<Heap::Range> live;
    std::uint64_t used = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t size = 1 + (random() % (random() % 8 == 0 ? 3000000 : 9000));
        if (random() % 5 < 3) {
            if (const auto range = heap.take(size)) {
                EXPECT_GE(range->size, size);
                EXPECT_EQ(range->offset % 256, 0);
                EXPECT_LE(range->offset + range->size, range->block == 0 ? 8ULL << 20 : 32ULL << 20);
                used += range->size;
                live.push_back(*range);
            }
        } else if (!live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            heap.give(live.back());
            used -= live.back().size;
            live.pop_back();
        }
        ASSERT_EQ(heap.used(), used);
        if (i % 500 == 0) {
            std::vector<Heap::Range> sorted = live;
            std::sort(sorted.begin(), sorted.end());
            for (std::size_t k = 1; k < sorted.size(); ++k) {
                ASSERT_TRUE(sorted[k - 1].block != sorted[k].block ||
                            sorted[k - 1].offset + sorted[k - 1].size <= sorted[k].offset);
            }
        }
    }
    for (const Heap::Range& range : live) {
        heap.give(range);
    }
    EXPECT_EQ(heap.remove_unused().size(), 2) << "all of it merged back";
}

}  // namespace
}  // namespace kf::vulkan
