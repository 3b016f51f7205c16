// The names of error codes, and which exception each belongs to.
#include <kf/error.h>

namespace kf {

std::string_view error_id(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::type_mismatch: return "type-mismatch";
        case ErrorCode::value_range: return "value-range";
        case ErrorCode::rank_mismatch: return "rank-mismatch";
        case ErrorCode::shape_mismatch: return "shape-mismatch";
        case ErrorCode::layout_mismatch: return "layout-mismatch";
        case ErrorCode::index_range: return "index-range";
        case ErrorCode::missing_argument: return "missing-argument";
        case ErrorCode::missing_gradient: return "missing-gradient";
        case ErrorCode::aliasing: return "aliasing";
        case ErrorCode::not_differentiable: return "not-differentiable";
        case ErrorCode::no_deterministic_kernel: return "no-deterministic-kernel";
        case ErrorCode::no_overload: return "no-overload";
        case ErrorCode::unknown_name: return "unknown-name";
        case ErrorCode::device_mismatch: return "device-mismatch";
        case ErrorCode::encoder_submitted: return "encoder-submitted";
        case ErrorCode::hook_context: return "hook-context";
        case ErrorCode::profile_context: return "profile-context";
        case ErrorCode::graph_context: return "graph-context";
        case ErrorCode::artifact_missing: return "artifact-missing";
        case ErrorCode::artifact_corrupt: return "artifact-corrupt";
        case ErrorCode::artifact_version: return "artifact-version";
        case ErrorCode::artifact_no_image: return "artifact-no-image";
        case ErrorCode::no_driver: return "no-driver";
        case ErrorCode::no_device: return "no-device";
        case ErrorCode::missing_feature: return "missing-feature";
        case ErrorCode::out_of_memory: return "out-of-memory";
        case ErrorCode::device_lost: return "device-lost";
        case ErrorCode::driver_failure: return "driver-failure";
        case ErrorCode::stream_captured: return "stream-captured";
        case ErrorCode::forked: return "forked";
        case ErrorCode::not_finite: return "not-finite";
        case ErrorCode::file_unwritable: return "file-unwritable";
        case ErrorCode::assertion_failed: return "assertion-failed";
        case ErrorCode::index_out_of_range: return "index-out-of-range";
    }
    return "unknown";
}

void detail::throw_null(const char* what) {
    throw ArgumentError(ErrorCode::missing_argument, std::string(what) + " is null");
}

void throw_error(const Error& error) {
    if (error.code() < ErrorCode::artifact_missing) {
        throw ArgumentError(error.code(), error.what(), error.native_code());
    }
    if (error.code() < ErrorCode::no_driver) {
        throw ArtifactError(error.code(), error.what(), error.native_code());
    }
    if (error.code() < ErrorCode::not_finite) {
        throw DeviceError(error.code(), error.what(), error.native_code());
    }
    throw Error(error);
}

}  // namespace kf
