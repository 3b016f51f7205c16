// Textures and samplers of an open CUDA device.
#include <kf/error.h>

#include <array>
#include <cstring>
#include <string>

#include "core/image_checks.h"
#include "cuda/device.h"
#include "cuda/mip_kernel.h"

namespace kf::cuda {

std::shared_ptr<driver::Image> CudaDevice::make_image(const driver::ImageShape& shape) {
    driver::check_image_shape(info(), shape);
    const std::shared_ptr<Context>& context = shared_->context;
    const Current current = enter();
    if (stream_->is_capturing()) {
        refuse_capture(("no memory can be allocated: " + to_string(shape) +
                        " is wanted; make textures before the capture begins")
                           .c_str());
    }
    const BesideCaptures beside(*context);
    shared_->memory->release_owners();
    const auto make = [&] { return std::make_shared<Arrays>(context, shape); };
    std::shared_ptr<Arrays> arrays;
    try {
        arrays = make();
    } catch (const DeviceError& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        shared_->memory->give_unused();
        arrays = make();
    }
    return std::make_shared<CudaImage>(*context, shape, arrays, shared_->memory->stand_in(arrays, stream_));
}

std::shared_ptr<driver::Image> CudaDevice::wrap_image(driver::ForeignImage image) {
    driver::check_image_shape(info(), image.shape);
    const driver::ImageShape shape = image.shape;
    const Current current = enter();
    auto arrays = std::make_shared<Arrays>(shared_->context, std::move(image));
    auto memory = shared_->memory->stand_in(arrays, stream_);
    memory->is_wrapped = true;
    return std::make_shared<CudaImage>(*shared_->context, shape, std::move(arrays), std::move(memory));
}

std::shared_ptr<driver::Sampler> CudaDevice::make_sampler(const driver::SamplerDescription& description) {
    shared_->context->check_usable();
    return shared_->samplers.get(*shared_->context, description);
}

CudaImage& CudaDevice::own_image(driver::Image* image, const driver::ImageRegion& region, std::uint64_t bytes,
                                 const char* what) const {
    shared_->context->check_usable();
    const bool is_own = image != nullptr && image->home == shared_->context.get();
    driver::check_region(info(), is_own ? image : nullptr, region, bytes, what);
    return static_cast<CudaImage&>(*image);
}

void CudaDevice::copy_texels(const CUDA_MEMCPY3D& copy) const {
    shared_->context->check(
        shared_->context->library().textures().cuMemcpy3DAsync_v2(&copy, stream_->handle()),
        "cuMemcpy3DAsync");
}

void CudaDevice::upload_image(const std::shared_ptr<driver::Image>& target, const driver::ImageRegion& region,
                              std::span<const std::byte> texels) {
    const CudaImage& image = own_image(target.get(), region, texels.size(), "write");
    if (texels.empty()) {
        return;
    }
    const Current current(*shared_->context);
    refuse_capture("nothing can be copied in: write to textures before the capture begins");
    // The texels go through memory of the device: the host may reuse its own at once, and nothing waits.
    const std::shared_ptr<CudaAllocation> landing = shared_->memory->take(texels.size(), stream_);
    const std::array uses{driver::Use{image.memory(), true}, driver::Use{landing, true}};
    shared_->memory->order(uses, stream_, [&] {
        shared_->uploads.copy_in(landing->address, texels, *stream_);
        copy_texels(packed_copy(Packed::device_to_image, image, region, landing->address));
    });
}

void CudaDevice::read_back_image(const std::shared_ptr<driver::Image>& source,
                                 const driver::ImageRegion& region, std::span<std::byte> texels) {
    const Context& context = *shared_->context;
    const CudaImage& image = own_image(source.get(), region, texels.size(), "read");
    if (texels.empty()) {
        return;
    }
    const Current current(context);
    check_read_back();
    const BesideCaptures beside(context);
    const driver::Use use{image.memory(), false};
    if (std::shared_ptr<CudaAllocation> landing = shared_->memory->take_mapped(texels.size(), stream_)) {
        const std::array uses{use, driver::Use{landing, true}};
        const auto address = reinterpret_cast<std::uint64_t>(landing->host);
        shared_->memory->order(
            uses, stream_, [&] { copy_texels(packed_copy(Packed::image_to_host, image, region, address)); });
        read_mapped(landing, 0, texels);
        return;
    }
    const std::array uses{use};
    // Waits here, as read_back() does: the copy itself may wait inside of the driver.
    shared_->memory->order(uses, stream_, [] {});
    if (while_waiting != nullptr) {
        stream_->wait(while_waiting);
    }
    copy_texels(
        packed_copy(Packed::image_to_host, image, region, reinterpret_cast<std::uint64_t>(texels.data())));
    context.check(context.cu.cuStreamSynchronize(stream_->handle()), "cuStreamSynchronize");
}

void CudaDevice::copy_to_image(const std::shared_ptr<driver::Image>& target,
                               const driver::ImageRegion& region,
                               const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset) {
    const std::uint64_t bytes = target == nullptr ? 0 : region_bytes(target->shape, region);
    const CudaImage& image = own_image(target.get(), region, bytes, "write");
    shared_->commands.check_range(source.get(), offset, bytes, "copy from");
    if (bytes == 0) {
        return;
    }
    const Current current(*shared_->context);
    const std::array uses{driver::Use{image.memory(), true}, driver::Use{source, false}};
    shared_->memory->order(uses, stream_, [&] {
        copy_texels(packed_copy(Packed::device_to_image, image, region, source->address + offset));
    });
}

void CudaDevice::copy_from_image(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                                 const std::shared_ptr<driver::Image>& source,
                                 const driver::ImageRegion& region) {
    const std::uint64_t bytes = source == nullptr ? 0 : region_bytes(source->shape, region);
    const CudaImage& image = own_image(source.get(), region, bytes, "read");
    shared_->commands.check_range(target.get(), offset, bytes, "copy to");
    if (bytes == 0) {
        return;
    }
    const Current current(*shared_->context);
    const std::array uses{driver::Use{target, true}, driver::Use{image.memory(), false}};
    shared_->memory->order(uses, stream_, [&] {
        copy_texels(packed_copy(Packed::image_to_device, image, region, target->address + offset));
    });
}

void CudaDevice::generate_mips(const std::shared_ptr<driver::Image>& image, const driver::ImageRange& range) {
    if (image == nullptr || image->home != shared_->context.get()) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            "cuda: the texture to make mips of is not of this device");
    }
    if (!is_range_of(image->shape, range)) {
        driver::fail_image_range("cuda: mips to make", image->shape, range);
    }
    const auto& own = static_cast<const CudaImage&>(*image);
    if (!info_of(own.shape.format).is_float()) {
        throw DeviceError(ErrorCode::missing_feature, "cuda: mips are made of fractions and floats; " +
                                                          to_string(own.shape) + " has integers");
    }
    if (range.mips > 1 && !own.arrays().has_surfaces()) {
        throw DeviceError(ErrorCode::missing_feature,
                          "cuda: no kernel can write mips of " + to_string(own.shape) +
                              ", whose array was made without CUDA_ARRAY3D_SURFACE_LDST");
    }
    if (range.mips == 1) {
        return;
    }
    const std::shared_ptr<driver::Kernel> kernel =
        shared_->kept_mip_kernel([&] { return load_kernel(mip_kernel()); });
    for (std::uint32_t mip = range.first_mip + 1; mip < range.first_mip + range.mips; ++mip) {
        const MipDispatch made = mip_dispatch(own, range, mip);
        const std::array uses{driver::Use{own.memory(), true}};
        dispatch({kernel.get(), made.groups, std::as_bytes(std::span(&made.block, 1)), uses});
    }
}

}  // namespace kf::cuda
