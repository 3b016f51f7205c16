// The kind of arguments whose value the call spec states: its rules in manifests.
#include "core/kinds/constant.h"

#include "core/consistency.h"
#include "core/join.h"
#include "core/manifest.h"

namespace kf::manifest::kinds {

using artifact::require;

std::string constant_text(const Constant& constant) {
    const std::string text = join(constant.scalars);
    return constant.scalars.size() == 1 ? "constant " + text : "constant [" + text + "]";
}

void check_consistency(const Constant& constant, const Call&, const Argument& argument,
                       const std::string& where) {
    require(argument.role == Role::in && argument.gradient == Gradient::never, where,
            "a constant that isn't only read");
    require(argument.rank == 0 && argument.call_rank == 0 && argument.inner_rank == 0 && argument.pitch == 0,
            where, "a constant with dimensions");
    require(argument.accumulate == Accumulate::automatic, where, "a constant that is accumulated");
    require(argument.trailing == argument.element.extents, where, "a constant of other elements");
    std::size_t count = 1;
    for (const std::int64_t extent : argument.trailing) count *= static_cast<std::size_t>(extent);
    require(constant.scalars.size() == count, where, "a constant of another number of scalars");
}

}  // namespace kf::manifest::kinds
