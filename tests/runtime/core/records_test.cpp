// Where the members of records lie, and the order of a block.
#include "core/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/block_records.h"
#include "runtime/core/manifests.h"

namespace kf::test {
namespace {

using manifest::Record;
using manifest::RecordKind;
using ::testing::ElementsAre;

std::vector<std::pair<std::string, std::int64_t>> members(const Record& record) {
    std::vector<std::pair<std::string, std::int64_t>> found;
    for (const manifest::RecordMember& member : manifest::record_layout(record).members) {
        found.emplace_back(member.name, member.offset);
    }
    return found;
}

std::vector<RecordKind> kinds_of(const std::vector<Record>& records) {
    std::vector<RecordKind> kinds;
    for (const Record& record : records) kinds.push_back(record.kind);
    return kinds;
}

TEST(Records, HaveStridesBehindTheirAddress) {
    const Record data{RecordKind::data, 0, {0, 2}, 1, true};
    EXPECT_THAT(members(data),
                ElementsAre(std::pair("data", 0), std::pair("strides", 8), std::pair("step", 32)));
    EXPECT_EQ(manifest::record_layout(data).end, 36);
    EXPECT_EQ(manifest::record_layout(data).size(), 40) << "with the padding at the end";
    const Record sums{RecordKind::sums, 0, {1}};
    EXPECT_THAT(members(sums),
                ElementsAre(std::pair("data", 0), std::pair("count", 8), std::pair("strides", 16)));
}

TEST(Records, HaveNoListsOfNothing) {
    EXPECT_THAT(members({RecordKind::grad_out, 0, {}, 0, true}),
                ElementsAre(std::pair("data", 0), std::pair("mode", 8)));
    EXPECT_THAT(members({RecordKind::grad_in, 0}), ElementsAre(std::pair("data", 0)));
}

TEST(Records, AreAlignedToTheirWidestMember) {
    EXPECT_EQ(manifest::record_layout({RecordKind::extents, 0, {}, 3}).alignment, 4);
    EXPECT_EQ(manifest::record_layout({RecordKind::extents, 0, {}, 3}).size(), 12);
    EXPECT_EQ(manifest::record_layout({RecordKind::launch}).alignment, 8);
    const Record walk{RecordKind::walk, -1, {0, 1}};
    EXPECT_EQ(manifest::record_layout(walk).members[3].offset, 32) << "row_length, behind two extents";
    EXPECT_EQ(manifest::record_layout(walk).size(), 56);
}

TEST(Records, OfABlockLeaveFewGaps) {
    const Call call = polynomial().functions[0].calls[0];
    const auto records = manifest::block_records(call, {PassKind::backward, Variant::contiguous});
    EXPECT_THAT(kinds_of(records),
                ElementsAre(RecordKind::launch, RecordKind::grad_out, RecordKind::grad_out,
                            RecordKind::grad_out, RecordKind::data, RecordKind::grad_out, RecordKind::grad_in,
                            RecordKind::value, RecordKind::value, RecordKind::value))
        << "what is aligned to 4 bytes comes last";
    EXPECT_EQ(manifest::push_constant_bytes(call, records), 120);
}

}  // namespace
}  // namespace kf::test
