// kf::Tensor<T, N>: a typed, strided, N-dimensional tensor in device memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <kf/any_tensor.h>
#include <kf/error.h>
#include <kf/types.h>

namespace kf {

template <std::size_t N>
using Shape = std::array<std::int64_t, N>;

/// A handle: copies share the elements and the gradients (so a const Tensor's elements may be written).
/// Rules, views, ownership and threads: see AnyTensor, whose typed face this is. T is a scalar, a kf::Vector,
/// a kf::Matrix, a std::array of these or a generated struct; Device makes tensors.
template <class T, std::size_t N>
class Tensor {
    static_assert(N <= max_rank);

public:
    using value_type = T;
    static constexpr std::size_t static_rank = N;
    static constexpr ElementType static_element = element_of<T>;

    Tensor() = default;
    /// Throws ArgumentError when the element type or rank differs.
    explicit Tensor(AnyTensor any);

    explicit operator bool() const { return static_cast<bool>(any_); }  ///< false for a null handle
    [[nodiscard]] const AnyTensor& any() const { return any_; }         ///< the same tensor without types

    /// Extents and strides, counted in elements.
    [[nodiscard]] Shape<N> shape() const { return to_array(any_.shape()); }
    [[nodiscard]] Shape<N> strides() const { return to_array(any_.strides()); }
    /// Number of elements.
    [[nodiscard]] std::int64_t size() const { return any_.size(); }
    /// Whether elements lie in row-major order without gaps.
    [[nodiscard]] bool is_contiguous() const { return any_.is_contiguous(); }
    /// Device address of the first element.
    [[nodiscard]] std::uint64_t address() const { return any_.address(); }
    [[nodiscard]] Device device() const;

    /// Views, which share the elements. Negative dimensions and indices count from the end; slices are
    /// clamped as NumPy's are. transpose() without a permutation reverses the dimensions; reshape() is for
    /// contiguous tensors. Throws ArgumentError (index_range, shape_mismatch, layout_mismatch).
    [[nodiscard]] Tensor slice(std::int64_t dimension, std::int64_t start, std::int64_t stop,
                               std::int64_t step = 1) const {
        return Tensor(any_.slice(dimension, start, stop, step));
    }
    [[nodiscard]] Tensor<T, N == 0 ? 0 : N - 1> select(std::int64_t dimension, std::int64_t index) const
        requires(N > 0) {
        // Clang 14 instantiates it for N == 0, too.
        return Tensor<T, (N == 0 ? 0 : N - 1)>(any_.select(dimension, index));
    }
    [[nodiscard]] Tensor transpose(const Shape<N>& permutation) const {
        return Tensor(any_.transpose(permutation));
    }
    [[nodiscard]] Tensor transpose() const {
        Shape<N> permutation{};
        for (std::size_t i = 0; i < N; ++i) permutation[i] = static_cast<std::int64_t>(N - 1 - i);
        return transpose(permutation);
    }
    template <std::size_t M>
    [[nodiscard]] Tensor<T, M> broadcast_to(const Shape<M>& shape) const {
        return Tensor<T, M>(any_.broadcast_to(Dims(std::span<const std::int64_t>(shape))));
    }
    template <std::size_t M>
    [[nodiscard]] Tensor<T, M> broadcast_to(const std::int64_t (&shape)[M]) const {
        return broadcast_to(std::to_array(shape));
    }
    template <std::size_t M>
    [[nodiscard]] Tensor<T, M> reshape(const std::int64_t (&shape)[M]) const {
        return Tensor<T, M>(any_.reshape(Dims(std::span<const std::int64_t>(shape))));
    }

    /// Returns the same memory as elements of type U with M dimensions: `rows.view<Ray, 1>()` of a
    /// Tensor<float, 2> whose rows are rays. See AnyTensor::view().
    template <class U, std::size_t M>
    [[nodiscard]] Tensor<U, M> view() const {
        return Tensor<U, M>(any_.view(element_of<U>, alignof(U)));
    }

    /// Returns this tensor with a new gradient of its shape (undefined where `zero` is false), or with these.
    /// Backward calls add to grad_out of an input, and read grad_in of an output.
    [[nodiscard]] Tensor with_grads(bool zero = true) const { return Tensor(any_.with_grads(zero)); }
    [[nodiscard]] Tensor with_grads(const Tensor& grad_in, const Tensor& grad_out) const {
        return Tensor(any_.with_grads(grad_in.any_, grad_out.any_));
    }
    /// The gradients; null handles when there are none. grad() is grad_out(), else grad_in().
    [[nodiscard]] Tensor grad() const { return Tensor(any_.grad()); }
    [[nodiscard]] Tensor grad_in() const { return Tensor(any_.grad_in()); }
    [[nodiscard]] Tensor grad_out() const { return Tensor(any_.grad_out()); }

    /// Returns this tensor under a name, which messages and tools show:
    /// `device.zeros<float>({8}).named("weights")`. Its views and results of with_grads() have the same name.
    [[nodiscard]] Tensor named(std::string_view name) const { return Tensor(any_.named(name)); }
    [[nodiscard]] std::string name() const { return any_.name(); }

    /// All elements in row-major order; waits for the calls that write them.
    [[nodiscard]] std::vector<T> to_vector() const {
        const auto count = static_cast<std::size_t>(size());
        if constexpr (std::is_same_v<T, bool>) {
            const auto values = std::make_unique<bool[]>(count);  // std::vector<bool> is not an array
            any_.read(std::as_writable_bytes(std::span(values.get(), count)));
            return std::vector<bool>(values.get(), values.get() + count);
        } else {
            std::vector<T> values(count);
            any_.read(std::as_writable_bytes(std::span(values)));
            return values;
        }
    }
    /// `values` in row-major order, as many as the tensor has; copied before this returns.
    void copy_from(std::span<const T> values) const { any_.write(std::as_bytes(values)); }
    void copy_from(std::initializer_list<T> values) const {
        copy_from(std::span<const T>(values.begin(), values.size()));
    }

    [[nodiscard]] Result<std::vector<T>> try_to_vector() const {
        return attempt([&] { return to_vector(); });
    }
    [[nodiscard]] Result<void> try_copy_from(std::span<const T> values) const {
        return attempt([&] { copy_from(values); });
    }

private:
    static Shape<N> to_array(const Dims& dims) {
        Shape<N> result{};
        for (std::size_t i = 0; i < N; ++i) result[i] = dims[i];
        return result;
    }
    AnyTensor any_;
};

namespace detail {
/// Throws ArgumentError unless `tensor` is null or has this element type and rank.
void check_tensor_type(const AnyTensor& tensor, const ElementType& element, std::size_t rank);
}  // namespace detail

template <class T, std::size_t N>
Tensor<T, N>::Tensor(AnyTensor any) : any_(std::move(any)) {
    detail::check_tensor_type(any_, static_element, N);
}

}  // namespace kf
