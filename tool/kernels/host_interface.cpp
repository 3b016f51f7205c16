// The host's view of a plan: its artifact without kernels.
#include "kernels/host_interface.h"

#include "plan/host_call.h"

namespace kf::gen {

manifest::Manifest host_interface(const Plan& plan) {
    manifest::Manifest manifest;
    manifest.name = plan.name;
    manifest.messages = plan.messages;
    for (const LinkConstant* constant : plan.link.kept())
        manifest.constants.push_back({constant->name, constant->type.scalar, constant->values});
    for (const PlannedFunction& planned : plan.functions) {
        manifest::Function& function = manifest.functions.emplace_back();
        function.name = planned.name;
        function.doc = planned.doc;
        function.jvp = planned.jvp;
        function.choices = planned.choices;
        function.chosen = planned.chosen;
        function.option_sets = planned.option_sets;
        for (const PlannedCall& call : planned.calls) function.calls.push_back(host_call(call));
    }
    return manifest;
}

}  // namespace kf::gen
