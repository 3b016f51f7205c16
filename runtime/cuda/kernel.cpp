// Loaded images and the kernels in them.
#include "cuda/kernel.h"

#include <kf/error.h>

#include <algorithm>
#include <cstring>

#include "core/checked_image.h"
#include "core/dispatch.h"
#include "cuda/images.h"
#include "cuda/result.h"

namespace kf::cuda {
namespace {

constexpr std::size_t log_size = 8192;
constexpr std::array<unsigned char, 4> elf_magic{0x7F, 'E', 'L', 'F'};

/// Whether the driver refuses the image itself, so that another one may do.
bool is_refusal(CUresult result) {
    switch (result) {
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
        case CUDA_ERROR_INVALID_PTX:
        case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        case CUDA_ERROR_JIT_COMPILATION_DISABLED: return true;
        default: return false;
    }
}

std::string capability_text(const Capability& capability) {
    return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

const manifest::BlockLayout& find_layout(const Context& context, const manifest::Kernel& kernel) {
    const auto found = kernel.layouts.find("cuda");
    if (found == kernel.layouts.end() || found->second.size < 0 ||
        found->second.passing != manifest::Passing::value) {
        throw ArtifactError(ErrorCode::artifact_corrupt,
                            "cuda: kernel '" + kernel.name + "' has no usable parameter layout");
    }
    const driver::Info& info = context.physical().info;
    if (found->second.size > static_cast<std::int64_t>(info.max_block_size)) {
        throw DeviceError(ErrorCode::missing_feature, "cuda: kernel '" + kernel.name + "' takes " +
                                                          std::to_string(found->second.size) +
                                                          " bytes of parameters; " + info.name + " takes " +
                                                          std::to_string(info.max_block_size));
    }
    driver::check_resource_slots(info, kernel, found->second, true);
    for (std::size_t i = 0; i < kernel.resources.size(); ++i) {
        const std::int64_t place = found->second.resource_places[i];
        const std::int64_t last = found->second.size - manifest::handle_bytes(kernel.resources[i]);
        if (place < 0 || place % manifest::handle_alignment != 0 || place > last) {
            throw ArtifactError(ErrorCode::artifact_corrupt, "cuda: kernel '" + kernel.name +
                                                                 "' has no place in its parameters for '" +
                                                                 kernel.resources[i].name + "'");
        }
    }
    return found->second;
}

void check_features(const Context& context, const manifest::Kernel& kernel, const manifest::Image& image) {
    const std::vector<std::string>& offered = context.physical().info.features;
    std::string missing;
    for (const std::string& feature : image.features) {
        if (!std::binary_search(offered.begin(), offered.end(), feature)) {
            missing += (missing.empty() ? "" : ", ") + feature;
        }
    }
    if (!missing.empty()) {
        throw DeviceError(ErrorCode::missing_feature, "cuda: kernel '" + kernel.name + "' can't run on " +
                                                          context.physical().info.name +
                                                          ", which lacks: " + missing);
    }
}

}  // namespace

Modules::~Modules() {
    try {
        const Current current(*context_);
        // Kernels may still run, on the caller's streams too.
        (void)context_->cu.cuCtxSynchronize();
        for (const auto& [digest, entry] : entries_) {
            if (entry->module != nullptr) {
                (void)context_->cu.cuModuleUnload(entry->module);
            }
        }
    } catch (...) {  // a lost device, or the end of the process
    }
}

CUmodule Modules::load(const manifest::Image& image, const std::string& kernel, std::string& refusal) {
    std::shared_ptr<Entry> entry;
    {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Entry>& known = entries_[image.sha256];
        if (known == nullptr) {
            known = std::make_shared<Entry>();
        }
        entry = known;
    }
    const std::lock_guard lock(entry->mutex);
    if (entry->module == nullptr) {
        CUmodule module = nullptr;
        std::string log;
        const SharedBytes bytes = manifest::checked_bytes(image, kernel);
        const CUresult result =
            image.format == "ptx" ? load_ptx(bytes, module, log) : load_cubin(bytes, module);
        if (is_refusal(result)) {
            refusal = result_text(context_->cu, result) + (log.empty() ? "" : ": " + log);
            return nullptr;
        }
        if (result != CUDA_SUCCESS) {
            context_->fail(result, "can't load the " + image_name(image) + " image" +
                                       (log.empty() ? "" : " (" + log + ")"));
        }
        entry->module = module;
    }
    return entry->module;
}

CUresult Modules::load_cubin(const SharedBytes& bytes, CUmodule& module) const {
    // The driver reads as far as the header says: only what looks like one goes there.
    if (bytes.size() < 64 || std::memcmp(bytes.data(), elf_magic.data(), elf_magic.size()) != 0) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    return context_->cu.cuModuleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr);
}

CUresult Modules::load_ptx(const SharedBytes& bytes, CUmodule& module, std::string& log) const {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string buffer(log_size, '\0');
    std::array options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // The driver takes the size, a number, in a pointer's place.
    std::array<void*, 2> values{buffer.data(), reinterpret_cast<void*>(std::uintptr_t{log_size})};
    const CUresult result = context_->cu.cuModuleLoadDataEx(
        &module, text.c_str(), static_cast<unsigned>(options.size()), options.data(), values.data());
    if (result != CUDA_SUCCESS) {
        log = buffer.c_str();
        std::replace(log.begin(), log.end(), '\n', ' ');
        log.erase(log.find_last_not_of(' ') + 1);
    }
    return result;
}

CudaKernel::CudaKernel(std::shared_ptr<Modules> modules, const manifest::Kernel& kernel)
    : modules_(std::move(modules)),
      name_(kernel.name),
      group_size_(kernel.group_size),
      resources_(kernel.resources) {
    home = context();
    const manifest::BlockLayout& layout = find_layout(*context(), kernel);
    block_size_ = static_cast<std::size_t>(layout.size);
    resource_places_ = layout.resource_places;
    load(kernel);
    check_threads();
}

void CudaKernel::load(const manifest::Kernel& kernel) {
    const Physical& device = context()->physical();
    std::map<const manifest::Image*, std::string> refusals;
    for (const manifest::Image* image : choose_images(kernel, device.capability)) {
        check_features(*context(), kernel, *image);
        const CUmodule module = modules_->load(*image, name_, refusals[image]);
        if (module == nullptr) {
            continue;
        }
        const CUresult result =
            context()->cu.cuModuleGetFunction(&function_, module, image->entry_point.c_str());
        if (result != CUDA_SUCCESS) {
            context()->fail(result, "the " + image_name(*image) + " image of kernel '" + name_ +
                                        "' has no entry point '" + image->entry_point + "'");
        }
        return;
    }
    std::string offered;
    for (const manifest::Image& image : kernel.images) {
        if (image.format == "cubin" || image.format == "ptx") {
            const std::string& refusal = refusals[&image];
            offered += (offered.empty() ? "" : ", ") + image_name(image) +
                       (refusal.empty() ? "" : " (refused: " + refusal + ")");
        }
    }
    if (offered.empty()) {
        throw ArtifactError(
            ErrorCode::artifact_no_image,
            "cuda: kernel '" + name_ + "' has no CUDA image; generate it with the target \"cuda\"");
    }
    throw DeviceError(ErrorCode::missing_feature,
                      "cuda: no image of kernel '" + name_ + "' runs on " + device.info.name +
                          " (compute capability " + capability_text(device.capability) + ", driver of " +
                          device.info.driver + "); on offer: " + offered + "; add \"sm_" +
                          std::to_string(device.capability.major) + std::to_string(device.capability.minor) +
                          "\" to the \"arch\" of the spec's target, or \"ptx\": true");
}

void CudaKernel::check_threads() {
    const Physical& device = context()->physical();
    for (std::size_t i = 0; i < group_size_.size(); ++i) {
        if (group_size_[i] > device.max_group_size[i]) {
            throw DeviceError(ErrorCode::missing_feature,
                              "cuda: kernel '" + name_ + "' can't run on " + device.info.name +
                                  ", which lacks: groups of " + std::to_string(group_size_[i]) +
                                  " threads along dimension " + std::to_string(i) + " (at most " +
                                  std::to_string(device.max_group_size[i]) + ")");
        }
    }
    const std::uint64_t threads = std::uint64_t{group_size_[0]} * group_size_[1] * group_size_[2];
    // Asking also makes the driver load the code now, where it would do so at the first launch.
    int most = 0;
    context()->check(
        context()->cu.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_),
        "cuFuncGetAttribute");
    if (threads == 0 || threads > static_cast<std::uint64_t>(most)) {
        throw DeviceError(ErrorCode::missing_feature, "cuda: kernel '" + name_ + "' has groups of " +
                                                          std::to_string(threads) + " threads; at most " +
                                                          std::to_string(most) + " of it run on " +
                                                          device.info.name);
    }
    int groups = 0;
    context()->check(context()->cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&groups, function_,
                                                                               static_cast<int>(threads), 0),
                     "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    resident_groups = static_cast<std::uint32_t>(groups);
}

}  // namespace kf::cuda
