// A device that records which of a module's kernels it runs.
#include "check/kernel_log.h"

#include "core/device_state.h"

namespace kf::check {

driver::Device& KernelLog::inner() const { return device_.state()->driver(); }

std::set<const manifest::Kernel*> KernelLog::kernels_run() const {
    const std::lock_guard lock(mutex_);
    return run_;
}

std::shared_ptr<driver::Allocation> KernelLog::wrap(driver::ForeignMemory memory) {
    return inner().wrap(std::move(memory));
}

std::shared_ptr<driver::Kernel> KernelLog::load_kernel(const manifest::Kernel& kernel) {
    std::shared_ptr<driver::Kernel> loaded = inner().load_kernel(kernel);
    const std::lock_guard lock(mutex_);
    known_[loaded.get()] = &kernel;
    return loaded;
}

void KernelLog::dispatch(const driver::Dispatch& dispatch) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = known_.find(dispatch.kernel);
        if (known != known_.end()) run_.insert(known->second);
    }
    inner().dispatch(dispatch);
}

const driver::Info& KernelLog::info() const { return inner().info(); }
std::shared_ptr<driver::Allocation> KernelLog::allocate(std::uint64_t size) { return inner().allocate(size); }
std::shared_ptr<driver::Allocation> KernelLog::allocate_scratch(std::uint64_t size) {
    return inner().allocate_scratch(size);
}
void KernelLog::fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                     std::uint64_t size, std::uint32_t word) {
    inner().fill(target, offset, size, word);
}
void KernelLog::copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
                     const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
                     std::uint64_t size) {
    inner().copy(target, target_offset, source, source_offset, size);
}
void KernelLog::upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                       std::span<const std::byte> bytes) {
    inner().upload(target, offset, bytes);
}
void KernelLog::read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                          std::span<std::byte> bytes) {
    inner().read_back(source, offset, bytes);
}
void KernelLog::check_read_back() const { inner().check_read_back(); }
void KernelLog::flush() { inner().flush(); }
void KernelLog::wait() { inner().wait(); }
std::unique_ptr<driver::Recorder> KernelLog::make_recorder() { return inner().make_recorder(); }
void KernelLog::submit(std::unique_ptr<driver::Recorder> recorder) { inner().submit(std::move(recorder)); }

}  // namespace kf::check
