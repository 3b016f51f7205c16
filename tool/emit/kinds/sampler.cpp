// Samplers.
#include "emit/kinds/sampler.h"

#include "emit/kinds/buffer.h"

namespace kf::gen::kinds {

std::optional<MadeValue> made_value(const Sampler&, const MadeUse& use) {
    return MadeValue{bound_name(use.planned.host.name), {}, {}};
}

}  // namespace kf::gen::kinds
