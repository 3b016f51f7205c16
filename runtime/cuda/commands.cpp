// Commands on a stream, and lists of them for later.
#include "cuda/commands.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "core/dispatch.h"
#include "core/texture_handle.h"
#include "cuda/result.h"
#include "cuda/textures.h"

namespace kf::cuda {
namespace {

/// Bytes: of the largest vector that kernels load at once.
constexpr std::uint64_t buffer_alignment = 16;

}  // namespace

void Commands::check_range(const driver::Allocation* allocation, std::uint64_t offset, std::uint64_t size,
                           const char* what) const {
    const bool is_own = allocation != nullptr && allocation->home == context_.get();
    driver::check_range(context_->physical().info, is_own ? allocation : nullptr, offset, size, what);
}

const CudaKernel& Commands::check(const driver::Dispatch& dispatch) const {
    if (dispatch.kernel == nullptr || dispatch.kernel->home != context_.get()) {
        throw ArgumentError(ErrorCode::device_mismatch, "cuda: the kernel to dispatch is not of this device");
    }
    const auto* kernel = static_cast<const CudaKernel*>(dispatch.kernel);
    driver::check_block(context_->physical().info, kernel->name(), kernel->block_size(),
                        dispatch.block.size());
    driver::check_grid(context_->physical().info, kernel->name(), dispatch.groups);
    for (const driver::Use& use : dispatch.uses) {
        if (use.allocation != nullptr) {
            check_range(use.allocation, 0, 0, "use");
        }
    }
    driver::check_resources(context_->physical().info, kernel->name(), kernel->resources(),
                            dispatch.resources);
    for (std::size_t i = 0; i < dispatch.resources.size(); ++i) {
        const auto check_buffer = [&](const driver::BufferRange& buffer) {
            check_range(buffer.allocation.get(), buffer.offset, buffer.size, "bind");
            if ((buffer.allocation->address + buffer.offset) % buffer_alignment != 0) {
                throw ArgumentError(ErrorCode::layout_mismatch,
                                    "cuda: kernel '" + kernel->name() + "': buffer '" +
                                        kernel->resources()[i].name + "' must begin at a multiple of " +
                                        std::to_string(buffer_alignment) + " bytes");
            }
        };
        const auto check_own = [&](const void* home, const char* kind) {
            if (home == context_.get()) return;
            throw ArgumentError(ErrorCode::device_mismatch, "cuda: kernel '" + kernel->name() + "': " + kind +
                                                                " '" + kernel->resources()[i].name +
                                                                "' is not of this device");
        };
        const driver::Resource& given = dispatch.resources[i];
        if (const auto* buffer = std::get_if<driver::BufferRange>(&given)) check_buffer(*buffer);
        if (const auto* sampler = std::get_if<driver::SamplerBinding>(&given)) {
            check_own(sampler->sampler->home, "sampler");
        }
        if (const auto* image = std::get_if<driver::ImageBinding>(&given)) {
            check_own(image->image->home, "texture");
            if (kernel->resources()[i].kind == manifest::ResourceKind::combined_texture) {
                check_own(image->sampler == nullptr ? nullptr : image->sampler->home, "the sampler of");
            }
        }
    }
    return *kernel;
}

namespace {

/// The samplers of a dispatch, in their order: all textures have an object for each.
class DispatchSamplers {
public:
    explicit DispatchSamplers(std::span<const driver::Resource> resources) {
        for (const driver::Resource& resource : resources) {
            const auto* sampler = std::get_if<driver::SamplerBinding>(&resource);
            if (sampler == nullptr || count_ == samplers_.size()) continue;
            samplers_.at(count_++) = static_cast<const CudaSampler*>(sampler->sampler.get());
        }
        // A kernel that takes none has textures with an object that only loads.
        if (count_ == 0) samplers_.at(count_++) = nullptr;
    }

