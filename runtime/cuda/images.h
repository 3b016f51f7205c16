// Which of a kernel's images a GPU can run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/manifest.h"
#include "cuda/physical.h"

namespace kf::cuda {

struct Architecture {
    Capability capability;
    char suffix = 0;  ///< 'a': runs on this one alone; 'f': on its family; 0: on later ones too

    /// Reads "sm_90", "sm_90a" or "compute_90".
    static std::optional<Architecture> parse(std::string_view text);
};

/// Returns the images that may run on the device, the best first: a cubin of this very architecture, cubins
/// of the same major and a lower minor version, PTX of this architecture or an earlier one.
std::vector<const manifest::Image*> choose_images(const manifest::Kernel& kernel, const Capability& device);

/// "cubin sm_80".
std::string image_name(const manifest::Image& image);

}  // namespace kf::cuda
