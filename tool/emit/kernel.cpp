// Writes the Slang source of one kernel.
#include "emit/kernel.h"

#include <algorithm>

#include "emit/block.h"
#include "emit/render.h"
#include "emit_templates.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::ArgumentKind;
using manifest::Element;
using manifest::Role;
using manifest::Scalar;
using manifest::SlotKind;
using manifest::Variant;

/// What every Vulkan device takes as push constants.
constexpr std::int64_t push_constant_limit = 128;

/// The strides of one of an argument's three tensors: its data, and the gradients in and out.
struct StrideKinds {
    SlotKind call;
    SlotKind trailing;
};
constexpr StrideKinds data_strides{SlotKind::stride, SlotKind::trailing_stride};
constexpr StrideKinds grad_in_strides{SlotKind::grad_in_stride, SlotKind::grad_in_trailing_stride};
constexpr StrideKinds grad_out_strides{SlotKind::grad_out_stride, SlotKind::grad_out_trailing_stride};

class KernelWriter {
public:
    explicit KernelWriter(const KernelRequest& request)
        : call_(request.call),
          plan_(request.plan),
          pass_(request.pass),
          strided_(request.variant == Variant::strided),
          target_(request.target),
          fields_(block_fields(request.call, request.pass, request.variant)) {}

    Outcome<EmittedKernel> write() {
        EmittedKernel kernel;
        kernel.name = call_.function + (pass_ == PassKind::forward ? ".forward" : ".backward") +
                      (strided_ ? ".strided" : ".contiguous");
        kernel.by_address = target_ == CodeTarget::spirv && std430_size(fields_) > push_constant_limit;
        for (const BlockField& field : fields_) {
            kernel.slots.push_back(field.slot);
            kernel.fields.push_back(field.name);
        }
        kernel.source.entry_point = "kf_" + kernel.name;
        std::replace(kernel.source.entry_point.begin(), kernel.source.entry_point.end(), '.', '_');
        kernel.source.origin = call_.location;
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) add_argument(i);
        Outcome<std::string> text =
            render("kernel.slang.mustache", templates::kernel_slang_mustache, View(view(kernel)));
        if (!text) return text.errors();
        kernel.source.text = std::move(text.value());
        return kernel;
    }

