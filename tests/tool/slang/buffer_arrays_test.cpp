// SPIR-V with buffers in arrays, made by hand.
#include "slang/buffer_arrays.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

namespace kf::gen {
namespace {

using Lines = std::vector<std::vector<std::uint32_t>>;

std::string module_of(const std::vector<Lines>& parts, std::uint32_t bound = 100) {
    std::vector<std::uint32_t> words = {0x07230203, 0x00010500, 0, bound, 0};
    for (const Lines& lines : parts) {
        for (const auto& line : lines) {
            words.push_back(static_cast<std::uint32_t>(line.size()) << 16U | line[0]);
            words.insert(words.end(), line.begin() + 1, line.end());
        }
    }
    std::string bytes(words.size() * sizeof(words[0]), '\0');
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

/// 1 is float, 2 int, 3 and 4 the numbers 2 and 0; 7 a buffer's struct and 8 a pointer to it, 9 an array of
/// two of those; 10, 11 and 12 point to that, to such a pointer, and to a buffer's element. 20 and 21 are
/// buffers.
const Lines types{{22, 1, 32},     {21, 2, 32, 1},  {43, 2, 3, 2},  {43, 2, 4, 0},  {29, 6, 1},
                  {30, 7, 6},      {32, 8, 12, 7},  {28, 9, 8, 3},  {32, 10, 7, 9}, {32, 11, 7, 8},
                  {32, 12, 12, 1}, {59, 8, 20, 12}, {59, 8, 21, 12}};
/// A function that has both buffers in the array 17, and picks one by the number 30 as 23.
const Lines start{{54, 13, 15, 0, 14}, {248, 16},           {59, 10, 17, 7},
                  {128, 2, 30, 4, 4},  {80, 9, 18, 20, 21}, {62, 17, 18}};
const Lines pick{{65, 11, 22, 17, 30}, {61, 8, 23, 22}};
const Lines end{{253}, {56}};

std::string settled(std::string code) {
    EXPECT_EQ(settle_buffer_arrays(code), BufferArrays::settled);
    return code;
}

TEST(BufferArrays, PickBySwitches) {
    const Lines read{{65, 12, 24, 23, 4, 30}, {61, 1, 25, 24}, {62, 24, 25}, {68, 2, 26, 23, 0}};
    const Lines named{{5, 17, 97}, {5, 25, 98}};
    const Lines opened{{54, 13, 15, 0, 14}, {248, 16}, {128, 2, 30, 4, 4}};
    const Lines read_each{{247, 100, 0},     {251, 30, 102, 0, 101},
                          {248, 101},        {65, 12, 103, 20, 4, 30},
                          {61, 1, 104, 103}, {249, 100},
                          {248, 102},        {65, 12, 105, 21, 4, 30},
                          {61, 1, 106, 105}, {249, 100},
                          {248, 100},        {245, 1, 25, 104, 101, 106, 102}};
    const Lines write_each{{247, 107, 0}, {251, 30, 109, 0, 108},
                           {248, 108},    {65, 12, 110, 20, 4, 30},
                           {62, 110, 25}, {249, 107},
                           {248, 109},    {65, 12, 111, 21, 4, 30},
                           {62, 111, 25}, {249, 107},
                           {248, 107}};
    const Lines ask_each{{247, 112, 0},       {251, 30, 114, 0, 113},
                         {248, 113},          {68, 2, 115, 20, 0},
                         {249, 112},          {248, 114},
                         {68, 2, 116, 21, 0}, {249, 112},
                         {248, 112},          {245, 2, 26, 115, 113, 116, 114}};
    EXPECT_EQ(settled(module_of({named, types, start, pick, read, end})),
              module_of({{{5, 25, 98}}, types, opened, read_each, write_each, ask_each, end}, 117));
}

TEST(BufferArrays, AreLeftOutWhereAllIsKnown) {
    // By known numbers, 4 is 0; or as a value alone.
    const Lines loads{{65, 11, 22, 17, 4}, {61, 8, 23, 22}, {65, 12, 24, 23, 4, 30}, {61, 1, 25, 24}};
    const Lines opened{{54, 13, 15, 0, 14}, {248, 16}, {128, 2, 30, 4, 4}};
    EXPECT_EQ(settled(module_of({types, start, loads, end})),
              module_of({types, opened, {{83, 8, 23, 20}, {65, 12, 24, 23, 4, 30}, {61, 1, 25, 24}}, end}));
    EXPECT_EQ(settled(module_of({types, opened, {{80, 9, 18, 20, 21}}, end})),
              module_of({types, opened, end}));
    // One buffer that is kept for each iteration is the same for all.
    const Lines kept{{59, 10, 17, 7},      {65, 11, 22, 17, 30}, {62, 22, 21},
                     {65, 11, 27, 17, 30}, {61, 8, 23, 27},      {68, 2, 26, 23, 0}};
    EXPECT_EQ(settled(module_of({types, opened, kept, end})),
              module_of({types, opened, {{68, 2, 26, 21, 0}}, end}));
}

TEST(BufferArrays, KeepLoopsAndWhereBlocksComeFrom) {
    // The block 40 begins a loop and picks; 41 follows it, 42 goes back.
    const Lines loop{{249, 40}, {248, 40}, {245, 2, 31, 4, 16, 32, 42}};
    const Lines read{{65, 12, 24, 23, 4, 31}, {61, 1, 25, 24}};
    const Lines rest{{248, 42}, {128, 2, 32, 31, 3}, {249, 40}, {248, 41}, {245, 1, 33, 25, 40}};
    const std::string code = settled(
        module_of({types, start, loop, pick, read, {{246, 41, 42, 0}, {250, 34, 41, 42}}, rest, end}));
    EXPECT_EQ(code, module_of({types,
                               {{54, 13, 15, 0, 14}, {248, 16}, {128, 2, 30, 4, 4}},
                               loop,
                               {{246, 41, 42, 0}, {249, 100}, {248, 100}},
                               {{247, 101, 0},
                                {251, 30, 103, 0, 102},
                                {248, 102},
                                {65, 12, 104, 20, 4, 31},
                                {61, 1, 105, 104},
                                {249, 101},
                                {248, 103},
                                {65, 12, 106, 21, 4, 31},
                                {61, 1, 107, 106},
                                {249, 101},
                                {248, 101},
                                {245, 1, 25, 105, 102, 107, 103},
                                {250, 34, 41, 42}},
                               {{248, 42}, {128, 2, 32, 31, 3}, {249, 40}, {248, 41}, {245, 1, 33, 25, 101}},
                               end},
                              108));
}

TEST(BufferArrays, HaveSeveralIndices) {
    // 40 is an array of two such arrays, 41 points to it, and 43 is a number of 64 bits.
    const Lines more{{28, 40, 9, 3}, {32, 41, 7, 40}, {21, 42, 64, 0}};
    const Lines code{
        {54, 13, 15, 0, 14},      {248, 16},           {59, 41, 17, 7},        {128, 42, 43, 4, 4},
        {80, 9, 18, 20, 21},      {80, 9, 19, 21, 20}, {80, 40, 44, 18, 19},   {62, 17, 44},
        {65, 11, 22, 17, 43, 43}, {61, 8, 23, 22},     {65, 12, 24, 23, 4, 4}, {62, 24, 45}};
    EXPECT_EQ(settled(module_of({types, more, code, end})),
              module_of({types,
                         more,
                         {{43, 42, 100, 2, 0}},
                         {{54, 13, 15, 0, 14},
                          {248, 16},
                          {128, 42, 43, 4, 4},
                          {132, 42, 101, 43, 100},
                          {128, 42, 102, 101, 43},
                          {247, 103, 0},
                          {251, 102, 107, 0, 0, 104, 1, 0, 105, 2, 0, 106},
                          {248, 104},
                          {65, 12, 108, 20, 4, 4},
                          {62, 108, 45},
                          {249, 103},
                          {248, 105},
                          {65, 12, 109, 21, 4, 4},
                          {62, 109, 45},
                          {249, 103},
                          {248, 106},
                          {65, 12, 110, 21, 4, 4},
                          {62, 110, 45},
                          {249, 103},
                          {248, 107},
                          {65, 12, 111, 20, 4, 4},
                          {62, 111, 45},
                          {249, 103},
                          {248, 103}},
                         end},
                        112));
}

/// 46 is a number of 64 bits, 47 one without a sign.
TEST(BufferArrays, HaveIndicesOfSeveralTypes) {
    const Lines more{{28, 40, 9, 3}, {32, 41, 7, 40}, {21, 42, 64, 0}, {21, 45, 32, 0}};
    const Lines opened{{54, 13, 15, 0, 14}, {248, 16}, {59, 41, 17, 7}};
    const Lines numbers{{128, 2, 30, 4, 4}, {128, 42, 46, 4, 4}, {128, 45, 47, 4, 4}};
    const Lines filled{{80, 9, 18, 20, 21}, {80, 9, 19, 21, 20}, {80, 40, 44, 18, 19}, {62, 17, 44}};
    const Lines read{{61, 8, 23, 22}, {65, 12, 24, 23, 4, 4}, {62, 24, 45}};
    const auto index_by = [&](std::uint32_t first, std::uint32_t second) {
        return settled(
            module_of({types, more, opened, numbers, filled, {{65, 11, 22, 17, first, second}}, read, end}));
    };
    const auto begins = [&](const Lines& constant, const Lines& index) {
        const std::string whole =
            module_of({types, more, constant, {{54, 13, 15, 0, 14}, {248, 16}}, numbers, index}, 0);
        return testing::ResultOf([=](const std::string& code) { return code.substr(20, whole.size() - 20); },
                                 whole.substr(20));
    };
    EXPECT_THAT(index_by(47, 30), begins({{43, 45, 101, 2}}, {{124, 45, 100, 30}, {132, 45, 102, 47, 101}}));
    EXPECT_THAT(index_by(46, 30),
                begins({{43, 42, 101, 2, 0}}, {{114, 42, 100, 30}, {132, 42, 102, 46, 101}}));
    EXPECT_THAT(index_by(47, 46), begins({{43, 45, 101, 2}}, {{113, 45, 100, 46}, {132, 45, 102, 47, 101}}));
}

TEST(BufferArrays, StayWhereAnElementIsKept) {
    // It is stored, chosen among, handed to a function; or the array is, or holds what comes from elsewhere.
    for (const Lines& use :
         {Lines{{59, 11, 50, 7}, {62, 50, 23}}, Lines{{169, 8, 50, 51, 23, 20}}, Lines{{57, 1, 50, 51, 23}},
          Lines{{57, 1, 50, 51, 17}}, Lines{{245, 8, 50, 23, 16}}, Lines{{62, 17, 51}},
          // Parts of elements: drivers mix them up.
          Lines{{65, 12, 24, 23, 4, 30, 4}, {61, 1, 25, 24}},
          // In an array by a number, which is then read; or a copy of memory.
          Lines{{82, 9, 50, 23, 18, 0}, {81, 8, 51, 50, 0}, {68, 2, 26, 51, 0}}, Lines{{63, 17, 18}},
          Lines{{59, 10, 50, 7}, {62, 50, 18}, {63, 51, 50}}, Lines{{59, 10, 50, 7}, {63, 50, 51}}}) {
        const std::string given = module_of({types, start, pick, use, end});
        std::string code = given;
        EXPECT_EQ(settle_buffer_arrays(code), BufferArrays::unsettled);
        EXPECT_EQ(code, given) << use.back()[0];
    }
}

TEST(BufferArrays, AreAbsentFromMostModules) {
    const std::string given = module_of({types, {{54, 13, 15, 0, 14}, {248, 16}, {68, 2, 26, 20, 0}}, end});
    EXPECT_EQ(settled(given), given);
    for (std::string bad : {std::string("no SPIR-V"), given.substr(0, given.size() - 1)})
        EXPECT_EQ(settle_buffer_arrays(bad), BufferArrays::no_spirv);
}

}  // namespace
}  // namespace kf::gen
