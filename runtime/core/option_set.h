// The variants of a function, and what picks them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kf::manifest {

/// What `.accumulate()` may pick for an output ("result") or a gradient ("a.grad").
struct Choice {
    std::string name;
    std::vector<std::string> ways;  ///< "sum"; the first is the default

    bool operator==(const Choice&) const = default;
};

/// One of a call's variants, and what `.options()` may find it by.
struct OptionSet {
    /// A type that may stand behind an interface at run time, and the number that means it there.
    struct Conformance {
        std::string interface_name;
        std::string type;
        std::int64_t id = 0;

        bool operator==(const Conformance&) const = default;
    };

    std::string name;
    std::vector<std::int64_t> threads = {};  ///< as the spec lists them
    std::vector<std::pair<std::string, std::string>> constants =
        {};  ///< link-time ones; values as in Constant
    std::vector<std::pair<std::string, std::string>> types = {};
    std::vector<Conformance> conformances = {};
    std::int64_t function = 0;  ///< the variant itself, by index

    bool operator==(const OptionSet&) const = default;
};

}  // namespace kf::manifest
