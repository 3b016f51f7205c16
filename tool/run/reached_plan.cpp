// Makes the plan that a spec's kernels would be made of, for commands that make none.
#include "run/reached_plan.h"

#include <utility>
#include <vector>

#include "kernels/reach.h"
#include "plan/globals.h"
#include "run/session.h"
#include "support/support_modules.h"

namespace kf::gen {

Outcome<ReachedPlan> reached_plan(const Spec& spec, const Options& options) {
    auto compiler = make_slang_compiler(compiler_options(spec, options), support_modules());
    if (!compiler) return compiler.errors();
    Outcome<Planned> planned = plan_spec(spec, *compiler.value());
    const auto warned = [&](Outcome<ReachedPlan> outcome) {
        return std::move(outcome).with_warnings(planned.warnings());
    };
    if (!planned) return warned(planned.errors());
    Plan& plan = planned.value().plan;
    const std::vector<GlobalParameter>& globals = planned.value().globals;
    ReachReport reach = check_reach(plan, {code_targets(spec), {}, nullptr, globals}, *compiler.value());
    if (!reach.errors.empty()) return warned(reach.errors);
    const Diagnostics unset = add_globals(plan, reach.globals, globals);
    if (!unset.empty()) return warned(unset);
    return warned(ReachedPlan{with_globals(plan), std::move(reach.failures)});
}

}  // namespace kf::gen
