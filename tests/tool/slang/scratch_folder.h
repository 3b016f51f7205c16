// A temporary folder of Slang files and a compiler that reads them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "slang/compiler.h"
#include "slang/workarounds/workaround.h"

namespace kf::gen {

/// Removed with its files at the end.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    /// Writes `text` and gives the absolute path.
    [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

using SupportModules = std::vector<SupportModule>;

/// Slang, started once for all compilers of a test program, which would take most of its time otherwise.
std::shared_ptr<StartedSlang> started_slang();

std::unique_ptr<Compiler> make_compiler(const CompilerOptions& options = {},
                                        const SupportModules& support_modules = {});

/// Tells whether the Slang at hand needs the workaround.
bool has_fault(const Workaround& workaround);

/// Reflects one module with the text given; a failure is a failed test and an empty Module.
Module reflect_text(const std::string& text);

/// The only function of that name; otherwise a failed test.
const Function& function_named(const Module& module, const std::string& name);

/// Every diagnostic in one text, for failure messages.
std::string describe(const Diagnostics& errors);

}  // namespace kf::gen
