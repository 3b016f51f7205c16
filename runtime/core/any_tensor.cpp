// Tensors: what they know of themselves, their views and their gradients. Elements: see transfer.cpp.
#include <kf/any_tensor.h>
#include <kf/device.h>
#include <kf/error.h>

#include <algorithm>
#include <tuple>

#include "core/describe.h"
#include "core/overlap.h"
#include "core/tensor_state.h"

namespace kf {
namespace {

using detail::state_of;
using detail::TensorState;

std::string dimensions(std::size_t rank) {
    return std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions");
}

std::size_t checked_dimension(const TensorState& state, std::int64_t dimension, const char* what) {
    const auto rank = static_cast<std::int64_t>(state.shape.size());
    if (dimension < -rank || dimension >= rank) {
        throw ArgumentError(ErrorCode::index_range, std::string(what) + ": dimension " +
                                                        std::to_string(dimension) + " of a tensor of " +
                                                        dimensions(state.shape.size()));
    }
    return static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension);
}

/// Another view of the same elements; `elements` is how far its first one lies from the old first one.
AnyTensor make_view(const TensorState& state, const Dims& shape, const Dims& strides, std::int64_t elements,
                    AnyTensor grad_in, AnyTensor grad_out) {
    TensorState next;
    next.device = state.device;
    next.element = state.element;
    next.shape = shape;
    next.strides = strides;
    next.size = detail::checked_product(shape, "a view");
    if (next.size > 0) {
        next.allocation = state.allocation;
        next.offset = state.offset +
                      static_cast<std::uint64_t>(elements * static_cast<std::int64_t>(state.element.size()));
    }
    next.grad_in = std::move(grad_in);
    next.grad_out = std::move(grad_out);
    next.name = state.name;
    return AnyTensor(std::make_shared<const TensorState>(std::move(next)));
}

/// The same view of both gradients: once when they are one tensor.
template <class Function>
std::pair<AnyTensor, AnyTensor> view_gradients(const TensorState& state, const char* what,
                                               Function function) {
    const AnyTensor grad_out = detail::widened(state.grad_out, state.shape);
    // Which of a pushed gradient's dimensions are the tensor's only a call spec says.
    if (grad_out && grad_out.shape() != state.shape) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            std::string(what) + ": the tensor has shape " + to_string(state.shape) +
                                " and its gradient, to push to, " + to_string(grad_out.shape()) +
                                ": no view of both is the same; make the view of the tensor without it "
                                "(without_grads(), in Python detach())");
    }
    AnyTensor grad_in = state.grad_in ? function(state.grad_in) : AnyTensor();
    if (grad_out.state() == state.grad_in.state()) {
        return {grad_in, grad_in};
    }
    return {grad_in, grad_out ? function(grad_out) : AnyTensor()};
}

/// Whether some call may push to it: it has all the tensor's dimensions, in any order. Binding says the rest.
bool is_pushable(const Dims& shape, const Dims& gradient) {
    Dims left = gradient;
    std::size_t ones = 0;
    for (const std::int64_t extent : shape) {
        const auto found = std::find(left.begin(), left.end(), extent);
        if (found != left.end()) {
            left.erase(static_cast<std::size_t>(found - left.begin()));
        } else if (extent == 1) {
            ++ones;  // widened
        } else {
            return false;
        }
    }
    return ones <= left.size();
}

}  // namespace

namespace detail {

const TensorState& state_of(const AnyTensor& tensor) {
    if (!tensor) {
        throw ArgumentError(ErrorCode::missing_argument, "the tensor is null");
    }
    return *tensor.state();
}

Dims row_major(const Dims& shape) {
    Dims strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * std::max<std::int64_t>(1, shape[i]);
    }
    return strides;
}

std::int64_t checked_product(const Dims& extents, const char* what) {
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    std::int64_t product = 1;
    bool empty = false;
    for (const std::int64_t extent : extents) {
        if (extent < 0) {
            throw ArgumentError(ErrorCode::shape_mismatch,
                                std::string(what) + ": an extent is negative in " + to_string(extents));
        }
        empty = empty || extent == 0;
        if (extent > 0 && product > limit / extent) {
            throw ArgumentError(ErrorCode::shape_mismatch,
                                std::string(what) + ": the shape " + to_string(extents) + " is too large");
        }
        product *= std::max<std::int64_t>(1, extent);
    }
    return empty ? 0 : product;
}

bool sums_into(const Dims& gradient, const Dims& shape) {
    if (gradient.size() != shape.size()) return false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (gradient[d] != shape[d] && gradient[d] != 1) return false;
    }
    return true;
}

AnyTensor widened(const AnyTensor& gradient, const Dims& shape) {
    const bool is_less = gradient && gradient.shape() != shape && sums_into(gradient.shape(), shape);
    return is_less ? gradient.broadcast_to(shape) : gradient;
}

