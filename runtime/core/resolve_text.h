// The words for what is given, and for what an argument can't be.
#pragma once

#include <string>

#include "core/given.h"

namespace kf::detail {

/// "a float32 array of shape (3,)", "a whole number": in the words of NumPy, since Python alone resolves
/// calls when they are made.
[[nodiscard]] std::string found_text(const ArgShape& given);

/// NumPy's conversion to a type: "astype(np.float32)".
[[nodiscard]] std::string astype_text(ScalarType scalar);

/// "expected float, found a bool; float() converts it", and which error that is.
[[nodiscard]] Refusal mismatch(const manifest::Argument& argument, const ArgShape& given);

/// "{'r': 2} (a dict)"
[[nodiscard]] std::string shown(const Given& given);

}  // namespace kf::detail
