// Declarations with which kernels hand a tensor to the function.
#include "emit/tensor_argument.h"

#include "core/join.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

std::string joined(const std::vector<std::string>& items) {
    return items.empty() ? "{ }" : "{ " + join(items) + " }";
}

std::string braced(const std::string& view) { return view.empty() ? "{}" : "{ " + view + " }"; }

/// Returns a tensor that is added to.
std::string added(const std::string& view, const TensorViews& views) {
    if (view.empty()) return "{}";
    return "{ " + view + ", " + views.apart + (views.is_shared.empty() ? "" : ", " + views.is_shared) + " }";
}

/// Returns the view as one of any rank.
std::string any_rank(const std::string& view) {
    return view.empty() ? "kf.no_view()" : "kf.any_view(" + view + ")";
}

std::string in_bytes(const std::string& scalars, std::int64_t size) {
    return size == 1 || scalars == "0" ? scalars : scalars + " * " + std::to_string(size);
}

}  // namespace

std::string view_initializer(const TensorView& view) {
    std::string address = "0";
    if (!view.address.empty()) {
        address = "uint64_t(" + view.address + ")";
        // A null address stays null, wherever the call's part of it would be.
        const std::string start =
            address + (view.before == 0 ? "" : " - " + std::to_string(view.before)) +
            (view.offset.empty() ? "" : " + uint64_t(" + in_bytes(view.offset, view.scalar_bytes) + ")");
        if (start != address) address = view.address + " != nullptr ? " + start + " : 0";
    }
    std::vector<std::string> strides;
    for (const std::string& stride : view.strides) strides.push_back(in_bytes(stride, view.scalar_bytes));
    return "{ " + address + ", " + joined(view.extents) + ", " + joined(strides) + " }";
}

std::vector<std::string> dense_inner_strides(const std::vector<std::string>& extents,
                                             std::int64_t element_scalars) {
    std::vector<std::string> strides(extents.size());
    std::string stride = "int64_t(" + std::to_string(element_scalars) + ")";
    for (std::size_t i = extents.size(); i-- > 0;) {
        strides[i] = stride;
        stride += " * " + extents[i];
    }
    return strides;
}

std::string tensor_initializer(const Type& type, const TensorViews& views, bool writable) {
    const std::string may_write = writable ? "true" : "false";
    std::string read = "{ " + braced(views.data) + ", " + added(views.grad_out, views) + " }";
    std::string both = "{ " + views.data + ", " + may_write + " }";
    const std::string element =
        "<" + declared_name(type.element.front()) + ">(" + any_rank(views.data) + ", ";
    switch (type.form) {
        case TensorForm::read:
        case TensorForm::write: return braced(views.data);
        case TensorForm::atomic: return added(views.data, views);
        case TensorForm::read_write: return both;
        case TensorForm::diff_read: return read;
        case TensorForm::diff_texture: return "{ " + read + " }";
        case TensorForm::diff_write: return "{ " + braced(views.data) + ", " + braced(views.grad_in) + " }";
        case TensorForm::diff_output: return "{ " + both + ", " + braced(views.grad_in) + " }";
        // Functions of the user's own may add up gradients in it.
        case TensorForm::view: return "kf.tensor_view" + element + "true)";
        case TensorForm::diff_view:
            return "kf.diff_tensor_view" + element + may_write + ", " + any_rank(views.grad_in) + ", " +
                   any_rank(views.grad_out) + ")";
        case TensorForm::diff_read_write:
            return "{ " + both + ", " + braced(views.grad_in) + ", " + added(views.grad_out, views) + " }";
    }
    return {};
}

}  // namespace kf::gen
