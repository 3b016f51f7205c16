// One call from Python: once its overload is resolved, data goes to the device and back.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <vector>

#include "core/describe.h"
#include "core/device_state.h"
#include "core/items.h"
#include "core/kinds/questions.h"
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
#include "python/host_imports.h"
#include "python/kinds/questions.h"
#include "python/options.h"
#include "python/overloads.h"
#include "python/quick_call.h"
#include "python/recursion.h"
#include "python/stream.h"
#include "python/structs.h"
#include "python/tensor.h"
#include "python/torch_outputs.h"
#include "python/torch_range.h"
#include "python/with_gradients.h"

namespace kf::python {
namespace {

using detail::Arg;
using detail::PassKind;
using detail::runs_backward;
using detail::runs_forward;
using detail::with_article;
using manifest::Role;

/// How a call runs, of what it is given by name.
struct Settings {
    Options options;
    std::optional<Dims> shape;
    std::optional<void*> stream;
};

Settings settings_of(const std::string& function, const Keywords& keywords, const RecordedCalls* encoder,
                     Options options) {
    Settings settings{std::move(options), {}, {}};
    for (std::size_t i = 0; i < keywords.size(); ++i) {
        const auto name = keywords.text(i);
        const py::handle value = keywords.values[i];
        if (!is_setting(name) || value.is_none()) continue;
        const Where where{function, name};
        if (name == "shape") settings.shape = parse_shape(value, where);
        if (name == "reads") settings.options.reads = memory_of(value, where);
        if (name == "writes") settings.options.writes = memory_of(value, where);
        if (name != "stream") continue;
        if (encoder != nullptr) {
            refuse(ErrorCode::type_mismatch, where,
                   encoder->keeps() ? "a prepared call is given its stream when it runs: p(stream=…), and "
                                      "graph.replay(stream=…)"
                                    : "a recorded call runs where its encoder is submitted; stream= is for "
                                      "direct calls");
        }
        settings.stream = parse_stream(value, where);
    }
    return settings;
}

/// Elements of a call that kernels can read and write in the host's memory as fast as they could be copied.
constexpr std::int64_t few_elements = 16384;

class Call : CallItems {
public:
    /// `overloads` has been resolved, and outlives the call.
    Call(const Overloads& overloads, PassKind pass, RecordedCalls* encoder, Settings settings)
        : CallItems(*overloads.taken().info, overloads.reader(), pass, encoder),
          settings_(std::move(settings)) {
        overload_ = overloads.overload();
        call_ = &info_.function.calls[overload_];
        take_items(overloads);
    }

    using CallItems::call;

    /// Tells whether Vulkan's kernels run on CUDA's memory in this call.
    [[nodiscard]] bool crosses() const { return crossing_ != nullptr; }

    py::object run(Encoder* before) {
        const ContextPtr context = choose_context();
        context_ = context;
        check_same_device();
        check_lists();
        const std::optional<Device> on = on_stream(*context);
        const detail::FunctionRef function{context->module(info_.artifact).state(), info_.index,
                                           std::move(settings_.options)};
        if (on) check_capture(*on);
        is_small_ = is_small();
        take_torch();
        if (pass_ == PassKind::backward) make_gradients();
        waits_ = find_waits();
        if (waits_) plan_imports(*this);
        args_.reserve(hosts_.size());
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            args_.push_back(convert(i, *context));
            args_.back().is_read = is_small_ && (hosts_[i].as_array() || returns_torch_host(i));
            args_.back().maker = hosts_[i].output.get();
        }
        check_apart();
        check_torch_writes();
        if (encoder_ != nullptr && encoder_->keeps()) check_kept();
        if (encoder_ != nullptr) encoder_->open(context);
        if (crossing_ != nullptr) crossing_->begin();
        {
            const EncoderUse use(encoder_);
            const TorchRange range(static_cast<bool>(reader_.torch.first()), info_, pass_);
            const GilRelease release;
            detail::invoke(function, overload_, pass_, args_,
                           encoder_ == nullptr ? nullptr : &encoder_->encoder(),
                           settings_.shape ? &*settings_.shape : nullptr, on ? &*on : nullptr, before);
        }
        if (crossing_ != nullptr) crossing_->finish();
        if (waits_) wait_for_imports(*this);
        if (encoder_ != nullptr && encoder_->keeps()) encoder_->name(info_.shared_from_this());
        note_torch_writes();
        if (runs_backward(pass_)) collect_gradients();
        if (!runs_forward(pass_)) return py::none();
        download_written();
        return results(context);
    }

private:
    void take_items(const Overloads& overloads);
    void check_written(std::size_t i) const;
    ContextPtr choose_context();
    ContextPtr cross_to_vulkan(std::size_t i);
    std::optional<Device> on_stream(const Context& context) const;
    void check_capture(const Device& on) const;
    void check_derivative(std::size_t i) const;
    Arg convert(std::size_t i, const Context& context);
    void check_same_device() const;
    void check_lists() const;
    void take_torch();
    void make_gradients();
    void check_torch_writes() const;
    void note_torch_writes() const;
    [[nodiscard]] bool is_small() const;
    [[nodiscard]] bool find_waits() const;
    void check_apart() const;
    void check_kept() const;
    void download_written();
    void collect_gradients();
    void fill_arrays(std::size_t& at, const manifest::ParameterTree& parameter);
    py::object results(const ContextPtr& context);
    py::object all_results(const ContextPtr& context);
    [[nodiscard]] py::object together(const std::vector<py::object>& values) const;
    [[nodiscard]] py::object in_form(std::size_t i, py::object value, const ContextPtr& context) const;
    py::object result(const manifest::ParameterTree& parameter, std::size_t& at, const ContextPtr& context);

