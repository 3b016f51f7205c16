// Members that a type has from an interface, or from an extension of several types.
#pragma once

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

/// The known facts of the type that a call names a member of.
struct KnownMembers {
    std::vector<std::string> names;  ///< every shared one, as calls spell it: "Pair<int, float>.sum"
    bool has_type = false;           ///< there is such a type
    std::string open;  ///< "Box<T>" where the call lacks the type's arguments, as in "Box.area"; else empty
};

/// Returns the members for the message that there is no such one. Errors are the compiler's own failures.
Outcome<KnownMembers> known_members(const CallSpec& call, const Module& module, TypeLookup& types);

}  // namespace kf::gen
