// A tool that NVTX ranges are shown by: it prints them.
#include <cstddef>
#include <cstdint>
#include <cstdio>

// The tool's half of NVTX's interface, with the names of NVIDIA's nvtxTypes.h.
namespace {

using NvtxFunctionPointer = void (*)();
using NvtxFunctionTable = NvtxFunctionPointer**;

struct NvtxExportTableCallbacks {
    std::size_t struct_size;
    int (*GetModuleFunctionTable)(int module, NvtxFunctionTable* out_table, unsigned* out_size);
};

int depth = 0;

int range_push(const char* name) {
    std::printf("%*spush %s\n", 2 * depth, "", name);
    (void)std::fflush(stdout);
    return depth++;
}

int range_pop() {
    --depth;
    std::printf("%*spop\n", 2 * depth, "");
    (void)std::fflush(stdout);
    return depth;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*get_export_table)(std::uint32_t)) {
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(1));
    if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->GetModuleFunctionTable(1, &table, &size) == 0 || size < 12) return 0;
    *table[9] = reinterpret_cast<NvtxFunctionPointer>(&range_push);
    *table[11] = reinterpret_cast<NvtxFunctionPointer>(&range_pop);
    // As tools do, it asks for all there is.
    for (int module = 2; module <= 6; ++module) {
        if (callbacks->GetModuleFunctionTable(module, &table, &size) == 0 || *table[1] != nullptr) return 0;
    }
    return callbacks->GetModuleFunctionTable(7, &table, &size) == 0 && get_export_table(3) != nullptr ? 1 : 0;
}