    /// The first `count` of them.
    [[nodiscard]] std::span<const CudaSampler* const> first(std::int64_t count) const {
        return std::span(samplers_).first(std::min(static_cast<std::size_t>(count), count_));
    }

private:
    std::array<const CudaSampler*, 64> samplers_;  // as many as count_ says are set
    std::size_t count_ = 0;
};

}  // namespace

Commands::Lowered::Lowered(const driver::Dispatch& dispatch) {
    const auto& kernel = static_cast<const CudaKernel&>(*dispatch.kernel);
    block_.assign(dispatch.block.begin(), dispatch.block.end());
    uses_.reserve(dispatch.uses.size() + dispatch.resources.size());
    uses_.assign(dispatch.uses.begin(), dispatch.uses.end());
    const DispatchSamplers samplers(dispatch.resources);
    std::uint64_t sampler_index = 0;
    for (std::size_t i = 0; i < dispatch.resources.size(); ++i) {
        const manifest::ResourceSlot& slot = kernel.resources()[i];
        std::byte* const place = block_.data() + kernel.resource_places()[i];
        const auto put_buffer = [&](const driver::BufferRange& buffer) {
            const std::uint64_t count =
                buffer.is_empty ? 0 : buffer.size / static_cast<std::uint64_t>(slot.stride);
            const std::array<std::uint64_t, 2> handle{buffer.allocation->address + buffer.offset, count};
            static_assert(sizeof handle == manifest::handle_bytes(manifest::ResourceKind::buffer));
            std::memcpy(place, handle.data(), sizeof handle);
            uses_.push_back({buffer.allocation, slot.writes});
        };
        const auto put_image = [&](const driver::ImageBinding& given) {
            const auto& image = static_cast<const CudaImage&>(*given.image);
            if (slot.kind == manifest::ResourceKind::writable_texture) {
                write_surface(place, image, given.range);
            } else if (slot.kind == manifest::ResourceKind::combined_texture) {
                const std::array own{static_cast<const CudaSampler*>(given.sampler.get())};
                write_texture(place, image, given.range, own);
            } else {
                write_texture(place, image, given.range, samplers.first(slot.samplers));
            }
            uses_.push_back({image.memory(), slot.writes});
        };
        const driver::Resource& given = dispatch.resources[i];
        if (const auto* buffer = std::get_if<driver::BufferRange>(&given)) put_buffer(*buffer);
        if (const auto* image = std::get_if<driver::ImageBinding>(&given)) put_image(*image);
        if (std::holds_alternative<driver::SamplerBinding>(given)) {
            const driver::SamplerHandle handle{sampler_index++};
            std::memcpy(place, &handle, sizeof handle);
        }
    }
}

void Commands::check_fill(const driver::Allocation* target, std::uint64_t offset, std::uint64_t size) const {
    check_range(target, offset, size, "fill");
    driver::check_fill(context_->physical().info, target->address + offset, size);
}

void Commands::check_copy(const driver::Allocation* target, std::uint64_t target_offset,
                          const driver::Allocation* source, std::uint64_t source_offset,
                          std::uint64_t size) const {
    check_range(target, target_offset, size, "copy to");
    check_range(source, source_offset, size, "copy from");
    driver::check_copy(context_->physical().info, target->address + target_offset,
                       source->address + source_offset, size);
}

void Commands::dispatch(const driver::Dispatch& dispatch, const std::shared_ptr<Stream>& stream) const {
    if (driver::is_empty(dispatch.groups)) {
        return;
    }
    if (!dispatch.resources.empty()) {
        const Lowered lowered(dispatch);
        this->dispatch({dispatch.kernel, dispatch.groups, lowered.block(), lowered.uses()}, stream);
        return;
    }
    const auto& kernel = static_cast<const CudaKernel&>(*dispatch.kernel);
    memory_->order(dispatch.uses, stream, [&] {
        std::size_t size = dispatch.block.size();
        // The block is read before the call returns, and not written: the interface has no const.
        std::array<void*, 5> extra{reinterpret_cast<void*>(launch_buffer_pointer),
                                   const_cast<std::byte*>(dispatch.block.data()),
                                   reinterpret_cast<void*>(launch_buffer_size), &size, nullptr};
        const driver::Grid& groups = dispatch.groups;
        const std::array<std::uint32_t, 3>& threads = kernel.group_size();
        const CUresult result = context_->cu.cuLaunchKernel(
            kernel.function(), groups[0], groups[1], groups[2], threads[0], threads[1], threads[2], 0,
            stream->handle(), nullptr, size == 0 ? nullptr : extra.data());
        if (result != CUDA_SUCCESS) {
            context_->fail(result, "cuLaunchKernel failed for kernel '" + kernel.name() + "' (" +
                                       driver::to_string(groups) + " groups)");
        }
    });
}

void Commands::fill(driver::Allocation* target, std::uint64_t offset, std::uint64_t size, std::uint32_t word,
                    const std::shared_ptr<Stream>& stream) const {
    if (size == 0) {
        return;
    }
    const std::array uses{driver::Use{target, true}};
    memory_->order(uses, stream, [&] {
        context_->check(
            context_->cu.cuMemsetD32Async(target->address + offset, word, size / 4, stream->handle()),
            "cuMemsetD32Async");
    });
}

void Commands::copy(driver::Allocation* target, std::uint64_t target_offset, driver::Allocation* source,
                    std::uint64_t source_offset, std::uint64_t size,
                    const std::shared_ptr<Stream>& stream) const {
    if (size == 0) {
        return;
    }
    const std::array uses{driver::Use{target, true}, driver::Use{source, false}};
    memory_->order(uses, stream, [&] {
        context_->check(
            context_->cu.cuMemcpyDtoDAsync_v2(target->address + target_offset,
                                              source->address + source_offset, size, stream->handle()),
            "cuMemcpyDtoDAsync");
    });
}

void CudaRecorder::dispatch(const driver::Dispatch& dispatch) {
    (void)commands_.check(dispatch);
    if (!dispatch.resources.empty()) {
        const Commands::Lowered lowered(dispatch);
        record({dispatch.kernel, dispatch.groups, lowered.block(), lowered.uses()});
    } else {
        record(dispatch);
    }
}

void CudaRecorder::record(const driver::Dispatch& dispatch) {
    Command command;
    command.kernel = dispatch.kernel;
    command.groups = dispatch.groups;
    command.block = blocks_.size();
    command.block_size = dispatch.block.size();
    command.use = uses_.size();
    // If this throws before the command is in the list, it leaves behind only what no command uses.
    kernels_.add(*dispatch.kernel);
    blocks_.insert(blocks_.end(), dispatch.block.begin(), dispatch.block.end());
    for (const driver::Use& one : dispatch.uses) {
        if (one.allocation != nullptr) use(one.allocation, one.writes);
    }
    command.use_count = uses_.size() - command.use;
    list_.push_back(command);
}

void CudaRecorder::use(driver::Allocation* allocation, bool writes) {
    allocations_.add(*allocation);
    uses_.emplace_back(allocation, writes);
}

void CudaRecorder::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                        std::uint64_t size, std::uint32_t word) {
    commands_.check_fill(target.get(), offset, size);
    Command command;
    command.kind = Kind::fill;
    command.use = uses_.size();
    command.target_offset = offset;
    command.size = size;
    command.word = word;
    use(target.get(), true);
    list_.push_back(command);
}

