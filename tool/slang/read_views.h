// The views that functions only read.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "slang/module.h"

namespace kf::gen {

/// Finds in some modules' codes, as Slang prints them, the parameters whose views (TensorView,
/// DiffTensorView) the functions only read, and what these pass them on to: by functions' and parameters'
/// names. What code does otherwise with a view counts as writing, and so does all in derivatives of the
/// user's own.
/// `own`: the last names of functions with derivatives of the user's.
std::map<std::string, std::set<std::string>> read_views(std::span<const std::string> codes,
                                                        const std::set<std::string>& own);

/// Adds the names of functions whose attributes name a derivative, in a module's text.
void add_own_derivatives(std::string_view source, std::set<std::string>& names);

/// Notes them in a module's functions.
void note_read_views(Module& module, const std::map<std::string, std::set<std::string>>& read);

}  // namespace kf::gen
