// Images in CUDA's arrays.
#include "cuda/textures.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "core/image_checks.h"
#include "core/texture_handle.h"
#include "cuda/result.h"

namespace kf::cuda {
namespace {

using driver::ImageDimension;
using driver::ImageShape;

constexpr std::uint32_t faces = 6;

struct ScalarFormat {
    int array = 0;  ///< of an array's component
    int view = 0;   ///< of a view of arrays with one component
};

ScalarFormat format_of(ScalarType scalar) {
    switch (scalar) {
        case ScalarType::uint8: return {CU_AD_FORMAT_UNSIGNED_INT8, CU_RES_VIEW_FORMAT_UINT_1X8};
        case ScalarType::uint16: return {CU_AD_FORMAT_UNSIGNED_INT16, CU_RES_VIEW_FORMAT_UINT_1X16};
        case ScalarType::uint32: return {CU_AD_FORMAT_UNSIGNED_INT32, CU_RES_VIEW_FORMAT_UINT_1X32};
        case ScalarType::int8: return {CU_AD_FORMAT_SIGNED_INT8, CU_RES_VIEW_FORMAT_SINT_1X8};
        case ScalarType::int16: return {CU_AD_FORMAT_SIGNED_INT16, CU_RES_VIEW_FORMAT_SINT_1X16};
        case ScalarType::int32: return {CU_AD_FORMAT_SIGNED_INT32, CU_RES_VIEW_FORMAT_SINT_1X32};
        case ScalarType::float16: return {CU_AD_FORMAT_HALF, CU_RES_VIEW_FORMAT_FLOAT_1X16};
        default: return {CU_AD_FORMAT_FLOAT, CU_RES_VIEW_FORMAT_FLOAT_1X32};
    }
}

/// A view's format goes by ones, twos and fours.
int view_format(const TextureFormatInfo& info) {
    return format_of(info.scalar).view + static_cast<int>(info.components / 2);
}

bool is_layered(const ImageShape& shape) {
    return shape.layers > (shape.dimension == ImageDimension::cube ? faces : 1);
}

CUDA_ARRAY3D_DESCRIPTOR describe(const ImageShape& shape) {
    const TextureFormatInfo& info = info_of(shape.format);
    CUDA_ARRAY3D_DESCRIPTOR description;
    description.Width = shape.width;
    // A texture of one dimension is a row: instructions for 1D fetch nothing from arrays.
    description.Height = shape.height;
    description.Format = format_of(info.scalar).array;
    description.NumChannels = info.components;
    if (shape.dimension == ImageDimension::three) description.Depth = shape.depth;
    if (shape.dimension == ImageDimension::cube) {
        description.Depth = shape.layers;
        description.Flags |= array_cubemap;
    }
    if (is_layered(shape)) {
        description.Depth = shape.layers;
        description.Flags |= array_layered;
    }
    // Mips are made by stores.
    if (shape.is_writable || shape.mips > 1) description.Flags |= array_surface;
    return description;
}

int address_mode(driver::Address address) {
    switch (address) {
        case driver::Address::repeat: return CU_TR_ADDRESS_MODE_WRAP;
        case driver::Address::mirror: return CU_TR_ADDRESS_MODE_MIRROR;
        case driver::Address::clamp: return CU_TR_ADDRESS_MODE_CLAMP;
        case driver::Address::border: break;
    }
    return CU_TR_ADDRESS_MODE_BORDER;
}

int filter_mode(driver::Filter filter) {
    return filter == driver::Filter::linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
}

CUDA_RESOURCE_DESC resource_of(CUarray array) {
    CUDA_RESOURCE_DESC resource;
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.hArray = array;
    return resource;
}

/// How the driver is to read texels of the image through the sampler.
CUDA_TEXTURE_DESC reading(const ImageShape& shape, const CudaSampler* sampler) {
    const TextureFormatInfo& info = info_of(shape.format);
    CUDA_TEXTURE_DESC texture;
    texture.flags = texture_normalized | texture_exact_trilinear;
    if (!info.is_float()) texture.flags |= texture_integers;
    if (info.texel == TexelClass::srgb) texture.flags |= texture_srgb;
    if (shape.dimension == ImageDimension::cube) texture.flags |= texture_seamless_cubemap;
    std::ranges::fill(texture.addressMode, CU_TR_ADDRESS_MODE_CLAMP);
    texture.filterMode = CU_TR_FILTER_MODE_POINT;
    texture.mipmapFilterMode = CU_TR_FILTER_MODE_POINT;
    texture.maxAnisotropy = 1;
    texture.maxMipmapLevelClamp = static_cast<float>(shape.mips);
    if (sampler == nullptr) return texture;
    const driver::SamplerDescription& given = sampler->description;
    std::ranges::transform(given.address, texture.addressMode, address_mode);
    if (shape.dimension == ImageDimension::one) texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    // Kernels don't sample integers, which have no other filter.
    if (info.is_float()) {
        texture.filterMode = filter_mode(given.magnify);
        texture.mipmapFilterMode = filter_mode(given.mip);
    }
    texture.maxAnisotropy = static_cast<unsigned>(std::clamp(given.anisotropy, 1.0F, 16.0F));
    // No more than hardware counts to.
    const float last = texture.maxMipmapLevelClamp;
    texture.mipmapLevelBias = std::clamp(given.lod_bias, -15.0F, 15.0F);
    texture.minMipmapLevelClamp = std::clamp(given.lod_min, 0.0F, last);
    texture.maxMipmapLevelClamp = std::clamp(given.lod_max, texture.minMipmapLevelClamp, last);
    std::ranges::copy(given.border, texture.borderColor);
    return texture;
}

}  // namespace

CudaSampler::CudaSampler(const Context& context, const driver::SamplerDescription& given) {
    const auto refuse = [&](const char* why) {
        throw DeviceError(ErrorCode::missing_feature, std::string("cuda: ") + why);
    };
    if (given.compare != driver::Compare::none)
        refuse("CUDA has no samplers that compare; load or gather texels, and compare those in the kernel");
    if (given.minify != given.magnify)
        refuse(
            "CUDA's samplers have one filter for texels that are reduced and enlarged: give both the same");
    description = given;
    home = &context;
}

std::shared_ptr<CudaSampler> Samplers::get(const Context& context,
                                           const driver::SamplerDescription& description) {
    const std::lock_guard lock(mutex_);
    for (const std::shared_ptr<CudaSampler>& known : all_) {
        if (known->description == description) return known;
    }
    all_.push_back(std::make_shared<CudaSampler>(context, description));
    return all_.back();
}

Arrays::Arrays(std::shared_ptr<Context> context, const ImageShape& shape)
    : context_(std::move(context)),
      shape_(shape),
      has_layers_(is_layered(shape)),
      has_surfaces_(shape.is_writable || shape.mips > 1) {
    make(describe(shape));
    try {
        find_levels();
    } catch (...) {
        destroy();
        throw;
    }
}

void Arrays::make(CUDA_ARRAY3D_DESCRIPTOR description) {
    const auto create = [&] {
        return shape_.mips > 1 ? cu().cuMipmappedArrayCreate(&mipmapped_, &description, shape_.mips)
                               : cu().cuArray3DCreate_v2(&array_, &description);
    };
    // Gathering works from 2D textures only, whose largest size is smaller then.
    const bool may_gather = shape_.dimension == ImageDimension::two && !has_layers_;
    if (may_gather) description.Flags |= array_gather;
    CUresult result = create();
    if (may_gather && result == CUDA_ERROR_INVALID_VALUE) {
        description.Flags &= ~array_gather;
        result = create();
    }
    if (result == CUDA_ERROR_INVALID_VALUE) {
        throw DeviceError(ErrorCode::missing_feature,
                          "cuda: " + context_->physical().info.name + " can't make " + to_string(shape_) +
                              (shape_.is_writable ? ", writable" : "") + ": it is too large for the device",
                          result);
    }
    context_->check(result, shape_.mips > 1 ? "cuMipmappedArrayCreate" : "cuArray3DCreate");
}

Arrays::Arrays(std::shared_ptr<Context> context, driver::ForeignImage image)
    : context_(std::move(context)), shape_(image.shape), is_foreign_(true), owner_(std::move(image.owner)) {
    const auto refuse = [&](const std::string& why) {
        throw ArgumentError(ErrorCode::shape_mismatch,
                            "cuda: the array to wrap isn't " + to_string(shape_) + ": " + why);
    };
    if (image.handle == 0) {
        throw ArgumentError(ErrorCode::missing_argument, "cuda: there is no array to wrap");
    }
    if (image.is_mipmapped) {
        mipmapped_ = reinterpret_cast<CUmipmappedArray>(image.handle);
    } else {
        array_ = reinterpret_cast<CUarray>(image.handle);
        if (shape_.mips != 1) refuse("it has no mips");
    }
    find_levels();
    CUDA_ARRAY3D_DESCRIPTOR found;
    context_->check(cu().cuArray3DGetDescriptor_v2(&found, levels_.front()), "cuArray3DGetDescriptor");
    const CUDA_ARRAY3D_DESCRIPTOR wanted = describe(shape_);
    has_layers_ = (found.Flags & array_layered) != 0;
    has_surfaces_ = (found.Flags & array_surface) != 0;
    if (found.Format != wanted.Format || found.NumChannels != wanted.NumChannels)
        refuse("its format is another one");
    if (found.Width != wanted.Width || found.Height != wanted.Height ||
        std::max<std::size_t>(found.Depth, 1) != std::max<std::size_t>(wanted.Depth, 1) ||
        (found.Flags & array_cubemap) != (wanted.Flags & array_cubemap)) {
        refuse("it has " + std::to_string(found.Width) + " x " + std::to_string(found.Height) + " x " +
               std::to_string(found.Depth) + " texels" +
               (shape_.dimension == ImageDimension::one
                    ? " (one dimension is a row here: make it of height 1)"
                    : ""));
    }
    if (shape_.is_writable && !has_surfaces_) refuse("it was made without CUDA_ARRAY3D_SURFACE_LDST");
}

void Arrays::find_levels() {
    levels_.assign(shape_.mips, array_);
    surfaces_.assign(shape_.mips, 0);
    if (mipmapped_ == nullptr) return;
    for (std::uint32_t mip = 0; mip < shape_.mips; ++mip) {
        context_->check(cu().cuMipmappedArrayGetLevel(&levels_[mip], mipmapped_, mip),
                        "cuMipmappedArrayGetLevel");
    }
}

Arrays::~Arrays() {
    if (!context_->process.is_here()) {
        return;
    }
    try {
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        destroy();
    } catch (...) {  // a lost device, or the end of the process: the memory went with it
    }
}

void Arrays::destroy() {
    for (const Texture& texture : textures_) (void)cu().cuTexObjectDestroy(texture.object);
    for (const CUsurfObject surface : surfaces_) {
        if (surface != 0) (void)cu().cuSurfObjectDestroy(surface);
    }
    if (is_foreign_) return;
    if (mipmapped_ != nullptr) (void)cu().cuMipmappedArrayDestroy(mipmapped_);
    if (array_ != nullptr) (void)cu().cuArrayDestroy(array_);
}

CUtexObject Arrays::texture(const driver::ImageRange& range, const CudaSampler* sampler) {
    const std::lock_guard lock(mutex_);
    for (const Texture& known : textures_) {
        if (known.first_mip == range.first_mip && known.mips == range.mips && known.sampler == sampler)
            return known.object;
    }
    const CUtexObject object = make_texture(range, sampler);
    textures_.push_back({range.first_mip, range.mips, sampler, object});
    return object;
}

CUtexObject Arrays::make_texture(const driver::ImageRange& range, const CudaSampler* sampler) const {
    const CUDA_TEXTURE_DESC texture = reading(shape_, sampler);
    CUDA_RESOURCE_DESC resource = resource_of(array_);
    CUDA_RESOURCE_VIEW_DESC view;
    const bool is_whole = range.mips == shape_.mips;
    // A single mip is a view, too: a level's own array is read wrongly, where it has layers.
    if (mipmapped_ != nullptr) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.hMipmappedArray = mipmapped_;
        const CUDA_ARRAY3D_DESCRIPTOR whole = describe(shape_);
        view.format = view_format(info_of(shape_.format));
        view.width = whole.Width;
        view.height = whole.Height;
        view.depth = whole.Depth;
        view.firstMipmapLevel = range.first_mip;
        view.lastMipmapLevel = range.first_mip + range.mips - 1;
        // A single cube counts as having no layers.
        if (is_layered(shape_)) view.lastLayer = shape_.layers - 1;
    }
    const Current current(*context_);
    const BesideCaptures beside(*context_);
    CUtexObject object = 0;
    context_->check(cu().cuTexObjectCreate(&object, &resource, &texture, is_whole ? nullptr : &view),
                    "cuTexObjectCreate");
    return object;
}

