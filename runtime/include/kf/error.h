// Errors at run time: exceptions with a stable code, and Result<T> for the try_ twins.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace kf {

/// Stable; error_id() gives the kebab-case form that logs, tests and docs use.
enum class ErrorCode : std::uint16_t {
    // ArgumentError
    type_mismatch,            ///< another scalar or element type, or a value where a tensor is due
    value_range,              ///< a number that the parameter's type can't hold
    rank_mismatch,            ///< another number of dimensions
    shape_mismatch,           ///< extents that disagree
    layout_mismatch,          ///< strides that the call can't take
    index_range,              ///< a dimension, index or slice outside the tensor
    missing_argument,         ///< an argument, output or shape that the call can't do without
    missing_gradient,         ///< an input without the gradient that the call writes
    aliasing,                 ///< an output that overlaps what the call also reads or writes
    not_differentiable,       ///< backward of a function that has none
    no_deterministic_kernel,  ///< asked for by Options, and not generated
    no_overload,              ///< no alternative of the function takes these arguments
    unknown_name,             ///< no function of that name
    device_mismatch,          ///< tensors, module and encoder of different devices
    encoder_submitted,        ///< an encoder used after submit()
    hook_context,             ///< a hook's context or encoder used after its call, or submitted
    profile_context,          ///< a profile begun while another one of the device is on
    graph_context,            ///< a graph replayed while it is recorded, or recorded into afterwards
    // ArtifactError
    artifact_missing,   ///< the file can't be read
    artifact_corrupt,   ///< truncated, altered, or not an artifact
    artifact_version,   ///< written by a newer kfgen
    artifact_no_image,  ///< nothing in it for this device
    // DeviceError
    no_driver,        ///< no driver library, or none that works
    no_device,        ///< no device of that name
    missing_feature,  ///< a kernel needs what the device lacks
    out_of_memory,
    device_lost,
    driver_failure,   ///< any other error of the driver's; see native_code()
    stream_captured,  ///< a call can't do on a stream that is captured into a CUDA graph what it must do
    forked,           ///< the process was forked from one that used the device, or any driver
    // Error
    not_finite,          ///< a call made a NaN or an infinity, and Check::nan looks for those
    file_unwritable,     ///< a file that the caller asked for can't be written
    assertion_failed,    ///< a kernel's assert(): found by what waits for the kernel
    index_out_of_range,  ///< a kernel that checks indices used one beyond what it indexes; found likewise
};

/// "shape-mismatch" and so on.
[[nodiscard]] std::string_view error_id(ErrorCode code) noexcept;

/// Base of everything thrown here. what() is a whole sentence: it names the function and the argument,
/// what was expected and what was found.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message, std::int64_t native_code = 0)
        : std::runtime_error(message), code_(code), native_code_(native_code) {}

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// The driver's own number (VkResult, CUresult); 0 when the error isn't a driver's.
    [[nodiscard]] std::int64_t native_code() const noexcept { return native_code_; }

private:
    ErrorCode code_;
    std::int64_t native_code_;
};

/// The caller's arguments are wrong. Nothing was recorded and no output was touched.
class ArgumentError : public Error {
public:
    using Error::Error;
};

/// An artifact can't be read, trusted or used on this device.
class ArtifactError : public Error {
public:
    using Error::Error;
};

/// A driver is missing, refuses, or failed.
class DeviceError : public Error {
public:
    using Error::Error;
};

/// Throws the subclass of Error that `error`'s code belongs to.
[[noreturn]] void throw_error(const Error& error);

namespace detail {
/// Throws ArgumentError (missing_argument): "WHAT is null".
[[noreturn]] void throw_null(const char* what);
}  // namespace detail

/// The result of a try_ twin: a value, or the error that the throwing form would have thrown.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value)
        : content_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
    Result(Error error)
        : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const noexcept { return content_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }
    /// Throws the error when there is no value.
    T& value() & { return check(), std::get<0>(content_); }
    const T& value() const& { return check(), std::get<0>(content_); }
    T&& value() && { return check(), std::get<0>(std::move(content_)); }
    /// Returns the error. Call it only when !ok().
    [[nodiscard]] const Error& error() const { return std::get<1>(content_); }

private:
    void check() const {
        if (!ok()) throw_error(error());
    }
    std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error)
        : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const noexcept { return content_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }
    void value() const {
        if (!ok()) throw_error(error());
    }
    [[nodiscard]] const Error& error() const { return std::get<1>(content_); }

private:
    std::variant<std::monostate, Error> content_;
};

/// Calls `function` and turns a kf::Error into a Result; how every try_ twin is written. Anything else
/// (std::bad_alloc) passes through.
template <class Function>
auto attempt(Function&& function) -> Result<std::invoke_result_t<Function>> {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
            std::forward<Function>(function)();
            return {};
        } else {
            return std::forward<Function>(function)();
        }
    } catch (const Error& error) {
        return error;
    }
}

}  // namespace kf
