// One call from Python: arguments are taken, an overload is resolved, data goes to the device and back.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "core/describe.h"
#include "core/device_state.h"
#include "core/items.h"
#include "core/resolve.h"
#include "core/roles.h"
#include "python/arrays.h"
#include "python/buffer.h"
#include "python/call_items.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/function.h"
#include "python/generator.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/host_argument.h"
#include "python/kinds/questions.h"
#include "python/options.h"
#include "python/overload_filter.h"
#include "python/parameter_names.h"
#include "python/quick_call.h"
#include "python/recursion.h"
#include "python/scalars.h"
#include "python/stream.h"
#include "python/struct_choice.h"
#include "python/structs.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

using detail::Arg;
using detail::ArgShape;
using detail::PassKind;
using detail::runs_backward;
using detail::runs_forward;
using detail::with_article;
using manifest::Role;

/// What it costs an overload that a struct doesn't look like its own. It is taken when nothing else fits, so
/// that packing says what is wrong.
constexpr int unlikely = 1000000;

/// Elements of a call that kernels can read and write in the host's memory as fast as they could be copied.
constexpr std::int64_t few_elements = 16384;

class Call : CallItems {
public:
    Call(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder, const Options& options = {})
        : CallItems(info, pass, encoder),
          options_(options),
          given_(info.parameters.size(), &memory_),
          as_array_(info.parameters.size(), false, &memory_) {}

    using CallItems::call;

    /// Why no overload takes the arguments; empty where one does.
    std::string misfit(const Arguments& arguments) {
        trying_ = true;
        try {
            take(arguments);
            if (info_.has_structs) {
                (void)choose_overload();
                return {};
            }
            take_items(info_.calls.front());
            (void)resolve({});
            return {};
        } catch (const ArgumentError& error) {
            return error.what();
        }
    }

    py::object run(const Arguments& arguments, Encoder* before) {
        take(arguments);
        std::size_t index = info_.has_structs ? choose_overload() : 0;
        if (!info_.has_structs) take_items(info_.calls.front());
        const ContextPtr context = choose_context();
        const std::optional<Device> on = on_stream(*context);
        const detail::FunctionRef function{context->module(info_.artifact).state(), info_.index,
                                           std::move(options_)};
        if (!info_.has_structs) index = resolve(function);
        call_ = &info_.function.calls[index];
        if (on) check_capture(*on);
        is_small_ = is_small();
        args_.reserve(hosts_.size());
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            args_.push_back(convert(i, *context));
            args_.back().is_read = hosts_[i].as_array && is_small_;
        }
        check_apart();
        if (encoder_ != nullptr && encoder_->keeps()) check_kept();
        if (encoder_ != nullptr) encoder_->open(context);
        {
            const GilRelease release;
            detail::invoke(function, index, pass_, args_,
                           encoder_ == nullptr ? nullptr : &encoder_->encoder(), shape_ ? &*shape_ : nullptr,
                           on ? &*on : nullptr, before);
        }
        if (encoder_ != nullptr && encoder_->keeps()) encoder_->name(info_.shared_from_this());
        if (runs_backward(pass_)) collect_gradients();
        if (!runs_forward(pass_)) return py::none();
        download_written();
        return results(context);
    }