void check_tensor_type(const AnyTensor& tensor, const ElementType& element, std::size_t rank) {
    if (!tensor) {
        return;
    }
    const auto text = [](const ElementType& e, std::size_t r) {
        return to_string(e) + " tensor of rank " + std::to_string(r);
    };
    if (tensor.element() != element || tensor.rank() != rank) {
        throw ArgumentError(tensor.element() != element ? ErrorCode::type_mismatch : ErrorCode::rank_mismatch,
                            "expected " + detail::with_article(text(element, rank)) + ", found " +
                                detail::with_article(text(tensor.element(), tensor.rank())));
    }
}

}  // namespace detail

Device AnyTensor::device() const { return Device(state_of(*this).device); }
const ElementType& AnyTensor::element() const { return state_of(*this).element; }
const Dims& AnyTensor::shape() const { return state_of(*this).shape; }
const Dims& AnyTensor::strides() const { return state_of(*this).strides; }
std::int64_t AnyTensor::size() const { return state_of(*this).size; }
std::uint64_t AnyTensor::address() const {
    const TensorState& state = state_of(*this);
    if (state.allocation != nullptr) state.allocation->note_written();  // by whoever asks, perhaps
    return state.address();
}

bool AnyTensor::is_contiguous() const {
    const TensorState& state = state_of(*this);
    return detail::is_dense(state.shape, state.strides);
}

AnyTensor AnyTensor::slice(std::int64_t dimension, std::int64_t start, std::int64_t stop,
                           std::int64_t step) const {
    const TensorState& state = state_of(*this);
    const std::size_t d = checked_dimension(state, dimension, "slice");
    const std::int64_t extent = state.shape[d];
    if (step == 0 || step == INT64_MIN) {
        throw ArgumentError(ErrorCode::index_range, "slice: the step is " + std::to_string(step));
    }
    // NumPy's rules: count from the end when negative, then clamp.
    const std::int64_t low = step > 0 ? 0 : -1;
    const std::int64_t high = step > 0 ? extent : extent - 1;
    const auto clamped = [&](std::int64_t index) {
        return std::clamp(index < 0 && index >= -extent ? index + extent : index, low, high);
    };
    const std::int64_t first = clamped(start);
    const std::int64_t last = stop == INT64_MIN ? low : clamped(stop);
    const std::int64_t span = step > 0 ? last - first : first - last;
    const std::int64_t stride = step > 0 ? step : -step;
    const std::int64_t count = span <= 0 ? 0 : 1 + (span - 1) / stride;
    Dims shape = state.shape;
    Dims strides = state.strides;
    shape[d] = count;
    strides[d] = count > 1 ? strides[d] * step : strides[d];
    auto [grad_in, grad_out] = view_gradients(state, "slice", [&](const AnyTensor& gradient) {
        return gradient.slice(dimension, start, stop, step);
    });
    return make_view(state, shape, strides, count > 0 ? first * state.strides[d] : 0, grad_in, grad_out);
}

AnyTensor AnyTensor::select(std::int64_t dimension, std::int64_t index) const {
    const TensorState& state = state_of(*this);
    const std::size_t d = checked_dimension(state, dimension, "select");
    const std::int64_t extent = state.shape[d];
    if (index < -extent || index >= extent) {
        throw ArgumentError(ErrorCode::index_range, "select: index " + std::to_string(index) +
                                                        " along dimension " + std::to_string(d) +
                                                        " of extent " + std::to_string(extent));
    }
    Dims shape = state.shape;
    Dims strides = state.strides;
    shape.erase(d);
    strides.erase(d);
    auto [grad_in, grad_out] = view_gradients(
        state, "select", [&](const AnyTensor& gradient) { return gradient.select(dimension, index); });
    return make_view(state, shape, strides, (index < 0 ? index + extent : index) * state.strides[d], grad_in,
                     grad_out);
}

AnyTensor AnyTensor::transpose(std::span<const std::int64_t> permutation) const {
    const TensorState& state = state_of(*this);
    const std::size_t rank = state.shape.size();
    std::array<bool, Dims::capacity> seen{};
    Dims shape;
    Dims strides;
    for (const std::int64_t from : permutation) {
        const std::size_t d = checked_dimension(state, from, "transpose");
        if (std::exchange(seen[d], true)) {
            throw ArgumentError(ErrorCode::index_range,
                                "transpose: dimension " + std::to_string(d) + " is named twice");
        }
        shape.push_back(state.shape[d]);
        strides.push_back(state.strides[d]);
    }
    if (shape.size() != rank) {
        throw ArgumentError(ErrorCode::rank_mismatch, "transpose: " + std::to_string(shape.size()) +
                                                          " dimensions are named, the tensor has " +
                                                          std::to_string(rank));
    }
    auto [grad_in, grad_out] = view_gradients(
        state, "transpose", [&](const AnyTensor& gradient) { return gradient.transpose(permutation); });
    return make_view(state, shape, strides, 0, grad_in, grad_out);
}

