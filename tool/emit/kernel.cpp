// Writes the Slang source of one kernel.
#include "emit/kernel.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/block_slots.h"
#include "emit/adapter.h"
#include "emit/block.h"
#include "emit/element_writer.h"
#include "emit/generator.h"
#include "emit/kernel_text.h"
#include "emit/render.h"
#include "emit/tensor_argument.h"
#include "emit/tensor_elements.h"
#include "emit_templates.h"
#include "plan/tensor_parameter.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::Role;
using manifest::SlotKind;

/// What the entry point takes, by manifest::Passing. Devices read uniform buffers as fast as push constants;
/// memory they must read again after each store.
constexpr std::array<std::string_view, 3> block_types = {
    "kf_Block", "ConstantBuffer<kf_Block, ScalarDataLayout>", "kf_Block*"};

static_assert(block_types.size() == manifest::passing_names.size());

/// Kernels that walk rows hold many values: with fewer threads on a multiprocessor than this they are slower.
constexpr std::uint32_t row_threads = 1024;

class KernelWriter : ElementWriter {
public:
    explicit KernelWriter(const KernelRequest& request)
        : ElementWriter(request.call, request.pass, request.variant,
                        block_fields(request.call, request.pass, request.variant, request.sums)),
          plan_(request.plan),
          target_(request.target),
          sums_(request.sums) {}

    Outcome<EmittedKernel> write() {
        EmittedKernel kernel;
        kernel.name = call_.function + pass_name(call_, pass_) + (is_exact() ? ".deterministic" : "") +
                      (rows_      ? ".rows"
                       : strided_ ? ".strided"
                                  : ".contiguous");
        if (target_ == CodeTarget::spirv) kernel.passing = manifest::vulkan_passing(std430_size(fields_));
        for (const BlockField& field : fields_) {
            kernel.slots.push_back(field.slot);
            kernel.fields.push_back(field.name);
        }
        kernel.source.entry_point = "kf_" + identifier(kernel.name);
        kernel.source.origin = call_.location;
        if (pass_ != PassKind::forward || call_.is_jvp) kernel.source.hint = backward_hint(call_);
        if ((!strided_ || rows_) && call_.rank > 0) whole_run_ = run_of(call_, rows_, is_exact());
        kernel.calls_per_thread = static_cast<std::uint32_t>(whole_run_.length);
        if (rows_) kernel.resident_groups = std::max(1U, row_threads / call_.group_size[0]);
        const View::Object single = rows_ ? View::Object() : write_body(1);
        const View::Object run = whole_run_.length > 1 ? write_body(whole_run_.length) : View::Object();
        Outcome<std::string> elements = tensor_element_functions(call_, pass_, sums_);
        if (!elements) return elements.errors();
        if (!elements.value().empty()) elements_.emplace_back(View::Object{{"text", elements.value()}});
        Outcome<std::string> text = render("kernel.slang.mustache", templates::kernel_slang_mustache,
                                           View(view(kernel, single, run)));
        if (!text) return text.errors();
        kernel.source.text = std::move(text.value());
        return kernel;
    }

private:
    /// What is written for one call, or for `run` calls at a time.
    View::Object write_body(std::int64_t run) {
        run_ = run;
        for (View::List* list :
             {&offsets_, &steps_, &wholes_, &row_gradients_, &locals_, &stores_, &shared_, &kept_, &loads_,
              &run_loads_, &run_stores_, &results_, &adds_, &gradients_, &scratches_}) {
            list->clear();
        }
        passed_.clear();
        primal_.clear();
        offset_names_.clear();
        scratch_targets_.clear();
        row_offsets_.clear();
        whole_rows_.clear();
        for (const PlannedParameter& parameter : call_.parameters) {
            if (parameter.tangent_of < 0) add_parameter(parameter);
        }
        View::Object body{{"locals", locals_}, {"calls", calls()},     {"stores", stores_},
                          {"adds", adds_},     {"indices", indices()}, {"has_indices", has_indices()}};
        if (run > 1) {
            body.emplace("shared", shared_);
            body.emplace("kept", kept_);
            body.emplace("has_loads", !loads_.empty());
            body.emplace("loads", loads_);
            body.emplace("run_loads", run_loads_);
            body.emplace("run_stores", run_stores_);
            body.emplace("results", results_);
            body.emplace("has_stores", !stores_.empty());
            body.emplace("generates", generates());
        } else {
            body.emplace("offsets", offsets_);
        }
        return body;
    }