CUsurfObject Arrays::surface(std::uint32_t mip) {
    const std::atomic_ref<CUsurfObject> known(surfaces_[mip]);
    CUsurfObject surface = known.load(std::memory_order_acquire);
    if (surface != 0) return surface;
    const std::lock_guard lock(mutex_);
    surface = known.load(std::memory_order_relaxed);
    if (surface == 0) {
        const CUDA_RESOURCE_DESC resource = resource_of(levels_[mip]);
        const Current current(*context_);
        const BesideCaptures beside(*context_);
        context_->check(cu().cuSurfObjectCreate(&surface, &resource), "cuSurfObjectCreate");
        known.store(surface, std::memory_order_release);
    }
    return surface;
}

CudaImage::CudaImage(const Context& context, const ImageShape& given, std::shared_ptr<Arrays> arrays,
                     std::shared_ptr<CudaAllocation> memory)
    : arrays_(std::move(arrays)), memory_(std::move(memory)) {
    shape = given;
    home = &context;
}

namespace {

/// The layers that a range has, as the kernel counts them, and the first one.
struct Layers {
    std::uint32_t count = 1;
    std::uint32_t first = driver::no_layers;
};

Layers layers_of(const CudaImage& image, const driver::ImageRange& range) {
    const std::uint32_t each = range.dimension == ImageDimension::cube ? faces : 1;
    // A surface has a cube's faces as layers, whether there are more cubes or not.
    const bool has_faces =
        image.shape.dimension == ImageDimension::cube && range.dimension != ImageDimension::cube;
    return {range.is_array ? range.layers / each : 1,
            image.arrays().has_layers() || has_faces ? range.first_layer / each : driver::no_layers};
}

}  // namespace

