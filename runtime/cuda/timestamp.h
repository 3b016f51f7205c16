// The time at which the GPU came to a place on a stream.
#pragma once

#include <memory>

#include "core/observable_device.h"
#include "cuda/context.h"

namespace kf::cuda {

/// An event with a time.
class CudaTimestamp final : public driver::Timestamp {
public:
    /// Records it. Needs the context to be current, as record() and nanoseconds() do.
    CudaTimestamp(std::shared_ptr<Context> context, CUstream stream);
    ~CudaTimestamp() override;
    CudaTimestamp(const CudaTimestamp&) = delete;
    CudaTimestamp& operator=(const CudaTimestamp&) = delete;

    /// Returns the time from this one to another; waits for both.
    [[nodiscard]] double nanoseconds_to(const CudaTimestamp& later) const;

private:
    std::shared_ptr<Context> context_;
    CUevent event_ = nullptr;
};

}  // namespace kf::cuda
