// The time at which the GPU came to a place on a stream.
#include "cuda/timestamp.h"

#include <utility>

#include "cuda/result.h"

namespace kf::cuda {

CudaTimestamp::CudaTimestamp(std::shared_ptr<Context> context, CUstream stream)
    : context_(std::move(context)) {
    const BesideCaptures beside(*context_);
    context_->check(context_->cu.cuEventCreate(&event_, 0), "cuEventCreate");
    const CUresult result = context_->cu.cuEventRecord(event_, stream);
    if (result != CUDA_SUCCESS) {
        (void)context_->cu.cuEventDestroy_v2(event_);
        context_->fail(result, "cuEventRecord failed");
    }
}

CudaTimestamp::~CudaTimestamp() {
    if (!context_->process.is_here()) return;
    try {
        const Current current(*context_);
        (void)context_->cu.cuEventDestroy_v2(event_);
    } catch (...) {  // a lost device, or the end of the process
    }
}

double CudaTimestamp::nanoseconds_to(const CudaTimestamp& later) const {
    constexpr double nanoseconds_of_one = 1e6;
    float milliseconds = 0;
    const BesideCaptures beside(*context_);
    context_->check(context_->cu.cuEventSynchronize(event_), "cuEventSynchronize");
    context_->check(context_->cu.cuEventSynchronize(later.event_), "cuEventSynchronize");
    context_->check(context_->cu.cuEventElapsedTime(&milliseconds, event_, later.event_),
                    "cuEventElapsedTime");
    return static_cast<double>(milliseconds) * nanoseconds_of_one;
}

}  // namespace kf::cuda
