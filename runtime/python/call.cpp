// One call from Python: arguments are taken, an overload is resolved, data goes to the device and back.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/convert.h"
#include "core/device_state.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/function.h"
#include "python/generator.h"
#include "python/host.h"
#include "python/scalars.h"
#include "python/stream.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

using detail::Arg;
using detail::ArgShape;
using detail::PassKind;
using manifest::ArgumentKind;
using manifest::Role;

/// The bytes of one element on the host, zero at first; small ones need no allocation.
class HostElement {
public:
    HostElement() = default;
    HostElement(const HostElement&) = delete;  // bytes_ may point into the object itself
    HostElement& operator=(const HostElement&) = delete;

    std::span<std::byte> reserve(std::size_t size) {
        if (size > inside_.size()) outside_.resize(size);
        return bytes_ = size > inside_.size() ? std::span(outside_) : std::span(inside_).first(size);
    }
    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
    [[nodiscard]] std::byte* data() const { return bytes_.data(); }

private:
    alignas(8) std::array<std::byte, 32> inside_{};
    std::vector<std::byte> outside_;
    std::span<std::byte> bytes_;
};

/// One argument on its way: what was given and what became of it.
struct Host {
    py::handle given;       ///< null when absent
    bool as_array = false;  ///< an output that isn't given, asked for as a NumPy array
    py::handle content;     ///< `given`, or the value inside a Differentiable
    Differentiable* differentiable = nullptr;
    const Tensor* tensor = nullptr;  ///< one of these four, unless absent
    const Generator* generator = nullptr;
    std::optional<py::array> array;
    std::optional<Nested> nested;
    ScalarType scalar = ScalarType::float32;
    Dims shape;
    AnyTensor uploaded;  ///< of an array or list that feeds a tensor
    HostElement value;
    HostElement gradient;
};

class Call {
public:
    Call(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder)
        : info_(info), pass_(pass), encoder_(encoder), hosts_(info.parameters.size()) {}

    py::object run(const py::tuple& arguments, const py::dict& keywords) {
        take(arguments, keywords);
        const ContextPtr context = choose_context();
        const std::optional<Device> on = on_stream(*context);
        detail::FunctionRef function;
        {
            const py::gil_scoped_release release;
            function = {context->module(info_.artifact).state(), info_.index};
        }
        const std::size_t index = resolve(function);
        call_ = &info_.function.calls[index];
        if (on) check_capture(*on);
        args_.reserve(hosts_.size());
        for (std::size_t i = 0; i < hosts_.size(); ++i) args_.push_back(convert(i, *context));
        {
            const py::gil_scoped_release release;
            detail::invoke(function, index, pass_, args_,
                           encoder_ == nullptr ? nullptr : &encoder_->encoder(), shape_ ? &*shape_ : nullptr,
                           on ? &*on : nullptr);
        }
        if (pass_ == PassKind::backward) {
            collect_gradients();
            return py::none();
        }
        download_written();
        return results(context);
    }

private:
    [[nodiscard]] Where where(std::size_t i) const {
        return {info_.function.name, info_.parameters[i].keyword};
    }
    [[nodiscard]] bool is_output(std::size_t i) const {
        return info_.parameters[i].role == Role::out || info_.parameters[i].role == Role::result;
    }
    [[nodiscard]] bool is_written(std::size_t i) const {
        return info_.parameters[i].role != Role::in && pass_ == PassKind::forward;
    }

    void take(const py::tuple& arguments, const py::dict& keywords);
    void take_keyword(py::handle key, py::handle value);
    void give(std::size_t i, py::handle value);
    void look_at(std::size_t i);
    ContextPtr choose_context();
    std::optional<Device> on_stream(const Context& context) const;
    void check_capture(const Device& on) const;
    std::size_t resolve(const detail::FunctionRef& function);
    [[nodiscard]] std::string numbers_given() const;
    Arg convert(std::size_t i, const Context& context);
    Arg convert_value(std::size_t i);
    Arg convert_tensor(std::size_t i, const Context& context);
    void pack_value(std::size_t i, const ElementType& element);
    void pack_flowing(std::size_t i, const ElementType& element);
    [[nodiscard]] bool writes_array(std::size_t i) const;
    void check_written(std::size_t i) const;
    void download_written();
    void collect_gradients();
    py::object results(const ContextPtr& context);
    py::object result(std::size_t i, const ContextPtr& context);

