// kf.Grid, kf.Range, kf.WangHash and kf.RandFloat, and the functions that make them.
#include "python/generator.h"

#include <cstring>
#include <limits>

#include "python/errors.h"
#include "python/host.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

using detail::GeneratorKind;

// One class each, so that isinstance() and annotations tell them apart.
struct GridObject : Generator {};
struct RangeObject : Generator {};
struct WangHashObject : Generator {};
struct RandFloatObject : Generator {};

template <class T>
T number(py::handle value, ScalarType scalar, const Where& where) {
    std::array<std::byte, 8> bytes{};
    pack_number(value, scalar, bytes.data(), where);
    T result;
    std::memcpy(&result, bytes.data(), sizeof result);
    return result;
}

std::int64_t integer(py::handle value, const Where& where) {
    return number<std::int64_t>(value, ScalarType::int64, where);
}

/// An int is a list of one.
Dims integers(py::handle value, const Where& where) {
    Dims result;
    if (number_kind(value)) {
        result.push_back(integer(value, where));
        return result;
    }
    const auto items = py::reinterpret_steal<py::object>(PySequence_Fast(value.ptr(), ""));
    if (!items || PyUnicode_Check(value.ptr()) != 0) {
        PyErr_Clear();
        refuse(ErrorCode::type_mismatch, where,
               "an int or a sequence of ints is needed, not " + shown(value));
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    if (count < 1 || count > static_cast<Py_ssize_t>(max_rank)) {
        refuse(ErrorCode::rank_mismatch, where,
               "a grid has 1 to " + std::to_string(max_rank) + " dimensions, not " + std::to_string(count));
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        result.push_back(integer(PySequence_Fast_GET_ITEM(items.ptr(), i), where));
    }
    return result;
}

Dims as_long(py::handle value, std::size_t count, std::int64_t otherwise, const Where& where) {
    if (value.is_none()) return Dims(count, otherwise);
    const Dims result = integers(value, where);
    if (result.size() != count) {
        refuse(ErrorCode::shape_mismatch, where,
               "the grid has " + std::to_string(count) + " dimensions, this has " +
                   std::to_string(result.size()));
    }
    return result;
}

GridObject grid_object(py::handle shape, py::handle offset, py::handle stride, const Where& where) {
    GridObject grid;
    grid.kind = GeneratorKind::grid;
    grid.shape = integers(shape, where);
    for (const std::int64_t extent : grid.shape) {
        if (extent < 0) {
            refuse(ErrorCode::value_range, where, std::to_string(extent) + " is not an extent");
        }
    }
    const std::size_t count = grid.shape.size();
    const Dims offsets = as_long(offset, count, 0, {"grid", "offset"});
    const Dims strides = as_long(stride, count, 1, {"grid", "stride"});
    for (std::size_t i = 0; i < count; ++i) {
        grid.numbers[i] = grid.shape[i];
        grid.numbers[count + i] = offsets[i];
        grid.numbers[2 * count + i] = strides[i];
    }
    return grid;
}

GridObject make_grid(py::handle shape, py::handle offset, py::handle stride) {
    return grid_object(shape, offset, stride, {"grid", "shape"});
}

/// Makes a range as Python's range() does: a single number is `stop`.
RangeObject make_range(py::handle start, py::handle stop, py::handle step) {
    RangeObject range;
    range.kind = GeneratorKind::range;
    const bool one = stop.is_none();
    range.range.start = one ? 0 : integer(start, {"range", "start"});
    range.range.stop = integer(one ? start : stop, {"range", "stop"});
    range.range.step = integer(step, {"range", "step"});
    if (range.range.step == 0) refuse(ErrorCode::value_range, {"range", "step"}, "it can't be 0");
    range.shape = Dims(1, 0);  // only its rank matters here
    return range;
}

WangHash make_hash(const char* owner, py::handle seed, py::handle warmup, py::handle hash_seed) {
    WangHash hash;
    hash.seed = number<std::uint32_t>(seed, ScalarType::uint32, {owner, "seed"});
    hash.warmup = number<std::uint32_t>(warmup, ScalarType::uint32, {owner, "warmup"});
    hash.hash_seed = number<std::uint8_t>(hash_seed, ScalarType::boolean, {owner, "hash_seed"}) != 0;
    return hash;
}

WangHashObject make_wang_hash(py::handle seed, py::handle warmup, py::handle hash_seed) {
    WangHashObject result;
    result.kind = GeneratorKind::wang_hash;
    result.hash = make_hash("wang_hash", seed, warmup, hash_seed);
    return result;
}

RandFloatObject make_rand_float(py::handle min, py::handle max, py::handle seed, py::handle warmup,
                                py::handle hash_seed) {
    RandFloatObject result;
    result.kind = GeneratorKind::rand_float;
    const WangHash hash = make_hash("rand_float", seed, warmup, hash_seed);
    result.random = {number<float>(min, ScalarType::float32, {"rand_float", "min"}),
                     number<float>(max, ScalarType::float32, {"rand_float", "max"}), hash.seed, hash.warmup,
                     hash.hash_seed};
    return result;
}

py::tuple numbers_of(const GridObject& grid, std::size_t part) {
    const std::size_t count = grid.shape.size();
    py::tuple result(count);
    for (std::size_t i = 0; i < count; ++i) result[i] = py::int_(grid.numbers[part * count + i]);
    return result;
}

/// What __reduce__() returns: kf.grid() or its kin, and its arguments.
template <class... Values>
py::tuple pickled(const char* maker, const Values&... values) {
    return py::make_tuple(py::module_::import("kernelfunctions").attr(maker), py::make_tuple(values...));
}

std::string text(py::handle value) { return py::repr(value); }

std::string random_text(const WangHash& hash) {
    return "seed=" + std::to_string(hash.seed) + ", warmup=" + std::to_string(hash.warmup) +
           ", hash_seed=" + (hash.hash_seed ? "True" : "False");
}

template <class Object>
void bind_random(py::class_<Object>& type) {
    const auto hash = [](const Object& self) {
        return self.kind == GeneratorKind::wang_hash
                   ? self.hash
                   : WangHash{self.random.seed, self.random.warmup, self.random.hash_seed};
    };
    type.def_property_readonly("seed", [hash](const Object& self) { return hash(self).seed; })
        .def_property_readonly("warmup", [hash](const Object& self) { return hash(self).warmup; })
        .def_property_readonly("hash_seed", [hash](const Object& self) { return hash(self).hash_seed; });
}

}  // namespace

