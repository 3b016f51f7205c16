// Values that are set of calls which are kept to run often, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kept_call.h"
#include "python/arguments.h"
#include "python/encoder.h"

namespace kf::python {

/// Sets what set({"ray.t": 1}, c=2) gives, in every one of the calls that has something of that name; where
/// anything is refused, nothing. `owner`: who is asked, for messages. `result`: what runs return, in which
/// textures that were set replace those before; null where nobody has it.
void set_values(const std::string& owner, std::span<const NamedCall> calls, py::handle given,
                const Keywords& named, py::object* result = nullptr);

}  // namespace kf::python
