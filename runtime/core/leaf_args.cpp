// What the host gave for each leaf of a call's arguments, and where its scalars lie.
#include "core/leaf_args.h"

#include <algorithm>

#include "core/bind_error.h"
#include "core/roles.h"
#include "core/tensor_state.h"

namespace kf::detail {

using manifest::Argument;

namespace {

template <class Byte>
Byte* field_of(Byte* structure, const Argument& field) {
    return structure == nullptr ? nullptr : structure + field.offset;
}

/// What the host gave for a field of a struct that it passed whole.
Arg field_arg(const Arg& given, const Argument& field) {
    Arg arg = Arg::make(given.kind, given.value, given.out_value, given.gradient, given.tensor);
    if (given.kind == Arg::Kind::value) {
        const bool input = is_input(field);
        arg.value = input ? field_of(static_cast<const std::byte*>(given.value), field) : nullptr;
        arg.out_value =
            is_output(field) ? field_of(static_cast<std::byte*>(given.out_value), field) : nullptr;
        const bool takes = input ? field.gradient != manifest::Gradient::never : field.differentiable;
        arg.gradient = takes ? field_of(static_cast<std::byte*>(given.gradient), field) : nullptr;
    }
    return arg;
}

}  // namespace

/// A tensor's scalars: its own dimensions, then its element's.
ScalarView flatten(const AnyTensor& tensor) {
    ScalarView view;
    if (!tensor) {
        return view;
    }
    const TensorState& state = *tensor.state();
    view.present = true;
    view.address = state.address();
    const std::int64_t scalars = state.element.scalars();
    for (std::size_t d = 0; d < state.shape.size(); ++d) {
        view.extents.push_back(state.shape[d]);
        view.strides.push_back(state.strides[d] * scalars);
    }
    std::int64_t stride = scalars;
    for (std::size_t d = 0; d < state.element.rank; ++d) {
        view.extents.push_back(state.element.extents[d]);
        stride /= state.element.extents[d];
        view.strides.push_back(stride);
    }
    return view;
}

namespace {

/// One field of structs whose scalars a tensor's last dimensions hold: see manifest::StructScalars.
ScalarView flatten_field_of_scalars(const TensorState& state, const Argument& field) {
    ScalarView view;
    view.present = true;
    const std::size_t arrays_end = state.shape.size() - 1;
    const std::int64_t step = state.strides[arrays_end];
    view.address = state.address() + static_cast<std::uint64_t>(field.offset * step);
    for (std::size_t d = 0; d < arrays_end; ++d) {
        view.extents.push_back(state.shape[d]);
        view.strides.push_back(state.strides[d]);
    }
    // A pushed gradient has the call's dimensions in front, and is of no array of structs.
    const std::size_t arrays = is_pushed(field) ? 0 : arrays_end - static_cast<std::size_t>(field.rank);
    const Dims packed = row_major(Dims(field.element.extents));
    for (std::size_t d = arrays; d < field.element.extents.size(); ++d) {
        view.extents.push_back(field.element.extents[d]);
        view.strides.push_back((field.spacing.empty() ? packed[d] : field.spacing[d]) * step);
    }
    return view;
}

}  // namespace

/// One field of a tensor of structs.
ScalarView flatten_field(const AnyTensor& tensor, const Argument& field) {
    ScalarView view;
    if (!tensor) {
        return view;
    }
    const TensorState& state = *tensor.state();
    if (state.element.struct_size == 0) return flatten_field_of_scalars(state, field);
    view.present = true;
    view.address = state.address() + static_cast<std::uint64_t>(field.offset);
    for (std::size_t d = 0; d < state.shape.size(); ++d) {
        view.extents.push_back(state.shape[d]);
        view.strides.push_back(state.strides[d] * field.pitch);
    }
    const Dims packed = row_major(Dims(field.element.extents));
    for (std::size_t d = 0; d < field.element.extents.size(); ++d) {
        view.extents.push_back(field.element.extents[d]);
        view.strides.push_back(field.spacing.empty() ? packed[d] : field.spacing[d]);
    }
    return view;
}

bool gives_structs(const manifest::Call& call, std::size_t given) {
    return given == call.items.size() &&
           std::any_of(call.items.begin(), call.items.end(),
                       [](const manifest::Item& item) { return item.form != manifest::Form::leaf; });
}

void add_leaves(const manifest::Call& call, std::span<const Arg> given, std::pmr::vector<Arg>& leaves) {
    leaves.reserve(call.arguments.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
        const manifest::Item& item = call.items[i];
        for (std::int64_t k = item.leaf; k < item.leaf + item.leaves; ++k) {
            leaves.push_back(item.form == manifest::Form::leaf
                                 ? given[i]
                                 : field_arg(given[i], call.arguments[static_cast<std::size_t>(k)]));
        }
    }
}

bool asks_for_tensor(const manifest::Argument& argument, const Arg& given) {
    return passes_value(argument) && is_only_written(argument.role) && !is_combined(argument) &&
           given.kind == Arg::Kind::value && given.out_value == nullptr;
}

AnyTensor one_element(std::shared_ptr<DeviceState> device, std::shared_ptr<driver::Allocation> allocation,
                      std::uint64_t offset, const ElementType& element) {
    TensorState made;
    made.device = std::move(device);
    made.allocation = std::move(allocation);
    made.offset = offset;
    made.element = element;
    made.size = 1;
    return AnyTensor(std::make_shared<const TensorState>(std::move(made)));
}

}  // namespace kf::detail
