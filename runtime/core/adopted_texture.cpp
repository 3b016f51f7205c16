// Textures over images that the application has made itself.
#include <kf/cuda.h>
#include <kf/error.h>
#include <kf/vulkan.h>

#include <string>
#include <utility>

#include "core/texture_state.h"

namespace kf {
namespace {

void check_backend(const Device& device, const char* backend, const char* what) {
    if (!device) throw ArgumentError(ErrorCode::missing_argument, "adopt: the device is null");
    if (device.info().backend != backend) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            "adopt: " + device.info().id + " (" + device.info().name + ") has no " + what);
    }
}

}  // namespace

AnyTexture adopt(const Device& device, const VulkanImage& image) {
    check_backend(device, "vulkan", "VkImage");
    if (image.image == nullptr)
        throw ArgumentError(ErrorCode::missing_argument, "adopt: the VkImage is null");
    driver::ForeignImage foreign;
    foreign.handle = reinterpret_cast<std::uintptr_t>(image.image);
    foreign.layout = image.layout;
    foreign.owner = image.owner;
    return detail::wrap_texture(device, image.shape, std::move(foreign));
}

AnyTexture adopt(const Device& device, const CudaArray& array) {
    check_backend(device, "cuda", "CUarray");
    if ((array.array == nullptr) == (array.mipmapped_array == nullptr)) {
        throw ArgumentError(ErrorCode::missing_argument,
                            std::string("adopt: expected an array or a mipmapped array, found ") +
                                (array.array == nullptr ? "neither" : "both"));
    }
    driver::ForeignImage foreign;
    foreign.is_mipmapped = array.mipmapped_array != nullptr;
    if (!foreign.is_mipmapped && array.shape.mips != 1) {
        throw ArgumentError(ErrorCode::missing_argument, "adopt: an array has 1 mip, not " +
                                                             std::to_string(array.shape.mips) +
                                                             "; several are of a mipmapped array");
    }
    foreign.handle = foreign.is_mipmapped ? reinterpret_cast<std::uintptr_t>(array.mipmapped_array)
                                          : reinterpret_cast<std::uintptr_t>(array.array);
    foreign.owner = array.owner;
    return detail::wrap_texture(device, array.shape, std::move(foreign));
}

}  // namespace kf