private:
    void take(const Arguments& arguments);
    void take_keyword(py::handle key, py::handle value);
    void give(std::size_t i, py::handle value);
    [[noreturn]] void refuse_missing(std::size_t i, std::span<PyObject* const> positional) const;
    /// The parameters that positional arguments are for.
    [[nodiscard]] const std::vector<std::size_t>& places() const {
        return runs_forward(pass_) ? info_.places : info_.places_backward;
    }
    void take_items(std::size_t overload);
    void look_at(std::size_t i);
    void look_at_struct(std::size_t i);
    std::size_t choose_overload();
    std::optional<std::size_t> best_overload(const std::vector<std::size_t>& calls, std::string& reasons);
    [[nodiscard]] int item_cost(std::size_t i);
    [[nodiscard]] int value_cost(std::size_t i);
    [[nodiscard]] ArgShape shape_of_item(std::size_t i) const;
    ContextPtr choose_context();
    std::optional<Device> on_stream(const Context& context) const;
    void check_capture(const Device& on) const;
    std::size_t resolve(const detail::FunctionRef& function);
    [[nodiscard]] std::string numbers_given() const;
    void check_derivative(std::size_t i) const;
    Arg convert(std::size_t i, const Context& context);
    [[nodiscard]] bool is_small() const;
    void check_apart() const;
    void check_kept() const;
    void download_written();
    void collect_gradients();
    void fill_arrays(std::size_t& at, const manifest::ParameterTree& parameter, const ContextPtr& context);
    py::object results(const ContextPtr& context);
    py::object all_results(const ContextPtr& context);
    [[nodiscard]] py::object together(const std::vector<py::object>& values) const;
    py::object result(const manifest::ParameterTree& parameter, std::size_t& at, const ContextPtr& context);

    Options options_;
    std::pmr::vector<py::object> given_;  ///< one a parameter
    std::pmr::vector<bool> as_array_;     ///< the same: outputs that aren't given, asked for as NumPy arrays
    bool trying_ = false;                 ///< nothing is called: packing won't say what is wrong
    std::string misfit_;                  ///< why the overload that is looked at is unlikely
    std::optional<std::size_t> taken_;    ///< the overload that `hosts_` were looked at for, all of them
    std::pmr::vector<py::object> values_{&memory_};  ///< one an item; keeps what `hosts_` look at
    std::optional<Dims> shape_;
    std::optional<void*> stream_;
};

void Call::give(std::size_t i, py::handle value) {
    const Where where{info_.function.name, info_.parameters[i].keyword};
    if (given_[i] || as_array_[i]) refuse(ErrorCode::type_mismatch, where, "given twice");
    const Role role = info_.parameters[i].role;
    if (is_only_written(role) && asks_for_array(value)) {
        if (pass_ == PassKind::backward || encoder_ != nullptr) {
            refuse(ErrorCode::type_mismatch, where,
                   pass_ == PassKind::backward
                       ? "np.ndarray asks for an output as an array; a backward pass takes the output itself"
                       : encoder_->writes_later() + std::string(": it can't make a NumPy array"));
        }
        as_array_[i] = true;
        return;
    }
    if (PyTuple_Check(value.ptr()) != 0) {
        if (const std::string fields = fields_of_results(info_, value); !fields.empty()) {
            refuse(ErrorCode::type_mismatch, where,
                   "all results of a call are given together, as it returned them: give each by name, " +
                       fields);
        }
    }
    if (!value.is_none()) given_[i] = py::reinterpret_borrow<py::object>(value);
}

/// Forward calls take the result by `out=` only; backward calls also as the last positional argument.
void Call::take(const Arguments& arguments) {
    const std::span<PyObject* const> positional = arguments.positional;
    if (positional.size() > places().size()) {
        const auto is_result = [](const HostParameter& parameter) { return parameter.role == Role::result; };
        const bool takes_out = runs_forward(pass_) && std::ranges::any_of(info_.parameters, is_result);
        refuse(ErrorCode::type_mismatch, {info_.function.name, {}},
               std::to_string(positional.size()) + " positional arguments where at most " +
                   std::to_string(places().size()) + " are taken (" + parameter_list(info_, places()) + ")" +
                   (takes_out ? "; the result goes where out= says" : ""));
    }
    for (std::size_t i = 0; i < positional.size(); ++i) give(places()[i], positional[i]);
    const Keywords& keywords = arguments.keywords;
    for (std::size_t i = 0; i < keywords.size(); ++i) take_keyword(keywords.name(i), keywords.values[i]);
    for (std::size_t i = 0; arguments.globals.size() > 0 && i < given_.size(); ++i) {
        if (!info_.parameters[i].is_global || given_[i]) continue;
        if (PyObject* value = arguments.globals.find(info_.names[i])) give(i, value);
    }
    // The tangent of an object that its method changes is changed where it lies, as the object is.
    if (info_.object_tangents) given_[info_.object_tangents->second] = given_[info_.object_tangents->first];
    for (std::size_t i = 0; i < given_.size(); ++i) {
        const Role role = info_.parameters[i].role;
        const std::optional<std::size_t> primal = info_.parameters[i].tangent_of;
        if (primal && role == Role::out && !given_[i]) as_array_[i] = as_array_[*primal];
        if (!given_[i] && role != Role::out && role != Role::result && !info_.parameters[i].hidden &&
            !primal) {
            refuse_missing(i, positional);
        }
    }
}

