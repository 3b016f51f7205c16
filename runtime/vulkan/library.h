// libvulkan.so.1, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vulkan/functions.h"

namespace kf::vulkan {

/// The loader library; closed with its last owner, so keep it as long as any Vulkan object lives.
class Library {
public:
    /// Throws kf::DeviceError (no_driver) when it can't be opened.
    explicit Library(const std::string& name);
    /// Uses a given entry point instead of a library: an application's own, or a test's.
    explicit Library(PFN_vkGetInstanceProcAddr get);
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    [[nodiscard]] const GlobalFunctions& functions() const { return functions_; }

private:
    void* handle_ = nullptr;
    GlobalFunctions functions_;
};

/// Libraries that are loaded while it lives stay in the process for good. The loader unloads drivers with
/// their last instance, and NVIDIA's (580), loaded some forty times, is found no more.
class KeepLoaded {
public:
    KeepLoaded();
    ~KeepLoaded();
    KeepLoaded(const KeepLoaded&) = delete;
    KeepLoaded& operator=(const KeepLoaded&) = delete;

private:
    std::vector<std::string> before_;
};

}  // namespace kf::vulkan
