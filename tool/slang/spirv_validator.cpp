// Calls what `SLANG_RUN_SPIRV_VALIDATION=1` has Slang call, after kfgen's own repairs of the code.
#include "slang/spirv_validator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "core/spirv_code.h"
#include "process/opened_library.h"
#include "slang/glslang_library.h"

namespace kf::gen {

namespace {

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
    if (void* library = open_glslang(slang)) find_function(library, "glslang_validateSPIRV", validate_);
}

std::string SpirvValidator::first_error(const std::string& code) const {
    if (validate_ == nullptr) return {};
    const spirv::Words words = spirv::module_of(code);
    CapturedErrors errors;
    if (validate_(words.data(), static_cast<int>(words.size()))) return {};
    const std::string line = errors.first_line();
    return line.empty() ? "its validator doesn't say why" : line;
}

}  // namespace kf::gen
