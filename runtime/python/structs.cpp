// Structs on their way between Python and a call.
#include "python/structs.h"

#include <algorithm>
#include <cstring>

#include "core/convert.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/join.h"
#include "core/python_names.h"
#include "python/arrays.h"
#include "python/attributes.h"
#include "python/differentiable.h"
#include "python/errors.h"
#include "python/host.h"
#include "python/scalars.h"
#include "python/struct_type.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

using detail::with_article;
using manifest::Form;
using manifest::ParameterTree;

bool has_dtype_fields(py::handle value) {
    static const py::handle structured = py::object(py::module_::import("numpy").attr("void")).release();
    if (!is_instance(value, structured) && !py::isinstance<py::array>(value)) return false;
    return !py::object(value.attr("dtype").attr("fields")).is_none();
}

std::string field_names(const ParameterTree& structure) {
    std::vector<std::string> names;
    for (const ParameterTree& field : structure.fields) names.push_back(field.name);
    return join(names);
}

/// The names of the fields that the value says it has; nothing where it doesn't say.
std::optional<std::vector<std::string>> declared_fields(py::handle value) {
    py::object names = py::none();
    if (PyDict_Check(value.ptr())) {
        names = py::reinterpret_borrow<py::object>(value).attr("keys")();
    } else if (has_dtype_fields(value)) {
        names = value.attr("dtype").attr("names");
    } else {
        names = named_fields(value);
        if (names.is_none() && py::hasattr(value, "__dataclass_fields__"))
            names = value.attr("__dataclass_fields__");
    }
    if (names.is_none()) return std::nullopt;
    std::vector<std::string> list;
    for (const auto& name : names) list.emplace_back(py::str(name));
    return list;
}

/// A field by one name, a key in dicts and structured values, else an attribute; null where there is none.
py::object find_field(py::handle value, const std::string& name) {
    const py::str key(name);
    if (PyDict_Check(value.ptr())) {
        return PyDict_Contains(value.ptr(), key.ptr()) == 1 ? py::object(value[key]) : py::object();
    }
    if (has_dtype_fields(value)) {
        const bool there = py::cast<bool>(value.attr("dtype").attr("names").attr("__contains__")(key));
        return there ? py::object(value[key]) : py::object();
    }
    return attribute_or_null(value, key);
}

/// A field by Slang's name or the attribute's.
py::object find_field(py::handle value, const ParameterTree& structure, std::size_t field) {
    const std::string& name = structure.fields[field].name;
    if (!detail::is_kept_by_python(name)) return find_field(value, name);
    const std::string attribute = detail::python_attribute(structure.fields, field);
    const bool keyed = PyDict_Check(value.ptr()) != 0 || has_dtype_fields(value);
    // A class may have an attribute of the plain name that is no field.
    const py::object first = find_field(value, keyed ? name : attribute);
    return first ? first : find_field(value, keyed ? attribute : name);
}

/// Which field has the name, or its attribute; as many as there are for none.
std::size_t field_called(const ParameterTree& structure, const std::string& name) {
    std::size_t i = 0;
    while (i < structure.fields.size() && structure.fields[i].name != name &&
           detail::python_attribute(structure.fields, i) != name)
        ++i;
    return i;
}

/// " = 3 (an int)", of a field that isn't wanted.
std::string shown_field(py::handle value, const std::string& name) {
    const py::object field = find_field(value, name);
    return field ? " = " + shown(field) + " (" + with_article(type_name(field)) + ")" : std::string();
}

std::string path(const Where& where, const std::string& field) {
    return manifest::field_path(where.argument, field);
}