    const FunctionInfo& info_;
    PassKind pass_;
    RecordedCalls* encoder_;
    std::vector<Host> hosts_;
    std::vector<Arg> args_;
    std::optional<Dims> shape_;
    std::optional<void*> stream_;
    const manifest::Call* call_ = nullptr;
};

/// np.ndarray or "numpy", where an output could be given.
bool asks_for_array(py::handle value) {
    const auto* array_type = reinterpret_cast<PyObject*>(py::detail::npy_api::get().PyArray_Type_);
    return value.ptr() == array_type ||
           (PyUnicode_Check(value.ptr()) != 0 && PyUnicode_CompareWithASCIIString(value.ptr(), "numpy") == 0);
}

std::string parameter_list(const FunctionInfo& info) {
    std::string text;
    for (const Parameter& parameter : info.parameters) {
        if (parameter.hidden) continue;
        text += (text.empty() ? "" : ", ") + (parameter.role == Role::result ? "out" : parameter.keyword);
    }
    return text;
}

void Call::give(std::size_t i, py::handle value) {
    if (hosts_[i].given || hosts_[i].as_array) {
        refuse(ErrorCode::type_mismatch, where(i), "given twice");
    }
    if (is_output(i) && asks_for_array(value)) {
        if (pass_ == PassKind::backward || encoder_ != nullptr) {
            refuse(ErrorCode::type_mismatch, where(i),
                   pass_ == PassKind::backward
                       ? "np.ndarray asks for an output as an array; a backward pass takes the output itself"
                       : "a recorded call writes when the encoder is submitted: it can't make a NumPy array");
        }
        hosts_[i].as_array = true;
        return;
    }
    if (!value.is_none()) hosts_[i].given = value;
}

/// Forward calls take the result by `out=` only; backward calls also as the last positional argument.
void Call::take(const py::tuple& arguments, const py::dict& keywords) {
    std::vector<std::size_t> by_place;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const bool named = pass_ == PassKind::forward && info_.parameters[i].role == Role::result;
        if (!named && !info_.parameters[i].hidden) by_place.push_back(i);
    }
    const std::size_t places = by_place.size();
    if (arguments.size() > places) {
        refuse(ErrorCode::type_mismatch, {info_.function.name, {}},
               std::to_string(arguments.size()) + " positional arguments where at most " +
                   std::to_string(places) + " are taken (" + parameter_list(info_) + ")");
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) give(by_place[i], arguments[i]);
    for (const auto& [key, value] : keywords) take_keyword(key, value);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (hosts_[i].given) {
            look_at(i);
        } else if (!is_output(i) && !info_.parameters[i].hidden) {
            refuse(ErrorCode::missing_argument, where(i), "not given");
        }
    }
}

