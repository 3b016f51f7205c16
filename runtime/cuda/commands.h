// Commands on a stream, and lists of them for later.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "core/driver.h"
#include "core/owners.h"
#include "cuda/kernel.h"
#include "cuda/memory.h"

namespace kf::cuda {

/// Checks commands and enqueues them. A thread-safe value; what runs needs the context to be current.
class Commands {
public:
    explicit Commands(std::shared_ptr<Memory> memory, std::shared_ptr<Context> context)
        : memory_(std::move(memory)), context_(std::move(context)) {}

    /// All throw kf::ArgumentError: device_mismatch for what is of another device, index_range for bytes
    /// outside, and so on.
    const CudaKernel& check(const driver::Dispatch& dispatch) const;
    void check_fill(const driver::Allocation* target, std::uint64_t offset, std::uint64_t size) const;
    void check_copy(const driver::Allocation* target, std::uint64_t target_offset,
                    const driver::Allocation* source, std::uint64_t source_offset, std::uint64_t size) const;
    void check_range(const driver::Allocation* allocation, std::uint64_t offset, std::uint64_t size,
                     const char* what) const;

    /// The rest enqueues commands that were checked before.
    void dispatch(const driver::Dispatch& dispatch, const std::shared_ptr<Stream>& stream) const;
    void fill(driver::Allocation* target, std::uint64_t offset, std::uint64_t size, std::uint32_t word,
              const std::shared_ptr<Stream>& stream) const;
    void copy(driver::Allocation* target, std::uint64_t target_offset, driver::Allocation* source,
              std::uint64_t source_offset, std::uint64_t size, const std::shared_ptr<Stream>& stream) const;

    [[nodiscard]] const Context* context() const { return context_.get(); }

    /// A dispatch without its resources: their handles are in its block, and their memory is among what it
    /// uses.
    class Lowered {
    public:
        explicit Lowered(const driver::Dispatch& dispatch);
        Lowered(const Lowered&) = delete;
        Lowered& operator=(const Lowered&) = delete;

        [[nodiscard]] std::span<const std::byte> block() const { return block_; }
        [[nodiscard]] std::span<const driver::Use> uses() const { return uses_; }

    private:
        // Most blocks and lists of uses fit here, so that a call allocates nothing.
        alignas(std::max_align_t) std::array<std::byte, 1024> near_;
        std::pmr::monotonic_buffer_resource memory_{near_.data(), near_.size()};
        std::pmr::vector<std::byte> block_{&memory_};
        std::pmr::vector<driver::Use> uses_{&memory_};
    };

private:
    std::shared_ptr<Memory> memory_;
    std::shared_ptr<Context> context_;
};

/// The command list of driver::Device::make_recorder(): checks now, enqueues at submit().
class CudaRecorder final : public driver::Recorder {
public:
    explicit CudaRecorder(Commands commands) : commands_(std::move(commands)) {}

    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;

    [[nodiscard]] const Context* context() const { return commands_.context(); }
    /// Enqueues all, in order; needs the context to be current.
    void run(const std::shared_ptr<Stream>& stream) const;

private:
    enum class Kind : std::uint8_t { dispatch, fill, copy };
    struct Command {
        Kind kind = Kind::dispatch;
        driver::Kernel* kernel = nullptr;
        driver::Grid groups{};
        std::size_t block = 0;  ///< where in blocks_, and how long
        std::size_t block_size = 0;
        std::size_t use = 0;  ///< the first in uses_, and how many: of a fill and a copy, target and source
        std::size_t use_count = 0;
        std::uint64_t target_offset = 0;
        std::uint64_t source_offset = 0;
        std::uint64_t size = 0;
        std::uint32_t word = 0;
    };

    /// Records a dispatch that takes no resources.
    void record(const driver::Dispatch& dispatch);
    void use(driver::Allocation* allocation, bool writes);
    void run(const Command& command, const std::shared_ptr<Stream>& stream) const;

    Commands commands_;
    std::vector<Command> list_;
    std::vector<std::byte> blocks_;
    std::vector<driver::Use> uses_;
    Owners<driver::Allocation> allocations_;
    Owners<driver::Kernel> kernels_;
};

}  // namespace kf::cuda
