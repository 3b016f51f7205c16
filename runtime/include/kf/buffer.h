// kf::Buffer and kf::RWBuffer: device memory whose elements lie one after the other.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <kf/device.h>
#include <kf/tensor.h>

namespace kf {

namespace detail {

/// The members that both kinds of buffers have. T is void of byte buffers, which take memory of any type.
template <class T>
class BufferBase {
public:
    explicit operator bool() const { return static_cast<bool>(any_); }
    [[nodiscard]] const AnyTensor& any() const { return any_; }
    /// Number of elements; of a byte buffer, of the tensor that it was made of.
    [[nodiscard]] std::int64_t size() const { return any_.size(); }
    /// Device address of the first element.
    [[nodiscard]] std::uint64_t address() const { return any_.address(); }
    [[nodiscard]] Device device() const { return any_.device(); }

    /// All elements; waits for the calls that write them.
    [[nodiscard]] auto to_vector() const requires(!std::is_void_v<T>) { return flat().to_vector(); }

protected:
    BufferBase() = default;
    explicit BufferBase(AnyTensor any) : any_(std::move(any)) {}
    [[nodiscard]] Tensor<T, 1> flat() const requires(!std::is_void_v<T>) {
        return Tensor<T, 1>(any_.rank() == 1 ? any_ : any_.reshape({any_.size()}));
    }

private:
    AnyTensor any_;
};

/// True where memory of elements of type U can be a buffer of T.
template <class T, class U>
inline constexpr bool is_buffer_of = std::is_void_v<T> || std::is_same_v<T, U>;

}  // namespace detail

template <class T>
class RWBuffer;

/// A buffer that is only read: what StructuredBuffer<T> and, for void, ByteAddressBuffer take. A handle:
/// copies share the elements. A tensor becomes one without a copy; a call refuses one that isn't contiguous.
template <class T>
class Buffer : public detail::BufferBase<T> {
public:
    Buffer() = default;
    template <class U, std::size_t N>
    requires detail::is_buffer_of<T, U> Buffer(
        const Tensor<U, N>& tensor)  // NOLINT(google-explicit-constructor)
        : detail::BufferBase<T>(tensor.any()) {}
    template <class U>
    requires detail::is_buffer_of<T, U> Buffer(
        const RWBuffer<U>& buffer)  // NOLINT(google-explicit-constructor)
        : detail::BufferBase<T>(buffer.any()) {}
    template <class U>
    requires(std::is_void_v<T> && !std::is_void_v<U>)
        Buffer(const Buffer<U>& buffer)  // NOLINT(google-explicit-constructor)
        : detail::BufferBase<T>(buffer.any()) {}
    Buffer(const Device& device, std::span<const T> values) requires(!std::is_void_v<T>)
        : Buffer(device.tensor<T>(values, {static_cast<std::int64_t>(values.size())})) {}

    /// Returns this buffer with a new gradient of its size.
    [[nodiscard]] Buffer with_grads(bool zero = true) const { return Buffer(this->any().with_grads(zero)); }
    /// Returns this buffer with the given gradient, of its element and size: backward calls add to it.
    [[nodiscard]] Buffer with_grads(const RWBuffer<T>& grad) const {
        return Buffer(this->any().with_grads({}, grad.any()));
    }
    /// Returns the gradient; null when there is none.
    [[nodiscard]] RWBuffer<T> grad() const requires(!std::is_void_v<T>) {
        const AnyTensor& grad = this->any().grad();
        return grad ? RWBuffer<T>(Tensor<T, 1>(grad.reshape({grad.size()}))) : RWBuffer<T>();
    }

private:
    explicit Buffer(AnyTensor any) : detail::BufferBase<T>(std::move(any)) {}
};

/// A buffer that functions may write: what RWStructuredBuffer<T> and, for void, RWByteAddressBuffer take. A
/// Buffer doesn't become one.
template <class T>
class RWBuffer : public detail::BufferBase<T> {
public:
    RWBuffer() = default;
    template <class U, std::size_t N>
    requires detail::is_buffer_of<T, U> RWBuffer(
        const Tensor<U, N>& tensor)  // NOLINT(google-explicit-constructor)
        : detail::BufferBase<T>(tensor.any()) {}
    template <class U>
    requires(std::is_void_v<T> && !std::is_void_v<U>)
        RWBuffer(const RWBuffer<U>& buffer)  // NOLINT(google-explicit-constructor)
        : detail::BufferBase<T>(buffer.any()) {}
    RWBuffer(const Device& device, std::span<const T> values) requires(!std::is_void_v<T>)
        : RWBuffer(device.tensor<T>(values, {static_cast<std::int64_t>(values.size())})) {}

    /// Returns the buffer's memory as a tensor of one dimension.
    [[nodiscard]] Tensor<T, 1> tensor() const requires(!std::is_void_v<T>) { return this->flat(); }
    operator Tensor<T, 1>() const  // NOLINT(google-explicit-constructor)
        requires(!std::is_void_v<T>) {
        return this->flat();
    }
    /// Takes as many values as it has elements; copied before this returns.
    void copy_from(std::span<const T> values) const requires(!std::is_void_v<T>) {
        tensor().copy_from(values);
    }
};

}  // namespace kf
