// AnyTensor: a tensor whose element type and rank are known at run time only. Tensor<T, N> wraps it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <kf/types.h>

namespace kf {

class Device;

/// The most dimensions a tensor may have; an element's own (float3) don't count.
inline constexpr std::size_t max_rank = 8;

/// A few extents or strides, without allocation.
class Dims {
public:
    /// A tensor's dimensions, then its element's.
    static constexpr std::size_t capacity = max_rank + std::tuple_size_v<decltype(ElementType::extents)>;

    // Every call binds dozens of these: what isn't used is neither cleared nor copied.
    Dims() {}  // NOLINT(modernize-use-equals-default): `= default` would let Dims{} clear it all
    Dims(const Dims& other) : size_(other.size_) { copy(other); }
    Dims& operator=(const Dims& other) {
        size_ = other.size_;
        copy(other);
        return *this;
    }
    ~Dims() = default;
    Dims(std::initializer_list<std::int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
    /// Throws ArgumentError(rank_mismatch) past the capacity.
    explicit Dims(std::span<const std::int64_t> values) {
        for (const std::int64_t value : values) push_back(value);
    }
    Dims(std::size_t count, std::int64_t value) {
        for (std::size_t i = 0; i < count; ++i) push_back(value);
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    std::int64_t& operator[](std::size_t i) { return values_[i]; }
    std::int64_t operator[](std::size_t i) const { return values_[i]; }
    [[nodiscard]] const std::int64_t* begin() const { return values_.data(); }
    [[nodiscard]] const std::int64_t* end() const { return values_.data() + size_; }
    void push_back(std::int64_t value) {
        if (size_ == capacity) throw_full();
        values_[size_++] = value;
    }
    void erase(std::size_t i);
    bool operator==(const Dims& other) const;

private:
    [[noreturn]] static void throw_full();
    void copy(const Dims& other) {
        for (std::size_t i = 0; i < other.size_; ++i) values_[i] = other.values_[i];
    }

    std::array<std::int64_t, capacity> values_;
    std::size_t size_ = 0;
};

/// "[2, 3]".
[[nodiscard]] std::string to_string(const Dims& dims);

namespace detail {
class DeviceState;
struct TensorState;
}  // namespace detail

/// A handle: copies share the storage and the gradients. Immutable apart from the elements themselves,
/// so handles may be used from several threads. A default-made one is null. Shapes and strides count
/// elements. Storage outlives its last handle until the device has finished with it.
class AnyTensor {
public:
    AnyTensor() = default;

    /// Makes a row-major tensor. Extents may be 0, not negative. `empty` leaves its elements undefined.
    /// Throws ArgumentError (shape_mismatch), DeviceError (out_of_memory).
    static AnyTensor empty(const Device& device, ElementType element, const Dims& shape);
    static AnyTensor zeros(const Device& device, ElementType element, const Dims& shape);
    static AnyTensor ones(const Device& device, ElementType element, const Dims& shape);
    /// Makes a tensor of `bytes`: the elements in row-major order, packed; copied before this returns.
    static AnyTensor from_host(const Device& device, ElementType element, const Dims& shape,
                               std::span<const std::byte> bytes);

    explicit operator bool() const { return state_ != nullptr; }
    [[nodiscard]] Device device() const;
    [[nodiscard]] const ElementType& element() const;
    [[nodiscard]] const Dims& shape() const;
    [[nodiscard]] const Dims& strides() const;
    [[nodiscard]] std::size_t rank() const { return shape().size(); }
    /// Number of elements.
    [[nodiscard]] std::int64_t size() const;
    /// Device address of the first element.
    [[nodiscard]] std::uint64_t address() const;
    /// Whether elements lie in row-major order without gaps.
    [[nodiscard]] bool is_contiguous() const;

    /// Views: they share the elements, and their gradients are the same views of the gradients. Negative
    /// dimensions and indices count from the end; a stop of INT64_MIN is before the first element (for
    /// negative steps).
    [[nodiscard]] AnyTensor slice(std::int64_t dimension, std::int64_t start, std::int64_t stop,
                                  std::int64_t step = 1) const;  ///< clamped, as NumPy does
    [[nodiscard]] AnyTensor select(std::int64_t dimension, std::int64_t index) const;
    [[nodiscard]] AnyTensor transpose(std::span<const std::int64_t> permutation) const;
    [[nodiscard]] AnyTensor broadcast_to(const Dims& shape) const;
    [[nodiscard]] AnyTensor insert_axis(std::int64_t dimension) const;  ///< of extent 1
    /// A row-major view of another shape; contiguous tensors only.
    [[nodiscard]] AnyTensor reshape(const Dims& shape) const;
    /// Returns a view of the same memory with other elements. Smaller ones (a whole number of them to each
    /// old one) become a new last dimension. Larger ones take the last dimensions (but the first) whose
    /// extents multiply to one of them, else a part of the last one: what they take must be contiguous.
    /// `alignment` of the new elements, bytes.
    [[nodiscard]] AnyTensor view(const ElementType& element, std::int64_t alignment) const;

    /// Returns this tensor with one new gradient of its shape, that flows both in and out.
    [[nodiscard]] AnyTensor with_grads(bool zero = true) const;
    /// Returns this tensor with these gradients; either may be null. They must have its element type and
    /// shape, but grad_out may have extent 1 where the tensor has more: it gets the sum over that dimension.
    [[nodiscard]] AnyTensor with_grads(const AnyTensor& grad_in, const AnyTensor& grad_out) const;
    [[nodiscard]] AnyTensor without_grads() const;

    /// Returns this tensor under a name, which messages and tools show; its views and results of with_grads()
    /// have the same name.
    [[nodiscard]] AnyTensor named(std::string_view name) const;
    /// Returns the name; empty where it has none.
    [[nodiscard]] std::string name() const;

    /// grad_in: read by backward calls that take this tensor as an output. grad_out: added to by those that
    /// take it as an input. grad: grad_out, else grad_in. Null when there is none.
    [[nodiscard]] const AnyTensor& grad_in() const;
    [[nodiscard]] const AnyTensor& grad_out() const;
    [[nodiscard]] const AnyTensor& grad() const;

    /// Copies all elements, row-major and packed, to or from the host; waits for the calls that write (read)
    /// them. `bytes` must have size() * element().size() bytes. Writing through a view whose elements overlap
    /// (a broadcast) is an error. Writing through a view with gaps rewrites the gaps with what they hold, so
    /// don't do it while another thread's call writes there.
    void read(std::span<std::byte> bytes) const;
    void write(std::span<const std::byte> bytes) const;
    /// Sets all elements to one value, of element().size() bytes. If its bytes repeat one 32-bit word, as
    /// zeros do, and the tensor has no gaps, the device does it, in order with its calls; else as write().
    void fill(std::span<const std::byte> element) const;

    explicit AnyTensor(std::shared_ptr<const detail::TensorState> state) : state_(std::move(state)) {}
    [[nodiscard]] const std::shared_ptr<const detail::TensorState>& state() const { return state_; }

private:
    std::shared_ptr<const detail::TensorState> state_;
};

}  // namespace kf