/// Outputs have places too: what is missing may be one that was passed over.
void Call::refuse_missing(std::size_t i, std::span<PyObject* const> positional) const {
    for (std::size_t place = 0; place < std::min(positional.size(), places().size()); ++place) {
        const std::size_t output = places()[place];
        if (output >= i || info_.parameters[output].role != Role::out) continue;
        const py::handle value = positional[place];
        if (!PyNumber_Check(value.ptr()) || py::hasattr(value, "shape")) continue;
        refuse(ErrorCode::missing_argument, {info_.function.name, info_.parameters[output].keyword},
               "an output, which was left out between others: " + std::string(py::repr(value)) +
                   " stands in its place, so that '" + info_.parameters[i].keyword +
                   "' is not given; pass None for it, or name what follows it");
    }
    if (info_.parameters[i].is_global)
        detail::fail_unset_global(info_.function.name, info_.parameters[i].keyword);
    refuse(ErrorCode::missing_argument, {info_.function.name, info_.parameters[i].keyword}, "not given");
}

void Call::take_items(std::size_t overload) {
    overload_ = overload;
    const manifest::Call& call = info_.function.calls[overload];
    values_.clear();
    values_.reserve(info_.items[overload].size());
    for (std::size_t i = 0; i < given_.size(); ++i) {
        add_items(call, call.parameters[i], given_[i], {info_.function.name, info_.parameters[i].keyword},
                  info_.parameters[i].tangent_of.has_value(), values_);
    }
    std::pmr::vector<Host>(values_.size(), &memory_).swap(hosts_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < given_.size(); ++i) {
        const std::size_t end = at + manifest::item_count(call.parameters[i]);
        for (; at < end; ++at) hosts_[at].as_array = as_array_[i];
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        hosts_[i].given = values_[i];
        if (hosts_[i].given) {
            look_at(i);
        } else if (!is_output(i) && !item(i).hidden && !item(i).optional) {
            refuse(ErrorCode::missing_argument, where(i), "not given");
        }
    }
}

/// Tries the overloads, since each may take a parameter in a form of its own. When none takes the arguments,
/// all of them say why.
std::size_t Call::choose_overload() {
    std::vector<std::size_t> candidates;
    for (const std::size_t c : info_.calls) {
        if (may_accept(info_, c, given_)) candidates.push_back(c);
    }
    if (candidates.empty()) candidates = info_.calls;
    std::string reasons;
    std::optional<std::size_t> best = best_overload(candidates, reasons);
    if (!best) {
        reasons.clear();
        best = best_overload(info_.calls, reasons);
    }
    if (!best) {
        throw ArgumentError(
            ErrorCode::no_overload,
            info_.function.name + ": no overload takes these arguments; candidates:" + reasons);
    }
    if (best != taken_) take_items(*best);
    return *best;
}

