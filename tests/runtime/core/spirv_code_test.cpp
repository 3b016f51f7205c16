// Modules made by hand, read and written by the instruction.
#include "core/spirv_code.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/interface.h"

namespace kf::spirv {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Words header() { return {magic, 0x00010500, 0, 10, 0}; }

TEST(SpirvCode, ReadsWhatItWrites) {
    Words module = header();
    put(module, op_capability, {1});
    put(module, op_name, {7, 0x00636261});
    const std::vector<Instruction> all = instructions_of(module);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(opcode_of(all[0]), op_capability);
    EXPECT_THAT(all[0], ElementsAre(2U << 16U | op_capability, 1U));
    EXPECT_EQ(word_of(all[0], 1), 1U);
    EXPECT_EQ(word_of(all[0], 2), 0U) << "behind its end";
    EXPECT_EQ(text_of(all[1], 2), "abc");
    EXPECT_EQ(module_of(bytes_of(module)), module);
}

TEST(SpirvCode, ReadsTextThatNothingEnds) {
    Words module = header();
    put(module, op_string, {7, 0x64636261});
    EXPECT_EQ(text_of(instructions_of(module).front(), 2), "abcd");
}

TEST(SpirvCode, ChangesWordsInPlace) {
    Words module = header();
    put(module, op_source, {11, 1});
    EXPECT_TRUE(each_instruction(module, [](std::span<std::uint32_t> one) { one[1] = 0; }));
    EXPECT_EQ(module[6], 0U);
}

TEST(SpirvCode, RefusesWhatIsNoWholeModule) {
    const auto is_whole = [](const Words& module) { return each_instruction(module, [](Instruction) {}); };
    Words module = header();
    EXPECT_TRUE(is_whole(module)) << "no instruction at all";
    put(module, op_capability, {1});
    EXPECT_TRUE(is_whole(module));
    Words cut = module;
    cut.pop_back();
    EXPECT_FALSE(is_whole(cut));
    EXPECT_THAT(instructions_of(cut), IsEmpty());
    Words endless = module;
    endless[5] = op_capability;  // of no words
    EXPECT_FALSE(is_whole(endless));
    Words other = module;
    other[0] = 0x03022307;  // of the other byte order
    EXPECT_FALSE(is_whole(other));
    EXPECT_FALSE(is_whole({}));
    EXPECT_FALSE(is_whole({magic, 0x00010500, 0, 10}));
    EXPECT_THAT(module_of(bytes_of(module) + "x"), IsEmpty()) << "no whole words";
}

TEST(SpirvCode, NamesEntryPointsAnew) {
    const auto module = [](const std::string& name) {
        Words words = header();
        put(words, op_capability, {1});
        Words operands{5, 4};
        Words text(name.size() / 4 + 1, 0);
        std::memcpy(text.data(), name.data(), name.size());
        put(operands, text);
        put(operands, Words{8, 9});  // its interface
        put(words, op_entry_point, operands);
        put(words, op_capability, {2});
        return words;
    };
    const auto bytes = [](const Words& words) { return std::as_bytes(std::span(words)); };
    const Words before = module("main");
    EXPECT_THAT(manifest::spirv_entry_points(bytes(before)), ElementsAre("main"));
    for (const std::string name : {"f", "scale_forward_contiguous"}) {
        const Words after = module(name);
        EXPECT_THAT(manifest::with_entry_point(bytes(before), name), testing::ElementsAreArray(bytes(after)));
    }
}

TEST(SpirvCode, TakesNoEntryPointsNameThatDoesNotEnd) {
    Words words = header();
    put(words, op_entry_point, {5, 4, 0x6e69616d});
    const auto bytes = std::as_bytes(std::span(words));
    EXPECT_THAT(manifest::spirv_entry_points(bytes), IsEmpty());
    EXPECT_THAT(manifest::with_entry_point(bytes, "f"), IsEmpty());
}

}  // namespace
}  // namespace kf::spirv
