// Enums on their way between Python and a call: members' names become numbers, and numbers members.
#pragma once

#include "core/given.h"
#include "core/manifest.h"
#include "python/common.h"
#include "python/structs.h"

namespace kf::python {

/// Tells whether it is a str, or a list, nested or not, that holds some.
bool has_names(py::handle value);

/// Returns the same with the values of the enum's members in place of their names; null, and why, for a name
/// that no member has. Of flags "a|b" names two.
py::object without_names(py::handle value, const manifest::Argument& argument, detail::Refusal* why);

/// Returns the member of the generated class that has this value; the number itself where the argument is no
/// enum's, or has no class, or no member has it.
py::object as_member(const manifest::Argument& argument, py::object number, const StructClasses& classes);

}  // namespace kf::python