std::optional<std::size_t> Call::best_overload(const std::vector<std::size_t>& calls, std::string& reasons) {
    std::optional<std::size_t> best;
    std::vector<std::size_t> equal;  // to the best
    int best_cost = 0;
    const auto refused = [&](std::size_t c, const std::string& why) {
        reasons += "\n  " + detail::describe(info_.function, info_.function.calls[c]) + "\n    " +
                   reason(info_, why);
    };
    for (const std::size_t c : calls) {
        try {
            taken_.reset();
            misfit_.clear();
            take_items(c);
            if (info_.calls.size() > 1 || trying_) misfit_ = other_class(info_, c, given_);
            int cost = misfit_.empty() ? 0 : unlikely;
            for (std::size_t i = 0; i < hosts_.size(); ++i) cost += item_cost(i);
            taken_ = c;
            if (!misfit_.empty()) refused(c, misfit_);
            if (!best || cost < best_cost) {
                best = c;
                best_cost = cost;
                equal.clear();
            } else if (cost == best_cost) {
                equal.push_back(c);
            }
        } catch (const ArgumentError& error) {
            if (info_.calls.size() == 1) throw;
            refused(c, error.what());
        }
    }
    if (best && best_cost < unlikely) {
        check_structs(info_, *best, equal, given_);
    } else if (best && (trying_ || differ_in_structs(info_, *best, equal, given_))) {
        return std::nullopt;
    }
    return best;
}

/// Returns the conversion cost of a struct by value. With a single overload, errors are left to packing.
int Call::value_cost(std::size_t i) {
    if ((info_.calls.size() == 1 && !trying_) || is_output(i)) return 0;
    const std::string why =
        why_not(info_.function.calls[overload_], *item(i).structure, hosts_[i].content, where(i));
    if (why.empty()) return 0;
    misfit_ = why;
    return unlikely;
}

int Call::item_cost(std::size_t i) {
    const HostItem& wanted = item(i);
    const Host& host = hosts_[i];
    const manifest::Argument& first = info_.function.calls[overload_].arguments[wanted.leaf];
    if (wanted.structure == nullptr) return detail::argument_cost(info_.function, first, shape_of_item(i));
    if (!host.given) return 0;
    if (wanted.type == nullptr) return value_cost(i);
    const StructType* found = host.tensor != nullptr ? host.tensor->structure : host.structure;
    check_struct_tensor(wanted, first.rank, {found, host.given, host.shape}, where(i));
    return 0;
}

void Call::take_keyword(py::handle key, py::handle value) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
        if (info_.names[i].is(key) && !info_.parameters[i].hidden && !info_.parameters[i].is_global)
            return give(i, value);
    }
    const auto name = py::cast<std::string_view>(key);
    if (name == "shape") {
        if (!value.is_none()) shape_ = parse_shape(value, {info_.function.name, "shape"});
        return;
    }
    if (name == "reads" || name == "writes") {
        if (!value.is_none()) {
            (name == "reads" ? options_.reads : options_.writes) =
                memory_of(value, {info_.function.name, name});
        }
        return;
    }
    if (name == "stream") {
        const Where where{info_.function.name, "stream"};
        if (value.is_none()) return;
        if (encoder_ != nullptr) {
            refuse(ErrorCode::type_mismatch, where,
                   encoder_->keeps() ? "a prepared call is given its stream when it runs: p(stream=…), and "
                                       "graph.replay(stream=…)"
                                     : "a recorded call runs where its encoder is submitted; stream= is for "
                                       "direct calls");
        }
        stream_ = parse_stream(value, where);
        return;
    }
    for (std::size_t i = 0; i < given_.size(); ++i) {
        const bool result = info_.parameters[i].role == Role::result;
        if (info_.parameters[i].hidden) continue;
        if (result ? name == "out" || (pass_ == PassKind::backward && name == "result")
                   : name == info_.parameters[i].keyword) {
            return give(i, value);
        }
    }
    refuse(ErrorCode::unknown_name, {info_.function.name, {}},
           "no argument '" + std::string(name) + "'; it takes " + parameter_list(info_));
}

