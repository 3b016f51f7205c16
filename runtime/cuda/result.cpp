// CUresult as text and as an exception.
#include "cuda/result.h"

#include <kf/error.h>

namespace kf::cuda {
namespace {

ErrorCode error_code(CUresult result) {
    if (is_sticky(result)) {
        return ErrorCode::device_lost;
    }
    switch (result) {
        case CUDA_ERROR_OUT_OF_MEMORY: return ErrorCode::out_of_memory;
        case CUDA_ERROR_NO_DEVICE: return ErrorCode::no_device;
        case CUDA_ERROR_STUB_LIBRARY:
        case CUDA_ERROR_SYSTEM_NOT_READY:
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: return ErrorCode::no_driver;
        default: return ErrorCode::driver_failure;
    }
}

}  // namespace

std::string result_text(const Functions& functions, CUresult result) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (functions.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) {
        name = "CUresult";
    }
    if (functions.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) {
        text = "an error that the driver has no text for";
    }
    return std::string(name) + " (" + std::to_string(result) + "): " + text;
}

bool is_sticky(CUresult result) {
    switch (result) {
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        case CUDA_ERROR_CONTAINED:
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_TENSOR_MEMORY_LEAK: return true;
        // Stack error, illegal instruction, misaligned address, address space, program counter, launch.
        default: return result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED;
    }
}

void fail(const Functions& functions, CUresult result, const std::string& what) {
    throw DeviceError(error_code(result), "cuda: " + what + ": " + result_text(functions, result), result);
}

void check(const Functions& functions, CUresult result, const char* function) {
    if (result != CUDA_SUCCESS) {
        fail(functions, result, std::string(function) + " failed");
    }
}

std::string version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace kf::cuda
