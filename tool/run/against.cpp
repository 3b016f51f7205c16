// Reads the two interfaces that `kfgen check --against` compares: of artifacts or of specs.
#include "run/against.h"

#include "kernels/host_interface.h"
#include "run/inspection.h"
#include "run/reached_plan.h"
#include "run/session.h"

namespace kf::gen {
namespace {

Outcome<manifest::Manifest> interface_of_spec(const Options& options, const FileSystem& file_system) {
    const Outcome<Spec> spec = load_spec(options, file_system);
    if (!spec) return spec.errors();
    const Outcome<ReachedPlan> reached = reached_plan(spec.value(), options);
    const auto warned = [&](Outcome<manifest::Manifest> outcome) {
        return std::move(outcome).with_warnings(reached.warnings());
    };
    if (!reached) return warned(reached.errors());
    if (!reached.value().failures.empty()) return warned(reached.value().failures);
    return warned(host_interface(reached.value().plan));
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
