// Parameters and fields that are constant buffers, as the values that these hold.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Whether a word begins the type of a block: `ConstantBuffer<Scene>`, `TextureBuffer<Scene>`,
/// `ParameterBlock<Scene>`.
[[nodiscard]] bool is_block(std::string_view word);

/// The text with `T` for each `ConstantBuffer<T>` and `ParameterBlock<T>` that isn't a global's type: kernels
/// have arguments' values, which are read as a block is. Globals stay what they are; see global_parameters.h.
/// Texture buffers become constant buffers, globals too. Lines and columns of names stay.
[[nodiscard]] std::string with_block_values(std::string_view text);

}  // namespace kf::gen
