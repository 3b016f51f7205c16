// Tests what becomes of SPIR-V on devices that lack something.
#include "vulkan/spirv_adapt.h"

#include "vulkan/spirv_compare.h"
#include "vulkan/spirv_layers.h"
#include "vulkan/spirv_loops.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace kf::vulkan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

constexpr std::uint32_t op_capability = 17;
constexpr std::uint32_t op_execution_mode = 16;
constexpr std::uint32_t op_atomic_f_add = 6035;
constexpr std::uint32_t op_atomic_compare_exchange = 230;
constexpr std::uint32_t op_loop_merge = 246;
constexpr std::uint32_t denorm_preserve = 4459;

Words words_of(const std::string& kernel) {
    std::ifstream file(std::string(KF_TEST_KERNELS) + "/" + kernel + ".spv", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    Words words(bytes.size() / 4);
    std::copy_n(bytes.data(), words.size() * 4, reinterpret_cast<char*>(words.data()));
    return words;
}

std::vector<std::uint32_t> opcodes(const Words& words) {
    std::vector<std::uint32_t> found;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) found.push_back(words[at] & 0xFFFFU);
    return found;
}

/// Whether spirv-val, where there is one, takes it for Vulkan.
bool is_valid(const Words& words) {
    if (std::string(KF_SPIRV_VAL).empty()) return true;
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) /
        (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".spv");
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    const std::string command =
        std::string(KF_SPIRV_VAL) + " --target-env vulkan1.2 --scalar-block-layout " + path.string();
    const int status = std::system(command.c_str());
    std::filesystem::remove(path);
    return status == 0;
}

TEST(SpirvAdapt, MakesAdditionsOfCompareAndSwap) {
    const Words before = words_of("add_atomic");
    ASSERT_TRUE(uses_float_atomics(before));
    ASSERT_THAT(opcodes(before), Contains(op_atomic_f_add).Times(2));
    const Words after = without_float_atomics(before);
    EXPECT_FALSE(uses_float_atomics(after));
    EXPECT_THAT(opcodes(after), Not(Contains(op_atomic_f_add)));
    EXPECT_THAT(opcodes(after), Contains(op_atomic_compare_exchange).Times(1)) << "one loop serves both";
    EXPECT_TRUE(is_valid(after));
    EXPECT_EQ(without_float_atomics(after), after);
}

TEST(SpirvAdapt, LeavesOtherModulesAsTheyAre) {
    const Words plain = words_of("add_step_by_value");
    EXPECT_FALSE(uses_float_atomics(plain));
    EXPECT_EQ(opcodes(without_float_atomics(plain)), opcodes(plain));
}

TEST(SpirvAdapt, KeepsWhatItCantReplace) {
    const Words shared = words_of("add_shared");
    ASSERT_TRUE(uses_float_atomics(shared));
    EXPECT_EQ(without_float_atomics(shared), shared);
}

TEST(SpirvAdapt, AsksForSubnormals) {
    const Words after = keeping_subnormals(words_of("add_step_by_value"));
    bool asked = false;
    for (std::size_t at = 5; at < after.size(); at += after[at] >> 16U) {
        asked = asked || ((after[at] & 0xFFFFU) == op_execution_mode && after[at + 2] == denorm_preserve &&
                          after[at + 3] == 32);
    }
    EXPECT_TRUE(asked);
    EXPECT_TRUE(is_valid(after));
    EXPECT_EQ(keeping_subnormals(after), after);
    EXPECT_EQ(std::ranges::count(opcodes(after), op_capability),
              std::ranges::count(opcodes(words_of("add_step_by_value")), op_capability) + 1);
}

/// The control words of a module's loops, in the order of the code.
std::vector<std::uint32_t> loop_controls(const Words& words) {
    std::vector<std::uint32_t> found;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
        if ((words[at] & 0xFFFFU) == op_loop_merge) found.push_back(words[at + 3]);
    }
    return found;
}

TEST(SpirvAdapt, KeepsLoopsThatContainAtomicOrSubgroupOperations) {
    constexpr std::uint32_t none = 0;
    constexpr std::uint32_t unroll = 1;
    constexpr std::uint32_t dont_unroll = 2;
    const Words before = words_of("atomic_loops");
    ASSERT_THAT(loop_controls(before), ElementsAre(none, none, none, unroll, none, none));
    const Words after = keeping_loops(before);
    EXPECT_THAT(loop_controls(after), ElementsAre(dont_unroll, none, dont_unroll, unroll, dont_unroll, none));
    EXPECT_EQ(opcodes(after), opcodes(before));
    EXPECT_TRUE(is_valid(after));
    EXPECT_EQ(keeping_loops(after), after);
}

TEST(SpirvAdapt, TakesNoWordsThatAreNoModule) {
    for (const Words& words : {Words{}, Words{1, 2, 3}, Words{0x07230203, 0x10500, 0, 9, 0, 0},
                               Words{0x07230203, 0x10500, 0, 9, 0, 0x00090011, 1}}) {
        EXPECT_EQ(without_float_atomics(words), words);
        EXPECT_EQ(keeping_subnormals(words), words);
        EXPECT_EQ(keeping_loops(words), words);
        EXPECT_FALSE(uses_float_atomics(words));
    }
}

/// The module with operand `index` of its only such instruction, counted from the first word, changed.
Words with_operand(Words words, std::uint32_t op, std::size_t index, std::uint32_t value) {
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
        if ((words[at] & 0xFFFFU) == op) words[at + index] = value;
    }
    return words;
}

