// Calls what `SLANG_RUN_SPIRV_VALIDATION=1` has Slang call, after kfgen's own repairs of the code.
#include "slang/spirv_validator.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

namespace kf::gen {

namespace {

std::filesystem::path glslang_beside(const std::filesystem::path& slang) {
    std::error_code failed;
    for (std::filesystem::directory_iterator file(slang.parent_path(), failed), end; !failed && file != end;
         file.increment(failed)) {
        const std::string name = file->path().filename().string();
        if (name.starts_with("libslang-glslang") && name.find(".so") != std::string::npos)
            return file->path();
    }
    return {};
}

/// Standard error goes to memory as long as this lives.
class CapturedErrors {
public:
    CapturedErrors() : memory_(::memfd_create("spirv", MFD_CLOEXEC)), saved_(::dup(STDERR_FILENO)) {
        if (memory_ >= 0 && saved_ >= 0) ::dup2(memory_, STDERR_FILENO);
    }
    ~CapturedErrors() {
        restore();
        if (memory_ >= 0) ::close(memory_);
    }
    CapturedErrors(const CapturedErrors&) = delete;
    CapturedErrors& operator=(const CapturedErrors&) = delete;

    /// The first line that was written; ends the capture.
    std::string first_line() {
        restore();
        std::array<char, 512> text{};
        const ssize_t read = memory_ < 0 ? 0 : ::pread(memory_, text.data(), text.size(), 0);
        const std::string all(text.data(), read > 0 ? static_cast<std::size_t>(read) : 0);
        return all.substr(0, all.find('\n'));
    }

private:
    void restore() {
        if (saved_ < 0) return;
        ::dup2(saved_, STDERR_FILENO);
        ::close(saved_);
        saved_ = -1;
    }

    int memory_;
    int saved_;
};

}  // namespace

SpirvValidator::SpirvValidator(const std::filesystem::path& slang) {
    const std::filesystem::path library = glslang_beside(slang);
    if (library.empty()) return;
    // Slang loads it as well, and keeps it.
    if (void* loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
        validate_ = reinterpret_cast<Validate>(::dlsym(loaded, "glslang_validateSPIRV"));
}

std::string SpirvValidator::first_error(const std::string& code) const {
    if (validate_ == nullptr) return {};
    std::vector<std::uint32_t> words(code.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), code.data(), words.size() * sizeof(std::uint32_t));
    CapturedErrors errors;
    if (validate_(words.data(), static_cast<int>(words.size()))) return {};
    const std::string line = errors.first_line();
    return line.empty() ? "its validator doesn't say why" : line;
}

}  // namespace kf::gen
