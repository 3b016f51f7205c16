// Views of tensors in kernels.
#include "emit/kinds/whole_tensor.h"

#include "core/block_slots.h"
#include "emit/element.h"
#include "emit/kinds/tensor.h"
#include "plan/types.h"

namespace kf::gen {

using manifest::Argument;
using manifest::SlotKind;

std::string WholeTensorWriter::add_tangent_view() {
    const std::int64_t primal = index_;
    std::string view;
    for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
        const Argument& tangent = call_.arguments[i].host;
        if (tangent.tangent_of != primal || !tangent.differentiable) continue;
        select(i);
        view = add_view("kf_view_" + argument_id(host()), SlotKind::address, data_strides, "kf_at_");
    }
    select(static_cast<std::size_t>(primal));
    return view;
}

std::string WholeTensorWriter::add_tensor() {
    TensorViews views;
    const std::string id = argument_id(host());
    views.data = add_view("kf_view_" + id, SlotKind::address, data_strides, "kf_at_");
    if (reads_gradient(host(), pass_)) {
        views.grad_in = add_view("kf_flowview_" + id, SlotKind::grad_in, grad_in_strides, "kf_flowat_");
    }
    if (writes_gradient(host(), pass_)) views.grad_out = add_grad_out_view("kf_gradview_" + id);
    if (call_.is_jvp) views.grad_in = views.grad_out = add_tangent_view();
    std::string name = "kf_arg_" + id;
    add_local("const " + slang_type(), name,
              tensor_initializer(planned_->type.form, views, pass_ == PassKind::forward));
    return name;
}

std::string WholeTensorWriter::add_struct_tensor(const PlannedParameter& parameter) {
    TensorViews views;
    const std::string id = struct_id(parameter);
    const std::int64_t first = parameter.host.leaf;
    views.data = add_view("kf_view_" + id, SlotKind::address, data_strides, "kf_at_");
    if (lead(first, Part::gradient)) {
        if (reads_gradient(host(), pass_)) {
            views.grad_in = add_view("kf_flowview_" + id, SlotKind::grad_in, grad_in_strides, "kf_flowat_");
        }
        if (writes_gradient(host(), pass_)) {
            views.grad_out =
                add_view("kf_gradview_" + id, SlotKind::grad_out, grad_out_strides, "kf_gradat_");
        }
    }
    if (!views.grad_out.empty() && lead(first, Part::sums)) views.apart = add_sums_apart(parameter);
    if (call_.is_jvp && lead(first, Part::gradient)) views.grad_in = views.grad_out = add_tangent_view();
    std::string name = "kf_arg_" + id;
    add_local("const " + declared_name(parameter.type), name,
              tensor_initializer(parameter.type.form, views, pass_ == PassKind::forward));
    return name;
}

bool WholeTensorWriter::lead(std::int64_t field, Part part) {
    const std::int64_t leader = leader_of(call_, field, part, sums_);
    if (leader >= 0) select(static_cast<std::size_t>(leader));
    return leader >= 0;
}

std::string WholeTensorWriter::add_sums_apart(const PlannedParameter& parameter) {
    const std::string scalars = std::to_string(scalar_count(host().trailing));
    std::string first = "0";
    if (host().call_rank > 0)
        first = add_offset("kf_scratchat_" + argument_id(host()), SlotKind::scratch_stride) + " / " + scalars;
    std::string text = "uint64_t(" + args(SlotKind::scratch) + "), " + first + ", " +
                       args(SlotKind::scratch_count) + " / " + scalars;
    for_each_field(parameter, [&] {
        if (needs_scratch(host(), pass_, sums_)) add_tensor_scratch(tensor_view());
    });
    return text;
}

std::string WholeTensorWriter::add_view(const std::string& name, SlotKind address, StrideKinds strides,
                                        const std::string& prefix) {
    TensorView view = tensor_view();
    view.before = host().offset;
    // What the pass doesn't touch has extents all the same.
    if (address == SlotKind::address && !touches_data(host(), pass_)) {
        view.strides.assign(view.extents.size(), "0");
    } else {
        view.address = args(address);
        view.strides = inner_strides(view, strides.trailing);
        if (host().call_rank > 0) view.offset = add_offset(prefix + argument_id(host()), strides.call);
    }
    return add_view_local(name, view);
}

std::vector<std::string> WholeTensorWriter::inner_strides(const TensorView& view, SlotKind kind) const {
    if (std::get<manifest::kinds::WholeTensor>(host().kind).contiguous_only)
        return dense_inner_strides(view.extents, pitch());
    std::vector<std::string> strides;
    for (std::int64_t d = 0; d < host().inner_rank; ++d) strides.push_back(args(kind, d));
    return strides;
}

std::string WholeTensorWriter::add_grad_out_view(const std::string& name) {
    if (!needs_scratch(host(), pass_, sums_)) {
        return add_view(name, SlotKind::grad_out, grad_out_strides, "kf_gradat_");
    }
    TensorView view = tensor_view();
    view.address = args(SlotKind::scratch);
    view.scalar_bytes = sums_exactly() ? 8 * exact_words() : 4;
    view.strides = dense_inner_strides(view.extents, scalar_count(host().trailing));
    if (host().call_rank > 0) {
        view.offset = add_offset("kf_scratchat_" + argument_id(host()), SlotKind::scratch_stride);
    }
    add_tensor_scratch(view);
    return add_view_local(name, view);
}

TensorView WholeTensorWriter::tensor_view() const {
    TensorView view;
    view.scalar_bytes = manifest::scalar_bytes(host().element.scalar);
    const std::int64_t leader = leader_of(call_, index_, Part::data);
    for (std::int64_t d = 0; d < host().inner_rank; ++d)
        view.extents.push_back(argument_field(SlotKind::extent, leader, d));
    return view;
}

std::string WholeTensorWriter::add_view_local(const std::string& name, const TensorView& view) {
    add_local("const kf.View<" + std::to_string(host().inner_rank) + ">", name, view_initializer(view));
    return name;
}

void WholeTensorWriter::add_tensor_scratch(const TensorView& view) {
    View::List dimensions;
    const auto add = [&](const std::string& extent, const std::string& stride) {
        dimensions.emplace_back(View::Object{{"extent", extent}, {"stride", stride}});
    };
    std::vector<std::string> element = dense_strides();
    for (std::size_t i = 0; i < host().spacing.size(); ++i) element[i] = std::to_string(host().spacing[i]);
    for (std::size_t i = element.size(); i-- > 0;) add(std::to_string(host().trailing[i]), element[i]);
    const std::vector<std::string> strides = inner_strides(view, SlotKind::grad_out_trailing_stride);
    for (std::size_t i = strides.size(); i-- > 0;) add("int64_t(" + view.extents[i] + ")", strides[i]);
    add_call_dimensions(dimensions);
    add_scratch_walk(dimensions, true);
}

}  // namespace kf::gen

namespace kf::gen::kinds {

namespace {

std::string access_text(const WholeTensor& tensor, manifest::Role role) {
    switch (tensor.access) {
        case manifest::Access::read: break;
        case manifest::Access::write: return "written";
        case manifest::Access::read_write: return "read and written";
        case manifest::Access::add: return "added to";
    }
    return role_text(role);
}

}  // namespace

PythonTypes python_types(const WholeTensor&, const PlannedArgument&, bool) { return python_tensor_types; }

std::string described(const WholeTensor& tensor, const PlannedArgument& item) {
    return access_text(tensor, item.host.role) + ", " + tensor_text(item, tensor.contiguous_only);
}

}  // namespace kf::gen::kinds
