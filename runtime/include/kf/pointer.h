// kf::Pointer: what a parameter that is a pointer is given.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <kf/tensor.h>

namespace kf {

template <class T>
class Buffer;
template <class T>
class RWBuffer;

namespace detail {
struct Arg;
class GlobalValues;

/// Whether a pointer to T may lead to elements of type U.
template <class T, class U>
inline constexpr bool leads_to = std::is_void_v<T> || std::is_same_v<std::remove_const_t<T>, U>;
}  // namespace detail

/// An address in a device's memory, and the memory itself where it was made of a tensor or a buffer: that
/// then lives until the calls are done, and counts as read and written by them, as Options say. T is the
/// element type, const where the function only reads; of pointers to structs, and of void*, it is void. Of a
/// number nothing is known: the memory must be the device's and live long enough, and Options::reads and
/// Options::writes say what commands wait for.
template <class T>
class Pointer {
public:
    Pointer() = default;  ///< null
    explicit Pointer(std::uint64_t address) : address_(address) {}
    /// Elements lie one after the other: a call refuses a tensor that isn't contiguous.
    template <class U, std::size_t N>
    requires detail::leads_to<T, U> Pointer(
        const Tensor<U, N>& tensor)  // NOLINT(google-explicit-constructor)
        : Pointer(tensor.any()) {}
    template <class U>
    requires detail::leads_to<T, U> Pointer(const RWBuffer<U>& buffer)  // NOLINT(google-explicit-constructor)
        : Pointer(buffer.any()) {}
    /// Takes a read-only buffer where the pointer only reads.
    template <class U>
    requires(std::is_const_v<T>&& detail::leads_to<T, U>)
        Pointer(const Buffer<U>& buffer)  // NOLINT(google-explicit-constructor)
        : Pointer(buffer.any()) {}

    [[nodiscard]] std::uint64_t address() const { return address_; }

private:
    friend struct detail::Arg;
    friend class detail::GlobalValues;
    explicit Pointer(const AnyTensor& memory) : address_(memory ? memory.address() : 0), memory_(memory) {}

    std::uint64_t address_ = 0;
    AnyTensor memory_;
};

}  // namespace kf
