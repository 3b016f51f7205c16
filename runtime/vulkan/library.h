// libvulkan.so.1, opened at run time.
#pragma once

#include <memory>
#include <string>

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

}  // namespace kf::vulkan
