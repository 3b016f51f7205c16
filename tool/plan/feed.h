// How one kind feeds one parameter, and what that adds to the call's rank: what the kinds share of it.
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

/// How many dimensions the host's argument has beside its elements', and the parameter beside its elements'.
struct FeedRanks {
    std::int64_t rank = 0;
    std::int64_t inner_rank = 0;
};

/// All of the argument but its kind and its map: the host's dimensions end in those of the parameter.
Outcome<manifest::Argument> feed_element(const KindSpec& kind, const Feed& target, const FeedRanks& ranks);

/// With the map that the spec states, which places each of its dimensions in the call.
Outcome<manifest::Argument> with_map(manifest::Argument argument, const KindSpec& kind, const Feed& target);

/// "argument 'x'", "the result".
std::string target_name(const Feed& target);

Diagnostic feed_error(const KindSpec& kind, std::string id, std::string message,
                      std::vector<std::string> notes = {});

}  // namespace kf::gen
