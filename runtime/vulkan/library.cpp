// libvulkan.so.1, opened at run time.
#include "vulkan/library.h"

#include <dlfcn.h>
#include <link.h>

#include <kf/error.h>

#include <algorithm>

namespace kf::vulkan {
namespace {

/// The shared libraries in this process.
std::vector<std::string> loaded_libraries() {
    std::vector<std::string> names;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* list) {
            if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
                static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
            }
            return 0;
        },
        &names);
    return names;
}

/// Why dlopen() failed, without the name, which the caller says.
std::string why_not_opened(const std::string& name) {
    const char* text = dlerror();
    const std::string reason = text == nullptr ? "not found" : text;
    return reason.starts_with(name + ": ") ? reason.substr(name.size() + 2) : reason;
}

}  // namespace

// The library is never unloaded: drivers keep threads and thread-local data that outlive their last instance.
Library::Library(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
    if (handle_ == nullptr) {
        throw DeviceError(ErrorCode::no_driver,
                          "vulkan: can't open " + name + ": " + why_not_opened(name) +
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

KeepLoaded::KeepLoaded() : before_(loaded_libraries()) {}

KeepLoaded::~KeepLoaded() {
    for (const std::string& name : loaded_libraries()) {
        if (std::find(before_.begin(), before_.end(), name) == before_.end()) {
            void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
            if (handle != nullptr) {
                dlclose(handle);
            }
        }
    }
}

}  // namespace kf::vulkan