void Call::take_keyword(py::handle key, py::handle value) {
    const auto name = py::cast<std::string_view>(key);
    if (name == "shape") {
        if (!value.is_none()) shape_ = parse_shape(value, {info_.function.name, "shape"});
        return;
    }
    if (name == "stream") {
        const Where where{info_.function.name, "stream"};
        if (value.is_none()) return;
        if (encoder_ != nullptr) {
            refuse(ErrorCode::type_mismatch, where,
                   "a recorded call runs where its encoder is submitted; stream= is for direct calls");
        }
        stream_ = parse_stream(value, where);
        return;
    }
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
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
    host.content = host.given;
    if (host.differentiable = as_differentiable(host.given); host.differentiable != nullptr) {
        host.content = host.differentiable->value;
    }
    if (host.generator = as_generator(host.given); host.generator != nullptr) {
        if (is_output(i) || is_written(i)) {
            refuse(ErrorCode::type_mismatch, where(i), "an output can't be " + shown(host.given));
        }
        host.shape = host.generator->shape;
        return;
    }
    if (host.tensor = as_tensor(host.content); host.tensor != nullptr) {
        host.scalar = host.tensor->any.element().scalar;
        host.shape = host.tensor->any.shape();
        return;
    }
    if (py::isinstance<py::array>(host.content)) {
        host.array = py::reinterpret_borrow<py::array>(host.content);
        host.scalar = scalar_of(*host.array, where(i));
        host.shape = shape_of(*host.array, where(i));
        if (is_written(i) && !host.array->writeable()) {
            refuse(ErrorCode::type_mismatch, where(i), "the array is written to, but it is read-only");
        }
    } else if (is_output(i) && is_written(i)) {
        refuse(ErrorCode::type_mismatch, where(i),
               "an output is written to a kf.Tensor or a NumPy array, not to " + shown(host.given) +
                   "; out=np.ndarray makes a new array");
    } else {
        host.nested = look_through(host.content, where(i));
        if (!host.nested) {
            refuse(
                ErrorCode::type_mismatch, where(i),
                "a number, a list, a NumPy array or a kf.Tensor is needed, not a " + type_name(host.content));
        }
        host.scalar = host.nested->scalar;
        host.shape = host.nested->shape;
    }
    if (is_written(i) && host.array && encoder_ != nullptr) {
        refuse(ErrorCode::type_mismatch, where(i),
               "a recorded call writes when the encoder is submitted: give a kf.Tensor, not a NumPy array");
    }
}

ContextPtr Call::choose_context() {
    for (const Host& host : hosts_) {
        if (host.tensor != nullptr) return host.tensor->context;
    }
    return encoder_ != nullptr ? encoder_->context() : default_context();
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
        if (!host.given || host.tensor != nullptr || call_->arguments[i].kind != ArgumentKind::tensor)
            continue;
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
    std::vector<ArgShape> shapes(hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        const Host& host = hosts_[i];
        if (!host.given) continue;
        // Whether an output is a tensor doesn't matter: a value's is copied into it afterwards.
        const bool resident = host.tensor != nullptr && !(is_output(i) && encoder_ == nullptr);
        if (host.generator != nullptr) shapes[i].generator = host.generator->kind;
        shapes[i].kind = host.generator != nullptr ? ArgShape::Kind::generator
                         : host.nested             ? ArgShape::Kind::weak
                         : resident                ? ArgShape::Kind::tensor
                                                   : ArgShape::Kind::array;
        shapes[i].scalar = host.scalar;
        shapes[i].shape = host.shape;
    }
    try {
        return detail::resolve(function, shapes);
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), error.what() + numbers_given());
    }
}

/// The resolver knows kinds and types only; people also want to see the values.
std::string Call::numbers_given() const {
    std::string text;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (!hosts_[i].nested) continue;
        text += (text.empty() ? "\n  given: " : ", ") + info_.parameters[i].keyword + " = " +
                shown(hosts_[i].content);
    }
    return text;
}

Arg Call::convert(std::size_t i, const Context& context) {
    Host& host = hosts_[i];
    if (call_->arguments[i].kind == ArgumentKind::value) {
        const std::size_t size = element_type(call_->arguments[i].element).size();
        host.value.reserve(size);
        host.gradient.reserve(size);
    }
    if (host.generator != nullptr) {
        return Arg::make(Arg::Kind::generator, host.generator->data(), nullptr, nullptr, nullptr);
    }
    if (!host.given) {
        if (call_->arguments[i].kind == ArgumentKind::value && is_output(i) && pass_ == PassKind::forward) {
            return Arg::make(Arg::Kind::value, nullptr, host.value.data(), nullptr, nullptr);
        }
        return Arg::none();
    }
    if (call_->arguments[i].kind == ArgumentKind::value) return convert_value(i);
    return convert_tensor(i, context);
}

