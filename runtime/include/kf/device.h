// kf::Device: an open GPU (or CPU driver): makes tensors, runs calls, waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kf/device_info.h>
#include <kf/encoder.h>
#include <kf/error.h>
#include <kf/tensor.h>

namespace kf {

/// Mistakes that each call looks for, at the cost of its speed.
enum class Check : std::uint8_t {
    nothing,
    nan,  ///< a NaN or an infinity that a call makes of numbers that are finite
};

/// A handle over shared state: copies are the same device, which closes with its last handle, tensor and
/// module. Thread-safe. Calls run in the order they are made; on Vulkan they are recorded and handed over
/// in batches, at flush(), wait(), a read-back or a full batch.
class Device {
public:
    /// Makes a null device, as a moved-from one is: only to be assigned to, compared and tested.
    Device() = default;

    /// Opens the device that the environment variable KF_DEVICE names, else the first CUDA device, else a
    /// Vulkan GPU, else a Vulkan CPU driver. Throws DeviceError (no_driver, no_device), which says what was
    /// tried.
    static Device open();
    /// Opens the device of that name: "vulkan", "vulkan:1" (index), "vulkan:llvmpipe" (part of the device's
    /// name, in any case), "cuda:0". An empty name is open().
    static Device open(std::string_view name);
    static Result<Device> try_open(std::string_view name = {}) {
        return attempt([&] { return open(name); });
    }

    explicit operator bool() const { return state_ != nullptr; }
    /// Returns whether both are the same open device, on whatever streams.
    bool operator==(const Device& other) const;
    /// Name, driver, memory and features. The reference lives as long as the device.
    [[nodiscard]] const DeviceInfo& info() const;

    /// Returns this CUDA device with its work on the caller's stream, a CUstream (or cudaStream_t) of the
    /// device's primary context; null is the default stream. Tensors and modules made with either handle work
    /// with both, and memory used on several streams stays in the order of the calls. wait() of the new
    /// handle waits for that stream only. The stream must live as long as the handle and the modules and
    /// tensors made with it.
    ///
    /// While the stream is captured into a graph, calls can't allocate, load or wait. A call that would have
    /// to throws DeviceError (stream_captured), which says what to do before: load() the module, pass
    /// outputs, or make the call once. wait() for the device before the capture begins. Tensors that a graph
    /// uses must live as long as it runs.
    ///
    /// Throws ArgumentError (device_mismatch) for another backend's device or another device's stream.
    [[nodiscard]] Device with_stream(void* stream) const;

