// Numbers, lists and arrays as the bytes of one element.
#include "python/host_value.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/convert.h"
#include "core/describe.h"
#include "core/resolve_text.h"
#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {

using detail::with_article;

bool is_repeated(const Host& host, const manifest::Argument& leaf) {
    return host.nested && host.shape.empty() && !leaf.element.extents.empty();
}

void pack_value(Host& host, const manifest::Argument& leaf, const Where& where) {
    const ElementType element = element_type(leaf.element);
    const Dims extents(std::span(element.extents).first(element.rank));
    if (is_repeated(host, leaf)) {
        std::byte* target = host.value.data();
        for (std::int64_t k = 0; k < element.scalars(); ++k, target += size_of(element.scalar))
            pack_number(host.nested->numbers.front(), element.scalar, target, where);
        return;
    }
    if (!(host.shape == extents)) {
        refuse(ErrorCode::shape_mismatch, where,
               with_article(detail::type_text(leaf)) + " has shape " + to_string(extents) + ", not " +
                   to_string(host.shape));
    }
    if (host.array) {
        if (host.scalar != element.scalar) {
            refuse(ErrorCode::type_mismatch, where,
                   std::string("dtype ") + numpy_name(host.scalar) + " where " + numpy_name(element.scalar) +
                       " is needed; convert it with " + detail::astype_text(element.scalar));
        }
        const auto bytes = pack(*host.array);
        std::ranges::copy(bytes, host.value.bytes().begin());
    } else {
        std::byte* target = host.value.data();
        for (const py::object& number : host.nested->numbers) {
            pack_number(number, element.scalar, target, where);
            target += size_of(element.scalar);
        }
    }
}

void pack_flowing(Host& host, const py::object& gradient, const manifest::Argument& leaf,
                  const Where& where) {
    const ElementType element = element_type(leaf.element);
    const Dims extents(std::span(element.extents).first(element.rank));
    std::vector<std::byte> bytes;
    Dims shape;
    if (py::isinstance<py::array>(gradient)) {
        const auto array = py::reinterpret_borrow<py::array>(gradient);
        if (!is_floating(scalar_of(array, where))) {
            refuse(
                ErrorCode::type_mismatch, where,
                "its gradient has dtype " + std::string(py::str(array.dtype())) + ", which isn't floating");
        }
        shape = shape_of(array, where);
        bytes = pack(py::array(array.attr("astype")(dtype_of(element.scalar))));
    } else if (const auto nested = look_through(gradient, where)) {
        shape = nested->shape;
        bytes = pack(*nested, element.scalar, where);
    } else {
        refuse(ErrorCode::type_mismatch, where,
               "its gradient is a number, a list or an array, not " + with_article(type_name(gradient)));
    }
    if (!(shape == extents)) {
        refuse(ErrorCode::shape_mismatch, where,
               "its gradient has shape " + to_string(shape) + ", " + with_article(detail::type_text(leaf)) +
                   " has " + to_string(extents));
    }
    std::ranges::copy(bytes, host.gradient.bytes().begin());
}

}  // namespace kf::python
