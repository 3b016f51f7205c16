// Values in calls from Python: numbers, lists, arrays and structs.
#include "python/kinds/value.h"

#include <span>

#include "core/convert.h"
#include "core/describe.h"
#include "core/items.h"
#include "python/enums.h"
#include "python/errors.h"
#include "python/gil.h"
#include "python/host.h"
#include "python/host_value.h"
#include "python/scalars.h"
#include "python/structs.h"
#include "python/tensor.h"
#include "python/torch_outputs.h"
#include "python/with_gradients.h"

namespace kf::python {

using detail::Arg;

namespace {

/// A struct by value.
Arg convert_struct(CallItems& items, std::size_t i) {
    Host& host = items.host(i);
    const manifest::ParameterTree& structure = *items.item(i).structure;
    if (items.is_output(i)) {
        // The gradient that flows into a backward call.
        const py::object gradient =
            host.differentiable != nullptr ? host.differentiable->grad() : py::object();
        if (!gradient) return Arg::none();
        GivenObject flowing(items.reader(), gradient, std::pmr::new_delete_resource());
        pack_struct(items.call(), structure, flowing, host.gradient.data(), items.where(i));
        return Arg::make(Arg::Kind::value, nullptr, nullptr, host.gradient.data(), nullptr);
    }
    pack_struct(items.call(), structure, *host.object, host.value.data(), items.where(i));
    const bool wants_gradient = runs_backward(items.pass()) && host.differentiable != nullptr;
    return Arg::make(Arg::Kind::value, host.value.data(), items.is_written(i) ? host.value.data() : nullptr,
                     wants_gradient ? host.gradient.data() : nullptr, nullptr);
}

Arg convert_one(CallItems& items, std::size_t i) {
    Host& host = items.host(i);
    const ElementType element = element_type(items.leaf(i).element);
    if (items.is_output(i)) {
        if (runs_forward(items.pass())) {
            // A tensor or array of the value's own shape is filled once the value is back.
            const Dims extents(std::span(element.extents).first(element.rank));
            if (!(host.shape == extents) || host.scalar != element.scalar) {
                refuse(ErrorCode::shape_mismatch, items.where(i),
                       "the output is one " + detail::type_text(items.leaf(i)) + ": a " +
                           numpy_name(element.scalar) + " tensor or array of shape " + to_string(extents) +
                           " could hold it, not shape " + to_string(host.shape));
            }
            return Arg::make(Arg::Kind::value, nullptr, host.value.data(), nullptr, nullptr);
        }
        if (host.tensor != nullptr) {
            host.passed = host.tensor->any;
            return Arg::of(host.passed);
        }
        const py::object flowing = flowing_value(items, i);
        if (!flowing) return Arg::none();
        pack_flowing(host, flowing, items.leaf(i), items.where(i));
        return Arg::make(Arg::Kind::value, nullptr, nullptr, host.gradient.data(), nullptr);
    }
    if (host.tensor != nullptr) {
        host.passed = host.tensor->any;
        return Arg::of(host.passed);
    }
    pack_value(host, items.leaf(i), items.where(i));
    const bool wants_gradient = runs_backward(items.pass()) &&
                                (host.gradients != nullptr ? static_cast<bool>(host.gradients->out.given)
                                                           : host.differentiable != nullptr);
    Arg arg =
        Arg::make(Arg::Kind::value, host.value.data(), items.is_written(i) ? host.value.data() : nullptr,
                  wants_gradient ? host.gradient.data() : nullptr, nullptr);
    if (wants_gradient) arg.pushed = &host.uploaded;
    return arg;
}

/// One gradient for each call; of a number that all components are, their sum.
py::object pushed_gradient(CallItems& items, std::size_t i) {
    const Host& host = items.host(i);
    py::array list = download(host.uploaded);
    if (!is_repeated(host, items.leaf(i))) return list;
    const auto axes = static_cast<py::ssize_t>(items.leaf(i).element.extents.size());
    const py::ssize_t calls = list.ndim() - axes;
    py::tuple summed(static_cast<std::size_t>(axes));
    for (py::ssize_t k = 0; k < axes; ++k) summed[static_cast<std::size_t>(k)] = calls + k;
    return list.attr("sum")(py::arg("axis") = summed);
}

}  // namespace

Arg convert_item(const manifest::kinds::Value&, CallItems& items, std::size_t i, const Context&) {
    Host& host = items.host(i);
    const manifest::ParameterTree* structure = items.item(i).structure;
    const std::size_t size = structure != nullptr ? static_cast<std::size_t>(manifest::byte_size(*structure))
                                                  : element_type(items.leaf(i).element).size();
    host.value.reserve(size);
    host.gradient.reserve(size);
    if (host.form != ResultForm::usual && !host.as_array() && structure != nullptr) refuse_form(items, i);
    if (!host.given) {
        const bool comes_back = items.is_output(i) && runs_forward(items.pass());
        if (!comes_back) return Arg::none();
        // A recorded call returns a tensor of one number, or refuses.
        const bool is_kept = items.is_recorded() && structure == nullptr;
        return Arg::make(Arg::Kind::value, nullptr, is_kept ? nullptr : host.value.data(), nullptr, nullptr);
    }
    return structure != nullptr ? convert_struct(items, i) : convert_one(items, i);
}

py::object gradient_of_item(const manifest::kinds::Value&, CallItems& items, std::size_t i) {
    Host& host = items.host(i);
    if (items.item(i).structure != nullptr) {
        return unpack_gradient(items.call(), *items.item(i).structure, host.gradient.data());
    }
    if (items.is_pushed(i)) return pushed_gradient(items, i);
    const ElementType element = element_type(items.leaf(i).element);
    if (!is_repeated(host, items.leaf(i))) return to_python(element, host.gradient.data());
    // Each component's gradient is the number's.
    return py::float_(to_array(element, host.gradient.data()).attr("sum")(py::arg("dtype") = "float64"));
}

py::object result_of_item(const manifest::kinds::Value&, CallItems& items, std::size_t i,
                          const ContextPtr& context) {
    Host& host = items.host(i);
    if (items.made(i)) return py::cast(wrap(items.made(i), context));
    if (items.item(i).structure != nullptr) {
        return unpack_struct(items.call(), *items.item(i).structure, host.value.data(),
                             *items.info().classes);
    }
    const ElementType element = element_type(items.leaf(i).element);
    if (host.form != ResultForm::usual) return to_array(element, host.value.data());
    const bool is_given = host.array || host.tensor != nullptr;
    if (!is_given && items.returns_torch_values())
        return to_torch_value(element, host.value.data(), items.like_torch());
    if (!is_given)
        return as_member(items.leaf(i), to_python(element, host.value.data()), *items.info().classes);
    if (host.tensor != nullptr) {
        const AnyTensor target = host.tensor->any;
        const GilRelease release;
        target.write(host.value.bytes());
    } else {
        (*host.array)[py::ellipsis()] = to_python(element, host.value.data());
    }
    return py::reinterpret_borrow<py::object>(host.given);
}

}  // namespace kf::python
