// Finds textures in calls that are differentiated.
#include "plan/texture_gradients.h"

#include <algorithm>

#include "core/roles.h"
#include "plan/kinds/questions.h"

namespace kf::gen {

Diagnostics check_texel_outputs(const PlannedCall& planned) {
    Diagnostics errors;
    for (const PlannedArgument& argument : planned.arguments) {
        if (!is_output(argument.host) || !argument.host.differentiable || can_have_gradient(argument.host))
            continue;
        errors.push_back(
            {Severity::error,
             "texture-gradient",
             argument.location,
             (argument.is_result ? std::string("the result") : "output '" + argument.host.name + "'") +
                 " goes into a texture, which has no gradient that could flow back",
             {R"(give it a tensor where the function is differentiated: list the call twice, with "backward" in )"
              "that one",
              "or mark it no_diff"}});
    }
    return errors;
}

Diagnostics texture_warnings(const Plan& plan) {
    Diagnostics warnings;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            if (!call.has_backward && !call.has_jvp) continue;
            for (const PlannedArgument& argument : call.arguments) {
                const bool is_texture = manifest::passed_as(argument.host) == manifest::HostPassing::texture;
                if (!is_texture || !reads_elements(argument.host) || argument.no_diff) continue;
                Diagnostic warning{
                    Severity::warning,
                    "texture-gradient",
                    argument.location,
                    "function '" + call.function + "' is differentiated, and the texture '" +
                        argument.host.name + "' that it reads has no gradient",
                    {"mark it no_diff if that is meant; a DiffTexture2D, or a tensor, has one"}};
                if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
                    warnings.push_back(std::move(warning));
            }
        }
    }
    return warnings;
}

}  // namespace kf::gen
