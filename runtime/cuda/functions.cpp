// The CUDA functions that the driver calls.
#include "cuda/functions.h"

#include <kf/error.h>

#include <string>

#include "cuda/result.h"
#include "cuda/sharing_functions.h"
#include "cuda/texture_functions.h"

namespace kf::cuda {
namespace {

[[noreturn]] void fail_missing(const char* name) {
    throw DeviceError(ErrorCode::no_driver, std::string("cuda: the driver library has no ") + name);
}

#define KF_CUDA_LOAD(name, parameters)                                        \
    functions.name = reinterpret_cast<CUresult(*) parameters>(lookup(#name)); \
    if (functions.name == nullptr) {                                          \
        fail_missing(#name);                                                  \
    }

}  // namespace

Functions Functions::load(const std::function<void*(const char*)>& lookup) {
    // The version first: users of an older driver must know that, not which functions it lacks.
    const auto get_version =
        reinterpret_cast<decltype(Functions::cuDriverGetVersion)>(lookup("cuDriverGetVersion"));
    if (get_version == nullptr) {
        fail_missing("cuDriverGetVersion");
    }
    int version = 0;
    if (get_version(&version) == CUDA_SUCCESS && version < needed_version) {
        throw DeviceError(ErrorCode::no_driver,
                          "cuda: the driver is of CUDA " + version_text(version) + ", and " +
                              version_text(needed_version) +
                              " or newer is needed: update the NVIDIA driver (525 or newer)");
    }
    Functions functions;
    KF_CUDA_FUNCTIONS(KF_CUDA_LOAD)
    return functions;
}

TextureFunctions TextureFunctions::load(const std::function<void*(const char*)>& lookup) {
    TextureFunctions functions;
    KF_CUDA_TEXTURE_FUNCTIONS(KF_CUDA_LOAD)
    return functions;
}

#undef KF_CUDA_LOAD

SharingFunctions SharingFunctions::load(const std::function<void*(const char*)>& lookup) {
    SharingFunctions functions;
    functions.is_complete = true;
#define KF_CUDA_LOAD(name, parameters)                                        \
    functions.name = reinterpret_cast<CUresult(*) parameters>(lookup(#name)); \
    functions.is_complete = functions.is_complete && functions.name != nullptr;
    KF_CUDA_SHARING_FUNCTIONS(KF_CUDA_LOAD)
#undef KF_CUDA_LOAD
    return functions;
}

}  // namespace kf::cuda
