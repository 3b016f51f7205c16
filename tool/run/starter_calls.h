// The kinds that a starter spec gives a function's parameters: by their types alone.
#pragma once

#include <string>
#include <vector>

#include "slang/module.h"

namespace kf::gen {

/// One call of a starter spec. `kinds` are JSON: a string, or a list of them.
struct StarterCall {
    struct Argument {
        std::string name;
        std::string kinds;

        bool operator==(const Argument&) const = default;
    };
    std::string function;  ///< generic parameters stated
    std::string self;      ///< of methods the kinds of "this"; else empty
    std::vector<Argument> arguments;
    bool backward = false;
    bool states_threads = false;  ///< of an entry point whose source says no number of them

    bool operator==(const StarterCall&) const = default;
};

/// Returns ways to call the function, the best first, which need not be possible. `is_overload`: others have
/// its name, and its kinds must distinguish it.
std::vector<StarterCall> starter_calls(const Function& function, bool is_overload);

/// `"f"`, with what JSON escapes escaped.
std::string json_string(const std::string& text);

/// Returns the call as JSON, each key in a line of its own.
std::vector<std::string> call_lines(const StarterCall& call);

}  // namespace kf::gen
