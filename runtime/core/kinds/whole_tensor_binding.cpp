// What the binder asks of parameters that are tensors themselves.
#include "core/kinds/whole_tensor_binding.h"

#include <algorithm>
#include <limits>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/kinds/element_binding.h"
#include "core/overlap.h"

namespace kf::detail {
namespace {

/// Kernels load an element at once, with the alignment that its size allows; structs field by field.
void check_elements(const BindRequest& request, std::size_t i, const ScalarView& view, const char* subject) {
    const manifest::Argument& argument = request.call.arguments[i];
    if (!view.present || argument.trailing.empty() || argument.pitch != 0) {
        return;
    }
    const auto leading = static_cast<std::size_t>(argument.call_rank + argument.inner_rank);
    const auto scalar = manifest::scalar_bytes(argument.element.scalar);
    std::int64_t bytes = scalar;
    Dims strides;
    for (std::size_t k = leading; k < view.extents.size(); ++k) {
        bytes *= view.extents[k];
        strides.push_back(view.strides[k]);
    }
    const std::int64_t alignment = std::min<std::int64_t>(16, bytes & -bytes);
    bool fits = is_dense(Dims(argument.trailing), strides) &&
                view.address % static_cast<std::uint64_t>(alignment) == 0;
    for (std::size_t k = 0; k < leading; ++k) {
        fits = fits && (view.extents[k] == 1 || view.strides[k] * scalar % alignment == 0);
    }
    if (!fits) {
        fail(request, i, ErrorCode::layout_mismatch,
             std::string(subject) + "each of its elements must lie without gaps at a multiple of " +
                 std::to_string(alignment) + " bytes, found " + layout_text(request, i, view));
    }
}

/// Kernels take the strides from the extents, of gradients as of the data.
void check_dense(const BindRequest& request, std::size_t i, const ScalarView& gradient) {
    if (gradient.present && !is_packed(request.call.arguments[i], gradient)) {
        fail(request, i, ErrorCode::layout_mismatch,
             "expected a contiguous gradient (the call spec says \"layout\": \"contiguous\"), found " +
                 layout_text(request, i, gradient));
    }
}

/// Stores take the gradient of their element, and others' loads may be adding to it.
void check_own_gradient(const BindRequest& request, std::size_t i) {
    const ScalarView& gradient = request.arguments[i].grad_out;
    for (std::size_t k = 0; k < gradient.extents.size(); ++k) {
        if (gradient.strides[k] == 0 && gradient.extents[k] > 1) {
            fail(
                request, i, ErrorCode::layout_mismatch,
                "its gradient is the same all along dimension " + std::to_string(k) +
                    ", and a DiffTensorView's is one for each element, which stores take: make the parameter "
                    "a DiffTensor for sums, or give it a gradient of its shape, " +
                    shape_text(request, i, gradient.extents));
        }
    }
}

}  // namespace

std::string describe(const kinds::WholeTensor&, const manifest::Argument& argument) {
    return tensor_text(argument);
}

std::optional<int> conversion_cost(const kinds::WholeTensor&, const manifest::Argument& argument,
                                   const ArgShape& given) {
    return tensor_cost(argument, given);
}

void check_given(const kinds::WholeTensor& tensor, const BindRequest& request, std::size_t i) {
    check_tensor(request, i);
    const manifest::Argument& argument = request.call.arguments[i];
    const ArgumentView& view = request.arguments[i];
    const auto call_rank = static_cast<std::size_t>(argument.call_rank);
    for (std::size_t k = 0; k < static_cast<std::size_t>(argument.inner_rank); ++k) {
        const std::int64_t extent = view.data.extents[call_rank + k];
        if (extent > std::numeric_limits<std::uint32_t>::max()) {
            fail(request, i, ErrorCode::shape_mismatch,
                 "dimension " + std::to_string(call_rank + k) + " of shape " + to_string(view.data.extents) +
                     ": a tensor parameter's extents are at most 2^32 - 1");
        }
    }
    if (tensor.contiguous_only) {
        check_dense(request, i, view.grad_in);
        check_dense(request, i, view.grad_out);
    }
    if (has_one_gradient(tensor) && view.grad_in.present) {
        fail(request, i, ErrorCode::aliasing,
             "it has two gradients, grad_in and grad_out, and stores take theirs from where loads add: give "
             "it one");
    }
    if (has_one_gradient(tensor)) check_own_gradient(request, i);
    check_elements(request, i, view.data, "");
    check_elements(request, i, view.grad_in, "its gradient: ");
    check_elements(request, i, view.grad_out, "its gradient: ");
}

Dims flat_extents(const kinds::WholeTensor&, const manifest::Argument&, const ArgumentView& view) {
    return view.data.extents;
}

void bind_view(const kinds::WholeTensor&, const BindRequest& request, std::size_t i, Binding& binding) {
    bind_tensor(request, i, binding);
}

}  // namespace kf::detail
