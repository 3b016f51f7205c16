// libvulkan.so.1, opened at run time.
#include "vulkan/library.h"

#include <dlfcn.h>

#include <kf/error.h>

namespace kf::vulkan {

// Never unloaded: drivers keep threads and thread-local data that outlive their last instance.
Library::Library(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
    if (handle_ == nullptr) {
        const char* reason = dlerror();
        throw DeviceError(ErrorCode::no_driver,
                          "vulkan: can't open " + name + ": " + (reason == nullptr ? "not found" : reason) +
                              "; install the Vulkan loader (Debian, Ubuntu: libvulkan1)");
    }
    const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle_, "vkGetInstanceProcAddr"));
    if (get == nullptr) {
        dlclose(handle_);
        throw DeviceError(ErrorCode::no_driver, "vulkan: " + name + " has no vkGetInstanceProcAddr");
    }
    functions_ = GlobalFunctions::load(get);
}

Library::Library(PFN_vkGetInstanceProcAddr get) : functions_(GlobalFunctions::load(get)) {}

Library::~Library() {
    if (handle_ != nullptr) {
        dlclose(handle_);
    }
}

}  // namespace kf::vulkan
