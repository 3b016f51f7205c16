// A device that records which of a module's kernels it runs.
#pragma once

#include <kf/device.h>

#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "core/driver.h"

namespace kf::check {

/// Hands everything on to another device. Thread-safe.
class KernelLog final : public driver::Device {
public:
    explicit KernelLog(kf::Device device) : device_(std::move(device)) {}

    /// The kernels dispatched so far, as the module's manifest has them.
    [[nodiscard]] std::set<const manifest::Kernel*> kernels_run() const;

    [[nodiscard]] const driver::Info& info() const override;
    std::shared_ptr<driver::Allocation> allocate(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> allocate_scratch(std::uint64_t size) override;
    std::shared_ptr<driver::Allocation> wrap(driver::ForeignMemory memory) override;
    std::shared_ptr<driver::Kernel> load_kernel(const manifest::Kernel& kernel) override;
    void dispatch(const driver::Dispatch& dispatch) override;
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override;
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override;
    void upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                std::span<const std::byte> bytes) override;
    void read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                   std::span<std::byte> bytes) override;
    void check_read_back() const override;
    void flush() override;
    void wait() override;
    std::unique_ptr<driver::Recorder> make_recorder() override;
    void submit(std::unique_ptr<driver::Recorder> recorder) override;

private:
    [[nodiscard]] driver::Device& inner() const;

    kf::Device device_;
    mutable std::mutex mutex_;
    std::unordered_map<const driver::Kernel*, const manifest::Kernel*> known_;
    std::set<const manifest::Kernel*> run_;
};

}  // namespace kf::check
