// kf_textures.slang refuses by static_assert, which names the reason.
#include "slang/texture_errors.h"

#include <string_view>

namespace kf::gen {

namespace {

constexpr std::string_view marker = "cuda-texture: ";
constexpr const char* no_reference = "slang-E40008";

}  // namespace

Diagnostics with_texture_errors(Diagnostics errors) {
    for (Diagnostic& error : errors) {
        if (const std::size_t at = error.message.find(marker); at != std::string::npos) {
            error.id = "cuda-texture";
            error.message.erase(0, at + marker.size());
        } else if (error.id == no_reference) {
            // Slang took it for Vulkan: here a texel is no memory.
            error.id = "cuda-texture";
            error.message = "CUDA has no atomics on textures, and no references to texels";
            error.notes.emplace_back("use an RWStructuredBuffer or a tensor for what is changed in place");
        }
    }
    return errors;
}

}  // namespace kf::gen
