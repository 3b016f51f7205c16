// The one list of the resources that a call's kernels take beside their blocks: kfgen declares them by it,
// and artifacts are checked against it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/manifest.h"

namespace kf::manifest {

/// A resource, and the argument that it is of.
struct CallResource {
    std::int64_t argument = 0;
    ResourceSlot slot;
};

/// The resources in order; all kernels of the call have these.
[[nodiscard]] ResourceList call_resources(const Call& call);

/// The arguments alone, for Call::resources.
[[nodiscard]] std::vector<std::int64_t> resource_arguments(const Call& call);

/// The slots alone, as kernels have them.
[[nodiscard]] std::vector<ResourceSlot> resource_slots(const Call& call);

}  // namespace kf::manifest
