// Calls the disassembler of SPIRV-Tools that Slang uses itself.
#include "slang/spirv_text.h"

#include "process/opened_library.h"
#include "slang/glslang_library.h"
#include "slang/spirv_words.h"

namespace kf::gen {

std::optional<std::string> spirv_text(const std::string& code, const std::filesystem::path& slang) {
    if (!each_instruction(code, [](std::uint32_t, std::size_t, std::size_t) {})) return {};
    bool (*disassemble)(const std::uint32_t* words, int count, char** text) = nullptr;
    void (*release)(char* text) = nullptr;
    void* library = open_glslang(slang);
    if (library == nullptr || !find_function(library, "glslang_disassembleSPIRVWithResult", disassemble))
        return {};
    const Words words = words_at(code, 0, code.size() / sizeof(std::uint32_t));
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

}  // namespace kf::gen