const void* Generator::data() const {
    switch (kind) {
        case GeneratorKind::grid: return numbers.data();
        case GeneratorKind::range: return &range;
        case GeneratorKind::wang_hash: return &hash;
        default: return &random;
    }
}

namespace {

/// Whether the object is of exactly the class of T; `found` is then what it holds.
template <class T>
bool is_exactly(PyObject* value, const Generator*& found) {
    static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<T>().release().ptr());
    if (Py_TYPE(value) != type) return false;
    found =
        static_cast<const T*>(reinterpret_cast<const py::detail::instance*>(value)->simple_value_holder[0]);
    return true;
}

}  // namespace

const Generator* as_exact_generator(PyObject* value) {
    const Generator* found = nullptr;
    (void)(is_exactly<GridObject>(value, found) || is_exactly<RangeObject>(value, found) ||
           is_exactly<WangHashObject>(value, found) || is_exactly<RandFloatObject>(value, found));
    return found;
}

const Generator* as_generator(py::handle value) {
    if (const auto* grid = held<GridObject>(value)) return grid;
    if (const auto* range = held<RangeObject>(value)) return range;
    if (const auto* hash = held<WangHashObject>(value)) return hash;
    if (const auto* random = held<RandFloatObject>(value)) return random;
    return nullptr;
}

std::optional<GeneratorKind> generator_of_class(py::handle value) {
    if (value.is(py::type::of<GridObject>())) return GeneratorKind::grid;
    if (value.is(py::type::of<RangeObject>())) return GeneratorKind::range;
    if (value.is(py::type::of<WangHashObject>())) return GeneratorKind::wang_hash;
    if (value.is(py::type::of<RandFloatObject>())) return GeneratorKind::rand_float;
    return std::nullopt;
}