void Call::look_at(std::size_t i) {
    Host& host = hosts_[i];
    host.content = py::reinterpret_borrow<py::object>(host.given);
    host.tensor = as_tensor(host.given);
    if (host.tensor == nullptr) {
        host.differentiable = as_differentiable(host.given);
        host.generator = as_generator(host.given);
    }
    if (host.differentiable != nullptr) {
        host.content = host.differentiable->value;
        host.tensor = as_tensor(host.content);
    }
    if (host.generator != nullptr) {
        if (is_output(i) || is_written(i)) {
            refuse(ErrorCode::type_mismatch, where(i), "an output can't be " + shown(host.given));
        }
        host.shape = host.generator->shape;
        return;
    }
    if (item(i).structure != nullptr) return look_at_struct(i);
    if (host.tensor != nullptr) {
        if (is_written(i)) check_writable_buffer(host.content, where(i));
        host.scalar = host.tensor->any.element().scalar;
        host.shape = host.tensor->any.shape();
        return;
    }
    if (py::isinstance<py::array>(host.content)) {
        host.array = py::reinterpret_borrow<py::array>(host.content);
        host.scalar = scalar_of(*host.array, where(i));
        host.shape = shape_of(*host.array, where(i));
        if (is_written(i)) check_writable(*host.array, where(i));
    } else if (is_output(i) && is_written(i)) {
        refuse(ErrorCode::type_mismatch, where(i),
               "an output is written to a kf.Tensor or a NumPy array, not to " + shown(host.given) +
                   "; out=np.ndarray makes a new array");
    } else {
        host.nested = look_through(host.content, where(i));
        if (!host.nested) {
            refuse(ErrorCode::type_mismatch, where(i),
                   "a number, a list, a NumPy array or a kf.Tensor is needed, not " + shown(host.content) +
                       " (" + with_article(type_name(host.content)) + ")");
        }
        if (is_written(i) && item(i).of_object) {
            refuse(
                ErrorCode::type_mismatch, where(i),
                "the method writes it: give a kf.Tensor or a writable NumPy array, not " + shown(host.given));
        }
        host.scalar = host.nested->scalar;
        host.shape = host.nested->shape;
    }
    if (is_written(i) && host.array && encoder_ != nullptr) {
        refuse(ErrorCode::type_mismatch, where(i),
               encoder_->writes_later() + std::string(": give a kf.Tensor, not a NumPy array"));
    }
}

void Call::look_at_struct(std::size_t i) {
    Host& host = hosts_[i];
    const std::string& type = item(i).structure->type;
    const bool by_value = item(i).type == nullptr;
    if (by_value) {
        host.tensor = nullptr;
        const bool array = !item(i).structure->extents.empty();
        if (is_output(i) && runs_forward(pass_)) {
            refuse(ErrorCode::type_mismatch, where(i),
                   with_article(type) + " is returned: it can't be given");
        }
        const bool list = PyList_Check(host.content.ptr()) || PyTuple_Check(host.content.ptr()) ||
                          py::isinstance<py::array>(host.content);
        if (array ? !list : !is_struct_like(host.content)) {
            refuse(ErrorCode::type_mismatch, where(i),
                   (array ? "a list of " + type + " structs" : with_article(type)) + " is needed, not " +
                       shown(host.content) + " (" + with_article(type_name(host.content)) + ")");
        }
        return;
    }
    if (host.tensor != nullptr) {
        if (is_written(i)) check_writable_buffer(host.content, where(i));
        host.shape = host.tensor->any.shape();
        return;
    }
    const bool list = PyList_Check(host.content.ptr()) || PyTuple_Check(host.content.ptr());
    if (list && is_written(i)) {
        refuse(ErrorCode::type_mismatch, where(i),
               "it is written: give a kf.Tensor or a NumPy array of " + type + " structs, not a list");
    }
    if (list) {
        const manifest::Call& call = info_.function.calls[overload_];
        host.array = array_of_structs(call, *item(i).structure, call.arguments[item(i).leaf].rank,
                                      host.content, where(i));
    } else if (py::isinstance<py::array>(host.content)) {
        host.array = py::reinterpret_borrow<py::array>(host.content);
    } else {
        refuse(ErrorCode::type_mismatch, where(i),
               "a kf.Tensor, a NumPy array or a list of " + type + " structs is needed, not " +
                   shown(host.content) + " (" + with_article(type_name(host.content)) + ")");
    }
    host.structure = struct_type(host.array->dtype(), where(i));
    host.shape = shape_of(*host.array, where(i));
    if (is_written(i) && encoder_ != nullptr) {
        refuse(ErrorCode::type_mismatch, where(i),
               encoder_->writes_later() + std::string(": give a kf.Tensor, not a NumPy array"));
    }
    if (is_written(i)) check_writable(*host.array, where(i));
}

