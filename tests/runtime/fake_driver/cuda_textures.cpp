// The fake CUDA driver's arrays, and objects that read and write them.
#include <cstring>

#include "runtime/fake_driver/cuda_world.h"

namespace kf::test::fake_cuda {
namespace {

std::size_t texel_bytes(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    switch (description.Format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8: return description.NumChannels;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF: return 2UL * description.NumChannels;
        default: return 4UL * description.NumChannels;
    }
}

/// Returns whether a real driver makes such an array.
bool is_possible(const CUDA_ARRAY3D_DESCRIPTOR& description) {
    const bool layered = (description.Flags & array_layered) != 0;
    const bool cubemap = (description.Flags & array_cubemap) != 0;
    const bool gather = (description.Flags & array_gather) != 0;
    const bool flat = description.Depth == 0;
    if (description.Width == 0 || description.Width > world->fake->largest_array) return false;
    if (description.NumChannels != 1 && description.NumChannels != 2 && description.NumChannels != 4)
        return false;
    if (gather && (!flat || description.Height == 0 || !world->fake->gathers)) return false;
    if (cubemap && (description.Width != description.Height || description.Depth % 6 != 0 ||
                    (!layered && description.Depth != 6)))
        return false;
    return !layered || !flat;
}

CUarray new_array(const CUDA_ARRAY3D_DESCRIPTOR& description, MipmappedArray* of) {
    world->arrays.push_back(std::make_unique<Array>());
    Array& array = *world->arrays.back();
    array.context = current_context();
    array.description = description;
    array.of = of;
    array.texel = texel_bytes(description);
    array.rows = std::max<std::size_t>(description.Height, 1);
    array.slices = std::max<std::size_t>(description.Depth, 1);
    array.bytes.assign(description.Width * array.texel * array.rows * array.slices, std::byte{0xCD});
    return handle<CUarray>(&array);
}

/// One side of a copy: what is at a row's begin.
struct Side {
    std::byte* base = nullptr;
    std::size_t row = 0;
    std::size_t slice = 0;

