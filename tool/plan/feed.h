// The first two binding rules: how one kind feeds one parameter, and what that adds to the call's rank.
#pragma once

#include "plan/plan.h"
#include "spec/kind.h"

namespace kf::gen {

/// What the kind is to feed.
struct Feed {
    std::string argument;  ///< its name in messages; "result" for the return value
    Type type;
    manifest::Role role = manifest::Role::in;
    Location type_location;  ///< of the Slang function, named in notes
};

/// Fills name, role, kind, element, rank, call_rank and trailing; `map` is left empty unless the kind
/// states it. Errors: "kind-not-supported", "type-not-supported", "kind-element", "argument-type",
/// "argument-rank", "argument-map".
Outcome<manifest::Argument> feed(const KindSpec& kind, const Feed& target);

}  // namespace kf::gen