AnyTensor AnyTensor::broadcast_to(const Dims& shape) const {
    const TensorState& state = state_of(*this);
    const std::size_t rank = state.shape.size();
    const auto refuse = [&] {
        throw ArgumentError(ErrorCode::shape_mismatch, "broadcast_to: a tensor of shape " +
                                                           to_string(state.shape) + " doesn't broadcast to " +
                                                           to_string(shape));
    };
    if (shape.size() < rank || shape.size() > max_rank) {
        refuse();
    }
    Dims strides(shape.size(), 0);
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t d = shape.size() - rank + i;
        if (state.shape[i] == shape[d]) {
            strides[d] = state.strides[i];
        } else if (state.shape[i] != 1) {
            refuse();
        }
    }
    auto [grad_in, grad_out] = view_gradients(
        state, "broadcast_to", [&](const AnyTensor& gradient) { return gradient.broadcast_to(shape); });
    return make_view(state, shape, strides, 0, grad_in, grad_out);
}

AnyTensor AnyTensor::insert_axis(std::int64_t dimension) const {
    const TensorState& state = state_of(*this);
    const auto rank = static_cast<std::int64_t>(state.shape.size());
    if (dimension < -rank - 1 || dimension > rank || rank == static_cast<std::int64_t>(max_rank)) {
        throw ArgumentError(ErrorCode::index_range, "insert_axis: dimension " + std::to_string(dimension) +
                                                        " of a tensor of " + dimensions(state.shape.size()));
    }
    const std::int64_t at = dimension < 0 ? dimension + rank + 1 : dimension;
    Dims shape;
    Dims strides;
    for (std::int64_t i = 0; i <= rank; ++i) {
        if (i == at) {
            shape.push_back(1);
            strides.push_back(1);
        }
        if (i < rank) {
            shape.push_back(state.shape[static_cast<std::size_t>(i)]);
            strides.push_back(state.strides[static_cast<std::size_t>(i)]);
        }
    }
    auto [grad_in, grad_out] = view_gradients(
        state, "insert_axis", [&](const AnyTensor& gradient) { return gradient.insert_axis(dimension); });
    return make_view(state, shape, strides, 0, grad_in, grad_out);
}

AnyTensor AnyTensor::reshape(const Dims& shape) const {
    const TensorState& state = state_of(*this);
    if (!is_contiguous()) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            "reshape: the tensor is not contiguous; it has shape " + to_string(state.shape) +
                                " and strides " + to_string(state.strides));
    }
    if (shape.size() > max_rank || detail::checked_product(shape, "reshape") != state.size) {
        throw ArgumentError(
            ErrorCode::shape_mismatch,
            "reshape: a tensor of shape " + to_string(state.shape) + " can't be seen as " + to_string(shape));
    }
    auto [grad_in, grad_out] =
        view_gradients(state, "reshape", [&](const AnyTensor& gradient) { return gradient.reshape(shape); });
    return make_view(state, shape, detail::row_major(shape), 0, grad_in, grad_out);
}

AnyTensor AnyTensor::view(const ElementType& element, std::int64_t alignment) const {
    const TensorState& state = state_of(*this);
    const auto old_size = static_cast<std::int64_t>(state.element.size());
    const auto new_size = static_cast<std::int64_t>(element.size());
    const auto refuse = [&](const char* why) {
        throw ArgumentError(ErrorCode::layout_mismatch,
                            "view: " + detail::with_article(to_string(state.element)) + " tensor of shape " +
                                to_string(state.shape) + " can't be seen as elements of " +
                                to_string(element) + ": " + why);
    };
    if (state.offset % static_cast<std::uint64_t>(alignment) != 0) {
        refuse("its first element isn't aligned");
    }
    TensorState next = state;
    next.element = element;
    const std::int64_t ratio = std::max(old_size, new_size) / std::min(old_size, new_size);
    if (std::max(old_size, new_size) % std::min(old_size, new_size) != 0) {
        refuse("their sizes don't divide");
    }
    if (old_size > new_size) {
        for (std::size_t d = 0; d < next.strides.size(); ++d) {
            next.strides[d] *= ratio;
        }
        next.shape.push_back(ratio);
        next.strides.push_back(1);
    } else if (old_size < new_size) {
        // The first dimension stays, so that what comes out doesn't hang on its extent.
        std::int64_t taken = 1;
        std::size_t rank = next.shape.size();
        const auto adjoins = [&](std::size_t d) { return next.shape[d] <= 1 || next.strides[d] == taken; };
        for (; rank > 1 && taken < ratio && adjoins(rank - 1); --rank) {
            const std::int64_t extent = std::max<std::int64_t>(1, next.shape[rank - 1]);
            if (ratio % (taken * extent) != 0) {
                break;
            }
            taken *= extent;
        }
        if (taken != ratio) {
            const std::int64_t rest = ratio / taken;
            if (rank == 0 || !adjoins(rank - 1) || next.shape[rank - 1] % rest != 0) {
                refuse("its last dimensions don't hold a whole number of them, one after the other");
            }
            next.shape[rank - 1] /= rest;
            next.strides[rank - 1] = ratio;
        }
        while (next.shape.size() > rank) {
            next.shape.erase(rank);
            next.strides.erase(rank);
        }
        for (std::size_t d = 0; d < next.strides.size(); ++d) {
            if (next.strides[d] % ratio != 0 && next.shape[d] > 1) {
                refuse("they would overlap");
            }
            next.strides[d] /= ratio;
        }
    }
    if (next.shape.size() > max_rank) {
        refuse("it would have too many dimensions");
    }
    next.size = detail::checked_product(next.shape, "a view");
    std::tie(next.grad_in, next.grad_out) = view_gradients(
        state, "view", [&](const AnyTensor& gradient) { return gradient.view(element, alignment); });
    return AnyTensor(std::make_shared<const TensorState>(std::move(next)));
}

