// What all handles of one device share: its driver and the kernels made ready on it.
#pragma once

#include <kf/device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/driver.h"
#include "core/process.h"

namespace kf::detail {

/// A kernel on one device, made ready once, on first use. Thread-safe.
class LazyKernel {
public:
    /// Throws what the driver throws; a later call tries again.
    const std::shared_ptr<driver::Kernel>& get(driver::Device& device, const manifest::Kernel& kernel) {
        // Not std::call_once: below some C libraries and sanitizers it hangs after an exception.
        if (!ready_.load(std::memory_order_acquire)) {
            device.admit_kernel();
            const std::lock_guard lock(mutex_);
            if (!kernel_) {
                kernel_ = device.load_kernel(kernel);
            }
            ready_.store(true, std::memory_order_release);
        }
        return kernel_;
    }

private:
    std::atomic<bool> ready_ = false;
    std::mutex mutex_;
    std::shared_ptr<driver::Kernel> kernel_;
};

class Observers;
class Reports;

class DeviceState {
public:
    /// Throws ArgumentError (unknown_name) where the environment's KF_CHECK asks for what isn't known.
    explicit DeviceState(std::shared_ptr<driver::Device> device);
    /// The device of `root` on a stream of the caller's: another driver, all else is the root's.
    DeviceState(std::shared_ptr<DeviceState> root, std::shared_ptr<driver::Device> on_stream);
    ~DeviceState();
    DeviceState(const DeviceState&) = delete;
    DeviceState& operator=(const DeviceState&) = delete;

    /// Makes a state that a child process, which can't close the device, never destroys.
    template <class... Arguments>
    static std::shared_ptr<DeviceState> make(Arguments&&... arguments) {
        return {new DeviceState(std::forward<Arguments>(arguments)...), &DeviceState::destroy};
    }

    /// Throws DeviceError (forked) in a child process, before any lock that may be held there is taken.
    [[nodiscard]] driver::Device& driver() const {
        if (!process_.is_here()) {
            throw_forked("opened the device");
        }
        return *driver_;
    }
    [[nodiscard]] const DeviceInfo& info() const { return root_ ? root_->info_ : info_; }
    /// Whether both are one device, on whatever streams.
    [[nodiscard]] bool is_same(const DeviceState& other) const { return root() == other.root(); }
    /// Null for the root itself.
    [[nodiscard]] const std::shared_ptr<DeviceState>& root_of_stream() const { return root_; }

    /// Memory for `size` bytes, rounded up so that whole words can be filled; null for 0.
    [[nodiscard]] std::shared_ptr<driver::Allocation> allocate(std::uint64_t size) const;
    /// The same for what a call needs while it runs; see driver::Device.
    [[nodiscard]] std::shared_ptr<driver::Allocation> allocate_scratch(std::uint64_t size) const;
    [[nodiscard]] std::shared_ptr<driver::Allocation> zeros(std::uint64_t size) const;
    [[nodiscard]] std::shared_ptr<driver::Allocation> allocate_mapped(std::uint64_t size) const;
    /// The one entry for kernels of this content; modules that share a kernel share its pipeline, which
    /// goes with the last of them. A driver may keep its code longer: CUDA's does, for graphs launch it.
    std::shared_ptr<LazyKernel> kernel(const manifest::Kernel& kernel);
    /// The one sampler of that description, which the device keeps. Throws what the driver throws.
    std::shared_ptr<driver::Sampler> sampler(const driver::SamplerDescription& description);
    /// What looks at each call on the device; null where nothing does.
    [[nodiscard]] Observers* observers() const {
        return root()->active_observers_.load(std::memory_order_acquire);
    }
    /// Calls `change(observers)`, which says what they are to look at from now on.
    void observe(const std::function<void(Observers&)>& change);
    /// Where kernels report, made when the first of them is launched.
    Reports& reports();
    /// To be held while something is launched that may report: see Reports::launching().
    [[nodiscard]] std::shared_lock<std::shared_mutex> launching() const;
    /// Shows what kernels printed, once they have run, and throws Error for what else they reported; nothing
    /// on a stream that is captured. To be called by what has waited for the device.
    void take_reports() const;
    /// Sets what takes each line that kernels print; null: standard output.
    void show_lines(std::function<void(const std::string&)> show);
    /// Tells devices apart, one on whatever streams not; none is used again.
    [[nodiscard]] std::uint64_t id() const { return root()->id_; }

private:
    static void destroy(DeviceState* state);
    static std::uint64_t next_id();
    [[nodiscard]] const DeviceState* root() const { return root_ ? root_.get() : this; }

    ProcessMark process_;
    std::shared_ptr<DeviceState> root_;
    std::shared_ptr<driver::Device> driver_;
    DeviceInfo info_;  ///< of the root
    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::weak_ptr<LazyKernel>> kernels_;
    std::size_t kept_kernels_ = 16;  ///< when those of modules that are gone were last removed
    std::uint64_t id_ = next_id();   ///< of the root
    std::vector<std::shared_ptr<driver::Sampler>> samplers_;
    std::unique_ptr<Reports> reports_;  ///< of the root, kept once there are some
    std::atomic<Reports*> active_reports_ = nullptr;
    std::function<void(const std::string&)> show_line_;  ///< of the root
    std::unique_ptr<Observers>
        observers_;  ///< of the root, once some were needed; kept, since calls may use them
    std::atomic<Observers*> active_observers_ = nullptr;  ///< the same while they are
};

/// Returns whether the host can wait for results now: on a stream that is captured into a graph, calls
/// haven't run yet.
[[nodiscard]] bool can_read_back(const driver::Device& driver);

/// A handle over a driver's device; how tests put in one of their own.
[[nodiscard]] Device make_device(std::shared_ptr<driver::Device> device);

/// "is on device vulkan:1, the module on vulkan:0", of what was given to a call of `own`'s.
[[nodiscard]] std::string on_other_device(const Device& device, const DeviceState& own);

[[nodiscard]] DeviceInfo device_info(const driver::Info& info);

}  // namespace kf::detail
