// Compiles the modules that kfgen carries with it, while kfgen is built: compile_modules FOLDER FILE...
// Each file may import those before it; FOLDER gets a NAME.slang-module for each, in the form of
// SupportModule.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "slang/session.h"
#include "slang/sources.h"
#include "slang/started_slang.h"
#include "slang/support_module.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

SupportModule read_module(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    stream.exceptions(std::ios::failbit | std::ios::badbit);
    return {file.stem().string(), std::string(std::istreambuf_iterator<char>(stream), {}), {}};
}

/// Returns whether the file was written.
bool write_compiled(const fs::path& folder, const std::string& release, slang::IModule& module) {
    ComPtr<ISlangBlob> bytes;
    if (SLANG_FAILED(module.serialize(bytes.out()))) return false;
    std::ofstream stream(folder / (std::string(module.getName()) + ".slang-module"), std::ios::binary);
    stream << compiled_head(release);
    stream.write(static_cast<const char*>(bytes->getBufferPointer()),
                 static_cast<std::streamsize>(bytes->getBufferSize()));
    stream.close();
    return stream.good();
}

int compile(const fs::path& folder, const std::vector<fs::path>& files) {
    std::vector<SupportModule> modules;
    for (const fs::path& file : files) modules.push_back(read_module(file));
    const StartedSlang started;
    Sources sources({});
    const Outcome<Session> session =
        Session::create(started.global(), {}, {CodeTarget::spirv}, sources, {}, modules);
    if (!session) {
        for (const Diagnostic& error : session.errors()) std::cerr << format_text(error) << '\n';
        return EXIT_FAILURE;
    }
    fs::create_directories(folder);
    for (slang::IModule* module : loaded_modules(session.value().slang())) {
        if (!write_compiled(folder, started.global().getBuildTagString(), *module)) {
            std::cerr << "compile_modules: " << module->getName() << " could not be written to " << folder
                      << '\n';
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

}  // namespace
}  // namespace kf::gen

int main(int count, char** arguments) {
    if (count < 3) {
        std::cerr << "usage: compile_modules FOLDER FILE...\n";
        return 2;
    }
    try {
        return kf::gen::compile(arguments[1], {arguments + 2, arguments + count});
    } catch (const std::exception& error) {
        std::cerr << "compile_modules: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