AnyTensor AnyTensor::with_grads(bool zero) const {
    const TensorState& state = state_of(*this);
    const AnyTensor gradient = zero ? zeros(Device(state.device), state.element, state.shape)
                                    : empty(Device(state.device), state.element, state.shape);
    return with_grads(gradient, gradient);
}

AnyTensor AnyTensor::with_grads(const AnyTensor& grad_in, const AnyTensor& grad_out) const {
    const TensorState& state = state_of(*this);
    if (!is_floating(state.element.scalar)) {
        throw ArgumentError(ErrorCode::type_mismatch,
                            "with_grads: a tensor of " + to_string(state.element) + " has no gradient");
    }
    const auto checked = [&](const AnyTensor& gradient, const char* name, bool may_be_less) {
        if (!gradient) {
            return;
        }
        if (gradient.element() != state.element) {
            throw ArgumentError(ErrorCode::type_mismatch, std::string("with_grads: ") + name + ": expected " +
                                                              to_string(state.element) + ", found " +
                                                              to_string(gradient.element()));
        }
        // One that is pushed to has a place for each of the calls that share an element.
        const bool pushed = &gradient == &grad_out && is_pushable(state.shape, gradient.shape());
        const bool summed = may_be_less && detail::sums_into(gradient.shape(), state.shape);
        if (gradient.shape() != state.shape && !pushed && !summed) {
            throw ArgumentError(ErrorCode::shape_mismatch,
                                std::string("with_grads: ") + name + ": expected shape " +
                                    to_string(state.shape) + ", found " + to_string(gradient.shape()) +
                                    (may_be_less ? " (an extent of 1 gets the sum)" : ""));
        }
        if (!gradient.state()->device->is_same(*state.device)) {
            throw ArgumentError(ErrorCode::device_mismatch, std::string("with_grads: ") + name +
                                                                ": it is on another device than the tensor");
        }
    };
    checked(grad_in, "grad_in", false);
    checked(grad_out, "grad_out", true);
    const auto bare = [](const AnyTensor& gradient) {
        return gradient ? gradient.without_grads() : gradient;
    };
    TensorState next = state;
    next.grad_in = bare(grad_in);
    next.grad_out = grad_out.state() == grad_in.state() ? next.grad_in : bare(grad_out);
    return AnyTensor(std::make_shared<const TensorState>(std::move(next)));
}

AnyTensor AnyTensor::without_grads() const {
    const TensorState& state = state_of(*this);
    if (!state.grad_in && !state.grad_out) {
        return *this;
    }
    return make_view(state, state.shape, state.strides, 0, {}, {});
}

AnyTensor AnyTensor::named(std::string_view name) const {
    TensorState next = state_of(*this);
    next.name = name.empty() ? nullptr : std::make_shared<const std::string>(name);
    return AnyTensor(std::make_shared<const TensorState>(std::move(next)));
}

std::string AnyTensor::name() const {
    const TensorState& state = state_of(*this);
    return state.name == nullptr ? std::string() : *state.name;
}

const AnyTensor& AnyTensor::grad_in() const { return state_of(*this).grad_in; }
const AnyTensor& AnyTensor::grad_out() const { return state_of(*this).grad_out; }
const AnyTensor& AnyTensor::grad() const {
    const TensorState& state = state_of(*this);
    return state.grad_out ? state.grad_out : state.grad_in;
}

}  // namespace kf