/// Arrays and lists hold exactly the element's scalars.
void Call::pack_value(std::size_t i, const ElementType& element) {
    Host& host = hosts_[i];
    const Dims extents(std::span(element.extents).first(element.rank));
    if (!(host.shape == extents)) {
        refuse(ErrorCode::shape_mismatch, where(i),
               "a " + to_string(element) + " has shape " + to_string(extents) + ", not " +
                   to_string(host.shape));
    }
    if (host.array) {
        if (host.scalar != element.scalar) {
            refuse(ErrorCode::type_mismatch, where(i),
                   std::string("dtype ") + numpy_name(host.scalar) + " where " + numpy_name(element.scalar) +
                       " is needed; convert it with astype()");
        }
        const auto bytes = pack(*host.array);
        std::ranges::copy(bytes, host.value.bytes().begin());
    } else {
        std::byte* target = host.value.data();
        for (const py::object& number : host.nested->numbers) {
            pack_number(number, element.scalar, target, where(i));
            target += size_of(element.scalar);
        }
    }
}

/// The gradient that flows into a value: a number, lists, or an array of any floating dtype, since sums of
/// gradients are often wider than the value.
void Call::pack_flowing(std::size_t i, const ElementType& element) {
    Host& host = hosts_[i];
    const py::object gradient = host.differentiable->grad();
    const Dims extents(std::span(element.extents).first(element.rank));
    std::vector<std::byte> bytes;
    Dims shape;
    if (py::isinstance<py::array>(gradient)) {
        const auto array = py::reinterpret_borrow<py::array>(gradient);
        if (!is_floating(scalar_of(array, where(i)))) {
            refuse(
                ErrorCode::type_mismatch, where(i),
                "its gradient has dtype " + std::string(py::str(array.dtype())) + ", which isn't floating");
        }
        shape = shape_of(array, where(i));
        bytes = pack(py::array(array.attr("astype")(dtype_of(element.scalar))));
    } else if (const auto nested = look_through(gradient, where(i))) {
        shape = nested->shape;
        bytes = pack(*nested, element.scalar, where(i));
    } else {
        refuse(ErrorCode::type_mismatch, where(i),
               "its gradient is a number, a list or an array, not a " + type_name(gradient));
    }
    if (!(shape == extents)) {
        refuse(ErrorCode::shape_mismatch, where(i),
               "its gradient has shape " + to_string(shape) + ", a " + to_string(element) + " has " +
                   to_string(extents));
    }
    std::ranges::copy(bytes, host.gradient.bytes().begin());
}

Arg Call::convert_value(std::size_t i) {
    Host& host = hosts_[i];
    const ElementType element = element_type(call_->arguments[i].element);
    if (is_output(i)) {
        if (pass_ == PassKind::forward) {
            // A tensor or array of the value's own shape is filled once the value is back.
            const Dims extents(std::span(element.extents).first(element.rank));
            if (!(host.shape == extents) || host.scalar != element.scalar) {
                refuse(ErrorCode::shape_mismatch, where(i),
                       "the output is one " + to_string(element) + ": a " + numpy_name(element.scalar) +
                           " tensor or array of shape " + to_string(extents) + " could hold it, not shape " +
                           to_string(host.shape));
            }
            return Arg::make(Arg::Kind::value, nullptr, host.value.data(), nullptr, nullptr);
        }
        if (host.differentiable == nullptr || host.tensor != nullptr) {
            return host.tensor != nullptr ? Arg::of(host.tensor->any) : Arg::none();
        }
        pack_flowing(i, element);
        return Arg::make(Arg::Kind::value, nullptr, nullptr, host.gradient.data(), nullptr);
    }
    if (host.tensor != nullptr) return Arg::of(host.tensor->any);
    pack_value(i, element);
    const bool wants_gradient = pass_ == PassKind::backward && host.differentiable != nullptr;
    return Arg::make(Arg::Kind::value, host.value.data(), is_written(i) ? host.value.data() : nullptr,
                     wants_gradient ? host.gradient.data() : nullptr, nullptr);
}

