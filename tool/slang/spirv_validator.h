// Tells whether SPIR-V is valid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kf::gen {

/// The validator in the library of glslang that Slang brings with it. Not thread-safe: it writes what it
/// finds to standard error, which is read back from there.
class SpirvValidator {
public:
    /// `slang`: Slang's own library, beside which the other lies.
    explicit SpirvValidator(const std::filesystem::path& slang);

    /// Says what is wrong first, in a line; empty where nothing is, and where that library has no validator.
    [[nodiscard]] std::string first_error(const std::string& code) const;

private:
    using Validate = bool (*)(const std::uint32_t* words, int count);

    Validate validate_ = nullptr;
};

}  // namespace kf::gen