/// A leaf of a struct; `extents` are its own, without those of the arrays around.
void pack_leaf(const manifest::Argument& argument, std::span<const std::int64_t> extents, py::handle value,
               std::byte* target, const Where& where) {
    const ScalarType scalar = argument.element.scalar;
    const Dims wanted(extents);
    const bool vector = extents.size() == 1 && detail::ends_in_vector(argument);
    if ((extents.empty() || vector) && number_kind(value)) {
        // One number is every component.
        const auto count = static_cast<std::size_t>(extents.empty() ? 1 : extents.front());
        for (std::size_t i = 0; i < count; ++i)
            pack_number(value, scalar, target + i * size_of(scalar), where);
        return;
    }
    std::vector<std::byte> bytes;
    Dims shape;
    if (py::isinstance<py::array>(value)) {
        const auto array = py::reinterpret_borrow<py::array>(value);
        if (scalar_of(array, where) != scalar) {
            refuse(ErrorCode::type_mismatch, where,
                   "dtype " + std::string(py::str(array.dtype())) + " where " + numpy_name(scalar) +
                       " is needed; convert it with astype()");
        }
        shape = shape_of(array, where);
        if (shape == wanted) bytes = pack(array);
    } else if (const auto nested = look_through(value, where)) {
        shape = nested->shape;
        if (nested->components && !detail::ends_in_vector(argument)) {
            refuse(ErrorCode::type_mismatch, where, "the field has no x, y, z and w, unlike " + shown(value));
        }
        if (shape == wanted) bytes = pack(*nested, scalar, where);
    } else {
        const bool tensor = as_tensor(value) != nullptr;
        refuse(ErrorCode::type_mismatch, where,
               std::string("the field is given by value") +
                   (tensor ? ", not as a kf.Tensor: the call spec has no \"fields\" that takes one here"
                           : ": a number, a list or a NumPy array is needed, not " + shown(value) + " (" +
                                 with_article(type_name(value)) + ")"));
    }
    if (!(shape == wanted)) {
        refuse(ErrorCode::shape_mismatch, where,
               (py::isinstance<py::array>(value) ? "the array" : shown(value)) + " has shape " +
                   to_string(shape) + ", the field's " + numpy_name(scalar) + " values have shape " +
                   to_string(wanted));
    }
    std::ranges::copy(bytes, target);
}

/// A structured scalar, or array, of exactly the struct's layout is copied as it is.
bool copied_whole(const manifest::Call& call, const ParameterTree& structure, py::handle value,
                  std::byte* target, const Where& where) {
    if (!has_dtype_fields(value) || !dtype_of(call, structure).equal(value.attr("dtype"))) return false;
    refuse_masked(value, where);
    const py::array array = py::array::ensure(value);
    if (array.ndim() != 0) return false;
    std::ranges::copy(pack(array), target);
    return true;
}

/// A tangent has none of the fields that can't be differentiated. Objects have every field, whatever it says.
void check_tangents(const manifest::Call& call, const ParameterTree& structure, py::handle value,
                    const std::vector<py::object>& fields, const Where& where) {
    // In what an object's new tangent goes to, the fields that stay as they are have none of their own
    // either.
    if (PyDict_Check(value.ptr()) == 0 || !where.argument.starts_with("tangents.")) return;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const ParameterTree& field = structure.fields[i];
        if (!fields[i] || field.form != Form::leaf ||
            call.arguments[static_cast<std::size_t>(field.leaf)].differentiable)
            continue;
        refuse(ErrorCode::unknown_name, where,
               "field '" + field.name + "' of " + structure.type +
                   " can't be differentiated, so it has no tangent: leave it out instead of giving " +
                   shown(fields[i]));
    }
}

class Packer {
public:
    Packer(const manifest::Call& call, bool partial) : call_(call), partial_(partial) {}