    Settings settings_;
};

/// Makes a grid of its shape, which is given alone.
void take_grid(Host& host, const Where& where) {
    host.content = grid_of_shape(host.content, where);
    host.generator = as_generator(host.content);
    host.shape = host.generator->shape;
    host.array.reset();
    host.nested.reset();
}

void Call::take_items(const Overloads& overloads) {
    std::pmr::vector<GivenObject*> objects(&memory_);
    objects.reserve(info_.items[overload_].size());
    overloads.add_items(objects);
    std::pmr::vector<Host>(objects.size(), &memory_).swap(hosts_);
    std::size_t at = 0;
    for (std::size_t i = 0; i < call_->parameters.size(); ++i) {
        const std::size_t end = at + manifest::item_count(call_->parameters[i]);
        for (; at < end; ++at) hosts_[at].form = overloads.taken().forms[i];
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (objects[i] == nullptr) continue;
        Host& host = hosts_[i];
        const manifest::ParameterTree* structure = item(i).structure;
        const bool by_value = structure != nullptr && item(i).type == nullptr;
        objects[i]->move_to(host, by_value);
        if (host.generator == nullptr && manifest::passed_as(leaf(i)) == manifest::HostPassing::generator)
            take_grid(host, where(i));
        if (structure != nullptr && host.torch != nullptr) host.scalars = item(i).scalars;
        if (structure != nullptr && !by_value && host.tensor == nullptr && !host.array) {
            host.array = array_of_structs(*call_, *structure, leaf(i).rank, *objects[i], where(i));
            host.structure = item(i).type;
            host.shape = shape_of(*host.array, where(i));
        }
        if (is_written(i)) check_written(i);
    }
}

/// Refuses what the call couldn't write to.
void Call::check_written(std::size_t i) const {
    const Host& host = hosts_[i];
    if (host.tensor != nullptr) check_writable_buffer(host.content, where(i));
    if (!host.array) return;
    check_writable(*host.array, where(i));
    if (encoder_ == nullptr) return;
    refuse(ErrorCode::type_mismatch, where(i),
           encoder_->writes_later() + std::string(": give a kf.Tensor, not ") +
               (host.torch != nullptr ? "a torch.Tensor on the CPU" : "a NumPy array"));
}

ContextPtr Call::choose_context() {
    for (const Host& host : hosts_) {
        if (host.texture != nullptr) return host.texture->context;
        if (host.tensor != nullptr && host.torch == nullptr) return host.tensor->context;
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (hosts_[i].tensor == nullptr) continue;
        return is_for_vulkan_only(*info_.artifact) ? cross_to_vulkan(i) : hosts_[i].tensor->context;
    }
    for (const Host& host : hosts_)
        if (host.object != nullptr && host.object->list_context() != nullptr)
            return host.object->list_context();
    if (encoder_ != nullptr && encoder_->context() != nullptr) return encoder_->context();
    return reader_.torch.first() ? host_context() : default_context();
}

/// Has the function's kernels run on Vulkan, where item `i` is a tensor on CUDA.
ContextPtr Call::cross_to_vulkan(std::size_t i) {
    if (encoder_ != nullptr) {
        refuse(ErrorCode::type_mismatch, where(i),
               "the function has kernels for Vulkan alone, and " + std::string(encoder_->writes_later()) +
                   ": give a kf.Tensor of the Vulkan device, or generate it with the target cuda");
    }
    const TorchTensor& tensor = *hosts_[i].torch;
    const Detour& detour = detour_of(tensor.memory.ordinal);
    void* const stream = settings_.stream ? *settings_.stream : current_stream(tensor);
    crossing_ = std::make_unique<interop::Crossing>(detour.bridge, stream);
    return detour.context;
}

/// Refuses lists of tensors that aren't where the call runs, as it does such tensors.
void Call::check_lists() const {
    const detail::DeviceState& there = *context_->device().state();
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const Context* const context =
            hosts_[i].object == nullptr ? nullptr : hosts_[i].object->list_context().get();
        if (context == nullptr || context->device().state()->is_same(there)) continue;
        refuse(ErrorCode::device_mismatch, where(i),
               "a tensor of the list " + detail::on_other_device(context->device(), there));
    }
}