Arg Call::convert_tensor(std::size_t i, const Context& context) {
    Host& host = hosts_[i];
    if (host.tensor != nullptr) return Arg::of(host.tensor->any);
    const ScalarType scalar = scalar_type(call_->arguments[i].element.scalar);
    if (is_output(i)) {
        // Only its shape matters before the call; in a backward call 1 flows in.
        host.uploaded = AnyTensor::empty(context.device(), ElementType{host.scalar, 0}, host.shape);
    } else if (host.array) {
        host.uploaded = upload(context.device(), *host.array, where(i));
    } else {
        host.uploaded = upload(context.device(), *host.nested, scalar, where(i));
    }
    if (writes_array(i)) check_written(i);
    if (pass_ == PassKind::backward && host.differentiable != nullptr && !is_output(i)) {
        host.uploaded = host.uploaded.with_grads();
    }
    return Arg::of(host.uploaded);
}

/// A parameter that is a tensor and is written: what was given must be able to take it.
bool Call::writes_array(std::size_t i) const {
    const manifest::Access access = call_->arguments[i].access;
    return pass_ == PassKind::forward && access != manifest::Access::none && access != manifest::Access::read;
}

void Call::check_written(std::size_t i) const {
    const Host& host = hosts_[i];
    if (!host.array || !host.array->writeable() || encoder_ != nullptr) {
        refuse(ErrorCode::type_mismatch, where(i),
               encoder_ != nullptr ? "it is written when the encoder is submitted: give a kf.Tensor"
                                   : "it is written: give a kf.Tensor or a writable NumPy array");
    }
}

/// NumPy arrays that the call wrote to get what is now on the device.
void Call::download_written() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (host.array && writes_array(i)) download_into(host.uploaded, *host.array);
    }
}

void Call::collect_gradients() {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        Host& host = hosts_[i];
        if (host.differentiable == nullptr || host.tensor != nullptr || is_output(i)) continue;
        const manifest::Argument& argument = call_->arguments[i];
        if (argument.kind == ArgumentKind::tensor) {
            host.differentiable->add(download(host.uploaded.grad()));
        } else {
            host.differentiable->add(to_python(element_type(argument.element), host.gradient.data()));
        }
    }
}

/// The return value, then out and inout values in parameter order.
py::object Call::results(const ContextPtr& context) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
        if (info_.parameters[i].role == Role::result) {
            order.insert(order.begin(), i);
        } else if (info_.parameters[i].role != Role::in) {
            order.push_back(i);
        }
    }
    if (order.empty()) return py::none();
    if (order.size() == 1) return result(order.front(), context);
    py::tuple values(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) values[i] = result(order[i], context);
    return info_.results.attr("_make")(values);
}

py::object Call::result(std::size_t i, const ContextPtr& context) {
    Host& host = hosts_[i];
    const manifest::Argument& argument = call_->arguments[i];
    if (argument.kind == ArgumentKind::tensor) {
        if (host.as_array) return download(args_[i].allocated);
        if (!host.given) return py::cast(wrap(args_[i].allocated, context));
        if (host.array) download_into(host.uploaded, *host.array);
        if (host.nested) return py::cast(wrap(host.uploaded, context));
        return py::reinterpret_borrow<py::object>(host.given);
    }
    const ElementType element = element_type(argument.element);
    if (host.as_array) return to_array(element, host.value.data());
    if (!host.array && host.tensor == nullptr) return to_python(element, host.value.data());
    if (host.tensor != nullptr) {
        const py::gil_scoped_release release;
        host.tensor->any.write(host.value.bytes());
    } else {
        (*host.array)[py::ellipsis()] = to_python(element, host.value.data());
    }
    return py::reinterpret_borrow<py::object>(host.given);
}

}  // namespace

py::object call(const FunctionInfo& info, PassKind pass, RecordedCalls* encoder, const py::tuple& arguments,
                const py::dict& keywords) {
    return Call(info, pass, encoder).run(arguments, keywords);
}

}  // namespace kf::python
