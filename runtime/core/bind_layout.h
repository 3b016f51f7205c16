// How the memory of a call's arguments lies, seen from the call.
#pragma once

#include "core/bind.h"
#include "core/bind_error.h"
#include "core/overlap.h"

namespace kf::detail {

/// The layout of an argument's views along some of the call's last dimensions.
struct Layout {
    bool dense = true;   ///< elements beside each other, in the call's order
    bool single = true;  ///< one element for all calls

    /// Adds a view. `element`: scalars from one element to the next. `first`: the first of the dimensions.
    void join(const Dims& shape, const Dims& strides, std::int64_t element, std::size_t first = 0) {
        if (is_empty(shape)) {
            return;
        }
        std::int64_t expected = element;
        for (std::size_t d = shape.size(); d-- > first;) {
            dense = dense && (shape[d] == 1 || strides[d] == expected);
            single = single && (shape[d] == 1 || strides[d] == 0);
            expected *= shape[d];
        }
    }
};

/// Scalars of one call's element.
[[nodiscard]] inline std::int64_t element_scalars(const manifest::Argument& argument) {
    std::int64_t count = 1;
    for (const std::int64_t extent : argument.trailing) {
        count *= extent;
    }
    return count;
}

/// Elements beside each other, row by row.
[[nodiscard]] inline bool is_packed(const manifest::Argument& argument, const ScalarView& view) {
    if (argument.pitch == 0) {
        return is_dense(view.extents, view.strides);
    }
    if (is_empty(view.extents)) {
        return true;
    }
    std::int64_t expected = argument.pitch;
    for (std::size_t i = static_cast<std::size_t>(argument.rank); i-- > 0;) {
        if (view.extents[i] != 1 && view.strides[i] != expected) {
            return false;
        }
        expected *= view.extents[i];
    }
    return true;
}

/// The view without the dimensions along which all its elements are one.
[[nodiscard]] inline ScalarView unshared(const ScalarView& view) {
    ScalarView result = view;
    for (std::size_t d = 0; d < view.extents.size(); ++d) {
        if (view.strides[d] == 0 && view.extents[d] > 1) result.extents[d] = 1;
    }
    return result;
}

/// Returns the first of an element's own dimensions along which it has a single gradient; -1 for none.
[[nodiscard]] inline std::int64_t summed_in_element(const manifest::Argument& argument,
                                                    const CallView& gradient) {
    for (std::size_t k = 0; k < argument.trailing.size(); ++k) {
        if (argument.trailing[k] > 1 && gradient.trailing[gradient.inner.size() + k] == 0)
            return argument.call_rank + argument.inner_rank + static_cast<std::int64_t>(k);
    }
    return -1;
}

/// The views of an argument that the pass touches: its data, and its gradients in and out.
template <class Visit>
void for_each_view(const BindRequest& request, const Binding& binding, std::size_t i, Visit visit) {
    const BoundArgument& bound = binding.arguments[i];
    if (bound.data.present && touches_data(request.call.arguments[i], request.pass)) {
        visit(bound.data);
    }
    if (bound.grad_in.present) {
        visit(bound.grad_in);
    }
    if (bound.mode != manifest::GradMode::none) {
        visit(bound.grad_out);
    }
}

}  // namespace kf::detail
