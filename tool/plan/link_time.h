// What link-time declarations are given: constants, types, and what stands behind interfaces.
#pragma once

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
    std::string value;  ///< as kinds::Constant holds it

    bool operator==(const LinkConstant&) const = default;
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

    bool operator==(const LinkTime&) const = default;
};

/// `base` with what `spec` says instead. Errors: "link-unknown", "link-type", "link-twice", "constant-value",
/// "conformance".
Outcome<LinkTime> link_time(const LinkSpec& spec, const LinkTime& base, const Module& module,
                            TypeLookup& types);

/// "link-missing" for a parameter, or result, whose size depends on what no value is known of.
Diagnostics check_link_sizes(const CallSpec& call, const std::vector<const Function*>& candidates);

}  // namespace kf::gen
