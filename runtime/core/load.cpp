// Loads any artifact. It is compiled alone: a program that does so has all drivers.
#include <kf/module.h>

#include "core/all_backends.h"
#include "core/artifact.h"

namespace kf {

Module Module::load(const Device& device, std::span<const std::byte> artifact) {
    detail::use_all_backends();
    return detail::load_own(device, artifact);
}

Module Module::load_file(const Device& device, const std::string& path) {
    detail::use_all_backends();
    return detail::load_own(device, path);
}

}  // namespace kf