void write_texture(std::byte* place, const CudaImage& image, const driver::ImageRange& range,
                   std::span<const CudaSampler* const> samplers) {
    const bool are_faces =
        image.shape.dimension == ImageDimension::cube && range.dimension != ImageDimension::cube;
    if (are_faces && (samplers.size() != 1 || samplers.front() != nullptr)) {
        throw DeviceError(ErrorCode::missing_feature,
                          "cuda: a kernel that takes samplers is given faces of " + to_string(image.shape) +
                              ", as 2D textures: CUDA can only load those, and samples the cube as a whole");
    }
    for (const CudaSampler* sampler : samplers) {
        const std::uint64_t object = image.arrays().texture(range, sampler);
        std::memcpy(place, &object, sizeof object);
        place += sizeof object;
    }
    const std::array<std::uint32_t, 3> extent = mip_extent(image.shape, range.first_mip);
    const Layers layers = layers_of(image, range);
    driver::TextureExtents extents;
    extents.width = extent[0];
    extents.height = extent[1];
    extents.depth_or_layers = range.dimension == ImageDimension::three ? extent[2] : layers.count;
    extents.mips = range.mips;
    extents.first_layer = layers.first;
    if (are_faces)
        extents.first_layer |= image.arrays().has_layers() ? driver::cube_layers : driver::face_layers;
    extents.components = info_of(image.shape.format).components;
    std::memcpy(place, &extents, sizeof extents);
}

