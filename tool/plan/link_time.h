// The values of link-time declarations: constants, types, and the types that stand behind interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "slang/kernel_source.h"
#include "slang/module.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// `extern static const`.
struct LinkConstant {
    std::string name;   ///< "N", "ns.N"
    Type type;          ///< as it is declared
    std::string value;  ///< as kinds::Constant holds it; of one that is kept by default
    /// The values that the spec lists for run time to choose from; empty: it is fixed.
    std::vector<std::string> values = {};
    Location declared = {};
    Location given = {};  ///< in the spec

    [[nodiscard]] bool is_kept() const { return !values.empty(); }

    /// Wherever it is stated.
    bool operator==(const LinkConstant& other) const {
        return name == other.name && type == other.type && value == other.value && values == other.values;
    }
};

/// `extern struct`.
struct LinkType {
    std::string name;
    std::string interfaces;  ///< as they are declared
    std::string type;        ///< that stands for it

    bool operator==(const LinkType&) const = default;
};

struct LinkTime {
    std::vector<LinkConstant> constants;
    std::vector<LinkType> types;
    std::vector<Conformance> conformances;
    /// The whole numbers that other constants have by their declarations, where they are known here.
    std::map<std::string, std::string> defaults = {};

    /// Returns the constant; null where nothing gives it a value.
    [[nodiscard]] const LinkConstant* constant(const std::string& name) const;
    /// Returns the constants that run time chooses, by their numbers.
    [[nodiscard]] std::vector<const LinkConstant*> kept() const;
    [[nodiscard]] std::int64_t number_of(const LinkConstant& kept_one) const;
    /// The default value of each.
    [[nodiscard]] std::vector<std::string> default_values() const;
    /// All that may be listed of them together but the default, each a value for every one of kept().
    [[nodiscard]] std::vector<std::vector<std::string>> combinations() const;
    /// Returns these values with the chosen ones of kept(), which are then fixed.
    [[nodiscard]] LinkTime with(const std::vector<std::string>& chosen) const;

    bool operator==(const LinkTime&) const = default;
};

/// `base` with what `spec` says instead. Errors: "link-unknown", "link-type", "link-twice", "constant-value",
/// "conformance", "constant-at-run-time".
Outcome<LinkTime> link_time(const LinkSpec& spec, const LinkTime& base, const Module& module,
                            TypeLookup& types);

/// "constant-at-run-time" where the spec asks for what can't leave constants to run time, or for CUDA and
/// more combinations of their values than kernels are made for.
Diagnostics check_kept(const Spec& spec, const LinkTime& link);

/// "constant-at-run-time" for a parameter, or result, whose size would depend on what run time chooses.
Diagnostics check_kept_sizes(const CallSpec& call, const LinkTime& link,
                             const std::vector<const Function*>& candidates);

/// "link-missing" for a parameter, or result, whose size depends on what no value is known of.
Diagnostics check_link_sizes(const CallSpec& call, const std::vector<const Function*>& candidates);

}  // namespace kf::gen
