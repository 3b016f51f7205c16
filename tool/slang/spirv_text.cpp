// Calls the disassembler of SPIRV-Tools that Slang uses itself.
#include "slang/spirv_text.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/spirv_code.h"
#include "process/opened_library.h"
#include "slang/glslang_library.h"

namespace kf::gen {

std::optional<std::string> spirv_text(const std::string& code, const std::filesystem::path& slang) {
    const spirv::Words words = spirv::module_of(code);
    if (!spirv::each_instruction(words, [](spirv::Instruction) {})) return {};
    bool (*disassemble)(const std::uint32_t* words, int count, char** text) = nullptr;
    void (*release)(char* text) = nullptr;
    void* library = open_glslang(slang);
    if (library == nullptr || !find_function(library, "glslang_disassembleSPIRVWithResult", disassemble))
        return {};
    char* made = nullptr;
    if (!disassemble(words.data(), static_cast<int>(words.size()), &made) || made == nullptr) return {};
    std::string text = made;
    // Releases of Slang without this function leave the text to delete[].
    if (find_function(library, "glslang_freeDisassembly", release)) {
        release(made);
    } else {
        delete[] made;  // NOLINT(cppcoreguidelines-owning-memory)
    }
    return text;
}

std::string named_capability(const std::string& feature, const std::filesystem::path& slang) {
    constexpr std::string_view prefix = "capability-";
    if (!feature.starts_with(prefix)) return feature;
    std::uint32_t capability = 0;
    std::from_chars(feature.data() + prefix.size(), feature.data() + feature.size(), capability);
    // A module of the one instruction, behind its header.
    spirv::Words module{spirv::magic, 0x10500, 0, 1, 0};
    spirv::put(module, spirv::op_capability, {capability});
    const std::string text = spirv_text(spirv::bytes_of(module), slang).value_or(std::string());
    constexpr std::string_view instruction = "OpCapability ";
    const std::size_t at = text.find(instruction);
    if (at == std::string::npos) return feature;
    const std::size_t begin = at + instruction.size();
    return std::string(prefix) + text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

}  // namespace kf::gen
