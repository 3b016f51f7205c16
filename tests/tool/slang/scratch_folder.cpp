// Set-up shared by the tests that run Slang.
#include "tool/slang/scratch_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace kf::gen {

ScratchFolder::ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kfgen-slang-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path ScratchFolder::write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

std::shared_ptr<StartedSlang> started_slang() {
    static const std::shared_ptr<StartedSlang> started = start_slang();
    return started;
}

std::unique_ptr<Compiler> make_compiler(const CompilerOptions& options,
                                        const SupportModules& support_modules) {
    auto compiler = make_slang_compiler(options, support_modules, started_slang());
    EXPECT_TRUE(compiler.ok());
    return std::move(compiler.value());
}

bool has_fault(const Workaround& workaround) {
    return is_needed(workaround, slang_version(make_compiler()->version()));
}

Module reflect_text(const std::string& text) {
    const ScratchFolder folder;
    const auto compiler = make_compiler();
    Outcome<Module> module = compiler->reflect({folder.write("sample.slang", text)});
    if (!module) {
        ADD_FAILURE() << describe(module.errors());
        return {};
    }
    return std::move(module.value());
}

const Function& function_named(const Module& module, const std::string& name) {
    static const Function none;
    const Function* found = nullptr;
    for (const Function& function : module.functions) {
        if (function.name == name) {
            EXPECT_EQ(found, nullptr) << name << " is overloaded";
            found = &function;
        }
    }
    EXPECT_NE(found, nullptr) << "no function " << name;
    return found != nullptr ? *found : none;
}

std::string describe(const Diagnostics& errors) {
    std::string text;
    for (const Diagnostic& error : errors) {
        text += format_text(error) + "\n";
    }
    return text;
}

}  // namespace kf::gen
