// Images in CUDA's arrays, and the driver's objects that kernels read and write them by.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/driver.h"
#include "cuda/memory.h"
#include "cuda/texture_api.h"

namespace kf::cuda {

class CudaSampler final : public driver::Sampler {
public:
    /// Throws kf::DeviceError (missing_feature) for what CUDA's samplers can't be.
    CudaSampler(const Context& context, const driver::SamplerDescription& given);
};

/// The samplers of a device, each once: they live as long as it does. Thread-safe.
class Samplers {
public:
    std::shared_ptr<CudaSampler> get(const Context& context, const driver::SamplerDescription& description);

private:
    std::mutex mutex_;
    std::vector<std::shared_ptr<CudaSampler>> all_;
};

/// An image's memory: an array, or one with mips. Thread-safe.
class Arrays {
public:
    /// Needs the context to be current. Throws kf::DeviceError; out_of_memory may pass when others give
    /// memory back.
    Arrays(std::shared_ptr<Context> context, const driver::ImageShape& shape);
    /// Takes somebody else's. Throws kf::ArgumentError where it isn't what it is said to be.
    Arrays(std::shared_ptr<Context> context, driver::ForeignImage image);
    ~Arrays();
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;

    /// Returns whether instructions that read and write it take a layer, or a cube's number.
    [[nodiscard]] bool has_layers() const { return has_layers_; }
    /// Returns whether it was made for surfaces.
    [[nodiscard]] bool has_surfaces() const { return has_surfaces_; }
    [[nodiscard]] CUarray level(std::uint32_t mip) const { return levels_[mip]; }

    /// The object for these mips, read through the sampler; null for one that only loads. Made when it is
    /// first asked for. Layers are the kernel's to add.
    CUtexObject texture(const driver::ImageRange& range, const CudaSampler* sampler);
    CUsurfObject surface(std::uint32_t mip);

private:
    struct Texture {
        std::uint32_t first_mip = 0;
        std::uint32_t mips = 0;
        const CudaSampler* sampler = nullptr;
        CUtexObject object = 0;
    };

    [[nodiscard]] const TextureFunctions& cu() const { return context_->library().textures(); }
    void make(CUDA_ARRAY3D_DESCRIPTOR description);
    void find_levels();
    void destroy();
    [[nodiscard]] CUtexObject make_texture(const driver::ImageRange& range, const CudaSampler* sampler) const;

    std::shared_ptr<Context> context_;
    driver::ImageShape shape_;
    bool has_layers_ = false;
    bool has_surfaces_ = false;
    bool is_foreign_ = false;
    std::shared_ptr<void> owner_;  ///< of somebody else's
    CUarray array_ = nullptr;
    CUmipmappedArray mipmapped_ = nullptr;  ///< or this
    std::vector<CUarray> levels_;
    std::mutex mutex_;
    std::vector<Texture> textures_;
    std::vector<CUsurfObject> surfaces_;  ///< of each mip; 0 until it is asked for
};

class CudaImage final : public driver::Image {
public:
    /// `memory` stands for the arrays where commands are put in order, and keeps them.
    CudaImage(const Context& context, const driver::ImageShape& given, std::shared_ptr<Arrays> arrays,
              std::shared_ptr<CudaAllocation> memory);

    [[nodiscard]] Arrays& arrays() const { return *arrays_; }
    [[nodiscard]] const std::shared_ptr<CudaAllocation>& memory() const { return memory_; }

private:
    std::shared_ptr<Arrays> arrays_;
    std::shared_ptr<CudaAllocation> memory_;
};

/// Writes the handles by which a kernel uses an image: one for each of the samplers, of which null only
/// loads. Throws kf::DeviceError (missing_feature) where there can be no texture object: faces of cubes are
/// loaded as 2D textures, and not sampled.
void write_texture(std::byte* place, const CudaImage& image, const driver::ImageRange& range,
                   std::span<const CudaSampler* const> samplers);
void write_surface(std::byte* place, const CudaImage& image, const driver::ImageRange& range);

/// The copy of texels of a region, packed, between an image and what is at `address` on the host or the
/// device.
enum class Packed : std::uint8_t { host_to_image, device_to_image, image_to_host, image_to_device };
CUDA_MEMCPY3D packed_copy(Packed direction, const CudaImage& image, const driver::ImageRegion& region,
                          std::uint64_t address);

}  // namespace kf::cuda
