// A GPU's primary context: what streams, memory, kernels and command lists all stand on.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/process.h"
#include "cuda/physical.h"

namespace kf::cuda {

/// Retained while it lives: a tensor may outlive the device that made it. Shared with everybody in the
/// process who uses the GPU's primary context (CUDA's runtime, PyTorch). Thread-safe.
class Context {
public:
    /// Throws kf::DeviceError.
    Context(std::shared_ptr<const Library> library, Physical physical);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    const Functions& cu;
    const detail::ProcessMark process;  ///< in any other the driver can't be called
    [[nodiscard]] const Library& library() const { return *library_; }
    [[nodiscard]] const Physical& physical() const { return physical_; }
    [[nodiscard]] CUcontext handle() const { return handle_; }

    /// Throws kf::DeviceError with the driver's code and text; a sticky error also marks the device lost.
    void check(CUresult result, const char* function) const {
        if (result != CUDA_SUCCESS) {
            fail(result, std::string(function) + " failed");
        }
    }
    [[noreturn]] void fail(CUresult result, const std::string& what) const;
    /// Throws kf::DeviceError (device_lost) from the first sticky error on.
    void check_usable() const {
        if (lost_.load(std::memory_order_relaxed) != CUDA_SUCCESS) {
            fail_lost();
        }
    }

private:
    [[noreturn]] void fail_lost() const;

    std::shared_ptr<const Library> library_;
    Physical physical_;
    CUcontext handle_ = nullptr;
    mutable std::atomic<CUresult> lost_ = CUDA_SUCCESS;
};

/// Makes a context the calling thread's current one while it lives, then brings back the one that was.
class Current {
public:
    explicit Current(const Context& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    const Context& context_;
    bool pushed_ = false;
};

/// Lets the calling thread do, while it lives, what a capture of some other stream forbids the process for
/// caution's sake: allocate, load and ask for events. It has nothing to do with what is captured.
class BesideCaptures {
public:
    explicit BesideCaptures(const Context& context);
    ~BesideCaptures();
    BesideCaptures(const BesideCaptures&) = delete;
    BesideCaptures& operator=(const BesideCaptures&) = delete;

private:
    const Context& context_;
    int mode_;
};

}  // namespace kf::cuda