    View::Object view(const EmittedKernel& kernel, const View::Object& single, const View::Object& run) {
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
        view.emplace("imports",
                     list(imports_of(plan_, call_,
                                     {is_exact(), keeps_sums(), whole_run_.beside > 1, sums_integers()})));
        view.emplace("is_exact", is_exact());
        view.emplace("keeps_sums", keeps_sums());
        View::List fields;
        for (const BlockField& field : fields_) {
            View::Object one;
            one.emplace("type", field.type);
            one.emplace("name", field.name);
            fields.emplace_back(one);
        }
        view.emplace("fields", fields);
        view.emplace("adapters", adapters(call_));
        view.emplace("element_functions", elements_);
        view.emplace("group_size", std::to_string(call_.group_size[0]));
        view.emplace("entry", kernel.source.entry_point);
        view.emplace("block", std::string(block_types.at(static_cast<std::size_t>(kernel.passing))));
        view.emplace("in_rows", rows_);
        view.emplace("in_runs", !rows_ && whole_run_.length > 1);
        view.emplace("in_turn", !rows_ && whole_run_.length == 1);
        view.emplace("row_dimensions", rows_ ? row_dimensions() : View::List());
        view.emplace("row_offsets", rows_ ? offsets_ : View::List());
        view.emplace("steps", steps_);
        view.emplace("wholes", wholes_);
        view.emplace("row_gradients", row_gradients_);
        view.emplace("run", std::to_string(whole_run_.length));
        view.emplace("run_calls", std::to_string(whole_run_.length * call_.group_size[0]));
        view.emplace("call_place", whole_run_.place(call_.group_size[0]));
        view.emplace("in_quads", whole_run_.beside > 1);
        view.emplace("single", single);
        view.emplace("body", run);
        view.emplace("gradients", gradients_);
        view.emplace("has_scratch", !scratches_.empty());
        view.emplace("scratches", scratches_);
        return view;
    }

    /// The call's index along each dimension, taken off the flat index from the last one on.
    View::List indices() const {
        View::List views;
        for (std::int64_t d = call_.rank - 1; has_indices() && !rows_ && d >= 0; --d) {
            View::Object one;
            one.emplace("name", index_name(d));
            one.emplace("value", d == 0 ? std::string("kf_rest")
                                        : "kf.take_dimension(kf_rest, " +
                                              argument_field(SlotKind::shape, -1, d) + ")");
            views.emplace_back(one);
        }
        return views;
    }

    /// The same for a row's number, with what each index adds to.
    View::List row_dimensions() const {
        View::List views;
        for (std::int64_t d = call_.rank - 1; d >= 0; --d) {
            const auto adds = row_offsets_.find(d);
            if (d == 0 && adds == row_offsets_.end()) continue;
            View::List outer;
            if (d > 0) outer.emplace_back(View::Object{{"extent", argument_field(SlotKind::outer, -1, d)}});
            views.emplace_back(
                View::Object{{"outer", outer},
                             {"outermost", d == 0},
                             {"adds", adds == row_offsets_.end() ? View::List() : adds->second}});
        }
        return views;
    }

    bool sums_integers() const {
        return std::any_of(
            call_.arguments.begin(), call_.arguments.end(), [&](const PlannedArgument& argument) {
                return writes_gradient(argument.host, pass_) && !is_floating(argument.host.element.scalar);
            });
    }

    /// Gradients of tensors that the function reads itself, where many lanes may add to one element.
    bool keeps_sums() const {
        if (is_exact() || call_.group_size[0] < manifest::usual_lanes) return false;
        return std::any_of(call_.arguments.begin(), call_.arguments.end(),
                           [&](const PlannedArgument& argument) {
                               const ScalarType scalar = argument.host.element.scalar;
                               return is_whole(argument.host) && writes_gradient(argument.host, pass_) &&
                                      (scalar == ScalarType::float16 || scalar == ScalarType::float32);
                           });
    }