private:
    View::Object view(const EmittedKernel& kernel) {
        const auto list = [](const std::vector<std::string>& names) {
            View::List views;
            for (const std::string& name : names) {
                View::Object one;
                one.emplace("name", name);
                views.emplace_back(one);
            }
            return views;
        };
        View::Object view;
        view.emplace("title", kernel.name);
        view.emplace("imports", list(plan_.imports));
        View::List fields;
        for (const BlockField& field : fields_) {
            View::Object one;
            one.emplace("type", field.type);
            one.emplace("name", field.name);
            fields.emplace_back(one);
        }
        view.emplace("fields", fields);
        view.emplace("group_size", std::to_string(call_.group_size[0]));
        view.emplace("entry", kernel.source.entry_point);
        view.emplace("block", std::string(kernel.by_address ? "kf_Block*" : "kf_Block"));
        view.emplace("has_indices", strided_ && call_.rank > 0);
        view.emplace("indices", indices());
        view.emplace("offsets", offsets_);
        view.emplace("locals", locals_);
        view.emplace("call", call_expression());
        view.emplace("stores", stores_);
        view.emplace("gradients", gradients_);
        view.emplace("has_scratch", !scratches_.empty());
        view.emplace("scratches", scratches_);
        return view;
    }

    /// The call's index along each dimension, taken off the flat index from the last one on.
    View::List indices() const {
        View::List views;
        for (std::int64_t d = call_.rank - 1; strided_ && d >= 0; --d) {
            View::Object one;
            one.emplace("name", index_name(d));
            one.emplace("value", d == 0 ? std::string("kf_rest")
                                        : "kf.take_dimension(kf_rest, " +
                                              argument_field(SlotKind::shape, -1, d) + ")");
            views.emplace_back(one);
        }
        return views;
    }

    void add_argument(std::size_t position) {
        const PlannedArgument& planned = call_.arguments[position];
        const Argument& argument = planned.host;
        index_ = static_cast<std::int64_t>(position);
        if (pass_ == PassKind::forward) {
            add_forward(argument);
        } else {
            add_backward(planned);
        }
    }

    void add_forward(const Argument& argument) {
        const std::string name = "arg_" + argument_id(argument);
        if (argument.role == Role::in) {
            add_local("const " + type_of(argument), name, load(argument));
        } else if (argument.role == Role::inout) {
            add_local(type_of(argument), name, load(argument));
        } else {
            add_local(type_of(argument), name, {});
        }
        if (argument.role == Role::result) {
            result_ = name + " = ";
        } else {
            passed_.push_back(name);
        }
        if (argument.role != Role::in) add_store(argument, name);
    }

    /// How `bwd_diff` takes each parameter: a pair for a differentiable input, the gradient alone for a
    /// differentiable output, the plain value for any other input, and nothing for any other output.
    void add_backward(const PlannedArgument& planned) {
        const Argument& argument = planned.host;
        const std::string id = argument_id(argument);
        const bool input = argument.role == Role::in || argument.role == Role::inout;
        if (!argument.differentiable) {
            if (!input) return;
            add_local("const " + type_of(argument), "arg_" + id, load(argument));
            passed_.push_back("arg_" + id);
            return;
        }
        if (!input) {
            add_local("const " + type_of(argument), "grad_" + id, load_gradient(argument));
            passed_.push_back("grad_" + id);
            return;
        }
        std::string initial = "diffPair(" + load(argument);
        if (argument.role == Role::inout) initial += ", " + load_gradient(argument);
        add_local("var", "pair_" + id, initial + ")");
        passed_.push_back("pair_" + id);
        if (writes_gradient(argument, pass_)) add_gradient(argument);
    }

    void add_gradient(const Argument& argument) {
        const std::string id = argument_id(argument);
        const bool scratch = needs_scratch(argument, pass_);
        const std::string trailing =
            strided_ && !argument.trailing.empty() ? args(SlotKind::grad_out_trailing_stride, 0) : "1";
        std::string offset = "0";
        std::string shared_offset = "0";
        if (!strided_) {
            const std::int64_t count = scalar_count(argument.trailing);
            offset = count == 1 ? "kf_call" : "kf_call * " + std::to_string(count);
        } else if (argument.call_rank > 0) {
            offset = add_offset("kf_grad_out_at_" + id, argument, grad_out_strides.call);
            shared_offset =
                scratch ? add_offset("kf_scratch_at_" + id, argument, SlotKind::scratch_stride) : offset;
        }
        View::Object view;
        view.emplace("name", id);
        view.emplace("scalar", slang_name(argument.element.scalar));
        view.emplace("sum", std::string(argument.element.scalar == Scalar::float64 ? "double" : "float"));
        view.emplace("count", std::to_string(scalar_count(argument.trailing)));
        view.emplace("mode", field(SlotKind::grad_mode));
        view.emplace("target", field(SlotKind::grad_out));
        view.emplace("shared", field(scratch ? SlotKind::scratch : SlotKind::grad_out));
        view.emplace("pair", "pair_" + id);
        view.emplace("offset", offset);
        view.emplace("trailing", trailing);
        view.emplace("shared_offset", shared_offset);
        view.emplace("shared_trailing", scratch ? std::string("1") : trailing);
        gradients_.emplace_back(view);
        if (scratch) add_scratch(argument, trailing);
    }

    /// The last group walks the scratch in its dense order and finds each scalar's place in the gradient.
    void add_scratch(const Argument& argument, const std::string& trailing) {
        View::Object view;
        view.emplace("count", field(SlotKind::scratch_count));
        view.emplace("target", field(SlotKind::grad_out));
        view.emplace("scratch", field(SlotKind::scratch));
        view.emplace("at", std::string(strided_ ? "kf_at" : "kf_scalar"));
        View::List decoded;
        View::List dimensions;
        if (strided_) {
            View::Object one;
            one.emplace("components", std::to_string(scalar_count(argument.trailing)));
            one.emplace("trailing", trailing);
            decoded.emplace_back(one);
            for (const std::int64_t d : own_order(argument)) {
                View::Object dimension;
                dimension.emplace("scratch_stride", field(SlotKind::scratch_stride, d));
                dimension.emplace("shape", field_of(fields_, SlotKind::shape, -1, d));
                dimension.emplace("grad_stride", field(SlotKind::grad_out_stride, d));
                dimensions.emplace_back(dimension);
            }
        }
        view.emplace("decoded", decoded);
        view.emplace("dimensions", dimensions);
        scratches_.emplace_back(view);
    }

    /// The call dimensions of an argument, its own last one first.
    static std::vector<std::int64_t> own_order(const Argument& argument) {
        return {argument.map.rbegin(), argument.map.rend()};
    }

    std::string call_expression() const {
        std::string text =
            pass_ == PassKind::forward ? result_ + call_.function + "(" : "bwd_diff(" + call_.function + ")(";
        for (std::size_t i = 0; i < passed_.size(); ++i) text += (i > 0 ? ", " : "") + passed_[i];
        return text + ")";
    }

    // ---- One argument's data ----

    std::string load(const Argument& argument) {
        const Element element{argument.element.scalar, argument.trailing};
        if (argument.kind == ArgumentKind::value && argument.role == Role::in) {
            return narrowed(args(SlotKind::value), element);
        }
        return from_storage(load_from(SlotKind::address, data_strides, "kf_at_", argument, element), element);
    }

    std::string load_gradient(const Argument& argument) {
        const Element element{argument.element.scalar, argument.trailing};
        const std::string loaded =
            load_from(SlotKind::grad_in, grad_in_strides, "kf_grad_in_at_", argument, element);
        // A missing output gradient means 1.
        return args(SlotKind::grad_in) + " != nullptr ? " + loaded + " : " + slang_name(element) + "(1)";
    }

    std::string load_from(SlotKind address, StrideKinds strides, const std::string& prefix,
                          const Argument& argument, const Element& element) {
        if (!strided_ && is_read_by_scalars(argument)) {
            return "kf.load<half, 3>(" + args(address) + " + " + contiguous_index(argument) + " * 3, 1)";
        }
        if (!strided_) return args(address) + "[" + contiguous_index(argument) + "]";
        const std::string offset = argument.call_rank == 0
                                       ? std::string("0")
                                       : add_offset(prefix + argument_id(argument), argument, strides.call);
        if (element.extents.empty()) return args(address) + "[" + offset + "]";
        const Scalar stored = element.scalar == Scalar::boolean ? Scalar::uint8 : element.scalar;
        return "kf.load<" + slang_name(stored) + ", " + std::to_string(scalar_count(element.extents)) + ">(" +
               args(address) + " + " + offset + ", " + args(strides.trailing, 0) + ")";
    }

    void add_store(const Argument& argument, const std::string& name) {
        const Element element{argument.element.scalar, argument.trailing};
        const std::string value = to_storage(name, element);
        View::Object view;
        if (!strided_ && is_read_by_scalars(argument)) {
            view.emplace("statement", "kf.store(" + args(SlotKind::address) + " + " +
                                          contiguous_index(argument) + " * 3, 1, " + value + ")");
        } else if (!strided_) {
            view.emplace("statement",
                         args(SlotKind::address) + "[" + contiguous_index(argument) + "] = " + value);
        } else {
            const std::string offset = argument.call_rank == 0 ? std::string("0")
                                                               : add_offset("kf_at_" + argument_id(argument),
                                                                            argument, SlotKind::stride);
            const std::string target = args(SlotKind::address);
            view.emplace("statement", element.extents.empty()
                                          ? target + "[" + offset + "] = " + value
                                          : "kf.store(" + target + " + " + offset + ", " +
                                                args(SlotKind::trailing_stride, 0) + ", " + value + ")");
        }
        stores_.emplace_back(view);
    }

    std::string contiguous_index(const Argument& argument) const {
        if (argument.role != Role::in) return "kf_call";
        if (argument.call_rank == 0) return "0";
        return "kf_call * " + args(SlotKind::step);
    }

    static std::string from_storage(const std::string& loaded, const Element& element) {
        return element.scalar == Scalar::boolean ? loaded + " != 0" : loaded;
    }

    static std::string to_storage(const std::string& value, const Element& element) {
        if (element.scalar != Scalar::boolean) return value;
        return slang_name(Element{Scalar::uint8, element.extents}) + "(" + value + ")";
    }

    static std::string narrowed(const std::string& value, const Element& element) {
        switch (element.scalar) {
            case Scalar::boolean: return value + " != 0";
            case Scalar::int8:
            case Scalar::int16:
            case Scalar::uint8:
            case Scalar::uint16:
            case Scalar::float16: return slang_name(element) + "(" + value + ")";
            default: return value;
        }
    }

    // ---- Names ----

    static std::string index_name(std::int64_t dimension) { return "kf_index" + std::to_string(dimension); }

    static std::string type_of(const Argument& argument) {
        return slang_name(Element{argument.element.scalar, argument.trailing});
    }

    const std::string& field(SlotKind kind, std::int64_t dimension = -1) const {
        return field_of(fields_, kind, index_, dimension);
    }

    std::string args(SlotKind kind, std::int64_t dimension = -1) const {
        return "kf_args." + field(kind, dimension);
    }

    std::string argument_field(SlotKind kind, std::int64_t argument, std::int64_t dimension) const {
        return "kf_args." + field_of(fields_, kind, argument, dimension);
    }

    /// Declares where the call's element lies, once, and returns the name.
    std::string add_offset(const std::string& name, const Argument& argument, SlotKind stride) {
        if (std::find(offset_names_.begin(), offset_names_.end(), name) != offset_names_.end()) return name;
        std::vector<std::int64_t> dimensions = argument.map;
        std::sort(dimensions.begin(), dimensions.end());
        std::string value;
        for (const std::int64_t d : dimensions) {
            value += (value.empty() ? "" : " + ") + index_name(d) + " * " + args(stride, d);
        }
        View::Object view;
        view.emplace("name", name);
        view.emplace("value", value);
        offsets_.emplace_back(view);
        offset_names_.push_back(name);
        return name;
    }

    void add_local(const std::string& type, const std::string& name, const std::string& initial) {
        View::Object view;
        view.emplace("type", type);
        view.emplace("name", name);
        View::List value;
        if (!initial.empty()) {
            View::Object text;
            text.emplace("text", initial);
            value.emplace_back(text);
        }
        view.emplace("initial", value);
        locals_.emplace_back(view);
    }

    const PlannedCall& call_;
    const Plan& plan_;
    PassKind pass_;
    bool strided_;
    CodeTarget target_;
    std::vector<BlockField> fields_;

    std::int64_t index_ = 0;  ///< of the argument being written
    std::vector<std::string> passed_;
    std::string result_;
    std::vector<std::string> offset_names_;
    View::List offsets_;
    View::List locals_;
    View::List stores_;
    View::List gradients_;
    View::List scratches_;
};

}  // namespace

Outcome<EmittedKernel> emit_kernel(const KernelRequest& request) { return KernelWriter(request).write(); }

}  // namespace kf::gen
