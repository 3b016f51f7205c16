// Ranges that NVIDIA's tools show.
#include "core/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace kf::detail {
namespace {

// NVTX's own interface between programs and tools, declared anew: its headers aren't needed to build. A tool
// is given the places of functions, and writes its own ones there.
using ToolFunction = void (*)();
using FunctionTable = ToolFunction**;
using PushFunction = int (*)(const char* name);
using PopFunction = int (*)();

constexpr std::uint32_t callbacks_id = 1;
constexpr std::uint32_t version_id = 3;
constexpr std::uint32_t our_version = 3;
constexpr std::size_t core_module = 1;
constexpr std::size_t push_index = 9;
constexpr std::size_t pop_index = 11;
constexpr std::size_t largest_module = 16;
/// How many functions each module has, by its number; the first is never used.
constexpr std::array<unsigned, 7> module_sizes{0, 16, 9, 15, 7, 16, 7};

struct Callbacks {
    std::size_t size;
    int (*module_functions)(int module, FunctionTable* table, unsigned* size);
};
struct VersionInfo {
    std::size_t size;
    std::uint32_t version;
    std::uint32_t reserved;
    void (*set_tool_version)(std::uint32_t version);
};

/// What a tool fills in. It may keep the places and write there as long as the process lives.
struct Functions {
    std::array<std::array<ToolFunction, largest_module>, module_sizes.size()> functions{};
    std::array<std::array<ToolFunction*, largest_module + 1>, module_sizes.size()> places{};

    Functions() {
        for (std::size_t module = 0; module < functions.size(); ++module) {
            for (std::size_t i = 0; i < module_sizes.at(module); ++i) {
                places.at(module).at(i) = &functions.at(module).at(i);
            }
        }
    }
};

Functions& tools_functions() {
    static Functions& functions = *new Functions;
    return functions;
}

int module_functions(int module, FunctionTable* table, unsigned* size) {
    if (module <= 0 || static_cast<std::size_t>(module) >= module_sizes.size()) return 0;
    *table = tools_functions().places.at(static_cast<std::size_t>(module)).data();
    if (size != nullptr) *size = module_sizes.at(static_cast<std::size_t>(module));
    return 1;
}

void set_tool_version(std::uint32_t /*version*/) {}

const void* export_table(std::uint32_t id) {
    static constexpr Callbacks callbacks{sizeof(Callbacks), &module_functions};
    static constexpr VersionInfo version{sizeof(VersionInfo), our_version, 0, &set_tool_version};
    if (id == callbacks_id) return &callbacks;
    return id == version_id ? &version : nullptr;
}

}  // namespace

std::unique_ptr<const Nvtx> Nvtx::load(const char* library) {
    // Never unloaded: its functions are called until the process ends.
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NODELETE);
    if (handle == nullptr) return nullptr;
    using Initialise = int (*)(const void* (*)(std::uint32_t));
    const auto initialise = reinterpret_cast<Initialise>(dlsym(handle, "InitializeInjectionNvtx2"));
    const bool takes_part = initialise != nullptr && initialise(&export_table) != 0;
    dlclose(handle);
    return takes_part ? std::unique_ptr<const Nvtx>(new Nvtx) : nullptr;
}

const Nvtx* Nvtx::of_process() {
    static const std::unique_ptr<const Nvtx>& loaded = *new auto([] {
        const char* const library = std::getenv("NVTX_INJECTION64_PATH");
        return library == nullptr || *library == '\0' ? nullptr : load(library);
    }());
    return loaded.get();
}

void Nvtx::push(const char* name) const {
    const auto function =
        reinterpret_cast<PushFunction>(tools_functions().functions[core_module][push_index]);
    if (function != nullptr) (void)function(name);
}

void Nvtx::pop() const {
    const auto function = reinterpret_cast<PopFunction>(tools_functions().functions[core_module][pop_index]);
    if (function != nullptr) (void)function();
}

}  // namespace kf::detail
