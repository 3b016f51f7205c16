// Vulkan's driver, for who lists drivers.
#include "core/backends.h"
#include "vulkan/driver.h"

namespace kf::detail {

extern const Backend vulkan_backend;
constinit const Backend vulkan_backend{
    "vulkan", [](std::string& why_not) { return vulkan::enumerate_vulkan(&why_not); },
    [](std::string& why_not) { return vulkan::find_vulkan(why_not); }};

}  // namespace kf::detail
