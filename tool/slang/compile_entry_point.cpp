// Compiles one entry point to SPIR-V and writes it: what a process of slangc does for a kernel. Slang's wheel
// has no slangc, and tests/bench/kfgen_scale.py compares kfgen with one.
#include <slang.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "slang/com_ptr.h"

namespace {

namespace fs = std::filesystem;

using kf::gen::ComPtr;

int fail(const std::string& what, slang::IBlob* messages = nullptr) {
    std::cerr << "compile_entry_point: " << what << '\n';
    if (messages != nullptr) std::cerr << static_cast<const char*>(messages->getBufferPointer()) << '\n';
    return EXIT_FAILURE;
}

int write_spirv(const fs::path& file, const char* name, const fs::path& output) {
    ComPtr<slang::IGlobalSession> global;
    if (SLANG_FAILED(slang::createGlobalSession(global.out()))) return fail("Slang could not be started");
    slang::TargetDesc target;
    target.format = SLANG_SPIRV;
    target.profile = global->findProfile("spirv_1_5");
    target.flags = SLANG_TARGET_FLAG_GENERATE_SPIRV_DIRECTLY;
    const std::string folder = file.parent_path().string();
    const char* const path = folder.c_str();
    slang::SessionDesc description;
    description.targets = &target;
    description.targetCount = 1;
    description.searchPaths = &path;
    description.searchPathCount = 1;
    ComPtr<slang::ISession> session;
    if (SLANG_FAILED(global->createSession(description, session.out()))) return fail("no session");
    ComPtr<slang::IBlob> messages;
    slang::IModule* module = session->loadModule(file.stem().c_str(), messages.out());
    if (module == nullptr) return fail("can't load " + file.string(), messages.get());
    ComPtr<slang::IEntryPoint> entry_point;
    if (SLANG_FAILED(module->findEntryPointByName(name, entry_point.out())))
        return fail(std::string("no entry point ") + name);
    slang::IComponentType* parts[] = {module, entry_point.get()};
    ComPtr<slang::IComponentType> composed;
    ComPtr<slang::IComponentType> linked;
    ComPtr<slang::IBlob> code;
    if (SLANG_FAILED(session->createCompositeComponentType(parts, 2, composed.out(), messages.out())) ||
        SLANG_FAILED(composed->link(linked.out(), messages.out())) ||
        SLANG_FAILED(linked->getEntryPointCode(0, 0, code.out(), messages.out())))
        return fail("can't compile " + file.string(), messages.get());
    std::ofstream stream(output, std::ios::binary);
    stream.write(static_cast<const char*>(code->getBufferPointer()),
                 static_cast<std::streamsize>(code->getBufferSize()));
    stream.close();
    return stream.good() ? EXIT_SUCCESS : fail("can't write " + output.string());
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::cerr << "usage: compile_entry_point FILE.slang ENTRY-POINT OUTPUT\n";
        return 2;
    }
    return write_spirv(arguments[1], arguments[2], arguments[3]);
}
