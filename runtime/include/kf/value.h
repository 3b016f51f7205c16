// Small wrappers that say how an argument is meant: Diff (has a gradient), Out (is written).
#pragma once

#include <cstddef>

#include <kf/tensor.h>

namespace kf {

/// A host value with a gradient: a backward call adds to `grad`, so start it at zero. As an output of a
/// backward call, `grad` is what flows in.
template <class T>
struct Diff {
    T value{};
    T grad{};
};

template <class T>
Diff(T) -> Diff<T>;

/// Where an output goes; made by kf::out(). Of a tensor it is the handle, of a scalar a reference that
/// must outlive the call.
template <class X>
struct Out {
    X* target = nullptr;
};

template <class T, std::size_t N>
struct Out<Tensor<T, N>> {
    Tensor<T, N> target;
};

template <class T, std::size_t N>
[[nodiscard]] Out<Tensor<T, N>> out(const Tensor<T, N>& tensor) {
    return {tensor};
}

template <Element X>
[[nodiscard]] Out<X> out(X& scalar) {
    return {&scalar};
}

}  // namespace kf
