// Ranges that NVIDIA's tools show: a call's name over the time that the host takes for it.
#pragma once

#include <memory>

namespace kf::detail {

/// NVTX, as its header-only version 3 finds a tool: by the library that the environment variable
/// NVTX_INJECTION64_PATH names, which fills in a table of functions. Thread-safe.
class Nvtx {
public:
    /// Returns the ranges of the tool that watches this process, or null where none does. Loaded once, and
    /// kept as long as the process lives.
    [[nodiscard]] static const Nvtx* of_process();
    /// Returns those of a tool's library, or null where it can't be loaded, or doesn't take part.
    [[nodiscard]] static std::unique_ptr<const Nvtx> load(const char* library);

    /// Opens a range on this thread, and closes the last one.
    void push(const char* name) const;
    void pop() const;

private:
    Nvtx() = default;
};

/// One range, as long as it lives. `nvtx`: null for none.
class NvtxRange {
public:
    NvtxRange(const Nvtx* nvtx, const char* name) : nvtx_(nvtx) {
        if (nvtx_ != nullptr) nvtx_->push(name);
    }
    ~NvtxRange() {
        if (nvtx_ != nullptr) nvtx_->pop();
    }
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;

private:
    const Nvtx* nvtx_;
};

}  // namespace kf::detail
