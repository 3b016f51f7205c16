// libcuda.so.1, opened at run time.
#pragma once

#include <string>

#include "cuda/functions.h"
#include "cuda/sharing_functions.h"
#include "cuda/texture_functions.h"

namespace kf::cuda {

/// The driver library, initialised; kept open as long as the process lives.
class Library {
public:
    /// Throws kf::DeviceError (no_driver, no_device) in one line when it can't be opened or won't start.
    explicit Library(const std::string& name);
    /// Uses a given way to find functions instead of a library: a test's.
    explicit Library(void* (*lookup)(const char* name));

    [[nodiscard]] const Functions& functions() const { return functions_; }
    [[nodiscard]] const TextureFunctions& textures() const { return textures_; }
    [[nodiscard]] const SharingFunctions& sharing() const { return sharing_; }
    [[nodiscard]] int version() const { return version_; }  ///< of CUDA: 12040 is 12.4

private:
    void start();

    Functions functions_;
    TextureFunctions textures_;
    SharingFunctions sharing_;
    int version_ = 0;
};

}  // namespace kf::cuda
