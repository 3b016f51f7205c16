// Tells arguments by their types.
#include "python/argument_tags.h"

#include "core/tensor_state.h"
#include "python/buffer.h"
#include "python/generator.h"

namespace kf::python {
namespace {

/// The exact types that are looked for, and a keyword.
struct Classes {
    PyTypeObject* tensor;
    PyTypeObject* buffer;
    PyObject* stream;  ///< the word, interned
};

const Classes& classes() {
    const auto class_of = [](py::object type) {
        return reinterpret_cast<PyTypeObject*>(type.release().ptr());
    };
    static const Classes known{class_of(py::type::of<Tensor>()), class_of(py::type::of<Buffer>()),
                               interned("stream").release().ptr()};
    return known;
}

/// Returns the T in an object of exactly its class; null in one that __new__() alone has made.
template <class T>
const T* content(PyObject* object) {
    const auto* instance = reinterpret_cast<const py::detail::instance*>(object);
    return instance->simple_layout ? static_cast<const T*>(instance->simple_value_holder[0]) : nullptr;
}

void tell_tensor(const Tensor* tensor, Tag::Kind kind, TaggedArgument& argument) {
    if (tensor == nullptr || !tensor->any) return;
    const detail::TensorState& state = *tensor->any.state();
    argument.tag.kind = kind;
    argument.tag.scalar = state.element.scalar;
    argument.tag.rank = static_cast<std::uint8_t>(state.shape.size());
    argument.tag.structure = tensor->structure;
    argument.tensor = tensor;
}

Tag::Kind kind_of_number(PyTypeObject* type) {
    if (type == &PyFloat_Type) return Tag::Kind::floating;
    if (type == &PyLong_Type) return Tag::Kind::integer;
    return type == &PyBool_Type ? Tag::Kind::boolean : Tag::Kind::other;
}

void tell_list(PyObject* value, TaggedArgument& argument) {
    const auto length = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(value));
    if (length == 0 || length > TaggedArguments::longest_list) return;
    bool has_point = false;
    for (std::size_t i = 0; i < length; ++i) {
        const Tag::Kind kind = kind_of_number(Py_TYPE(PySequence_Fast_ITEMS(value)[i]));
        if (kind != Tag::Kind::floating && kind != Tag::Kind::integer) return;
        has_point = has_point || kind == Tag::Kind::floating;
    }
    argument.tag.kind = has_point ? Tag::Kind::floatings : Tag::Kind::integers;
    argument.tag.rank = static_cast<std::uint8_t>(length);
}

}  // namespace

TaggedArgument& TaggedArguments::append(PyObject* value) {
    TaggedArgument& argument = all_[size_++];
    argument = {{}, value, nullptr};
    return argument;
}

bool TaggedArguments::add(PyObject* value) {
    TaggedArgument& argument = append(value);
    PyTypeObject* const type = Py_TYPE(value);
    if (type == classes().tensor) {
        tell_tensor(content<Tensor>(value), Tag::Kind::tensor, argument);
    } else if (const Tag::Kind number = kind_of_number(type); number != Tag::Kind::other) {
        argument.tag.kind = number;
    } else if (value == Py_None) {
        argument.tag.kind = Tag::Kind::none;
    } else if (type == &PyTuple_Type || type == &PyList_Type) {
        tell_list(value, argument);
    } else if (type == classes().buffer) {
        if (const auto* buffer = content<Buffer>(value)) {
            tell_tensor(&buffer->tensor, buffer->writable ? Tag::Kind::writable_buffer : Tag::Kind::buffer,
                        argument);
        }
    } else if (const Generator* generator = as_exact_generator(value)) {
        argument.tag.kind = Tag::Kind::generator;
        argument.tag.rank = static_cast<std::uint8_t>(generator->shape.size());
        argument.tag.generator = generator->kind;
    }
    return argument.tag.kind != Tag::Kind::other;
}

bool TaggedArguments::read(const Arguments& arguments) {
    const std::size_t keywords = arguments.keywords.size();
    const std::size_t globals = arguments.globals.size();
    if (arguments.positional.size() + keywords + globals > most) return false;
    for (PyObject* value : arguments.positional) {
        if (!add(value)) return false;
    }
    for (std::size_t i = 0; i < keywords; ++i) {
        PyObject* const value = arguments.keywords.values[i];
        if (arguments.keywords.name(i) == classes().stream && value != Py_None) {
            append(value).tag.kind = Tag::Kind::stream;
        } else if (!add(value)) {
            return false;
        }
    }
    for (std::size_t i = 0; i < globals; ++i) {
        if (!add(arguments.globals.value(i))) return false;
    }
    return true;
}

}  // namespace kf::python