void CudaRecorder::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                        const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                        std::uint64_t size) {
    commands_.check_copy(target.get(), target_offset, source.get(), source_offset, size);
    Command command;
    command.kind = Kind::copy;
    command.use = uses_.size();
    command.target_offset = target_offset;
    command.source_offset = source_offset;
    command.size = size;
    use(target.get(), true);
    use(source.get(), false);
    list_.push_back(command);
}

void CudaRecorder::run(const std::shared_ptr<Stream>& stream) const {
    for (std::size_t i = 0; i < list_.size(); ++i) {
        try {
            run(list_[i], stream);
        } catch (const DeviceError& error) {
            throw DeviceError(error.code(),
                              std::string(error.what()) + "; " + std::to_string(list_.size() - i) + " of " +
                                  std::to_string(list_.size()) + " recorded commands were not run",
                              error.native_code());
        }
    }
}

void CudaRecorder::run(const Command& command, const std::shared_ptr<Stream>& stream) const {
    const driver::Use* uses = uses_.data() + command.use;
    switch (command.kind) {
        case Kind::dispatch:
            commands_.dispatch({command.kernel,
                                command.groups,
                                {blocks_.data() + command.block, command.block_size},
                                {uses, command.use_count}},
                               stream);
            break;
        case Kind::fill:
            commands_.fill(uses[0].allocation, command.target_offset, command.size, command.word, stream);
            break;
        case Kind::copy:
            commands_.copy(uses[0].allocation, command.target_offset, uses[1].allocation,
                           command.source_offset, command.size, stream);
            break;
    }
}

}  // namespace kf::cuda
