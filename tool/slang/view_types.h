// Slang's names for tensors of any rank, which mean kf's types.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kf::gen {

/// The text with an import of kf_views behind its last line where it names TensorView or DiffTensorView and
/// declares no such type itself: what a module imports goes before what Slang has, which is for CUDA alone.
/// Lines and columns stay.
[[nodiscard]] std::string with_view_types(std::string_view text);

/// Whether a support module is there for names of other projects alone.
[[nodiscard]] bool has_foreign_names(std::string_view support_module);

/// Whether modules, of which these are (path, text), need such a support module.
[[nodiscard]] bool name_foreign_types(const std::vector<std::pair<std::string, std::string>>& texts);

}  // namespace kf::gen
