// Values of global parameters, as .set() of functions gives them.
#pragma once

#include <string>
#include <vector>

#include "python/common.h"

namespace kf::python {

/// Global parameters by name, and what they are set to. Immutable: set_values() makes another.
using GlobalValues = py::dict;

/// Returns `known` with the values of .set({...}) and .set(name=…): a dict for a struct that is set field by
/// field keeps the fields that it doesn't name. Refuses names that are none of `names`.
GlobalValues set_values(const std::string& function, const GlobalValues& known,
                        const std::vector<std::string>& names, const py::object& given,
                        const py::kwargs& named);

/// The values of `names` as keywords of a call.
py::dict keywords_of(const GlobalValues& values, const std::vector<std::string>& names);

}  // namespace kf::python
