// The small interface behind which the two drivers, Vulkan and CUDA, stand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/driver_objects.h"
#include "core/image_device.h"
#include "core/manifest.h"
#include "core/observable_device.h"
#include "core/recorder.h"

namespace kf::driver {

struct Info {
    std::string backend;  ///< "vulkan" or "cuda"
    int index = 0;        ///< within the backend
    std::string name;     ///< "NVIDIA H200", "llvmpipe (LLVM 15.0.6, 256 bits)"
    std::string driver;   ///< driver's name and version, for messages
    bool is_cpu = false;
    std::array<std::uint8_t, 16> uuid{};  ///< of the GPU, in whatever backend; zeros where it isn't known
    std::uint64_t memory = 0;             ///< bytes of device memory
    std::vector<std::string> features;    ///< in the words of manifest::Image::features, sorted
    std::uint32_t subgroup_size = 0;
    std::uint32_t max_block_size = 0;              ///< bytes of a parameter block passed by value
    Grid max_groups{65535, 65535, 65535};          ///< in each dimension
    std::uint64_t buffer_alignment = 16;           ///< bytes, of where a kernel's buffer begins
    std::uint64_t max_buffer = ~std::uint64_t{0};  ///< bytes of one
    std::uint32_t processors = 1;        ///< multiprocessors (CUDA) or a guess good enough to size launches
    std::uint32_t calls_per_thread = 0;  ///< at most, where groups allow it; 0: any number
    /// Bytes of the host's memory, read or written once by a call, from which Device::import_host() is better
    /// than a copy.
    std::uint64_t least_import = ~std::uint64_t{0};
};

/// An open device. Thread-safe: calls of several threads are taken one after the other. Errors are
/// kf::DeviceError with the driver's own code and text.
class Device : public ImageDevice, public ObservableDevice {
public:
    /// What a thread that waits in admit(), admit_kernel(), read_back(), wait_until_idle() or wait() calls at
    /// least every 50 ms, holding no lock of the device. What it throws ends the wait, and the device can be
    /// used on. Set before the device is shared; null: nothing.
    void (*while_waiting)() = nullptr;

    /// Waits until the device has room for another call, which then waits for nothing before its commands are
    /// issued, and for `upload` bytes more on their way to it.
    virtual void admit([[maybe_unused]] std::uint64_t upload = 0) {}
    /// Waits until the driver can load a kernel without making the thread wait in it.
    virtual void admit_kernel() {}

    virtual std::shared_ptr<Allocation> allocate(std::uint64_t size) = 0;
    /// Memory for one call to work in, `size` bytes or more, for its owner alone; a device may keep it for
    /// the next call.
    virtual std::shared_ptr<Allocation> allocate_scratch(std::uint64_t size) { return allocate(size); }
    /// Zeros, `size` bytes or more, for one call that leaves zeros behind; null where the device keeps none.
    virtual std::shared_ptr<Allocation> zeros([[maybe_unused]] std::uint64_t size) { return nullptr; }
    /// Memory that the host has too, for one call of little data whose results it waits for: kernels read and
    /// write it where it lies, across a bus, so that nothing is copied. No command uses it yet. Atomics are
    /// not for it. Null for more than most_mapped, and where there is none.
    virtual std::shared_ptr<Allocation> allocate_mapped([[maybe_unused]] std::uint64_t size) {
        return nullptr;
    }
    /// An allocation of memory that somebody else owns, for every command. What others do to the memory must
    /// be done, or come before on the device's queue or on this device's stream; on CUDA two allocations of
    /// the same memory are in order on one stream only. `owner` is let go when no allocation and no command
    /// needs the memory: any call may find that out, holding no lock of the device. Throws kf::ArgumentError:
    /// missing_argument for no handle, device_mismatch for an address that isn't this device's (CUDA),
    /// index_range for bytes that certainly lie outside of a buffer (Vulkan).
    virtual std::shared_ptr<Allocation> wrap(ForeignMemory memory) = 0;
    /// Lends memory of this device's to others: what comes next on this device's stream comes after all that
    /// was issued with the memory, and the memory isn't used anew before what the default stream has by the
    /// time that its last owner lets go.
    virtual void lend([[maybe_unused]] const std::shared_ptr<Allocation>& memory) {}
    /// The host's memory, for kernels to read and write where it lies: for one call that waits until it is
    /// idle again. Bytes around it may be of anybody's. Null where the driver can't, of no bytes too, and of
    /// memory that nobody may write to perhaps: it has to be copied then.
    virtual std::shared_ptr<Allocation> import_host([[maybe_unused]] const HostMemory& memory) {
        return nullptr;
    }
    /// Flushes, and waits until no command uses it.
    virtual void wait_until_idle([[maybe_unused]] const std::shared_ptr<Allocation>& allocation) { wait(); }
    /// Takes a device's word for it that this kernel can run; throws with the kernel's and the missing
    /// feature's name where it can't. May be called from several threads; the caller caches the result.
    virtual std::shared_ptr<Kernel> load_kernel(const manifest::Kernel& kernel) = 0;

    /// The device's own command list, in order: eager calls. Batched; see flush().
    virtual void dispatch(const Dispatch& dispatch) = 0;
    virtual void fill(const std::shared_ptr<Allocation>& target, std::uint64_t offset, std::uint64_t size,
                      std::uint32_t word) = 0;
    virtual void copy(const std::shared_ptr<Allocation>& target, std::uint64_t target_offset,
                      const std::shared_ptr<Allocation>& source, std::uint64_t source_offset,
                      std::uint64_t size) = 0;
    /// Copies in before it returns (the caller may reuse `bytes`), ordered after what was issued before.
    virtual void upload(const std::shared_ptr<Allocation>& target, std::uint64_t offset,
                        std::span<const std::byte> bytes) = 0;
    /// Flushes, waits and copies out.
    virtual void read_back(const std::shared_ptr<Allocation>& source, std::uint64_t offset,
                           std::span<std::byte> bytes) = 0;
    /// Throws where read_back() would, because the device can't be waited for now: what calls ask before they
    /// run a kernel whose results they must read.
    virtual void check_read_back() const {}
    /// Hands what was recorded to the GPU, without waiting.
    virtual void flush() = 0;
    virtual void wait() = 0;

    /// A caller's own command list; submit() runs it after all that was issued before, once.
    virtual std::unique_ptr<Recorder> make_recorder() = 0;
    virtual void submit(std::unique_ptr<Recorder> recorder) = 0;

    /// What make_graph() gave runs after all that was issued before, as a whole; nothing is added to it from
    /// then on. Null where the driver has none of its own: then its commands are issued one by one.
    virtual std::unique_ptr<Graph> make_graph() { return nullptr; }
    virtual void replay([[maybe_unused]] Graph& graph) {}
    /// Dispatches again what this device took before.
    virtual void dispatch_again(const Dispatch& dispatch) { this->dispatch(dispatch); }
    /// Throws where what was prepared can't run now: on a stream that is captured.
    virtual void check_replay() const {}

    /// This device with its commands on the caller's stream (CUDA: a CUstream of its primary context); they
    /// share memory and kernels, and memory used on several streams stays in the order of the calls. Null
    /// where the backend has no streams.
    virtual std::shared_ptr<Device> on_stream([[maybe_unused]] void* stream) { return nullptr; }
    /// Tells whether this is what on_stream() returned for `stream`, which may be another one of the same
    /// handle by now.
    [[nodiscard]] virtual bool is_on_stream([[maybe_unused]] void* stream) const { return false; }
};

}  // namespace kf::driver
