// Members that a type has from an interface, or from an extension of several types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slang/module.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// The module's shared members that the call names, as members of the type that it names: of "Sq.area" the
/// default of an interface that Sq conforms to, unless Sq has an area of its own that takes the same; of
/// "Pair<int,float>.sum" that of an extension of Pair<T,float>. Errors are the compiler's own failures.
Outcome<std::vector<Function>> shared_members(const CallSpec& call, const Module& module, TypeLookup& types);

/// "Box<T>" where the call names a member of a generic type without its arguments, as in "Box.area".
Outcome<std::optional<std::string>> open_owner(const CallSpec& call, TypeLookup& types);

/// Every shared member of the type that the call names, as calls spell it: "Pair<int, float>.sum".
Outcome<std::vector<std::string>> shared_names(const CallSpec& call, const Module& module, TypeLookup& types);

}  // namespace kf::gen
