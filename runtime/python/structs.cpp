// Structs on their way between Python and a call.
#include "python/structs.h"

#include <algorithm>
#include <cstring>

#include "core/convert.h"
#include "core/describe.h"
#include "core/fit.h"
#include "core/items.h"
#include "python/arrays.h"
#include "python/enums.h"
#include "python/errors.h"
#include "python/given_object.h"
#include "python/host.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/struct_type.h"

namespace kf::python {
namespace {

using manifest::Form;
using manifest::OwnStruct;
using manifest::ParameterTree;

std::string path(const Where& where, const std::string& field) {
    return manifest::field_path(where.argument, field);
}

/// A leaf of a struct; `level`: how many of its extents are of arrays around.
void pack_leaf(const manifest::Call& call, const manifest::Argument& argument, std::size_t level,
               GivenObject& value, std::byte* target, const Where& where) {
    const ScalarType scalar = argument.element.scalar;
    const auto extents = std::span(argument.element.extents).subspan(level);
    const bool vector = extents.size() == 1 && detail::ends_in_vector(argument);
    if ((extents.empty() || vector) && number_kind(value.given())) {
        // One number is every component.
        const auto count = static_cast<std::size_t>(extents.empty() ? 1 : extents.front());
        for (std::size_t i = 0; i < count; ++i)
            pack_number(value.given(), scalar, target + i * size_of(scalar), where);
        return;
    }
    detail::Refusal why;
    if (!detail::field_cost(call, argument, level, value, false, &why)) refuse(why, where);
    const Nested* nested = value.nested();
    std::ranges::copy(nested != nullptr ? pack(*nested, scalar, where) : pack(value.array()), target);
}

class Packer {
public:
    /// `root`: what is passed, of which all that is packed is part.
    Packer(const manifest::Call& call, const GivenObject& root) : call_(call), root_(root) {}

    /// `level`: how many of the leaves' extents are of arrays around.
    void pack(const ParameterTree& node, std::size_t level, GivenObject& value, std::byte* target,
              const Where& where) {
        if (node.form == Form::leaf) {
            const manifest::Argument& argument = call_.arguments[static_cast<std::size_t>(node.leaf)];
            return pack_leaf(call_, argument, level, value, target, where);
        }
        pack_array(node, 0, level, value, target, where);
    }

private:
    [[nodiscard]] bool is_part(const GivenObject& value) const { return &value != &root_; }

    void pack_array(const ParameterTree& node, std::size_t dimension, std::size_t level, GivenObject& value,
                    std::byte* target, const Where& where) {
        if (dimension == node.extents.size()) return pack_one(node, level + dimension, value, target, where);
        detail::Refusal why;
        if (!is_as_long(node, dimension, value, is_part(value), &why)) refuse(why, where);
        std::int64_t step = node.size;
        for (std::size_t d = dimension + 1; d < node.extents.size(); ++d) step *= node.extents[d];
        for (std::int64_t i = 0; i < node.extents[dimension]; ++i) {
            const std::string name = path(where, manifest::element_name(i));
            pack_array(node, dimension + 1, level, value.element(static_cast<std::size_t>(i)),
                       target + i * step, {where.owner, name});
        }
    }

    void pack_one(const ParameterTree& node, std::size_t level, GivenObject& value, std::byte* target,
                  const Where& where) {
        // A structured scalar, or array, of exactly the struct's layout is copied as it is.
        if (value.has_bytes_of(call_, node)) {
            refuse_masked(value.content(), where);
            std::ranges::copy(kf::python::pack(py::array::ensure(value.content())), target);
            return;
        }
        std::vector<detail::Given*> fields;
        detail::Refusal why;
        if (!take_fields(call_, node, value, is_part(value), fields, &why)) refuse(why, where);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i] == nullptr) continue;
            const std::string name = path(where, node.fields[i].name);
            pack(node.fields[i], level, static_cast<GivenObject&>(*fields[i]), target + node.fields[i].offset,
                 {where.owner, name});
        }
    }

    const manifest::Call& call_;
    const GivenObject& root_;
};

class Unpacker {
public:
    Unpacker(const manifest::Call& call, const StructClasses& classes, bool is_gradient)
        : call_(call), classes_(classes), is_gradient_(is_gradient) {}