ContextPtr Call::choose_context() {
    for (const Host& host : hosts_) {
        if (host.tensor != nullptr) return host.tensor->context;
    }
    return encoder_ != nullptr && encoder_->context() != nullptr ? encoder_->context() : default_context();
}

std::optional<Device> Call::on_stream(const Context& context) const {
    if (!stream_) return std::nullopt;
    try {
        return context.device().with_stream(*stream_);
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), prefix({info_.function.name, "stream"}) + error.what(),
                            error.native_code());
    }
}

/// A graph would run again, but what the host gives or takes is copied once, beside it.
void Call::check_capture(const Device& on) const {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const Host& host = hosts_[i];
        if (!host.given || host.tensor != nullptr || !passes_memory(leaf(i))) continue;
        try {
            on.state()->driver().check_read_back();
        } catch (const DeviceError& error) {
            throw DeviceError(error.code(),
                              prefix(where(i)) +
                                  "while the stream is captured into a graph, give a "
                                  "kf.Tensor instead of " +
                                  type_name(host.content),
                              error.native_code());
        }
    }
}

std::size_t Call::resolve(const detail::FunctionRef& function) {
    std::pmr::vector<ArgShape> shapes(hosts_.size(), &memory_);
    for (std::size_t i = 0; i < hosts_.size(); ++i) shapes[i] = shape_of_item(i);
    try {
        if (info_.alternatives.calls.empty()) return detail::resolve(function, shapes);
        return info_.calls[detail::resolve(info_.alternatives, shapes)];
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), error.what() + numbers_given());
    }
}

ArgShape Call::shape_of_item(std::size_t i) const {
    ArgShape shape;
    const Host& host = hosts_[i];
    if (!host.given) return shape;
    // Whether an output is a tensor doesn't matter: a value's is copied into it afterwards.
    const bool resident = host.tensor != nullptr && !(is_output(i) && encoder_ == nullptr);
    if (host.generator != nullptr) shape.generator = host.generator->kind;
    shape.kind = host.generator != nullptr ? ArgShape::Kind::generator
                 : host.nested             ? ArgShape::Kind::weak
                 : resident                ? ArgShape::Kind::tensor
                                           : ArgShape::Kind::array;
    shape.scalar = host.scalar;
    shape.shape = host.shape;
    shape.components = host.nested && host.nested->components;
    return shape;
}

/// Returns the values given, for messages: the resolver knows kinds and types only.
std::string Call::numbers_given() const {
    std::string text;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (!hosts_[i].nested) continue;
        text += (text.empty() ? "\n  given: " : ", ") + item(i).name + " = " + shown(hosts_[i].content);
    }
    return text;
}

/// A kf.differentiable() asks for a gradient, which would stay 0.
void Call::check_derivative(std::size_t i) const {
    const manifest::ParameterTree* structure = item(i).structure;
    const auto count = static_cast<std::size_t>(structure != nullptr ? structure->leaves : 1);
    const auto leaves = std::span(call_->arguments).subspan(item(i).leaf, count);
    const bool output = is_output(i);
    if (std::any_of(leaves.begin(), leaves.end(), [&](const manifest::Argument& leaf) {
            return output ? leaf.differentiable : leaf.gradient != manifest::Gradient::never;
        }))
        return;
    refuse(ErrorCode::not_differentiable, where(i),
           "kf.differentiable() is given, and the backward pass has no gradient for " +
               with_article(structure != nullptr ? structure->type : detail::type_text(leaf(i))) +
               " here: give the value alone");
}