    /// `level`: how many of the leaves' extents are of arrays around.
    void pack(const ParameterTree& node, std::size_t level, py::handle value, std::byte* target,
              const Where& where) {
        if (node.form == Form::leaf) {
            const manifest::Argument& argument = call_.arguments[static_cast<std::size_t>(node.leaf)];
            return pack_leaf(argument, std::span(argument.element.extents).subspan(level), value, target,
                             where);
        }
        pack_array(node, 0, level, value, target, where);
    }

private:
    void pack_array(const ParameterTree& node, std::size_t dimension, std::size_t level, py::handle value,
                    std::byte* target, const Where& where) {
        if (dimension == node.extents.size()) return pack_one(node, level + dimension, value, target, where);
        const auto count = static_cast<std::size_t>(node.extents[dimension]);
        if (!PyList_Check(value.ptr()) && !PyTuple_Check(value.ptr()) && !py::isinstance<py::array>(value)) {
            refuse(
                ErrorCode::type_mismatch, where,
                "a list of " + std::to_string(count) + " " + node.type + " is needed, not " + shown(value));
        }
        if (py::len(value) != count) {
            refuse(ErrorCode::shape_mismatch, where,
                   "a list of " + std::to_string(count) + " " + node.type + " is needed, found " +
                       std::to_string(py::len(value)));
        }
        std::int64_t step = node.size;
        for (std::size_t d = dimension + 1; d < node.extents.size(); ++d) step *= node.extents[d];
        for (std::size_t i = 0; i < count; ++i) {
            const std::string name = std::string(where.argument) + "[" + std::to_string(i) + "]";
            const py::object item = value[py::int_(i)];
            pack_array(node, dimension + 1, level, item, target + static_cast<std::int64_t>(i) * step,
                       {where.owner, name});
        }
    }

    void pack_one(const ParameterTree& node, std::size_t level, py::handle value, std::byte* target,
                  const Where& where) {
        if (copied_whole(call_, node, value, target, where)) return;
        const std::vector<py::object> fields = fields_of(value, node, where, {}, partial_);
        if (partial_) check_tangents(call_, node, value, fields, where);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (!fields[i]) continue;
            const std::string name = path(where, node.fields[i].name);
            pack(node.fields[i], level, fields[i], target + node.fields[i].offset, {where.owner, name});
        }
    }

    const manifest::Call& call_;
    bool partial_;
};

py::object unpack(const manifest::Call& call, const ParameterTree& node, std::size_t level,
                  std::size_t dimension, const std::byte* source, const StructClasses& classes) {
    if (node.form == Form::leaf) {
        manifest::Element element = call.arguments[static_cast<std::size_t>(node.leaf)].element;
        element.extents.erase(element.extents.begin(),
                              element.extents.begin() + static_cast<std::ptrdiff_t>(level));
        return to_python(element_type(element), source);
    }
    if (dimension < node.extents.size()) {
        std::int64_t step = node.size;
        for (std::size_t d = dimension + 1; d < node.extents.size(); ++d) step *= node.extents[d];
        py::list list;
        for (std::int64_t i = 0; i < node.extents[dimension]; ++i)
            list.append(unpack(call, node, level, dimension + 1, source + i * step, classes));
        return list;
    }
    std::vector<py::object> fields;
    for (const ParameterTree& field : node.fields)
        fields.push_back(unpack(call, field, level + node.extents.size(), 0, source + field.offset, classes));
    return make_struct(node, fields, classes);
}

/// Dicts may say what they are: {"_type": "Ray", ...}.
bool names_type(py::handle name, const ParameterTree& structure) {
    return PyUnicode_Check(name.ptr()) != 0 && py::cast<std::string>(name) == structure.type;
}

}  // namespace

py::object named_fields(py::handle value) {
    const py::object names = py::getattr(value, "_fields", py::none());
    return PyTuple_Check(names.ptr()) != 0 ? names : py::none();
}

bool is_struct_like(py::handle value) {
    if (has_dtype_fields(value))
        return !py::isinstance<py::array>(value) || py::cast<py::array>(value).ndim() == 0;
    const bool sequence = PyList_Check(value.ptr()) || PyRange_Check(value.ptr()) ||
                          (PyTuple_Check(value.ptr()) && named_fields(value).is_none());
    return !sequence && !number_kind(value) && PyUnicode_Check(value.ptr()) == 0 &&
           !py::isinstance<py::array>(value) && as_tensor(value) == nullptr &&
           as_differentiable(value) == nullptr;
}

bool is_made(const manifest::Call& call, const ParameterTree& field) {
    return field.form == manifest::Form::leaf &&
           !has_host_value(call.arguments[static_cast<std::size_t>(field.leaf)]);
}

