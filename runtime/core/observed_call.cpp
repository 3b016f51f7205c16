// What a call reads and writes.
#include "core/observed_call.h"

#include <algorithm>
#include <cstring>

#include "core/bind_error.h"
#include "core/convert.h"
#include "core/host_scalars.h"
#include "core/items.h"
#include "core/kinds/binding.h"
#include "core/leaf_args.h"
#include "core/module_state.h"
#include "core/pass_text.h"
#include "core/tensor_state.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// One value of the host's, or a gradient of one.
ScalarView host_view(const Argument& argument, const void* value) {
    return {true, reinterpret_cast<std::uintptr_t>(value), Dims(argument.element.extents),
            Dims(host_strides(argument))};
}

std::uint64_t texel_bytes(const AnyTexture& texture) {
    std::uint64_t bytes = 0;
    for (std::int64_t mip = 0; mip < texture.shape().mips; ++mip) bytes += texture.mip(mip).size_bytes();
    return bytes;
}

/// Elements that are shared along a dimension count once.
std::uint64_t scalar_count(const ScalarView& view) {
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < view.extents.size(); ++d) {
        const bool is_shared = view.strides[d] == 0 && view.extents[d] > 1;
        count *= is_shared ? 1 : static_cast<std::uint64_t>(view.extents[d]);
    }
    return count;
}

}  // namespace

const manifest::Function& ObservedCall::function() const {
    return function_.module->manifest().functions[function_.function];
}

const std::string& ObservedCall::function_name() const { return function().name; }

const char* ObservedCall::pass_name() const {
    return pass_ == PassKind::forward && manifest::is_jvp(function()) ? "jvp" : to_string(pass_);
}

std::string ObservedCall::label() const {
    std::string text = pass_of(function_name(), pass_name());
    bool has_names = false;
    for (const ObservedView& view : views_) {
        if (view.tensor.empty() || view.is_gradient) continue;
        text += (has_names ? ", " : "(") + call().arguments[view.leaf].name + "='" + view.tensor + "'";
        has_names = true;
    }
    return has_names ? text + ")" : text;
}

std::string ObservedCall::name_of(const ObservedView& view) const {
    std::string text = view.is_gradient ? "the gradient of argument '" : "argument '";
    text += call().arguments[view.leaf].name + "'";
    return view.tensor.empty() ? text : text + " (tensor '" + view.tensor + "')";
}

void ObservedCall::add_given(std::span<const Arg> items) {
    if (!gives_structs(call(), items.size())) {
        for (std::size_t i = 0; i < std::min(items.size(), call().arguments.size()); ++i)
            add_leaf(i, items[i]);
    } else {
        std::pmr::vector<Arg> leaves;
        add_leaves(call(), items, leaves);
        for (std::size_t i = 0; i < leaves.size(); ++i) add_leaf(i, leaves[i]);
    }
    for (const auto* told : {&function_.options.reads, &function_.options.writes}) {
        for (const AnyTensor& memory : *told) {
            if (!memory || memory.element().struct_size != 0) continue;
            const auto is_pointer = [](const Argument& argument) {
                return passed_as(argument) == manifest::HostPassing::pointer;
            };
            const auto leaf = std::ranges::find_if(call().arguments, is_pointer);
            if (leaf == call().arguments.end()) continue;
            const bool is_written = told == &function_.options.writes;
            add_elements(static_cast<std::size_t>(leaf - call().arguments.begin()), memory, true, is_written,
                         true);
        }
    }
}

void ObservedCall::add_made(std::span<const Arg> items) {
    for (std::size_t item = 0; item < std::min(items.size(), call().items.size()); ++item) {
        const auto first = manifest::leaf_of(call(), item);
        const Arg& arg = items[item];
        if (arg.kind == Arg::Kind::value && arg.pushed != nullptr && *arg.pushed && runs_backward(pass_)) {
            add_gradient(first, *arg.pushed, false, true);
        }
        if (arg.allocated_texture) add_texture(first, arg.allocated_texture);
        if (!arg.allocated || arg.kind == Arg::Kind::value) continue;
        for (std::size_t i = first; i < first + static_cast<std::size_t>(call().items[item].leaves); ++i) {
            // Nobody knows what a part that the call left alone held.
            if (!has_free_access(call().arguments[i])) add_elements(i, arg.allocated, false, true, false);
        }
    }
}

void ObservedCall::add_leaf(std::size_t i, const Arg& arg) {
    switch (arg.kind) {
        case Arg::Kind::value: return add_value(i, arg);
        case Arg::Kind::tensor: return add_tensor(i, *arg.tensor);
        case Arg::Kind::texture: return add_texture(i, *arg.texture);
        case Arg::Kind::pointer:
            if (arg.tensor != nullptr && *arg.tensor && arg.tensor->element().struct_size == 0) {
                add_elements(i, *arg.tensor, true, may_write_through(call().arguments[i]), true);
            }
            return;
        default: return;
    }
}