/// Refuses tensors of PyTorch's that aren't where the call runs. One number on the CPU goes anywhere, as it
/// does there.
void Call::check_same_device() const {
    // A texture is where the call runs, as a tensor of ours is.
    auto first = std::ranges::find_if(hosts_, [](const Host& host) { return host.texture != nullptr; });
    if (first == hosts_.end())
        first = std::ranges::find_if(hosts_, [](const Host& host) { return host.tensor != nullptr; });
    if (first == hosts_.end()) return;
    const auto k = static_cast<std::size_t>(first - hosts_.begin());
    const Context& context = first->texture != nullptr ? *first->texture->context : *first->tensor->context;
    const std::string there = context.device().info().id;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const TorchTensor* const torch = hosts_[i].torch;
        if (torch == nullptr) continue;
        const std::string here = place_text(torch->memory);
        const bool is_number = torch->memory.shape.empty() && !is_written(i);
        if (here == there || (torch->array && (is_number || !there.starts_with("cuda")))) continue;
        refuse(ErrorCode::device_mismatch, where(std::max(i, k)),
               "expected all tensors to be on the same device, but found at least two devices, " +
                   (i > k ? here : there) + " and " + (i > k ? there : here) + " (argument '" +
                   item(std::min(i, k)).name + "')");
    }
}

/// Has tensors of PyTorch's on CUDA lent to the call's device, and results made where they are.
void Call::take_torch() {
    if (!reader_.torch.first()) return;
    PyObject*& like = like_torch_;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (host.torch == nullptr || host.tensor == nullptr) continue;
        if (like == nullptr) like = host.torch->given.ptr();
        const bool is_read = !is_output(i) || runs_backward(pass_);
        host.torch->on_device = {on_device_of_call(*host.torch, i, is_read, is_torch_written(i)), context_};
    }
    returns_torch_host_ = like == nullptr && encoder_ == nullptr;
    if (like == nullptr && (!returns_torch_host_ || is_small_)) return;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const bool is_made =
            is_output(i) && !hosts_[i].given && !hosts_[i].as_array() && hosts_[i].form != ResultForm::tensor;
        if (is_made && is_torch_made(i) && manifest::passes_elements(leaf(i)))
            hosts_[i].output = std::make_shared<TorchOutput>(context_, like, item(i).scalars,
                                                             encoder_ != nullptr, crossing_.get());
    }
}

/// Gives tensors gradients, where no input of a backward pass has one to add to.
void Call::make_gradients() {
    const auto carries_one = [&](std::size_t i) {
        const Host& host = hosts_[i];
        if (is_output(i) || !host.given) return false;
        return host.differentiable != nullptr || host.torch != nullptr ||
               as_with_gradients(host.given) != nullptr ||
               (host.tensor != nullptr && host.tensor->any.grad_out());
    };
    for (std::size_t i = 0; i < hosts_.size(); ++i)
        if (carries_one(i)) return;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const auto leaves = std::span(call_->arguments)
                                .subspan(item(i).leaf, static_cast<std::size_t>(call_->items[i].leaves));
        const bool is_wanted = std::ranges::any_of(leaves, [](const manifest::Argument& leaf) {
            return !is_only_written(leaf.role) && leaf.gradient != manifest::Gradient::never;
        });
        Tensor* const tensor = is_wanted && hosts_[i].given ? held<Tensor>(hosts_[i].content) : nullptr;
        if (tensor == nullptr || tensor->any.grad()) continue;
        *tensor = {tensor->any.with_grads(), tensor->context, tensor->structure, true};
    }
}

