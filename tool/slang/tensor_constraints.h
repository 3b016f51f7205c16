// Generic parameters that kf's tensor types are to constrain, on which Slang crashes instead of saying so.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// What to write instead: a note.
[[nodiscard]] std::string_view tensor_constraint_cure();

/// Whether a type is one of kf's tensors, under any of their names: "DiffTensor<float, 1>", "ITensor".
[[nodiscard]] bool names_tensor(std::string_view type);

/// The errors of those in the modules and in all that they import or include, as Slang words them.
[[nodiscard]] Diagnostics find_tensor_constraints(const std::vector<std::filesystem::path>& modules,
                                                  const std::vector<std::filesystem::path>& search_paths);

}  // namespace kf::gen