Arg Call::convert(std::size_t i, const Context& context) {
    Host& host = hosts_[i];
    if (host.differentiable != nullptr && runs_backward(pass_)) check_derivative(i);
    if (host.generator != nullptr) {
        return Arg::make(Arg::Kind::generator, host.generator->data(), nullptr, nullptr, nullptr);
    }
    return convert_item(*this, i, context);
}

/// Whether the host's arrays may lie in its own memory meanwhile. By the shapes: where a spec maps
/// dimensions, there may be more calls than that, which is slower and nothing else.
bool Call::is_small() const {
    const auto is_array = [](const Host& host) { return host.array || host.as_array; };
    if (pass_ != PassKind::forward || encoder_ != nullptr || std::ranges::none_of(hosts_, is_array)) {
        return false;
    }
    std::array<std::int64_t, Dims::capacity> extents{};  // the last dimension's first
    const auto join = [&](const Dims& shape) {
        for (std::size_t d = 0; d < shape.size(); ++d) {
            std::int64_t& extent = extents[shape.size() - 1 - d];
            extent = std::max(extent, shape[d]);
        }
    };
    if (shape_) join(*shape_);
    for (const Host& host : hosts_) {
        if (host.given) join(host.shape);
    }
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) {
        if (extent > few_elements) return false;
        count *= std::max<std::int64_t>(1, extent);
        if (count > few_elements) return false;
    }
    return true;
}

/// Refuses outputs that share memory: each would hold what was copied last.
void Call::check_apart() const {
    std::vector<std::pair<Where, py::array>> written;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (hosts_[i].array && (is_written(i) || writes_input(i)))
            written.emplace_back(where(i), *hosts_[i].array);
    }
    if (written.size() > 1) python::check_apart(written);
}

/// What the host gives for a tensor would be copied once, however often the call runs.
void Call::check_kept() const {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const Host& host = hosts_[i];
        if (!host.given || host.tensor != nullptr || !passes_memory(leaf(i))) continue;
        refuse(ErrorCode::type_mismatch, where(i),
               "a prepared call reads the same memory whenever it runs: give a kf.Tensor instead of " +
                   with_article(type_name(host.content)));
    }
}

/// NumPy arrays that the call wrote to get what is now on the device.
void Call::download_written() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (host.array && writes_input(i))
            download_into({host.uploaded, nullptr, host.structure}, *host.array);
    }
}

void Call::collect_gradients() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        // A gradient of another shape than it had is one that the call made.
        if (host.tensor != nullptr && is_pushed(i) && host.uploaded)
            py::cast<Tensor&>(host.content).any = host.uploaded;
        if (host.differentiable == nullptr || host.tensor != nullptr || is_output(i)) continue;
        const py::object gradient = gradient_of_item(*this, i);
        if (is_pushed(i))
            host.differentiable->add_pushed(gradient);
        else
            host.differentiable->add(gradient);
    }
}

/// An input's NumPy arrays, where the call wrote to them. `at`: its first item; moves on behind its last.
void Call::fill_arrays(std::size_t& at, const manifest::ParameterTree& parameter, const ContextPtr& context) {
    for (const std::size_t end = at + manifest::item_count(parameter); at < end; ++at) {
        const Host& host = hosts_[at];
        if (is_written(at) && host.array)
            download_into({host.uploaded, context, host.structure}, *host.array);
    }
}

py::object Call::results(const ContextPtr& context) {
    if (info_.returned > 1 || manifest::is_jvp(info_.function)) return all_results(context);
    py::object only = py::none();
    std::size_t at = 0;
    for (std::size_t i = 0; i < info_.parameters.size(); ++i) {
        if (is_returned(info_.parameters[i])) {
            only = result(call_->parameters[i], at, context);
        } else {
            fill_arrays(at, call_->parameters[i], context);
        }
    }
    return only;
}