/// Refuses what PyTorch's own functions refuse, in their words, of what the call writes.
void Call::check_torch_writes() const {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const TorchTensor* const tensor = hosts_[i].torch;
        if (tensor == nullptr || !is_torch_written(i)) continue;
        if (tensor->is_copy) {
            refuse(ErrorCode::layout_mismatch, where(i),
                   "it is written, and is a negative view, whose memory has other signs: give "
                   "x.resolve_neg()");
        }
        const Torch& torch = *Torch::loaded();
        if (torch.is_inference(tensor->given.ptr()) && !torch.is_inference_mode()) {
            refuse(ErrorCode::not_differentiable, where(i),
                   "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a "
                   "clone to get a normal tensor before doing inplace update.");
        }
    }
}

/// Autograd tells by this that what it saved has changed.
void Call::note_torch_writes() const {
    py::list written;
    for (std::size_t i = 0; reader_.torch.first() && i < hosts_.size(); ++i) {
        if (hosts_[i].torch != nullptr && is_torch_written(i)) written.append(hosts_[i].torch->given);
    }
    if (!written.empty()) Torch::loaded()->note_writes(py::tuple(written));
}

std::optional<Device> Call::on_stream(const Context& context) const {
    if (crossing_ != nullptr) return std::nullopt;
    if (!settings_.stream) {
        const auto on_cuda = [](const Host& host) { return host.torch != nullptr && !host.torch->array; };
        const auto found = std::ranges::find_if(hosts_, on_cuda);
        if (encoder_ != nullptr || found == hosts_.end()) return std::nullopt;
        return context_->on_stream(current_stream(*found->torch));
    }
    try {
        return context.device().with_stream(*settings_.stream);
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
                                  type_name(host.given),
                              error.native_code());
        }
    }
}

/// A kf.differentiable() asks for a gradient, which would stay 0.
void Call::check_derivative(std::size_t i) const {
    const manifest::ParameterTree* structure = item(i).structure;
    const auto count = static_cast<std::size_t>(structure != nullptr ? structure->leaves : 1);
    const auto leaves = std::span(call_->arguments).subspan(item(i).leaf, count);
    const bool output = is_output(i);
    if (std::any_of(leaves.begin(), leaves.end(), [&](const manifest::Argument& leaf) {
            return output || manifest::writes_elements(leaf) ? leaf.differentiable
                                                             : leaf.gradient != manifest::Gradient::never;
        }))
        return;
    refuse(ErrorCode::not_differentiable, where(i),
           std::string(hosts_[i].differentiable != nullptr ? "kf.differentiable()" : "a gradient") +
               " is given, and the backward pass has no gradient for " +
               with_article(structure != nullptr ? structure->type : detail::type_text(leaf(i))) +
               " here: give the value alone");
}

Arg Call::convert(std::size_t i, const Context& context) {
    Host& host = hosts_[i];
    if (runs_backward(pass_)) {
        const bool is_asked = host.given && as_with_gradients(host.given) != nullptr;
        if (host.differentiable != nullptr || is_asked) check_derivative(i);
        host.gradients = find_gradients(*this, i);
    }
    if (host.generator != nullptr) {
        return Arg::make(Arg::Kind::generator, host.generator->data(), nullptr, nullptr, nullptr);
    }
    return convert_item(*this, i, context);
}

/// Whether the host's arrays may lie in its own memory meanwhile. By the shapes: where a spec maps
/// dimensions, there may be more calls than that, which is slower and nothing else.
bool Call::is_small() const {
    const auto is_array = [](const Host& host) { return host.array || host.as_array(); };
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
    if (settings_.shape) join(*settings_.shape);
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

/// Tells whether the host waits for what the call gives it.
bool Call::find_waits() const {
    if (encoder_ != nullptr) return false;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const Host& host = hosts_[i];
        const bool is_returned = runs_forward(pass_) && is_output(i);
        if (host.array ? is_written(i) || writes_input(i)
                       : host.as_array() || returns_torch_host(i) ||
                             (is_returned && manifest::passes_value(leaf(i))))
            return true;
        if (runs_backward(pass_) && host.torch != nullptr && host.torch->array) return true;
        if (runs_backward(pass_) && host.differentiable != nullptr && host.tensor == nullptr && !is_output(i))
            return true;
    }
    return false;
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
                   with_article(host.torch != nullptr ? "torch.Tensor on the CPU" : type_name(host.content)));
    }
}

