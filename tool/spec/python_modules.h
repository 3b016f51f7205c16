// Which names of Python modules and packages are taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"
#include "spec/spec.h"

namespace kf::gen {

/// Why Python can't import a package "a.b" by its name, or what it would hide; nothing where it is good.
std::optional<std::string> package_name_error(std::string_view package);

/// Refuses a name that makes NAME.py, where it is in no package, hide a module that programs need.
Diagnostics check_module_name(const Spec& spec);

}  // namespace kf::gen