void ObservedCall::add_value(std::size_t i, const Arg& arg) {
    const Argument& argument = call().arguments[i];
    if (!passes_value(argument)) return;
    const auto add = [&](const void* value, bool is_gradient, bool is_read, bool is_written) {
        if (value == nullptr) return;
        ObservedView& view = views_.emplace_back();
        view.leaf = i;
        view.is_gradient = is_gradient;
        view.is_read = is_read;
        view.is_written = is_written;
        view.scalar = argument.element.scalar;
        view.scalars = host_view(argument, value);
    };
    if (is_input(argument)) add(arg.value, false, true, false);
    if (is_output(argument) && runs_forward(pass_)) add(arg.out_value, false, false, true);
    if (runs_backward(pass_)) add(arg.gradient, true, true, is_input(argument));
}

void ObservedCall::add_tensor(std::size_t i, const AnyTensor& tensor) {
    const Argument& argument = call().arguments[i];
    if (touches_elements(argument, pass_)) {
        const bool is_zeroed = is_combined(argument) && runs_forward(pass_);
        add_elements(i, tensor, depends_on_elements(argument) && !is_zeroed, stores_elements(argument, pass_),
                     has_free_access(argument));
    }
    if (!runs_backward(pass_)) return;
    if (reads_gradient(argument, pass_)) add_gradient(i, tensor.grad_in(), true, false);
    if (writes_gradient(argument, pass_) && !is_combined(argument)) {
        const bool is_new = tensor.state()->grad_is_new || argument.overwrite;
        add_gradient(i, has_one_gradient(argument) ? tensor.grad() : tensor.grad_out(), !is_new, true);
    }
}

void ObservedCall::add_elements(std::size_t i, const AnyTensor& tensor, bool is_read, bool is_written,
                                bool keeps_rest) {
    const Argument& argument = call().arguments[i];
    const bool is_field = argument.pitch != 0;
    // What the bytes of a struct are that is no field's only the function knows.
    if (tensor.size() == 0 || (!is_field && tensor.element().struct_size != 0)) return;
    ObservedView& view = views_.emplace_back();
    view.leaf = i;
    view.is_read = is_read;
    view.is_written = is_written;
    view.keeps_rest = keeps_rest;
    view.scalar = is_field ? argument.element.scalar : tensor.element().scalar;
    view.scalars = is_field ? flatten_field(tensor, argument) : flatten(tensor);
    view.allocation = tensor.state()->allocation;
    view.tensor = tensor.name();
}

void ObservedCall::add_gradient(std::size_t i, const AnyTensor& gradient, bool is_read, bool is_written) {
    if (!gradient) return;
    const std::size_t before = views_.size();
    add_elements(i, gradient, is_read, is_written, false);
    for (std::size_t v = before; v < views_.size(); ++v) views_[v].is_gradient = true;
}

void ObservedCall::add_texture(std::size_t i, const AnyTexture& texture) {
    const Argument& argument = call().arguments[i];
    if (!texture) return;
    ObservedView& view = views_.emplace_back();
    view.leaf = i;
    view.is_read = depends_on_elements(argument);
    view.is_written = stores_elements(argument, pass_);
    view.keeps_rest = true;
    view.scalar = info_of(texture.format()).scalar;
    view.texture = texture;
}

void ObservedCall::own_values() {
    for (ObservedView& view : views_) {
        if (view.allocation != nullptr || view.texture || view.copy != nullptr) continue;
        keep(view, reinterpret_cast<const void*>(view.scalars.address),
             host_strides(call().arguments[view.leaf]));
    }
}

void ObservedCall::keep(ObservedView& view, const void* value, const std::vector<std::int64_t>& strides) {
    const Argument& argument = call().arguments[view.leaf];
    view.copy = std::make_shared<std::vector<std::byte>>();
    for_each_scalar(argument, strides, [&](const auto&, std::int64_t at) {
        const std::byte* const first = static_cast<const std::byte*>(value) + at;
        view.copy->insert(view.copy->end(), first, first + size_of(view.scalar));
    });
    view.scalars.address = reinterpret_cast<std::uintptr_t>(view.copy->data());
    view.scalars.strides = Dims(packed_strides(argument));
}

void ObservedCall::exchange(std::size_t leaf, const Arg& arg) {
    for (ObservedView& view : views_) {
        if (view.leaf != leaf) continue;
        if (view.texture && arg.texture != nullptr) {
            view.texture = *arg.texture;
        } else if (view.allocation == nullptr && !view.texture && arg.value != nullptr) {
            keep(view, arg.value, packed_strides(call().arguments[leaf]));
        }
    }
}

std::uint64_t ObservedCall::bytes() const {
    std::uint64_t bytes = 0;
    for (const ObservedView& view : views_) {
        if (view.allocation == nullptr && !view.texture) continue;
        const std::uint64_t size =
            view.texture ? texel_bytes(view.texture) : scalar_count(view.scalars) * size_of(view.scalar);
        bytes += size * ((view.is_read ? 1 : 0) + (view.is_written ? 1 : 0));
    }
    return bytes;
}

}  // namespace kf::detail
