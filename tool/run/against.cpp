// Reads the two interfaces that `kfgen check --against` compares: of artifacts or of specs.
#include "run/against.h"

#include "kernels/host_interface.h"
#include "kernels/reach.h"
#include "run/inspection.h"
#include "run/session.h"
#include "support/support_modules.h"

namespace kf::gen {
namespace {

Outcome<manifest::Manifest> interface_of_spec(const Options& options, const FileSystem& file_system) {
    const Outcome<Spec> spec = load_spec(options, file_system);
    if (!spec) return spec.errors();
    auto compiler = make_slang_compiler(compiler_options(spec.value(), options), support_modules());
    if (!compiler) return compiler.errors();
    Outcome<Planned> planned = plan_spec(spec.value(), *compiler.value());
    const auto warned = [&](Outcome<manifest::Manifest> outcome) {
        return std::move(outcome).with_warnings(planned.warnings());
    };
    if (!planned) return warned(planned.errors());
    Plan& plan = planned.value().plan;
    const std::vector<GlobalParameter>& globals = planned.value().globals;
    const ReachReport reach =
        check_reach(plan, {code_targets(spec.value()), {}, nullptr, globals}, *compiler.value());
    if (!reach.errors.empty()) return warned(reach.errors);
    if (!reach.failures.empty()) return warned(reach.failures);
    const Diagnostics unset = add_globals(plan, reach.globals, globals);
    if (!unset.empty()) return warned(unset);
    return warned(host_interface(with_globals(plan)));
}

}  // namespace

Outcome<std::vector<InterfaceChange>> changes_against(const Options& options, const FileSystem& file_system) {
    const bool is_artifact = options.against.extension() == ".kfa";
    Options earlier = options;
    earlier.spec = options.against;
    const Outcome<manifest::Manifest> before =
        is_artifact ? read_artifact(options.against, file_system) : interface_of_spec(earlier, file_system);
    if (!before) return before.errors();
    const Outcome<manifest::Manifest> now = options.artifact.empty()
                                                ? interface_of_spec(options, file_system)
                                                : read_artifact(options.artifact, file_system);
    if (!now) return Outcome<std::vector<InterfaceChange>>(now.errors()).with_warnings(now.warnings());
    Outcome<std::vector<InterfaceChange>> changes = interface_changes(before.value(), now.value());
    return std::move(changes).with_warnings(now.warnings());
}

}  // namespace kf::gen
