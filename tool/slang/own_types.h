// Slang's names for resources and views that mean kf's own types.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kf::gen {

/// The support module of textures, which CUDA alone needs: Vulkan has Slang's own.
inline constexpr std::string_view texture_module = "kf_textures";
/// The one that it imports.
inline constexpr std::string_view texel_module = "kf_texels";

/// Names of support modules.
using ModuleNames = std::set<std::string_view>;

/// The support modules of which modules, these being (path, text), declare a type's name themselves.
[[nodiscard]] ModuleNames shadowed_modules(const std::vector<std::pair<std::string, std::string>>& texts);

/// The text with imports behind its last line of the modules whose types it names: kf_views for TensorView
/// and DiffTensorView, kf_diff_textures for DiffTexture2D, kf_buffers for Buffer, RWBuffer,
/// AppendStructuredBuffer and ConsumeStructuredBuffer, kf_textures for textures and samplers.
/// What a module imports goes before what Slang has, which is for CUDA alone, or needs formats and counters
/// that kernels aren't given. `shadowed`: modules that aren't imported, as those that the text shadows
/// aren't. Lines and columns stay.
[[nodiscard]] std::string with_own_types(std::string_view text, const ModuleNames& shadowed = {});

/// Returns whether modules, of which these are (path, text), name a texture or a sampler.
[[nodiscard]] bool name_textures(const std::vector<std::pair<std::string, std::string>>& texts);

/// Whether a support module is there for names of other projects alone, or for DiffTexture2D: few modules
/// need it.
[[nodiscard]] bool has_foreign_names(std::string_view support_module);

/// Whether modules, of which these are (path, text), need such a support module.
[[nodiscard]] bool name_foreign_types(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace kf::gen
