// Views of tensors in kernels.
#include "emit/kinds/whole_tensor.h"

#include <cstdint>
#include <vector>

#include "emit/element.h"
#include "emit/element_statements.h"
#include "emit/gradient_statements.h"
#include "emit/kinds/tensor.h"
#include "emit/tensor_argument.h"
#include "plan/types.h"

namespace kf::gen {

using manifest::Argument;
using manifest::RecordKind;

namespace {

/// One of the views that a tensor is made of, and the names that begin with what it is.
struct ViewPlace {
    RecordKind memory;
    const char* name;
    const char* offset;
};
constexpr ViewPlace data_view{RecordKind::data, "kf_view_", "kf_at_"};
constexpr ViewPlace grad_in_view{RecordKind::grad_in, "kf_flowview_", "kf_flowat_"};
constexpr ViewPlace grad_out_view{RecordKind::grad_out, "kf_gradview_", "kf_gradat_"};
/// Where stores take the gradient from, of what has one.
constexpr ViewPlace taken_view{RecordKind::grad_out, "kf_flowview_", "kf_flowat_"};

TensorView tensor_view(const ArgumentText& x) {
    TensorView view;
    view.scalar_bytes = manifest::scalar_bytes(x.host.element.scalar);
    const ArgumentText leader = x.leader(Part::data).value();
    for (std::int64_t d = 0; d < x.host.inner_rank; ++d) view.extents.push_back(leader.extent(d));
    return view;
}

std::vector<std::string> inner_strides(const ArgumentText& x, const TensorView& view, RecordKind kind) {
    if (std::get<manifest::kinds::WholeTensor>(x.host.kind).contiguous_only)
        return dense_inner_strides(view.extents, x.pitch());
    std::vector<std::string> strides;
    for (std::int64_t d = 0; d < x.host.inner_rank; ++d) strides.push_back(x.own_stride(kind, d));
    return strides;
}

std::string view_type(const ArgumentText& x) { return "kf.View<" + std::to_string(x.host.inner_rank) + ">"; }

std::string add_view_local(Body& body, const ArgumentText& x, const std::string& name,
                           const TensorView& view) {
    body.add_local("const " + view_type(x), name, view_initializer(view));
    return name;
}

/// `id`: the tensor's part of the name.
std::string add_view(Body& body, const ArgumentText& x, const std::string& id, const ViewPlace& place) {
    TensorView view = tensor_view(x);
    view.before = x.host.offset;
    // A tensor whose data the pass doesn't touch has extents all the same.
    if (place.memory == RecordKind::data && !touches_data(x.host, x.kernel.pass)) {
        view.strides.assign(view.extents.size(), "0");
    } else {
        view.address = x.address(place.memory);
        view.strides = inner_strides(x, view, place.memory);
        if (x.host.call_rank > 0) view.offset = body.add_offset(x, place.offset, place.memory);
    }
    return add_view_local(body, x, place.name + id, view);
}

/// The view of a whole tensor's tangent; empty where there is none.
std::string add_tangent_view(Body& body, const ArgumentText& primal) {
    std::string view;
    const std::vector<PlannedArgument>& arguments = primal.kernel.call.arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Argument& host = arguments[i].host;
        if (host.tangent_of != primal.index || !host.differentiable) continue;
        const ArgumentText tangent(primal.kernel, static_cast<std::int64_t>(i));
        view = add_view(body, tangent, tangent.id, data_view);
    }
    return view;
}

void add_tensor_scratch(Body& body, const ArgumentText& x, const TensorView& view) {
    View::List dimensions;
    const auto add = [&](const std::string& extent, const std::string& stride) {
        dimensions.emplace_back(View::Object{{"extent", extent}, {"stride", stride}});
    };
    std::vector<std::string> element = x.dense_strides();
    for (std::size_t i = 0; i < x.host.spacing.size(); ++i) element[i] = std::to_string(x.host.spacing[i]);
    for (std::size_t i = element.size(); i-- > 0;) add(std::to_string(x.host.trailing[i]), element[i]);
    const std::vector<std::string> strides = inner_strides(x, view, RecordKind::grad_out);
    for (std::size_t i = strides.size(); i-- > 0;)
        add(strides[i] + " == 0 ? 1 : int64_t(" + view.extents[i] + ")", strides[i]);
    add_call_dimensions(dimensions, x);
    add_scratch_walk(body, x, dimensions, true);
}

/// Halves are summed in floats beside the gradient.
std::string add_scratch_view(Body& body, const ArgumentText& x) {
    TensorView view = tensor_view(x);
    view.address = x.address(RecordKind::sums);
    view.scalar_bytes = x.sums_exactly() ? 8 * manifest::exact_words(x.host.element.scalar) : 4;
    view.strides = inner_strides(x, view, RecordKind::grad_out);
    if (x.host.call_rank > 0) view.offset = body.add_offset(x, "kf_scratchat_", RecordKind::sums);
    add_tensor_scratch(body, x, view);
    const std::string like = add_view_local(body, x, "kf_sumsview_" + x.id, view);
    std::string name = grad_out_view.name + x.id;
    body.add_local("const " + view_type(x), name,
                   "kf.sums_view(" + like + ", " + std::to_string(x.scalars() * view.scalar_bytes) + ")");
    return name;
}

/// Returns whether calls share elements of the gradient along dimensions of theirs; empty where there are
/// none.
std::string is_shared(const ArgumentText& x) {
    std::string text;
    for (const std::int64_t d : x.host.map) {
        text += (text.empty() ? "" : " || ") + ("(" + x.stride(RecordKind::grad_out, d) + " == 0 && ") +
                x.kernel.extent(d) + " > 1)";
    }
    return text;
}

/// Returns, for the field and those that follow, where their sums start, the number of the call's first
/// element among them, and how many elements there are.
std::string add_sums_apart(Body& body, const ArgumentText& field, const PlannedParameter& parameter) {
    const std::string scalars = std::to_string(field.scalars());
    std::string first = "0";
    if (field.host.call_rank > 0)
        first = body.add_offset(field, "kf_scratchat_", RecordKind::sums) + " / " + scalars;
    for (const ArgumentText& leaf : leaves_of(field.kernel, parameter)) {
        if (leaf.has_scratch()) add_tensor_scratch(body, leaf, tensor_view(leaf));
    }
    return "uint64_t(" + field.address(RecordKind::sums) + "), " + first + ", " +
           field.record(RecordKind::sums) + ".count" + " / " + scalars;
}

/// Declares the tensor itself, and returns its name.
std::string add_tensor_local(Body& body, const KernelContext& kernel, const Type& type, const std::string& id,
                             const TensorViews& views) {
    std::string name = "kf_arg_" + id;
    body.add_local("const " + declared_name(type), name,
                   tensor_initializer(type, views, kernel.pass == PassKind::forward));
    return name;
}

}  // namespace

