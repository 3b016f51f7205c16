// The drivers that the program is linked with, in order of preference. A new one is a line here, in
// backends.cpp, all_backends.{h,cpp} and kf/backends.h.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/driver.h"
#include "core/usable.h"

namespace kf {

struct Backend {
    std::string_view name;
    /// The devices, in the order of open(); when there are none, `why_not` says why, in a line that begins
    /// with the backend's name.
    std::vector<driver::Info> (*enumerate)(std::string& why_not);
    /// Finds the backend's devices, ready to be opened, each once.
    std::vector<driver::Candidate> (*find)(std::string& why_not);
};

/// The names of all drivers, those of which the program has nothing too.
inline constexpr std::array<std::string_view, 2> backend_names{"cuda", "vulkan"};

[[nodiscard]] std::vector<Backend> backends();

}  // namespace kf