py::object grid_of_shape(py::handle shape, const Where& where) {
    return py::cast(grid_object(shape, py::none(), py::none(), where));
}

void bind_generator(py::module_& module) {
    py::class_<GridObject>(module, "Grid", "Indices: offset + i * stride along each dimension.")
        .def_property_readonly("shape", [](const GridObject& self) { return numbers_of(self, 0); })
        .def_property_readonly("offset", [](const GridObject& self) { return numbers_of(self, 1); })
        .def_property_readonly("stride", [](const GridObject& self) { return numbers_of(self, 2); })
        .def("__reduce__",
             [](const GridObject& self) {
                 return pickled("grid", numbers_of(self, 0), numbers_of(self, 1), numbers_of(self, 2));
             })
        .def("__repr__", [](const GridObject& self) {
            return "grid(" + text(numbers_of(self, 0)) + ", offset=" + text(numbers_of(self, 1)) +
                   ", stride=" + text(numbers_of(self, 2)) + ")";
        });
    py::class_<RangeObject>(module, "Range", "start, start + step ... as Python's range.")
        .def_property_readonly("start", [](const RangeObject& self) { return self.range.start; })
        .def_property_readonly("stop", [](const RangeObject& self) { return self.range.stop; })
        .def_property_readonly("step", [](const RangeObject& self) { return self.range.step; })
        .def("__reduce__",
             [](const RangeObject& self) {
                 return pickled("range", self.range.start, self.range.stop, self.range.step);
             })
        .def("__repr__", [](const RangeObject& self) {
            return "range(" + std::to_string(self.range.start) + ", " + std::to_string(self.range.stop) +
                   ", " + std::to_string(self.range.step) + ")";
        });
    py::class_<WangHashObject> hash(module, "WangHash", "A 32-bit hash of every call's index.");
    bind_random(hash);
    hash.def("__reduce__",
             [](const WangHashObject& self) {
                 return pickled("wang_hash", self.hash.seed, self.hash.warmup, self.hash.hash_seed);
             })
        .def("__repr__",
             [](const WangHashObject& self) { return "wang_hash(" + random_text(self.hash) + ")"; });
    py::class_<RandFloatObject> random(module, "RandFloat", "A random float for every call.");
    bind_random(random);
    random.def_property_readonly("min", [](const RandFloatObject& self) { return self.random.min; })
        .def_property_readonly("max", [](const RandFloatObject& self) { return self.random.max; })
        .def("__reduce__",
             [](const RandFloatObject& self) {
                 return pickled("rand_float", self.random.min, self.random.max, self.random.seed,
                                self.random.warmup, self.random.hash_seed);
             })
        .def("__repr__", [](const RandFloatObject& self) {
            return "rand_float(min=" + text(py::float_(self.random.min)) +
                   ", max=" + text(py::float_(self.random.max)) + ", " +
                   random_text({self.random.seed, self.random.warmup, self.random.hash_seed}) + ")";
        });
    module.def("grid", &make_grid, py::arg("shape"), py::arg("offset") = py::none(),
               py::arg("stride") = py::none(),
               "Indices of a grid: offset + i * stride along each dimension. Gives the call its shape.");
    module.def("range", &make_range, py::arg("start"), py::arg("stop") = py::none(), py::arg("step") = 1,
               "start, start + step ... below stop, as Python's range; gives the call its shape.");
    module.def(
        "wang_hash", &make_wang_hash, py::arg("seed") = 0, py::arg("warmup") = 0,
        py::arg("hash_seed") = false,
        "A 32-bit hash of every call's index. `warmup`: how often it is hashed again. `hash_seed`: the "
        "seed is hashed first.");
    module.def("rand_float", &make_rand_float, py::arg("min") = 0.0, py::arg("max") = 1.0,
               py::arg("seed") = 0, py::arg("warmup") = 0, py::arg("hash_seed") = false,
               "A random float in [min, max) for every call, made from wang_hash().");
}

}  // namespace kf::python