/// NumPy arrays that the call wrote to get what is now on the device.
void Call::download_written() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (writes_input(i)) fill_array(*this, i);
    }
}

void Call::collect_gradients() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (host.gradients != nullptr) {
            const bool is_value = args_[i].kind == Arg::Kind::value && args_[i].gradient != nullptr;
            store_gradients(*this, i, is_value && !is_output(i) ? gradient_of_item(*this, i) : py::object());
            continue;
        }
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
void Call::fill_arrays(std::size_t& at, const manifest::ParameterTree& parameter) {
    for (const std::size_t end = at + manifest::item_count(parameter); at < end; ++at) {
        if (is_written(at)) fill_array(*this, at);
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
            fill_arrays(at, call_->parameters[i]);
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
            fill_arrays(at, tree);
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

/// Returns a result as what it was asked for, if it isn't yet.
py::object Call::in_form(std::size_t i, py::object value, const ContextPtr& context) const {
    const ResultForm form = hosts_[i].form;
    const bool is_array = py::isinstance<py::array>(value);
    if (form == ResultForm::tensor && is_array) {
        const auto array = py::reinterpret_borrow<py::array>(value);
        return py::cast(Tensor{upload(context->device(), array, where(i)), context});
    }
    if (form != ResultForm::torch || torch_kind(value.ptr()) != TorchKind::none) return value;
    if (item(i).scalars != nullptr) value = py::cast(as_scalars(py::cast<Tensor>(value), *item(i).scalars));
    return py::module_::import("torch").attr(is_array ? "from_numpy" : "from_dlpack")(value);
}

/// `at`: the parameter's first item; moves on behind its last.
py::object Call::result(const manifest::ParameterTree& parameter, std::size_t& at,
                        const ContextPtr& context) {
    if (parameter.form != manifest::Form::fields) {
        const std::size_t i = at++;
        return in_form(i, result_of_item(*this, i, context), context);
    }
    std::vector<py::object> fields;
    for (const manifest::ParameterTree& field : parameter.fields)
        fields.push_back(result(field, at, context));
    return make_struct(parameter, fields, *info_.classes);
}

/// Alerts of tensors of floats that kernels add to in whatever order.
void alert_of_sums(const manifest::Call& call, const auto& alert) {
    for (const manifest::Argument& leaf : call.arguments) {
        if (manifest::adds_atomically(leaf) && is_floating(leaf.element.scalar)) alert(leaf.name);
    }
}

}  // namespace

py::object call(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder, const Arguments& arguments,
                const Options& options, std::optional<WatchedCall>& watched, Encoder* before) {
    QuickCall quick(info, pass, encoder, arguments);
    if (quick.watched()) {
        watched = quick.watched();
        return {};
    }
    try {
        if (py::object result = quick.run(options, before)) return result;
    } catch (const ArgumentError& error) {
        // Tensors without a gradient are given one below.
        if (pass != PassKind::backward || error.code() != ErrorCode::missing_gradient) throw;
    }
    const NestedCall nested(" in calls from within arguments of other calls");
    Settings settings =
        settings_of(info.function.name, arguments.keywords, encoder, default_options().with(options));
    Overloads overloads(info, pass, encoder, arguments);
    overloads.resolve();
    const bool is_as_torch_says = !settings.options.deterministic && overloads.reader().torch.first() &&
                                  Torch::loaded()->is_deterministic();
    if (is_as_torch_says) settings.options.deterministic = true;
    const auto alert = [&](const std::string& sum) {
        // Raises, or warns where that is all that PyTorch is set to do.
        (void)py::module_::import("kernelfunctions.torch._deterministic")
            .attr("alert")(name_of_pass(*overloads.taken().info, pass), sum);
    };
    try {
        Call full(overloads, pass, encoder, std::move(settings));
        if (is_as_torch_says && runs_forward(pass)) alert_of_sums(full.call(), alert);
        py::object result = full.run(before);
        if (!full.crosses()) quick.keep(*overloads.taken().info, full.call());
        return result;
    } catch (const ArgumentError& error) {
        if (!is_as_torch_says || error.code() != ErrorCode::no_deterministic_kernel) throw;
    }
    alert({});
    Options other = options;
    other.deterministic = false;
    return call(info, pass, encoder, arguments, other, watched, before);
}

}  // namespace kf::python