/// The module with 3D textures in place of arrays of 2D ones.
Words volumes(const Words& module) {
    constexpr std::uint32_t op_type_image = 25;
    Words words = module;
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
        if ((words[at] & 0xFFFFU) != op_type_image || words[at] >> 16U < 6 || words[at + 5] != 1) continue;
        words[at + 3] = 2;
        words[at + 5] = 0;
    }
    return words;
}

/// The module with instruction number `index` cut down to `words` words.
Words cut(const Words& module, std::size_t index, std::size_t words) {
    Words result(module.begin(), module.begin() + 5);
    std::size_t number = 0;
    for (std::size_t at = 5; at < module.size(); at += module[at] >> 16U) {
        const std::size_t count = number++ == index ? words : module[at] >> 16U;
        const auto first = module.begin() + static_cast<std::ptrdiff_t>(at);
        result.push_back(static_cast<std::uint32_t>(count) << 16U | (module[at] & 0xFFFFU));
        result.insert(result.end(), first + 1, first + static_cast<std::ptrdiff_t>(count));
    }
    return result;
}

TEST(SpirvAdapt, ReadsNothingBehindInstructionsThatAreTooShort) {
    for (const char* kernel : {"add_atomic", "atomic_loops", "texture_compare", "texture_layers"}) {
        const Words whole = words_of(kernel);
        std::size_t index = 0;
        for (std::size_t at = 5; at < whole.size(); at += whole[at] >> 16U, ++index) {
            for (std::size_t words = 1; words < (whole[at] >> 16U); ++words) {
                const Words module = cut(whole, index, words);
                EXPECT_FALSE(without_float_atomics(module).empty());
                EXPECT_FALSE(bounding_layers(module).empty());
                EXPECT_FALSE(comparing_layers(module).empty());
                EXPECT_FALSE(comparing_layers(volumes(module)).empty());
                EXPECT_FALSE(keeping_subnormals(module).empty());
                EXPECT_FALSE(keeping_loops(module).empty());
                const Compared compared = comparing_itself(module);
                EXPECT_TRUE(!compared.words.empty() || !compared.refused.empty());
                (void)descriptors_of(module);
            }
        }
    }
}

TEST(SpirvCompare, GathersAndComparesItself) {
    constexpr std::uint32_t op_sample_dref = 90;
    constexpr std::uint32_t op_type_image = 25;
    const Words before = words_of("texture_compare");
    ASSERT_THAT(opcodes(before), Contains(op_sample_dref));
    const Compared after = comparing_itself(before);
    EXPECT_EQ(after.refused, "");
    EXPECT_THAT(after.samplers, ::testing::ElementsAre(1U));
    EXPECT_THAT(opcodes(after.words), Not(Contains(op_sample_dref)));
    EXPECT_TRUE(is_valid(after.words));
    EXPECT_EQ(comparing_itself(after.words).words, after.words) << "nothing compares any more";
    for (const char* other : {"texture_sample", "add_step_by_value"}) {
        const Compared same = comparing_itself(words_of(other));
        EXPECT_EQ(same.words, words_of(other));
        EXPECT_THAT(same.samplers, ::testing::IsEmpty());
    }
    // Another level of detail than the constant 0, a cube, derivatives.
    EXPECT_EQ(comparing_itself(with_operand(before, op_sample_dref, 7, 1)).refused,
              "comparison of texels of another mip than the view's first");
    EXPECT_EQ(comparing_itself(with_operand(before, op_type_image, 3, 3)).refused,
              "comparison of texels that aren't floats of a 2D texture");
    EXPECT_EQ(comparing_itself(with_operand(before, op_sample_dref, 6, 4)).refused,
              "comparison of texels at an offset that is no constant, or with derivatives");
}

TEST(SpirvLayers, AreBoundedInArraysThatAreWritten) {
    constexpr std::uint32_t op_select = 169;
    const Words after = bounding_layers(words_of("texture_layers"));
    EXPECT_THAT(opcodes(after), Contains(op_select).Times(2));
    EXPECT_TRUE(is_valid(after));
    for (const char* other : {"texture_add", "texture_load", "add_step_by_value"}) {
        EXPECT_EQ(bounding_layers(words_of(other)), words_of(other)) << other;
    }
    EXPECT_EQ(bounding_layers(Words{1, 2, 3}), (Words{1, 2, 3}));
}

TEST(SpirvLayers, AreComparedInArraysAndVolumesThatAreWritten) {
    constexpr std::uint32_t op_query_size = 104;
    const Words array = words_of("texture_layers");
    for (const Words& before : {array, volumes(array)}) {
        ASSERT_TRUE(is_valid(before));
        const Words after = comparing_layers(before);
        EXPECT_THAT(opcodes(after), Contains(op_query_size).Times(2));
        EXPECT_TRUE(is_valid(after));
    }
    EXPECT_EQ(bounding_layers(volumes(array)), volumes(array));
    for (const char* other : {"texture_add", "texture_load", "add_step_by_value"}) {
        EXPECT_EQ(comparing_layers(words_of(other)), words_of(other)) << other;
    }
    EXPECT_EQ(comparing_layers(Words{1, 2, 3}), (Words{1, 2, 3}));
}

}  // namespace
}  // namespace kf::vulkan