std::string add_tensor(Body& body, const ArgumentText& x) {
    TensorViews views;
    views.data = add_view(body, x, x.id, data_view);
    if (reads_gradient(x.host, x.kernel.pass)) views.grad_in = add_view(body, x, x.id, grad_in_view);
    if (x.writes_gradient()) {
        if (has_one_gradient(x.host)) views.grad_in = add_view(body, x, x.id, taken_view);
        views.grad_out = x.has_scratch() ? add_scratch_view(body, x) : add_view(body, x, x.id, grad_out_view);
        views.is_shared = is_shared(x);
    }
    if (x.kernel.call.is_jvp) views.grad_in = views.grad_out = add_tangent_view(body, x);
    return add_tensor_local(body, x.kernel, x.planned.type, x.id, views);
}

std::string add_struct_tensor(Body& body, const KernelContext& kernel, const PlannedParameter& parameter) {
    TensorViews views;
    const std::string id = struct_id(parameter);
    const ArgumentText first(kernel, parameter.host.leaf);
    views.data = add_view(body, first, id, data_view);
    if (const auto field = first.leader(Part::gradient)) {
        if (reads_gradient(field->host, kernel.pass))
            views.grad_in = add_view(body, *field, id, grad_in_view);
        if (field->writes_gradient()) {
            views.grad_out = add_view(body, *field, id, grad_out_view);
            views.is_shared = is_shared(*field);
        }
        const auto summed = first.leader(Part::sums);
        if (!views.grad_out.empty() && summed) views.apart = add_sums_apart(body, *summed, parameter);
        if (kernel.call.is_jvp) views.grad_in = views.grad_out = add_tangent_view(body, *field);
    }
    return add_tensor_local(body, kernel, parameter.type, id, views);
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
        case manifest::Access::view: return tensor.only_read ? role_text(role) : "read or written";
    }
    return role_text(role);
}

}  // namespace

PythonTypes python_types(const WholeTensor&, const PlannedArgument&, bool) { return python_tensor_types; }

std::string described(const WholeTensor& tensor, const PlannedArgument& item) {
    return access_text(tensor, item.host.role) + ", " + tensor_text(item, tensor.contiguous_only);
}

}  // namespace kf::gen::kinds