    [[nodiscard]] std::byte* at(std::size_t y, std::size_t z) const { return base + y * row + z * slice; }
};

Side array_side(CUarray given, std::size_t x, std::size_t y, std::size_t z, const CUDA_MEMCPY3D& copy) {
    Array& array = *of(given);
    if (array.is_destroyed()) violation("cuMemcpy3DAsync: the array was destroyed");
    const std::size_t row = array.description.Width * array.texel;
    if (x + copy.WidthInBytes > row || y + copy.Height > array.rows || z + copy.Depth > array.slices)
        violation("cuMemcpy3DAsync: past the end of the array");
    return {array.bytes.data() + x + y * row + z * row * array.rows, row, row * array.rows};
}

Side memory_side(std::byte* address, std::size_t pitch, std::size_t height) {
    return {address, pitch, pitch * height};
}

}  // namespace

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
    KF_ENTER(cuArray3DCreate_v2)
    check_capture_mode("cuArray3DCreate");
    if (!is_possible(*description)) return CUDA_ERROR_INVALID_VALUE;
    *array = new_array(*description, nullptr);
    return CUDA_SUCCESS;
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
    KF_ENTER(cuArray3DGetDescriptor_v2)
    *description = of(array)->description;
    return CUDA_SUCCESS;
}
CUresult cuArrayDestroy(CUarray array) {
    KF_ENTER(cuArrayDestroy)
    KF_NEED(cuArrayDestroy, of(array)->context)
    if (of(array)->is_destroyed()) violation("cuArrayDestroy: destroyed before");
    of(array)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned levels) {
    KF_ENTER(cuMipmappedArrayCreate)
    check_capture_mode("cuMipmappedArrayCreate");
    if (!is_possible(*description)) return CUDA_ERROR_INVALID_VALUE;
    world->mipmapped_arrays.push_back(std::make_unique<MipmappedArray>());
    MipmappedArray& made = *world->mipmapped_arrays.back();
    CUDA_ARRAY3D_DESCRIPTOR level = *description;
    const auto halve = [](std::size_t& extent) { extent = extent > 1 ? extent / 2 : extent; };
    for (unsigned i = 0; i < levels; ++i) {
        made.levels.push_back(new_array(level, &made));
        halve(level.Width);
        halve(level.Height);
        if ((level.Flags & (array_layered | array_cubemap)) == 0) halve(level.Depth);
    }
    *array = handle<CUmipmappedArray>(&made);
    return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray of_array, unsigned level) {
    KF_ENTER(cuMipmappedArrayGetLevel)
    if (level >= of(of_array)->levels.size()) return CUDA_ERROR_INVALID_VALUE;
    *array = of(of_array)->levels[level];
    return CUDA_SUCCESS;
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    KF_ENTER(cuMipmappedArrayDestroy)
    of(array)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
    KF_ENTER(cuTexObjectCreate)
    const bool mipmapped = resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (mipmapped && (texture->flags & texture_normalized) == 0) return CUDA_ERROR_INVALID_VALUE;
    if ((texture->flags & texture_integers) != 0 && texture->filterMode != CU_TR_FILTER_MODE_POINT)
        return CUDA_ERROR_INVALID_VALUE;
    world->objects.push_back(std::make_unique<Object>());
    Object& made = *world->objects.back();
    made.array = of(mipmapped ? of(resource->res.hMipmappedArray)->levels.front() : resource->res.hArray);
    made.texture = *texture;
    if (view != nullptr) made.first_mip = view->firstMipmapLevel;
    *object = reinterpret_cast<CUtexObject>(&made);
    return CUDA_SUCCESS;
}
CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
    KF_ENTER(cuSurfObjectCreate)
    Array* array = of(resource->res.hArray);
    if ((array->description.Flags & array_surface) == 0) return CUDA_ERROR_INVALID_VALUE;
    world->objects.push_back(std::make_unique<Object>());
    world->objects.back()->array = array;
    *object = reinterpret_cast<CUsurfObject>(world->objects.back().get());
    return CUDA_SUCCESS;
}
CUresult cuTexObjectDestroy(CUtexObject object) {
    KF_ENTER(cuTexObjectDestroy)
    reinterpret_cast<Object*>(object)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuSurfObjectDestroy(CUsurfObject object) {
    KF_ENTER(cuSurfObjectDestroy)
    reinterpret_cast<Object*>(object)->destroyed = true;
    return CUDA_SUCCESS;
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream stream) {
    KF_ENTER(cuMemcpy3DAsync_v2)
    Stream* found = find("cuMemcpy3DAsync", stream);
    KF_NEED(cuMemcpy3DAsync, found->context)
    const std::size_t bytes = given->WidthInBytes * given->Height * given->Depth;
    if (given->srcMemoryType == CU_MEMORYTYPE_DEVICE)
        check_memory("cuMemcpy3DAsync", given->srcDevice, bytes);
    if (given->dstMemoryType == CU_MEMORYTYPE_DEVICE)
        check_memory("cuMemcpy3DAsync", given->dstDevice, bytes);
    enqueue(*found, [copy = *given] {
        // The interface has no const for hosts' memory that is read.
        auto* const host = static_cast<std::byte*>(const_cast<void*>(copy.srcHost));
        const Side from =
            copy.srcMemoryType == CU_MEMORYTYPE_ARRAY
                ? array_side(copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ, copy)
                : memory_side(copy.srcMemoryType == CU_MEMORYTYPE_HOST ? host : at(copy.srcDevice),
                              copy.srcPitch, copy.srcHeight);
        const Side to =
            copy.dstMemoryType == CU_MEMORYTYPE_ARRAY
                ? array_side(copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ, copy)
                : memory_side(copy.dstMemoryType == CU_MEMORYTYPE_HOST ? static_cast<std::byte*>(copy.dstHost)
                                                                       : at(copy.dstDevice),
                              copy.dstPitch, copy.dstHeight);
        for (std::size_t z = 0; z < copy.Depth; ++z) {
            for (std::size_t y = 0; y < copy.Height; ++y)
                std::memcpy(to.at(y, z), from.at(y, z), copy.WidthInBytes);
        }
    });
    return CUDA_SUCCESS;
}

}  // namespace kf::test::fake_cuda

namespace kf::test {

using namespace fake_cuda;

std::span<std::byte> FakeCuda::texels(std::uint64_t object) {
    const auto* found = reinterpret_cast<const Object*>(object);
    if (found->destroyed || found->array->is_destroyed()) violation("an object of a kernel's was destroyed");
    return found->array->bytes;
}

const cuda::CUDA_TEXTURE_DESC& FakeCuda::texture(cuda::CUtexObject object) {
    return reinterpret_cast<const Object*>(object)->texture;
}

unsigned FakeCuda::first_mip(cuda::CUtexObject object) {
    return reinterpret_cast<const Object*>(object)->first_mip;
}

CUarray FakeCuda::create_array(const cuda::CUDA_ARRAY3D_DESCRIPTOR& description) {
    const std::lock_guard lock(mutex);
    set_current(context(0));
    CUarray array = new_array(description, nullptr);
    of(array)->is_applications = true;
    return array;
}

}  // namespace kf::test
