// Names of tensors and of what they do in older SlangPy and in slang-torch: what to write instead.
#pragma once

#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Whether a type has such a name, whatever its arguments are.
[[nodiscard]] bool is_foreign_tensor(std::string_view type);

/// What to write instead of such a type as a parameter's, as a note.
[[nodiscard]] std::string tensor_cure(std::string_view type);

/// Slang's error, with a note of what to write where it doesn't know a name of that kind, or a tensor without
/// `import kf;`, in place of the names that Slang finds alike.
[[nodiscard]] Diagnostic with_tensor_names(Diagnostic error);

}  // namespace kf::gen
