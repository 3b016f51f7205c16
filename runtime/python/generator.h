// kf.Grid, kf.Range, kf.WangHash and kf.RandFloat: what calls take for generators.
#pragma once

#include <kf/any_tensor.h>
#include <kf/generator.h>

#include <array>
#include <optional>

#include "python/common.h"

namespace kf::python {

/// Immutable. `data()` is what detail::Arg points to: the numbers of a kf::Grid, or the struct itself.
struct Generator {
    using PythonClass = Generator;

    detail::GeneratorKind kind = detail::GeneratorKind::none;
    Dims shape;  ///< what it adds to the call's; empty of random numbers
    std::array<std::int64_t, 3 * max_rank> numbers{};
    Range range;
    WangHash hash;
    RandFloat random;

    [[nodiscard]] const void* data() const;
};

/// Null when `value` isn't one.
const Generator* as_generator(py::handle value);
/// Which kind of generators `value` is the class of; nothing for anything else.
std::optional<detail::GeneratorKind> generator_of_class(py::handle value);
/// Makes a kf.Grid of its shape, an int or a sequence of them.
py::object grid_of_shape(py::handle shape, const Where& where);
/// Null when `value` isn't of exactly one of their classes, or holds nothing.
const Generator* as_exact_generator(PyObject* value);

}  // namespace kf::python
