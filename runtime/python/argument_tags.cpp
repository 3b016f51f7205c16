// Tells arguments by their types.
#include "python/argument_tags.h"

#include "core/tensor_state.h"
#include "python/buffer.h"
#include "python/generator.h"
#include "python/with_gradients.h"

namespace kf::python {
namespace {

/// The exact types that are looked for, and a keyword.
struct Classes {
    PyTypeObject* tensor;
    PyTypeObject* buffer;
    PyTypeObject* texture;
    PyTypeObject* sampler;
    PyObject* stream;  ///< the word, interned
};

const Classes& classes() {
    const auto class_of = [](py::object type) {
        return reinterpret_cast<PyTypeObject*>(type.release().ptr());
    };
    static const Classes known{class_of(py::type::of<Tensor>()), class_of(py::type::of<Buffer>()),
                               class_of(py::type::of<Texture>()), class_of(py::type::of<SamplerObject>()),
                               interned("stream").release().ptr()};
    return known;
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

void tell_texture(const Texture* texture, TaggedArgument& argument) {
    if (texture == nullptr || !texture->any) return;
    const TextureShape& shape = texture->any.shape();
    argument.tag.kind = Tag::Kind::texture;
    argument.tag.texture = {shape.format,   static_cast<std::uint8_t>(shape.dimensions),
                            shape.is_cube,  shape.is_array,
                            shape.writable, static_cast<bool>(texture->any.sampler())};
}

void tell_sampler(const SamplerObject* object, TaggedArgument& argument) {
    if (object == nullptr || !object->sampler) return;
    argument.tag.kind = Tag::Kind::sampler;
    argument.tag.rank = object->sampler.is_comparison() ? 1 : 0;
}

Tag::Kind kind_of_number(PyTypeObject* type) {
    if (type == &PyFloat_Type) return Tag::Kind::floating;
    if (type == &PyLong_Type) return Tag::Kind::integer;
    return type == &PyBool_Type ? Tag::Kind::boolean : Tag::Kind::other;
}

/// A texture and a sampler, in a tuple: a list may change while the call runs.
bool is_pair(PyObject* value) {
    return PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2 &&
           Py_TYPE(PyTuple_GET_ITEM(value, 0)) == classes().texture &&
           Py_TYPE(PyTuple_GET_ITEM(value, 1)) == classes().sampler;
}

void tell_pair(PyObject* value, TaggedArgument& argument) {
    const auto* const object = content<SamplerObject>(PyTuple_GET_ITEM(value, 1));
    if (object == nullptr || !object->sampler) return;
    tell_texture(content<Texture>(PyTuple_GET_ITEM(value, 0)), argument);
    argument.tag.texture.has_sampler = true;
}

void tell_list(PyObject* value, TaggedArgument& argument) {
    const auto length = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(value));
    if (is_pair(value)) return tell_pair(value, argument);
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

/// Reads a tensor on CUDA. Returns false where the long way has more to say.
bool TaggedArguments::borrow_plain(const Torch& torch, PyObject* tensor, ForeignTensor& memory) {
    const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(tensor));
    if (api == nullptr || borrow(*api, tensor, memory, nullptr) != Borrowing::taken) return false;
    if (memory.kind != ForeignMemoryKind::cuda) return false;
    if (torch.is_negative(tensor)) return false;
    if (memory.ordinal != ordinal_) {
        if (context_ != nullptr) return false;
        context_ = cuda_context(memory.ordinal);
        ordinal_ = memory.ordinal;
    }
    return true;
}

Loan* TaggedArguments::lend(const Torch& torch, PyObject* tensor) {
    ForeignTensor memory;
    return borrow_plain(torch, tensor, memory) ? loans_.take(context_, memory) : nullptr;
}

/// Null where it has no tag. `is_bare`: not inside of what gives it gradients.
Loan* TaggedArguments::add_torch(const Torch& torch, PyObject* tensor, bool is_bare,
                                 TaggedArgument& argument) {
    if (torch_tensor_ == nullptr) {
        if (torch.is_thread_watched()) watched_ = WatchedCall{false};
        if (watched_) return nullptr;
    }
    if (pass_ == detail::PassKind::forward && torch.has_torch_function(Py_TYPE(tensor))) {
        watched_ = WatchedCall{false};
        return nullptr;
    }
    if (is_bare && torch.requires_grad(tensor)) {
        if (pass_ != detail::PassKind::forward) return nullptr;
        if (torch.is_grad_enabled()) watched_ = WatchedCall{true};
        if (watched_) return nullptr;
    }
    Loan* const loan = lend(torch, tensor);
    if (loan == nullptr) return nullptr;
    if (torch_tensor_ == nullptr) torch_tensor_ = tensor;
    tell_tensor(&loan->tensor, Tag::Kind::torch, argument);
    argument.loan = loan;
    return loan;
}

bool TaggedArguments::add_with_gradients(const WithGradients& given, TaggedArgument& argument) {
    const Torch* const torch = Torch::loaded();
    const auto is_torch = [](PyObject* value) {
        return value != nullptr && torch_kind(value) == TorchKind::plain;
    };
    if (torch == nullptr || !is_torch(given.value.ptr())) return false;
    Loan* const value = add_torch(*torch, given.value.ptr(), false, argument);
    if (value == nullptr) return false;
    // The long way says what is wrong with a gradient.
    const detail::TensorState& state = *value->tensor.any.state();
    const auto take = [&](PyObject* gradient, bool may_be_less, AnyTensor& memory) {
        if (gradient == nullptr) return true;
        const Loan* const loan = is_torch(gradient) ? lend(*torch, gradient) : nullptr;
        if (loan == nullptr) return false;
        memory = loan->tensor.any;
        const detail::TensorState& found = *memory.state();
        return found.element == state.element &&
               (found.shape == state.shape || (may_be_less && detail::sums_into(found.shape, state.shape)));
    };
    AnyTensor in;
    AnyTensor out;
    if (!take(given.in.ptr(), false, in) || !take(given.out.ptr(), true, out)) return false;
    argument.tag.takes_gradient = static_cast<bool>(in);
    argument.tag.gives_gradient = static_cast<bool>(out);
    argument.written = given.out.ptr();
    value->set_gradients(in, out, given.is_new);
    return true;
}

TaggedArgument& TaggedArguments::append(PyObject* value) {
    TaggedArgument& argument = all_[size_++];
    argument = {{}, value, nullptr, nullptr, nullptr};
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
    } else if (type == classes().texture) {
        tell_texture(content<Texture>(value), argument);
    } else if (type == classes().sampler) {
        tell_sampler(content<SamplerObject>(value), argument);
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
    } else if (torch_kind(value) == TorchKind::plain) {
        return add_torch(*Torch::loaded(), value, true, argument) != nullptr;
    } else if (const WithGradients* given = as_with_gradients(value)) {
        return add_with_gradients(*given, argument);
    }
    return argument.tag.kind != Tag::Kind::other;
}

bool TaggedArguments::read_flat(const Arguments& arguments, std::span<const Wanted> wanted) {
    const std::size_t globals = arguments.globals.size();
    const std::size_t values = arguments.positional.size();
    const Torch* const torch = Torch::loaded();
    if (torch == nullptr || wanted.size() != values || values + 1 + globals > most) return false;
    const auto is_plain = [](PyObject* value) { return torch_kind(value) == TorchKind::plain; };
    // Tensors of the CPU, which go another way, are found at once.
    PyObject* const flow = arguments.keywords.values[0];
    ForeignTensor flowing;
    if (!is_plain(flow) || torch->is_thread_watched() || !borrow_plain(*torch, flow, flowing)) return false;
    torch_tensor_ = flow;
    for (std::size_t i = 0; i < values; ++i) {
        PyObject* const value = arguments.positional[i];
        if (!is_plain(value)) {
            if (wanted[i] != Wanted::nothing || !add(value)) return false;
            continue;
        }
        TaggedArgument& argument = append(value);
        if (add_torch(*torch, value, false, argument) == nullptr) return false;
        argument.tag.gives_gradient = wanted[i] == Wanted::gradient;
    }
    TaggedArgument& output = append(flow);
    Loan* const loan = loans_.take(context_, flowing);
    Loan* const in = loans_.take(context_, flowing);
    if (loan == nullptr || in == nullptr) return false;
    tell_tensor(&loan->tensor, Tag::Kind::torch, output);
    output.tag.takes_gradient = true;
    loan->set_gradients(in->tensor.any, {});
    for (std::size_t i = 0; i < globals; ++i) {
        if (!add(arguments.globals.value(i))) return false;
    }
    return true;
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