    bool generates() const {
        return std::any_of(call_.arguments.begin(), call_.arguments.end(),
                           [](const PlannedArgument& argument) { return is_generator(argument.host); });
    }

    void add_parameter(const PlannedParameter& parameter) {
        if (call_.is_jvp && parameter.type.differentiable && !parameter.no_diff) {
            add_pair(parameter);
        } else if (parameter.host.form == manifest::Form::leaf) {
            add_argument(static_cast<std::size_t>(parameter.host.leaf));
        } else if (holds_struct_tensor(parameter)) {
            select(static_cast<std::size_t>(parameter.host.leaf));
            passed_.push_back(add_struct_tensor(parameter));
            primal_.push_back(passed_.back());
        } else if (pass_ == PassKind::forward) {
            add_struct_forward(parameter);
        } else {
            add_struct_backward(parameter);
            if (pass_ == PassKind::fused) add_struct_primal(parameter);
        }
    }

    void add_argument(std::size_t position) {
        select(position);
        if (is_whole(host())) {
            passed_.push_back(add_tensor());
            primal_.push_back(passed_.back());
        } else if (pass_ == PassKind::forward) {
            add_forward();
        } else {
            add_backward();
            if (pass_ == PassKind::fused) add_primal();
        }
    }

    /// What a fused kernel hands to the function itself, beside what its derivative gets.
    void add_primal() {
        const std::string id = argument_id(host());
        if (host().role == Role::in) {
            primal_.push_back(host().differentiable ? "kf_pair_" + id + ".p" : "kf_arg_" + id);
            return;
        }
        add_local(slang_type(), "kf_arg_" + id, {});
        if (host().role == Role::result) {
            result_ = "kf_arg_" + id + " = ";
        } else {
            primal_.push_back("kf_arg_" + id);
        }
        add_output("kf_arg_" + id);
    }

    void add_struct_primal(const PlannedParameter& parameter) {
        const std::string name = "kf_arg_" + struct_id(parameter);
        if (parameter.role == Role::out) {
            add_struct_local(parameter, name, Source::data);
            for_each_field(parameter, [&] { add_output(name + planned_->path); });
        }
        primal_.push_back(name);
    }

    void add_forward() {
        const std::string name = "kf_arg_" + argument_id(host());
        if (host().role == Role::in) {
            add_loaded("const ", name, Source::data);
        } else if (host().role == Role::inout) {
            add_loaded("", name, Source::data);
        } else {
            add_local(slang_type(), name, {});
        }
        if (host().role == Role::result) {
            result_ = name + " = ";
        } else {
            passed_.push_back(name);
        }
        if (host().role != Role::in) add_output(name);
    }

    /// Where calls are combined, what one gives is added as its gradient would be.
    void add_output(const std::string& name) {
        if (writes_gradient(host(), pass_) && is_combined(host())) return add_gradient(name);
        add_store(name);
    }

    /// How `bwd_diff` takes each parameter: a pair for a differentiable input, the gradient alone for a
    /// differentiable output, the plain value for any other input, and nothing for any other output.
    void add_backward() {
        const std::string id = argument_id(host());
        const bool input = host().role == Role::in || host().role == Role::inout;
        if (!host().differentiable) {
            if (!input) return;
            add_loaded("const ", "kf_arg_" + id, Source::data);
            passed_.push_back("kf_arg_" + id);
            return;
        }
        if (!input) {
            add_loaded("const ", "kf_grad_" + id, Source::gradient);
            passed_.push_back("kf_grad_" + id);
            return;
        }
        std::string pair = is_looped(*planned_) ? add_loaded("", "kf_arg_" + id, Source::data) : load();
        if (host().role == Role::inout) {
            pair += ", " + (is_looped(*planned_) ? add_loaded("", "kf_grad_" + id, Source::gradient)
                                                 : load_gradient());
        }
        add_local("var", "kf_pair_" + id, "diffPair(" + pair + ")");
        passed_.push_back("kf_pair_" + id);
        if (writes_gradient(host(), pass_)) add_gradient("kf_pair_" + id + ".d");
    }

    // ---- Structs: a local of the function's own type, and a load or store for each field ----

    template <class Visit>
    void for_each_field(const PlannedParameter& parameter, Visit visit) {
        for (std::int64_t i = parameter.host.leaf; i < parameter.host.leaf + parameter.host.leaves; ++i) {
            select(static_cast<std::size_t>(i));
            visit();
        }
    }