    /// `level`: how many of the leaves' extents are of arrays around.
    py::object unpack(const ParameterTree& node, std::size_t level, std::size_t dimension,
                      const std::byte* source) const {
        if (node.form == Form::leaf) {
            manifest::Argument leaf = call_.arguments[static_cast<std::size_t>(node.leaf)];
            leaf.element.extents.erase(leaf.element.extents.begin(),
                                       leaf.element.extents.begin() + static_cast<std::ptrdiff_t>(level));
            return as_member(leaf, to_python(element_type(leaf.element), source), classes_);
        }
        if (dimension < node.extents.size()) {
            std::int64_t step = node.size;
            for (std::size_t d = dimension + 1; d < node.extents.size(); ++d) step *= node.extents[d];
            py::list list;
            for (std::int64_t i = 0; i < node.extents[dimension]; ++i)
                list.append(unpack(node, level, dimension + 1, source + i * step));
            return list;
        }
        std::vector<py::object> fields;
        for (const ParameterTree& field : node.fields)
            fields.push_back(unpack(field, level + node.extents.size(), 0, source + field.offset));
        if (node.own != OwnStruct::optional) return make_struct(node, fields, classes_);
        const bool is_there = is_gradient_ || py::cast<bool>(fields.back());
        return is_there ? fields.front() : py::object(py::none());
    }

private:
    const manifest::Call& call_;
    const StructClasses& classes_;
    bool is_gradient_;
};

}  // namespace

void pack_struct(const manifest::Call& call, const ParameterTree& structure, GivenObject& value,
                 std::byte* target, const Where& where) {
    Packer(call, value).pack(structure, 0, value, target, where);
}

namespace {

void pack_list(const manifest::Call& call, const ParameterTree& structure, std::span<const py::ssize_t> shape,
               const GivenObject& root, GivenObject& value, std::byte*& target, const Where& where) {
    if (shape.empty()) {
        Packer(call, root).pack(structure, 0, value, target, where);
        target += manifest::byte_size(structure);
        return;
    }
    const auto length = value.length(false, &value != &root);
    if (!length || static_cast<py::ssize_t>(*length) != shape.front()) {
        refuse(ErrorCode::shape_mismatch, where,
               "a list of " + std::to_string(shape.front()) + " is needed, as long as those beside it, not " +
                   value.text());
    }
    std::int64_t i = 0;
    value.each_element([&](detail::Given& element) {
        const std::string name = path(where, manifest::element_name(i++));
        pack_list(call, structure, shape.subspan(1), root, static_cast<GivenObject&>(element), target,
                  {where.owner, name});
        return true;
    });
}

}  // namespace

py::array array_of_structs(const manifest::Call& call, const ParameterTree& structure, std::int64_t rank,
                           GivenObject& value, const Where& where) {
    std::vector<py::ssize_t> shape;
    py::object first = value.content();
    for (std::int64_t i = 0; i < rank; ++i) {
        if (!is_list(first)) {
            refuse(ErrorCode::rank_mismatch, where,
                   "lists of " + structure.type + " structs, nested " + std::to_string(rank) +
                       " deep, are needed, not " + value.text());
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
    pack_list(call, structure, shape, value, value, target, where);
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

Tensor as_scalars(const Tensor& structs, const manifest::StructScalars& scalars) {
    const AnyTensor& any = structs.any;
    const AnyTensor flat = any.view({scalars.scalar, 0}, static_cast<std::int64_t>(size_of(scalars.scalar)));
    return {flat.rank() == any.rank() ? flat.insert_axis(static_cast<std::int64_t>(any.rank())) : flat,
            structs.context};
}

AnyTensor as_structs(const AnyTensor& arrays, const ParameterTree& structure, const ElementType& element,
                     std::int64_t alignment) {
    Dims shape = arrays.shape();
    for (const std::int64_t extent : structure.extents) shape.push_back(extent);
    return arrays.view(element, alignment).reshape(shape);
}

py::object unpack_struct(const manifest::Call& call, const ParameterTree& structure, const std::byte* source,
                         const StructClasses& classes) {
    // A tangent is one of the value, as a gradient is.
    const bool is_tangent = call.arguments[static_cast<std::size_t>(structure.leaf)].tangent_of >= 0;
    return Unpacker(call, classes, is_tangent).unpack(structure, 0, 0, source);
}

py::object unpack_gradient(const manifest::Call& call, const ParameterTree& structure,
                           const std::byte* source) {
    const StructClasses none;
    return Unpacker(call, none, true).unpack(structure, 0, 0, source);
}

py::object make_struct(const ParameterTree& structure, const std::vector<py::object>& fields,
                       const StructClasses& classes) {
    if (manifest::is_array(structure)) {
        py::list elements;
        for (const py::object& field : fields) elements.append(field);
        return elements;
    }
    const bool is_tuple = structure.own == OwnStruct::tuple && structure.form == Form::value;
    const auto known = classes.find(structure.type);
    if (known == classes.end() && !is_tuple) {
        py::dict values;
        for (std::size_t i = 0; i < fields.size(); ++i) values[structure.fields[i].name.c_str()] = fields[i];
        return values;
    }
    py::tuple values(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) values[i] = fields[i];
    return is_tuple ? py::object(values) : known->second(*values);
}

}  // namespace kf::python
