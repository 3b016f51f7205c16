// Finds what a spec's "aliases" names among a call's arguments.
#include "plan/aliases.h"

#include <algorithm>
#include <string>

#include "core/kinds/questions.h"

namespace kf::gen {

namespace {

bool may_alias(const PlannedArgument& argument) {
    return writes_elements(argument.host) && has_free_access(argument.host) && !passes_texture(argument.host);
}

}  // namespace

Diagnostics mark_aliases(const CallSpec& call, PlannedCall& planned) {
    Diagnostics errors;
    for (const AliasSpec& alias : call.aliases) {
        bool is_known = false;
        bool is_written = true;
        for (PlannedArgument& argument : planned.arguments) {
            // An array of buffers has an argument for each.
            const std::string& name = argument.host.name;
            if (name != alias.parameter && !name.starts_with(alias.parameter + "[")) continue;
            is_known = true;
            is_written = is_written && may_alias(argument);
            argument.host.aliases = is_written;
        }
        if (!is_known) {
            errors.push_back({Severity::error,
                              "alias-unknown",
                              alias.location,
                              "'" + call.written() + "' has no argument '" + alias.parameter + "'",
                              {}});
        } else if (!is_written) {
            errors.push_back({Severity::error,
                              "alias-argument",
                              alias.location,
                              "argument '" + alias.parameter +
                                  "' isn't a buffer or a tensor that the function itself writes to",
                              {"a RWStructuredBuffer, a RWByteAddressBuffer or a RWTensor may share memory "
                               "with another; kernels assume that nothing writes to what they only read"}});
        }
    }
    return errors;
}

}  // namespace kf::gen
