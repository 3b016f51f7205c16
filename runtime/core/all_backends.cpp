// Names all drivers. It is compiled alone, so that the linker takes it only where it is called.
#include "core/all_backends.h"

#include <array>

namespace kf::detail {

/// The linker follows these, whoever reads them.
extern const std::array<const Backend*, 2> all_backends;
constinit const std::array<const Backend*, 2> all_backends{&cuda_backend, &vulkan_backend};

void use_all_backends() {}

void choose_backends() {}

}  // namespace kf::detail
