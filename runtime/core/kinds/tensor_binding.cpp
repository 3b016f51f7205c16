// What the binder asks of the kind "tensor".
#include "core/kinds/tensor_binding.h"

#include "core/kinds/element_binding.h"

namespace kf::detail {

using manifest::Argument;

std::string describe(const kinds::Tensor&, const Argument& argument) { return tensor_text(argument); }

std::optional<int> conversion_cost(const kinds::Tensor&, const Argument& argument, const ArgShape& given) {
    return tensor_cost(argument, given);
}

void check_given(const kinds::Tensor&, const BindRequest& request, std::size_t i) {
    check_tensor(request, i);
}

Dims flat_extents(const kinds::Tensor&, const Argument&, const ArgumentView& view) {
    return view.data.extents;
}

void bind_view(const kinds::Tensor&, const BindRequest& request, std::size_t i, Binding& binding) {
    bind_tensor(request, i, binding);
}

bool is_flat(const kinds::Tensor&, const BindRequest& request, std::size_t i, Binding& binding) {
    return are_elements_flat(request, i, binding);
}

}  // namespace kf::detail