    static std::string struct_id(const PlannedParameter& parameter) {
        return parameter.role == Role::result ? "return" : parameter.host.name;
    }

    /// Declares a local of the struct's type and fills its fields: with the data, or with the gradients that
    /// flow in.
    void add_struct_local(const PlannedParameter& parameter, const std::string& name, Source source) {
        View::List fills;
        for_each_field(parameter, [&] {
            const bool gradient = source == Source::gradient;
            if (parameter.tangent_of >= 0 && (!host().differentiable || is_whole(host()))) return;
            if (gradient ? !host().differentiable || is_whole(host()) : !is_read(host())) return;
            const std::string field = name + planned_->path;
            std::string statement;
            if (is_whole(host())) {
                statement = field + " = " + add_tensor();
            } else if (gradient && !reads_gradient(host(), pass_)) {
                // What the call makes of a field that isn't written goes nowhere.
                statement = is_looped(*planned_)
                                ? loop(subscripted(field) + " = " + to_string(host().element.scalar) + "(0)")
                                : field + " = " + slang_type() + "(0)";
            } else if (is_looped(*planned_) && is_generator(host())) {
                statement = field + " = " + add_generated("", "kf_made_" + argument_id(host()));
            } else if (is_looped(*planned_)) {
                statement =
                    loop(subscripted(field) + " = " + (gradient ? load_gradient_scalar() : load_scalar()));
            } else {
                statement = field + " = " + (gradient ? load_gradient() : load());
            }
            fills.emplace_back(View::Object{{"statement", statement}});
        });
        std::string type = declared_name(parameter.type);
        if (source == Source::gradient || parameter.tangent_of >= 0) type = differential_name(parameter.type);
        locals_.emplace_back(
            View::Object{{"type", type}, {"name", name}, {"initial", View::List{}}, {"fill", fills}});
    }

    static bool is_read(const Argument& argument) {
        return argument.role == Role::in || argument.role == Role::inout;
    }

    void add_struct_forward(const PlannedParameter& parameter) {
        const std::string name = "kf_arg_" + struct_id(parameter);
        add_struct_local(parameter, name, Source::data);
        if (parameter.role == Role::result) {
            result_ = name + " = ";
        } else {
            passed_.push_back(name);
        }
        for_each_field(parameter, [&] {
            if (host().role != Role::in) add_output(name + planned_->path);
        });
    }

    void add_struct_backward(const PlannedParameter& parameter) {
        const std::string id = struct_id(parameter);
        const bool input = parameter.role == Role::in || parameter.role == Role::inout;
        const bool differentiable = parameter.type.differentiable && !parameter.no_diff;
        if (!differentiable && !input) return;
        if (!input) {
            add_struct_local(parameter, "kf_grad_" + id, Source::gradient);
            passed_.push_back("kf_grad_" + id);
            return;
        }
        add_struct_local(parameter, "kf_arg_" + id, Source::data);
        if (!differentiable) {
            passed_.push_back("kf_arg_" + id);
            return;
        }
        std::string pair = "kf_arg_" + id;
        if (parameter.role == Role::inout) {
            add_struct_local(parameter, "kf_grad_" + id, Source::gradient);
            pair += ", kf_grad_" + id;
        }
        add_local("var", "kf_pair_" + id, "diffPair(" + pair + ")");
        passed_.push_back("kf_pair_" + id);
        for_each_field(parameter, [&] {
            if (writes_gradient(host(), pass_) && !is_whole(host()))
                add_gradient("kf_pair_" + id + ".d" + planned_->path);
        });
    }

    // ---- Forward derivatives ----

