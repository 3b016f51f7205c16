// Writes the Slang source of one kernel.
#include "emit/kernel.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/block_slots.h"
#include "emit/adapter.h"
#include "emit/block.h"
#include "emit/kernel_text.h"
#include "emit/kinds/questions.h"
#include "emit/kinds/whole_tensor.h"
#include "emit/render.h"
#include "emit/tensor_elements.h"
#include "emit_templates.h"
#include "plan/kinds/whole_tensor.h"
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

class KernelWriter : WholeTensorWriter {
public:
    explicit KernelWriter(const KernelRequest& request)
        : WholeTensorWriter(request.call, request.pass, request.variant,
                            block_fields(request.call, request.pass, request.variant, request.sums),
                            request.sums),
          plan_(request.plan),
          target_(request.target) {}

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
        return std::any_of(
            call_.arguments.begin(), call_.arguments.end(), [&](const PlannedArgument& argument) {
                const ScalarType scalar = argument.host.element.scalar;
                return supply_of(argument.host) == Supply::view && writes_gradient(argument.host, pass_) &&
                       (scalar == ScalarType::float16 || scalar == ScalarType::float32);
            });
    }

    bool generates() const {
        return std::any_of(call_.arguments.begin(), call_.arguments.end(),
                           [](const PlannedArgument& argument) { return counts_calls(argument.host); });
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
        if (supply_of(host()) == Supply::view) {
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

    /// Declares a local of the struct's type and fills its fields: with the data, or with the gradients that
    /// flow in.
    void add_struct_local(const PlannedParameter& parameter, const std::string& name, Source source) {
        View::List fills;
        for_each_field(parameter, [&] {
            const bool gradient = source == Source::gradient;
            if (parameter.tangent_of >= 0 && (!host().differentiable || supply_of(host()) == Supply::view))
                return;
            if (gradient ? !host().differentiable || supply_of(host()) == Supply::view : !is_input(host()))
                return;
            const std::string field = name + planned_->path;
            std::string statement;
            if (supply_of(host()) == Supply::view) {
                statement = field + " = " + add_tensor();
            } else if (gradient && !reads_gradient(host(), pass_)) {
                // What the call makes of a field that isn't written goes nowhere.
                statement = is_looped(*planned_)
                                ? loop(subscripted(field) + " = " + to_string(host().element.scalar) + "(0)")
                                : field + " = " + slang_type() + "(0)";
            } else if (is_looped(*planned_) && supply_of(host()) == Supply::made) {
                statement = field + " = " + add_made("", "kf_made_" + argument_id(host()));
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

    static bool is_input(const Argument& argument) {
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
            if (writes_gradient(host(), pass_) && supply_of(host()) != Supply::view)
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

    View::List calls() const {
        View::List list;
        for (const std::string& one : call_statements(call_, pass_, {result_, passed_, primal_})) {
            list.emplace_back(View::Object{{"statement", one}});
        }
        return list;
    }

    const Plan& plan_;
    CodeTarget target_;

    std::vector<std::string> passed_;
    std::vector<std::string> primal_;  ///< of fused kernels: what the function itself takes
    std::string result_;
    View::List elements_;
};

}  // namespace

Outcome<EmittedKernel> emit_kernel(const KernelRequest& request) { return KernelWriter(request).write(); }

}  // namespace kf::gen
