// libcuda.so.1, opened at run time.
#include "cuda/library.h"

#include <dlfcn.h>

#include <kf/error.h>

#include "cuda/result.h"

namespace kf::cuda {

Library::Library(const std::string& name) {
    // The library is never unloaded: the driver keeps threads, and contexts that others in the process share.
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
        const char* text = dlerror();
        std::string reason = text == nullptr ? "not found" : text;
        if (reason.starts_with(name + ": ")) {
            reason.erase(0, name.size() + 2);
        }
        throw DeviceError(ErrorCode::no_driver,
                          "cuda: can't open " + name + ": " + reason + "; install the NVIDIA driver");
    }
    const auto lookup = [handle](const char* function) { return dlsym(handle, function); };
    functions_ = Functions::load(lookup);
    textures_ = TextureFunctions::load(lookup);
    sharing_ = SharingFunctions::load(lookup);
    dlclose(handle);
    start();
}

Library::Library(void* (*lookup)(const char* name))
    : functions_(Functions::load(lookup)),
      textures_(TextureFunctions::load(lookup)),
      sharing_(SharingFunctions::load(lookup)) {
    start();
}

void Library::start() {
    const CUresult result = functions_.cuInit(0);
    if (result != CUDA_SUCCESS) {
        // The driver doesn't work if it can't start, whatever the error's number.
        throw DeviceError(result == CUDA_ERROR_NO_DEVICE ? ErrorCode::no_device : ErrorCode::no_driver,
                          "cuda: cuInit failed: " + result_text(functions_, result), result);
    }
    check(functions_, functions_.cuDriverGetVersion(&version_), "cuDriverGetVersion");
}

}  // namespace kf::cuda
