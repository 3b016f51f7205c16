// `kfgen check --against`: what changed in an interface, and what of that breaks callers.
#pragma once

#include <string>
#include <vector>

#include "core/manifest.h"

namespace kf::gen {

struct InterfaceChange {
    bool breaks = false;   ///< callers of the earlier interface
    std::string what;      ///< a word for tools: "function_removed"
    std::string function;  ///< empty: the whole
    std::string text;      ///< for people, without the function's name

    bool operator==(const InterfaceChange&) const = default;
};

/// Breaking changes first. Parameters are compared by name and place: C++ has places, Python has both.
std::vector<InterfaceChange> interface_changes(const manifest::Manifest& before,
                                               const manifest::Manifest& now);

/// A change a line, and a summary; or one JSON object.
std::string interface_report(const std::vector<InterfaceChange>& changes, bool json);

bool breaks_callers(const std::vector<InterfaceChange>& changes);

}  // namespace kf::gen