std::vector<py::object> fields_of(py::handle value, const ParameterTree& structure, const Where& where,
                                  const std::vector<bool>& made, bool partial) {
    if (!is_struct_like(value)) {
        refuse(ErrorCode::type_mismatch, where,
               with_article(structure.type) + " is needed (a dict or an object with the fields " +
                   field_names(structure) + "), not " + shown(value) + " (" + with_article(type_name(value)) +
                   ")");
    }
    if (const auto declared = declared_fields(value)) {
        for (const std::string& name : *declared) {
            if (field_called(structure, name) < structure.fields.size()) continue;
            if (name == "_type" && names_type(find_field(value, name), structure)) continue;
            refuse(ErrorCode::unknown_name, where,
                   structure.type + " has no field '" + name + "'" + shown_field(value, name) + "; it has " +
                       field_names(structure));
        }
    }
    std::vector<py::object> fields;
    for (std::size_t i = 0; i < structure.fields.size(); ++i) {
        const ParameterTree& field = structure.fields[i];
        const bool hidden = !made.empty() && made[i];
        fields.push_back(find_field(value, structure, i));
        if (!fields.back() && (hidden || partial)) continue;
        if (!fields.back()) {
            refuse(ErrorCode::missing_argument, where,
                   "field '" + field.name + "' of " + structure.type + " is missing in " + shown(value) +
                       " (" + with_article(type_name(value)) + ")");
        }
        if (partial && fields.back().is_none()) fields.back() = {};
        if (!hidden) continue;
        if (fields.back() && !fields.back().is_none()) {
            refuse(ErrorCode::type_mismatch, where,
                   "the kernel makes field '" + field.name + "' of " + structure.type +
                       " itself: leave it out instead of giving " + shown(fields.back()));
        }
        fields.back() = {};
    }
    return fields;
}

namespace {

bool is_list(py::handle value) { return PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0; }

/// The elements of an array, of which exactly so many are taken.
std::vector<py::object> elements_of(py::handle value, const ParameterTree& array, const Where& where) {
    const std::string wanted =
        "a list of " + std::to_string(array.fields.size()) + " is needed for '" + array.type + "'";
    if (!is_list(value)) {
        refuse(ErrorCode::type_mismatch, where,
               wanted + ", not " + shown(value) + " (" + with_article(type_name(value)) + ")");
    }
    if (py::len(value) != array.fields.size())
        refuse(ErrorCode::shape_mismatch, where, wanted + ", found " + std::to_string(py::len(value)));
    std::vector<py::object> elements;
    for (std::size_t i = 0; i < array.fields.size(); ++i) elements.push_back(value[py::int_(i)]);
    return elements;
}

}  // namespace

void add_items(const manifest::Call& call, const ParameterTree& parameter, const py::object& given,
               const Where& where, bool partial, std::pmr::vector<py::object>& values) {
    if (parameter.form != Form::fields) {
        values.push_back(given);
        return;
    }
    std::vector<py::object> fields(parameter.fields.size());
    if (manifest::is_array(parameter)) {
        if (given) fields = elements_of(given, parameter, where);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string name = path(where, parameter.fields[i].name);
            if (fields[i] && fields[i].is_none()) fields[i] = {};
            add_items(call, parameter.fields[i], fields[i], {where.owner, name}, partial, values);
        }
        return;
    }
    std::vector<bool> made;
    for (const ParameterTree& field : parameter.fields) made.push_back(is_made(call, field));
    if (given) fields = fields_of(given, parameter, where, made, partial);
    if (given && partial) check_tangents(call, parameter, given, fields, where);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string name = path(where, parameter.fields[i].name);
        if (fields[i] && fields[i].is_none()) fields[i] = {};
        add_items(call, parameter.fields[i], fields[i], {where.owner, name}, partial, values);
    }
}

void pack_struct(const manifest::Call& call, const ParameterTree& structure, py::handle value,
                 std::byte* target, const Where& where) {
    const bool partial = call.arguments[static_cast<std::size_t>(structure.leaf)].tangent_of >= 0;
    Packer(call, partial).pack(structure, 0, value, target, where);
}