    /// `fwd_diff` takes a pair of what is differentiable and its tangent, and gives such pairs.
    void add_pair(const PlannedParameter& parameter) {
        const bool leaf = parameter.host.form == manifest::Form::leaf;
        const std::string id =
            leaf ? argument_id(call_.arguments[static_cast<std::size_t>(parameter.host.leaf)].host)
                 : struct_id(parameter);
        const std::string pair = "kf_pair_" + id;
        if (parameter.role == Role::in || parameter.role == Role::inout) {
            std::string values = add_read(parameter, "kf_arg_" + id);
            if (const PlannedParameter* tangent = tangent_of(parameter, Role::in))
                values += ", " + add_read(*tangent, "kf_d_" + id);
            add_local("var", pair, "diffPair(" + values + ")");
        } else {
            add_local("DifferentialPair<" + declared_name(parameter.type) + ">", pair, {});
        }
        if (parameter.role == Role::result) {
            result_ = pair + " = ";
        } else {
            passed_.push_back(pair);
        }
        if (parameter.role == Role::in) return;
        add_stores(parameter, pair + ".p");
        if (const PlannedParameter* tangent = tangent_of(parameter, Role::out))
            add_stores(*tangent, pair + ".d");
    }

    const PlannedParameter* tangent_of(const PlannedParameter& parameter, Role role) const {
        const std::int64_t index = &parameter - call_.parameters.data();
        for (const PlannedParameter& other : call_.parameters) {
            if (other.tangent_of == index && other.role == role) return &other;
        }
        return nullptr;
    }

    std::string add_read(const PlannedParameter& parameter, const std::string& name) {
        if (parameter.host.form != manifest::Form::leaf) {
            add_struct_local(parameter, name, Source::data);
            return name;
        }
        select(static_cast<std::size_t>(parameter.host.leaf));
        return add_loaded("const ", name, Source::data);
    }

    void add_stores(const PlannedParameter& parameter, const std::string& value) {
        for_each_field(parameter, [&] {
            if (host().role == Role::in) return;
            if (parameter.tangent_of < 0 || host().differentiable) return add_output(value + planned_->path);
            // A field without a tangent.
            const std::string zero = "kf_zero_" + argument_id(host());
            add_local(slang_type(), zero, "{}");
            add_output(zero);
        });
    }