/// The return value, then out and inout values in parameter order; of a forward derivative these and their
/// tangents.
py::object Call::all_results(const ContextPtr& context) {
    std::vector<py::object> values;
    std::vector<py::object> tangents;
    std::map<std::size_t, std::size_t> places;  // of parameters among the values
    std::size_t at = 0;
    for (std::size_t i = 0; i < info_.parameters.size(); ++i) {
        const HostParameter& parameter = info_.parameters[i];
        const manifest::ParameterTree& tree = call_->parameters[i];
        if (!is_returned(parameter)) {
            fill_arrays(at, tree, context);
            continue;
        }
        py::object value = result(tree, at, context);
        if (parameter.tangent_of) {
            tangents[places.at(*parameter.tangent_of)] = std::move(value);
            continue;
        }
        places[i] = values.size();
        values.push_back(std::move(value));
        tangents.push_back(py::none());
    }
    // The result is the last parameter, and comes first.
    const auto result_first = [&](std::vector<py::object>& list) {
        for (const auto& [i, place] : places) {
            if (info_.parameters[i].role == Role::result)
                std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(place), list.end());
        }
    };
    result_first(values);
    if (!manifest::is_jvp(info_.function)) return together(values);
    result_first(tangents);
    return py::make_tuple(together(values), together(tangents));
}

py::object Call::together(const std::vector<py::object>& values) const {
    if (values.empty()) return py::none();
    if (values.size() == 1) return values.front();
    py::tuple tuple(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) tuple[i] = values[i];
    return info_.results.attr("_make")(tuple);
}

/// `at`: the parameter's first item; moves on behind its last.
py::object Call::result(const manifest::ParameterTree& parameter, std::size_t& at,
                        const ContextPtr& context) {
    if (parameter.form != manifest::Form::fields) return result_of_item(*this, at++, context);
    std::vector<py::object> fields;
    for (const manifest::ParameterTree& field : parameter.fields)
        fields.push_back(result(field, at, context));
    return make_struct(parameter, fields, *info_.classes);
}

/// Returns the overloads with the parameters that the arguments fit.
const FunctionInfo& choose(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder,
                           const Arguments& arguments) {
    std::vector<const FunctionInfo*> all{&info};
    for (const auto& other : info.others) all.push_back(other.get());
    const auto lacks_pass = [&](const FunctionInfo* one) { return !has_pass(*one, pass); };
    // What no overload has, the call itself says.
    if (!std::ranges::all_of(all, lacks_pass)) std::erase_if(all, lacks_pass);
    std::vector<std::pair<std::size_t, const FunctionInfo*>> possible;
    for (const FunctionInfo* one : all) {
        if (const auto missing = left_out(*one, pass, arguments)) possible.emplace_back(*missing, one);
    }
    if (possible.size() == 1) return *possible.front().second;
    const auto misfit = [&](const FunctionInfo& one) { return Call(one, pass, encoder).misfit(arguments); };
    std::vector<const FunctionInfo*> fitting;
    std::size_t fewest = 0;
    for (const auto& [missing, one] : possible) {
        if ((!fitting.empty() && missing > fewest) || !misfit(*one).empty()) continue;
        if (!fitting.empty() && missing < fewest) fitting.clear();
        fewest = missing;
        fitting.push_back(one);
    }
    if (fitting.size() == 1) return *fitting.front();
    std::string message = fitting.empty() ? "no overload takes these arguments; candidates:"
                                          : "several overloads take these arguments: name them; candidates:";
    for (const FunctionInfo* one : fitting) message += signatures(*one);
    for (const FunctionInfo* one : all) {
        if (fitting.empty()) message += refused(*one, misfit(*one));
    }
    refuse(ErrorCode::no_overload, {info.function.name, {}}, message);
}

}  // namespace

py::object call(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder, const Arguments& arguments,
                const Options& options, Encoder* before) {
    QuickCall quick(info, pass, encoder, arguments);
    if (py::object result = quick.run(options, before)) return result;
    const NestedCall nested;
    const FunctionInfo& chosen = info.others.empty() ? info : choose(info, pass, encoder, arguments);
    Call full(chosen, pass, encoder, default_options().with(options));
    py::object result = full.run(arguments, before);
    quick.keep(chosen, full.call());
    return result;
}

}  // namespace kf::python
