// A folder of its own for a test, and programs run in it.
#pragma once

#include <filesystem>
#include <string>

namespace kf::gen::testing {

/// Removed with everything in it at the end.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    /// Makes folders of the name, too.
    void write(const std::string& name, const std::string& text) const;
    [[nodiscard]] std::string read(const std::string& name) const;
    /// Runs a shell command in the folder. Empty when it succeeds and says nothing wrong; else what it
    /// printed.
    [[nodiscard]] std::string complaints(const std::string& command) const;

private:
    std::filesystem::path path_;
};

}  // namespace kf::gen::testing