    /// The view of a whole tensor's tangent.
    std::string add_tangent_view() {
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

    // ---- Parameters that are tensors ----

    /// Declares a local that holds the tensor and returns its name.
    std::string add_tensor() {
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

    /// One of structs: all of its fields are in one view, but for sums that lie apart.
    std::string add_struct_tensor(const PlannedParameter& parameter) {
        TensorViews views;
        const std::string id = struct_id(parameter);
        const std::int64_t first = parameter.host.leaf;
        views.data = add_view("kf_view_" + id, SlotKind::address, data_strides, "kf_at_");
        if (lead(first, Part::gradient)) {
            if (reads_gradient(host(), pass_)) {
                views.grad_in =
                    add_view("kf_flowview_" + id, SlotKind::grad_in, grad_in_strides, "kf_flowat_");
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

    /// Selects the field that speaks for the others; false where there is none.
    bool lead(std::int64_t field, Part part) {
        const std::int64_t leader = leader_of(call_, field, part, sums_);
        if (leader >= 0) select(static_cast<std::size_t>(leader));
        return leader >= 0;
    }

    /// Of the field that is selected and those that follow: where their sums start, the number of the call's
    /// first element among them, and how many elements there are.
    std::string add_sums_apart(const PlannedParameter& parameter) {
        const std::string scalars = std::to_string(scalar_count(host().trailing));
        std::string first = "0";
        if (host().call_rank > 0)
            first =
                add_offset("kf_scratchat_" + argument_id(host()), SlotKind::scratch_stride) + " / " + scalars;
        std::string text = "uint64_t(" + args(SlotKind::scratch) + "), " + first + ", " +
                           args(SlotKind::scratch_count) + " / " + scalars;
        for_each_field(parameter, [&] {
            if (needs_scratch(host(), pass_, sums_)) add_tensor_scratch(tensor_view());
        });
        return text;
    }

    std::string add_view(const std::string& name, SlotKind address, StrideKinds strides,
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

    std::vector<std::string> inner_strides(const TensorView& view, SlotKind kind) const {
        if (is_contiguous_only(host())) return dense_inner_strides(view.extents, pitch());
        std::vector<std::string> strides;
        for (std::int64_t d = 0; d < host().inner_rank; ++d) strides.push_back(args(kind, d));
        return strides;
    }

    /// Halves are summed in floats beside the gradient.
    std::string add_grad_out_view(const std::string& name) {
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

    TensorView tensor_view() const {
        TensorView view;
        view.scalar_bytes = manifest::scalar_bytes(host().element.scalar);
        const std::int64_t leader = leader_of(call_, index_, Part::data);
        for (std::int64_t d = 0; d < host().inner_rank; ++d)
            view.extents.push_back(argument_field(SlotKind::extent, leader, d));
        return view;
    }

    std::string add_view_local(const std::string& name, const TensorView& view) {
        add_local("const kf.View<" + std::to_string(host().inner_rank) + ">", name, view_initializer(view));
        return name;
    }

    void add_tensor_scratch(const TensorView& view) {
        View::List dimensions;
        const auto add = [&](const std::string& extent, const std::string& stride) {
            dimensions.emplace_back(View::Object{{"extent", extent}, {"stride", stride}});
        };
        std::vector<std::string> element = dense_strides();
        for (std::size_t i = 0; i < host().spacing.size(); ++i)
            element[i] = std::to_string(host().spacing[i]);
        for (std::size_t i = element.size(); i-- > 0;) add(std::to_string(host().trailing[i]), element[i]);
        const std::vector<std::string> strides = inner_strides(view, SlotKind::grad_out_trailing_stride);
        for (std::size_t i = strides.size(); i-- > 0;) add("int64_t(" + view.extents[i] + ")", strides[i]);
        add_call_dimensions(dimensions);
        add_scratch_walk(dimensions, true);
    }

    // ---- Gradients that flow out ----

    /// The mode, for one call: where the first of those that share an element counts, others have none.
    std::string mode_of_call() {
        std::string mode = args(SlotKind::grad_mode);
        if (host().accumulate != manifest::Accumulate::first || !strided_ || call_.rank == 0) return mode;
        std::string name = "kf_mode_" + argument_id(host());
        add_local("const uint", name, is_first(SlotKind::grad_out_stride) + " ? " + mode + " : kf.grad_none");
        return name;
    }

    /// `gradient`: where the call leaves it.
    void add_gradient(const std::string& gradient) {
        const std::string id = argument_id(host());
        const bool scratch = needs_scratch(host(), pass_, sums_);
        const std::vector<std::string> own_strides = trailing_strides(SlotKind::grad_out_trailing_stride);
        std::vector<std::string> shared_strides = scratch ? dense_strides() : own_strides;
        for (std::string& stride : shared_strides) stride = in_words(stride);
        std::string offset = "0";
        std::string shared_offset = "0";
        if (!strided_) {
            offset = times("kf_call", pitch());
        } else if (host().call_rank > 0 || is_pushed(host())) {
            offset = add_offset("kf_gradat_" + id, grad_out_strides.call);
            shared_offset = offset;
            if (scratch)
                shared_offset =
                    host().call_rank > 0 ? add_offset("kf_scratchat_" + id, SlotKind::scratch_stride) : "0";
            if (!rows_) shared_offset = in_words(shared_offset);
        }
        const std::string mode = mode_of_call();
        const std::string target = args(SlotKind::grad_out);
        const std::string shared = args(scratch ? SlotKind::scratch : SlotKind::grad_out);
        const std::string size = std::to_string(call_.group_size[0]);
        const bool is_integer = !is_floating(host().element.scalar);
        std::string add;
        std::string finish;
        if (rows_) {
            add = add_row_gradient(gradient, offset, shared_offset, finish);
        } else if (whole_run_.length > 1) {
            if (run_ > 1) {
                const std::string kept = "kf_d_" + id;
                if (moves_quads()) {
                    keep_quads(kept);
                    results_.emplace_back(View::Object{{"statement", kept + ".set(kf_u, " + gradient + ")"}});
                } else {
                    keep("vector<" + to_string(host().element.scalar) + ", " +
                             std::to_string(scalar_count(host().trailing)) + ">",
                         kept);
                    results_.emplace_back(View::Object{{"statement", kept + "[kf_u] = " + gradient}});
                }
                const std::string run = std::to_string(run_);
                const std::string where = mode + ", " + args(SlotKind::grad_out) + ", kf_first, " +
                                          whole_run_.step(call_.group_size[0]) + ")";
                add = moves_quads()
                          ? "kf.add_quads<" + to_string(host().element.scalar) + ", " + sum_type() + ", " +
                                run + ">(kf_sum_" + id + ", " + kept + ", " + where
                          : "kf_sum_" + id + ".add_run<" + run +
                                (whole_run_.beside > 1 ? ", " + std::to_string(whole_run_.beside) : "") +
                                ">(" + kept + ", " + where;
            } else {
                add = "kf_sum_" + id + ".add_one(" + gradient + ", " + mode + ", " +
                      args(SlotKind::grad_out) + ", kf_call)";
            }
            finish = "kf_sum_" + id + ".finish<" + size + ">(kf_thread.x, " + mode + ", " + shared + ", " +
                     in_words("1") + ")";
        } else if (is_looped(*planned_)) {
            add = loop("kf_sum_" + id + ".add_scalar(" + flat_index() + ", " + subscripted(gradient) + ", " +
                       mode + ", " + pointer(target, offset + along(own_strides)) + ", " +
                       pointer(shared, shared_offset + along(shared_strides)) + ")");
            finish = "if (" + args(SlotKind::grad_mode) + " == kf.grad_everywhere) " +
                     loop("kf_sum_" + id + ".finish_scalar<" + size + ">(" + flat_index() +
                          ", kf_thread.x, " + pointer(shared, "0" + along(shared_strides)) + ")");
        } else {
            const std::string own_stride = own_strides.empty() ? "1" : own_strides[0];
            const std::string shared_stride = shared_strides.empty() ? "1" : shared_strides[0];
            const std::string own = mode + ", " + pointer(target, offset) + ", " + own_stride;
            if (strided_) {
                add = "kf_sum_" + id + ".add(" + gradient + ", " + own + ", " +
                      pointer(shared, shared_offset) + ", " + shared_stride + ")";
            } else {
                const std::string old = "kf_old_" + id;
                add_local("let", old, "kf_sum_" + id + ".load_old(" + own + ")");
                add = "kf_sum_" + id + ".add_flat(" + gradient + ", " + old + ", " + own + ")";
            }
            finish = "kf_sum_" + id + ".finish<" + size + ">(kf_thread.x, " + args(SlotKind::grad_mode) +
                     ", " + shared + ", " + shared_stride + ")";
        }
        gradients_.emplace_back(View::Object{
            {"name", id},
            {"accumulator", rows_            ? "RowGradient"
                            : sums_exactly() ? "ExactGradient"
                            : is_integer     ? "IntegerSum"
                                             : "Gradient"},
            {"more",
             rows_ ? ", " + std::to_string(whole_run_.length) + (sums_exactly() ? ", true" : ", false") : ""},
            {"types", to_string(host().element.scalar) + (is_integer ? "" : ", " + sum_type())},
            {"count", std::to_string(scalar_count(host().trailing))},
            {"finish", finish}});
        adds_.emplace_back(View::Object{{"statement", add}});
        if (scratch) add_scratch(own_strides);
    }

    /// `offset` and `shared_offset`: of the row in the gradient and among its sums.
    std::string add_row_gradient(const std::string& gradient, const std::string& offset,
                                 const std::string& shared_offset, std::string& finish) {
        const std::string id = argument_id(host());
        const std::string kept = "kf_d_" + id;
        const std::string old = "kf_old_" + id;
        const RowText text =
            row_text(to_string(host().element.scalar), pointer(args(SlotKind::grad_out), offset));
        keep(text.type(), kept);
        keep(text.type(), old);
        results_.emplace_back(View::Object{{"statement", kept + "[kf_u] = " + gradient}});
        const std::string mode = args(SlotKind::grad_mode);
        const bool scratch = needs_scratch(host(), pass_, sums_);
        const std::string sums = "uint64_t(" + args(scratch ? SlotKind::scratch : SlotKind::grad_out) + ")";
        row_gradients_.emplace_back(View::Object{
            {"name", id}, {"mode", mode}, {"row_at", shared_offset}, {"sums", sums}, {"step", step()}});
        finish = "kf_sum_" + id + ".finish<" + std::to_string(call_.group_size[0]) + ">(kf_thread.x, " +
                 mode + ", " + sums + ")";
        run_loads_.emplace_back(View::Object{{"statement", text.read_old("kf_sum_" + id, old, mode)}});
        return text.add("kf_sum_" + id, kept, old, mode);
    }

    /// The last group walks the scratch in its dense order and finds each scalar's place in the gradient.
    void add_scratch(const std::vector<std::string>& own_strides) {
        View::List dimensions;
        const bool apart = strided_ || !host().spacing.empty();
        for (std::size_t i = host().trailing.size(); apart && i-- > 0;) {
            dimensions.emplace_back(
                View::Object{{"extent", std::to_string(host().trailing[i])}, {"stride", own_strides[i]}});
        }
        add_call_dimensions(dimensions);
        add_scratch_walk(dimensions, apart);
    }

    void add_call_dimensions(View::List& dimensions) const {
        for (std::size_t i = host().map.size(); strided_ && i-- > 0;) {
            const std::int64_t d = host().map[i];
            const std::string extent =
                args(SlotKind::scratch_stride, d) + " == 0 ? 1 : " + argument_field(SlotKind::shape, -1, d);
            dimensions.emplace_back(
                View::Object{{"extent", extent}, {"stride", args(SlotKind::grad_out_stride, d)}});
        }
    }

    /// Each gradient's sums are taken up by other subgroups, so that none waits for another's memory.
    std::string scratch_start() const {
        const std::size_t lanes = manifest::usual_lanes;
        const std::size_t turn = lanes * scratches_.size() % call_.group_size[0];
        if (turn == 0) return "kf_thread.x";
        return "(kf_thread.x + " + std::to_string(turn) + ") % " + std::to_string(call_.group_size[0]);
    }

    /// Whether the gradient is that of an input before, which another thread may be adding to: it is the very
    /// same view then.
    View::List meeting() {
        const std::string target = args(SlotKind::grad_out);
        std::string text;
        for (const std::string& before : scratch_targets_)
            text += (text.empty() ? "" : " || ") + ("uint64_t(" + target + ") == uint64_t(" + before + ")");
        scratch_targets_.push_back(target);
        return text.empty() ? View::List() : View::List{View::Object{{"text", text}}};
    }

    void add_scratch_walk(const View::List& dimensions, bool by_dimension) {
        scratches_.emplace_back(View::Object{
            {"meets", meeting()},
            {"start", scratch_start()},
            {"count", field(SlotKind::scratch_count)},
            {"target", field(SlotKind::grad_out)},
            {"scratch", field(SlotKind::scratch)},
            {"at", by_dimension ? "kf_at" : "kf_scalar"},
            {"is_strided", by_dimension},
            {"dimensions", dimensions},
            {"add", sums_exactly()
                        ? "add_exact_sum<" + to_string(host().element.scalar) + ", " + sum_type() + ">"
                        : "add_rounded"},
            {"words", sums_exactly() ? " * " + std::to_string(exact_words()) : ""}});
    }

    bool is_exact() const { return sums_ == Sums::exact; }

    /// Of the argument that is selected.
    bool sums_exactly() const { return is_summed_exactly(host(), sums_); }

    std::string sum_type() const { return host().element.scalar == ScalarType::float64 ? "double" : "float"; }

    std::int64_t exact_words() const { return manifest::exact_words(host().element.scalar); }

    /// An offset in sums as one in what a sum is made of.
    std::string in_words(const std::string& sums) const {
        if (!sums_exactly() || sums == "0") return sums;
        const std::string words = std::to_string(exact_words());
        return sums == "1" ? words : sums + " * " + words;
    }

    View::List calls() const {
        View::List list;
        for (const std::string& one : call_statements(call_, pass_, {result_, passed_, primal_})) {
            list.emplace_back(View::Object{{"statement", one}});
        }
        return list;
    }

    const Plan& plan_;
    CodeTarget target_;
    Sums sums_;

    std::vector<std::string> passed_;
    std::vector<std::string> primal_;  ///< of fused kernels: what the function itself takes
    std::string result_;
    View::List elements_;
    View::List row_gradients_;
    View::List adds_;
    View::List gradients_;
    View::List scratches_;
    std::vector<std::string> scratch_targets_;  ///< whose sums are taken up so far
};

}  // namespace

Outcome<EmittedKernel> emit_kernel(const KernelRequest& request) { return KernelWriter(request).write(); }

}  // namespace kf::gen