    /// Makes a tensor of values: `tensor<float>({1, 2, 3})`, `tensor<float>({{1, 2}, {3, 4}})`, a vector, or
    /// a span with a shape, in row-major order. The values are copied before this returns. Throws
    /// ArgumentError (shape_mismatch) where rows differ in length or the number of values isn't the shape's.
    template <class T>
    [[nodiscard]] Tensor<T, 1> tensor(std::initializer_list<T> values) const {
        return tensor<T>(std::span<const T>(values.begin(), values.size()), {count(values.size())});
    }
    template <class T>
    [[nodiscard]] Tensor<T, 2> tensor(std::initializer_list<std::initializer_list<T>> rows) const;
    template <class T>
    [[nodiscard]] Tensor<T, 3> tensor(
        std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes) const;
    template <class T>
    [[nodiscard]] Tensor<T, 1> tensor(const std::vector<T>& values) const;
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> tensor(std::span<const T> values, const std::int64_t (&shape)[N]) const {
        return tensor<T>(values, std::to_array(shape));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> tensor(std::span<const T> values, const Shape<N>& shape) const {
        return Tensor<T, N>(AnyTensor::from_host(*this, element_of<T>, dims(shape), std::as_bytes(values)));
    }

    /// Makes a row-major tensor of that shape: `empty<float>({2, 3})`. The elements of empty() are undefined.
    /// An extent may be 0, not negative. Throws DeviceError (out_of_memory).
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> empty(const std::int64_t (&shape)[N]) const {
        return empty<T>(std::to_array(shape));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> empty(const Shape<N>& shape) const {
        return Tensor<T, N>(AnyTensor::empty(*this, element_of<T>, dims(shape)));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> zeros(const std::int64_t (&shape)[N]) const {
        return zeros<T>(std::to_array(shape));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> zeros(const Shape<N>& shape) const {
        return Tensor<T, N>(AnyTensor::zeros(*this, element_of<T>, dims(shape)));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> ones(const std::int64_t (&shape)[N]) const {
        return ones<T>(std::to_array(shape));
    }
    template <class T, std::size_t N>
    [[nodiscard]] Tensor<T, N> ones(const Shape<N>& shape) const {
        return Tensor<T, N>(AnyTensor::ones(*this, element_of<T>, dims(shape)));
    }

    /// Returns what `maker` makes, or its error: `device.try_make([&] { return device.empty<float>({n}); })`.
    template <class Maker>
    [[nodiscard]] auto try_make(Maker&& maker) const {
        return attempt(std::forward<Maker>(maker));
    }

    /// Sets what is looked for in each call on the device, on whatever streams; the environment variable
    /// KF_CHECK says it when a device is opened (KF_CHECK=nan). Check::nan waits for each call, and reads
    /// back all that it reads and writes: a call that makes a NaN or an infinity throws Error (not_finite),
    /// which names the function, the pass, the argument and the index. Recorded calls are looked at when they
    /// run, those of an encoder that was made before the check, in a command buffer or on a captured stream
    /// never.
    void set_check(Check check) const;
    [[nodiscard]] Check check() const;

    /// Hands recorded calls to the device without waiting.
    void flush() const;
    /// Waits until everything issued so far is done. Throws DeviceError (device_lost). Shows what kernels
    /// printed, and throws Error for what else they reported: assertion_failed, index_out_of_range. So does
    /// what reads results.
    void wait() const;
    /// Sets what takes each line that kernels print, with its end, on whatever streams of the device; null:
    /// standard output. Called by threads that wait, one at a time; it must not wait for the device.
    void show_lines(std::function<void(std::string_view)> show) const;
    /// Makes a list that calls are recorded into; see Encoder.
    [[nodiscard]] Encoder encoder() const;

    Result<void> try_flush() const {
        return attempt([&] { flush(); });
    }
    Result<void> try_wait() const {
        return attempt([&] { wait(); });
    }

    explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}
    /// Throws ArgumentError (missing_argument) where it is null, as all else does.
    [[nodiscard]] const std::shared_ptr<detail::DeviceState>& state() const {
        if (state_ == nullptr) detail::throw_null("the device");
        return state_;
    }

private:
    static std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }
    template <std::size_t N>
    static Dims dims(const Shape<N>& shape) {
        return Dims(std::span<const std::int64_t>(shape));
    }
    [[noreturn]] static void throw_ragged();

    std::shared_ptr<detail::DeviceState> state_;
};

/// Every device of every driver that loads; none is opened. Never throws for want of a driver.
[[nodiscard]] std::vector<DeviceInfo> devices();

template <class T>
Tensor<T, 2> Device::tensor(std::initializer_list<std::initializer_list<T>> rows) const {
    const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
    const auto values = std::make_unique<T[]>(rows.size() * columns);
    T* next = values.get();
    for (const auto& row : rows) {
        if (row.size() != columns) throw_ragged();
        next = std::copy(row.begin(), row.end(), next);
    }
    return tensor<T>(std::span<const T>(values.get(), rows.size() * columns),
                     {count(rows.size()), count(columns)});
}

template <class T>
Tensor<T, 3> Device::tensor(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes) const {
    const std::size_t rows = planes.size() == 0 ? 0 : planes.begin()->size();
    const std::size_t columns = rows == 0 ? 0 : planes.begin()->begin()->size();
    const std::size_t total = planes.size() * rows * columns;
    const auto values = std::make_unique<T[]>(total);
    T* next = values.get();
    for (const auto& plane : planes) {
        if (plane.size() != rows) throw_ragged();
        for (const auto& row : plane) {
            if (row.size() != columns) throw_ragged();
            next = std::copy(row.begin(), row.end(), next);
        }
    }
    return tensor<T>(std::span<const T>(values.get(), total),
                     {count(planes.size()), count(rows), count(columns)});
}

template <class T>
Tensor<T, 1> Device::tensor(const std::vector<T>& values) const {
    if constexpr (std::is_same_v<T, bool>) {
        const auto copy = std::make_unique<bool[]>(values.size());  // std::vector<bool> is not an array
        std::copy(values.begin(), values.end(), copy.get());
        return tensor<T>(std::span<const T>(copy.get(), values.size()), {count(values.size())});
    } else {
        return tensor<T>(std::span<const T>(values), {count(values.size())});
    }
}

template <class T, std::size_t N>
Device Tensor<T, N>::device() const {
    return any_.device();
}

}  // namespace kf
