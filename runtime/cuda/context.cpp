// A GPU's primary context.
#include "cuda/context.h"

#include <kf/error.h>

#include "cuda/result.h"

namespace kf::cuda {

Context::Context(std::shared_ptr<const Library> library, Physical physical)
    : cu(library->functions()), library_(std::move(library)), physical_(std::move(physical)) {
    const CUresult result = cu.cuDevicePrimaryCtxRetain(&handle_, physical_.handle);
    if (result != CUDA_SUCCESS) {
        cuda::fail(cu, result, "can't have the primary context of " + physical_.info.name);
    }
}

Context::~Context() { (void)cu.cuDevicePrimaryCtxRelease_v2(physical_.handle); }

void Context::fail(CUresult result, const std::string& what) const {
    if (is_sticky(result)) {
        CUresult none = CUDA_SUCCESS;
        (void)lost_.compare_exchange_strong(none, result);
    }
    cuda::fail(cu, result, what);
}

void Context::fail_lost() const {
    const CUresult first = lost_;
    throw DeviceError(ErrorCode::device_lost,
                      "cuda: " + physical_.info.name + " was lost earlier by " + result_text(cu, first) +
                          "; open it again once all in this process that uses it is closed",
                      first);
}

Current::Current(const Context& context) : context_(context) {
    CUcontext now = nullptr;
    context.check(context.cu.cuCtxGetCurrent(&now), "cuCtxGetCurrent");
    if (now != context.handle()) {
        context.check(context.cu.cuCtxPushCurrent_v2(context.handle()), "cuCtxPushCurrent");
        pushed_ = true;
    }
}

Current::~Current() {
    if (pushed_) {
        CUcontext popped = nullptr;
        (void)context_.cu.cuCtxPopCurrent_v2(&popped);
    }
}

BesideCaptures::BesideCaptures(const Context& context)
    : context_(context), mode_(CU_STREAM_CAPTURE_MODE_RELAXED) {
    context.check(context.cu.cuThreadExchangeStreamCaptureMode(&mode_), "cuThreadExchangeStreamCaptureMode");
}

BesideCaptures::~BesideCaptures() { (void)context_.cu.cuThreadExchangeStreamCaptureMode(&mode_); }

}  // namespace kf::cuda