void write_surface(std::byte* place, const CudaImage& image, const driver::ImageRange& range) {
    if (!image.arrays().has_surfaces()) {
        throw ArgumentError(ErrorCode::value_range,
                            "cuda: kernels can't write to " + to_string(image.shape) + ", made read-only");
    }
    const std::array<std::uint32_t, 3> extent = mip_extent(image.shape, range.first_mip);
    const Layers layers = layers_of(image, range);
    driver::WritableTextureHandle handle;
    handle.surface = image.arrays().surface(range.first_mip);
    handle.width = extent[0];
    handle.height = extent[1];
    handle.depth_or_layers = range.dimension == ImageDimension::three ? extent[2] : layers.count;
    handle.first_layer = layers.first;
    handle.format = static_cast<std::uint32_t>(image.shape.format);
    std::memcpy(place, &handle, sizeof handle);
}

CUDA_MEMCPY3D packed_copy(Packed direction, const CudaImage& image, const driver::ImageRegion& region,
                          std::uint64_t address) {
    const std::size_t texel = info_of(image.shape.format).size();
    const bool is_deep = image.shape.dimension == ImageDimension::three;
    const CUarray array = image.arrays().level(region.mip);
    const std::size_t x = region.offset[0] * texel;
    const std::size_t z = is_deep ? region.offset[2] : region.first_layer;
    CUDA_MEMCPY3D copy;
    copy.WidthInBytes = region.extent[0] * texel;
    copy.Height = region.extent[1];
    copy.Depth = is_deep ? region.extent[2] : region.layers;
    const bool to_image = direction == Packed::host_to_image || direction == Packed::device_to_image;
    const bool on_host = direction == Packed::host_to_image || direction == Packed::image_to_host;
    if (to_image) {
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = array;
        copy.dstXInBytes = x;
        copy.dstY = region.offset[1];
        copy.dstZ = z;
        copy.srcMemoryType = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        if (on_host)
            copy.srcHost = reinterpret_cast<const void*>(address);
        else
            copy.srcDevice = address;
        copy.srcPitch = copy.WidthInBytes;
        copy.srcHeight = copy.Height;
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = array;
        copy.srcXInBytes = x;
        copy.srcY = region.offset[1];
        copy.srcZ = z;
        copy.dstMemoryType = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        if (on_host)
            copy.dstHost = reinterpret_cast<void*>(address);
        else
            copy.dstDevice = address;
        copy.dstPitch = copy.WidthInBytes;
        copy.dstHeight = copy.Height;
    }
    return copy;
}

}  // namespace kf::cuda
