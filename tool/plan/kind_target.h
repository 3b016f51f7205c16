// The parameter that a kind feeds, and what all kinds share of feeding it.
#pragma once

#include "plan/plan.h"
#include "spec/kind.h"

namespace kf::gen {

/// The parameter, or result, that a kind is to feed.
struct KindTarget {
    std::string argument;  ///< its name in messages; "result" for the return value
    Type type;
    manifest::Role role = manifest::Role::in;
    Location type_location;  ///< of the Slang function, named in notes
    bool only_read = false;  ///< the function writes through no view in it
};

/// How many dimensions the host's argument has beside its elements', and the parameter beside its elements'.
struct FeedRanks {
    std::int64_t rank = 0;
    std::int64_t inner_rank = 0;
};

/// Makes all of the argument but its kind and its map: the host's dimensions end in those of the parameter.
Outcome<manifest::Argument> feed_element(const KindSpec& kind, const KindTarget& target,
                                         const FeedRanks& ranks);

/// Adds the map that the spec states, which places each of the argument's dimensions in the call.
Outcome<manifest::Argument> with_map(manifest::Argument argument, const KindSpec& kind,
                                     const KindTarget& target);

/// Returns "argument 'x'" or "the result", for messages.
std::string target_name(const KindTarget& target);

Diagnostic feed_error(const KindSpec& kind, std::string id, std::string message,
                      std::vector<std::string> notes = {});

}  // namespace kf::gen
