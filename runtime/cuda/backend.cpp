// CUDA's driver, for who lists drivers.
#include "core/backends.h"
#include "cuda/driver.h"

namespace kf::detail {

extern const Backend cuda_backend;
constinit const Backend cuda_backend{"cuda",
                                     [](std::string& why_not) { return cuda::enumerate_cuda(&why_not); },
                                     [](std::string& why_not) { return cuda::find_cuda(why_not); }};

}  // namespace kf::detail