namespace {

void pack_list(const manifest::Call& call, const ParameterTree& structure, std::span<const py::ssize_t> shape,
               py::handle value, std::byte*& target, const Where& where) {
    if (shape.empty()) {
        pack_struct(call, structure, value, target, where);
        target += manifest::byte_size(structure);
        return;
    }
    if (!is_list(value) || static_cast<py::ssize_t>(py::len(value)) != shape.front()) {
        refuse(ErrorCode::shape_mismatch, where,
               "a list of " + std::to_string(shape.front()) + " is needed, as long as those beside it, not " +
                   shown(value));
    }
    for (py::ssize_t i = 0; i < shape.front(); ++i) {
        const std::string name = std::string(where.argument) + "[" + std::to_string(i) + "]";
        pack_list(call, structure, shape.subspan(1), py::object(value[py::int_(i)]), target,
                  {where.owner, name});
    }
}

}  // namespace

py::array array_of_structs(const manifest::Call& call, const ParameterTree& structure, std::int64_t rank,
                           py::handle value, const Where& where) {
    std::vector<py::ssize_t> shape;
    py::object first = py::reinterpret_borrow<py::object>(value);
    for (std::int64_t i = 0; i < rank; ++i) {
        if (!is_list(first)) {
            refuse(ErrorCode::rank_mismatch, where,
                   "lists of " + structure.type + " structs, nested " + std::to_string(rank) +
                       " deep, are needed, not " + shown(value));
        }
        shape.push_back(static_cast<py::ssize_t>(py::len(first)));
        if (shape.back() == 0) {
            shape.resize(static_cast<std::size_t>(rank), 0);
            break;
        }
        first = py::object(first[py::int_(0)]);
    }
    std::vector<py::ssize_t> whole = shape;
    whole.insert(whole.end(), structure.extents.begin(), structure.extents.end());
    py::array array(dtype_of(call, structure), whole);
    const std::span bytes(static_cast<std::byte*>(array.mutable_data()),
                          static_cast<std::size_t>(array.nbytes()));
    std::ranges::fill(bytes, std::byte{0});  // padding too
    std::byte* target = bytes.data();
    pack_list(call, structure, shape, value, target, where);
    return array;
}

AnyTensor as_arrays(const AnyTensor& tensor, const ParameterTree& structure, std::int64_t alignment,
                    const Where& where) {
    const std::size_t extents = structure.extents.size();
    const std::size_t rank = tensor.rank() - extents;
    for (std::size_t i = 0; i < extents; ++i) {
        if (tensor.shape()[rank + i] == structure.extents[i]) continue;
        refuse(ErrorCode::shape_mismatch, where,
               "dimension " + std::to_string(rank + i) + " of shape " + to_string(tensor.shape()) +
                   ": expected extent " + std::to_string(structure.extents[i]) + ", found " +
                   std::to_string(tensor.shape()[rank + i]));
    }
    ElementType element = tensor.element();
    element.struct_size = static_cast<std::uint32_t>(manifest::byte_size(structure));
    try {
        const AnyTensor arrays = (rank == 0 ? tensor.insert_axis(0) : tensor).view(element, alignment);
        return rank == 0 ? arrays.select(0, 0) : arrays;
    } catch (const ArgumentError& error) {
        throw ArgumentError(error.code(), prefix(where) + error.what());
    }
}

AnyTensor as_structs(const AnyTensor& arrays, const ParameterTree& structure, const ElementType& element,
                     std::int64_t alignment) {
    Dims shape = arrays.shape();
    for (const std::int64_t extent : structure.extents) shape.push_back(extent);
    return arrays.view(element, alignment).reshape(shape);
}

py::object unpack_struct(const manifest::Call& call, const ParameterTree& structure, const std::byte* source,
                         const StructClasses& classes) {
    return unpack(call, structure, 0, 0, source, classes);
}

py::object make_struct(const ParameterTree& structure, const std::vector<py::object>& fields,
                       const StructClasses& classes) {
    if (manifest::is_array(structure)) {
        py::list elements;
        for (const py::object& field : fields) elements.append(field);
        return elements;
    }
    const auto known = classes.find(structure.type);
    if (known == classes.end()) {
        py::dict values;
        for (std::size_t i = 0; i < fields.size(); ++i) values[structure.fields[i].name.c_str()] = fields[i];
        return values;
    }
    py::tuple values(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) values[i] = fields[i];
    return known->second(*values);
}

}  // namespace kf::python
