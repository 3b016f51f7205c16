// The disassembler of Slang's library of glslang, on a module made by hand.
#include "slang/spirv_text.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "slang/library.h"

namespace kf::gen {
namespace {

using testing::HasSubstr;

std::string small_module() {
    constexpr std::uint32_t capability = 2U << 16U | 17U;
    constexpr std::uint32_t memory_model = 3U << 16U | 14U;
    constexpr std::array<std::uint32_t, 10> words{0x07230203, 0x00010500,   0, 1, 0, capability,
                                                  1,          memory_model, 0, 1};
    std::string code(sizeof words, '\0');
    std::memcpy(code.data(), words.data(), sizeof words);
    return code;
}

TEST(SpirvText, IsWhatTheDisassemblerPrints) {
    const auto text = spirv_text(small_module(), slang_library_path());
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, HasSubstr("; Version: 1.5\n"));
    EXPECT_THAT(*text, HasSubstr("OpCapability Shader\n"));
    EXPECT_THAT(*text, HasSubstr("OpMemoryModel Logical GLSL450\n"));
}

TEST(SpirvText, IsNothingWithoutTheLibraryOrOfOtherCode) {
    EXPECT_EQ(spirv_text(small_module(), "/nowhere/libslang.so"), std::nullopt);
    EXPECT_EQ(spirv_text("no SPIR-V at all", slang_library_path()), std::nullopt);
    EXPECT_EQ(spirv_text(small_module().substr(0, 36), slang_library_path()), std::nullopt);
}

TEST(SpirvText, NamesCapabilities) {
    const auto slang = slang_library_path();
    EXPECT_EQ(named_capability("capability-5404", slang), "capability-AtomicFloat16VectorNV");
    EXPECT_EQ(named_capability("capability-1", slang), "capability-Shader");
    EXPECT_EQ(named_capability("scalar_layout", slang), "scalar_layout");
    EXPECT_EQ(named_capability("capability-5404", "/nowhere/libslang.so"), "capability-5404");
}

}  // namespace
}  // namespace kf::gen
