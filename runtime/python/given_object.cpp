// A Python object as what is given for an argument.
#include "python/given_object.h"

#include <algorithm>

#include "core/conversion_costs.h"
#include "core/describe.h"
#include "core/items.h"
#include "core/kinds/questions.h"
#include "core/roles.h"
#include "python/array_likes.h"
#include "python/arrays.h"
#include "python/batchable.h"
#include "python/enums.h"
#include "python/errors.h"
#include "python/foreign.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/tensor.h"
#include "python/with_gradients.h"

namespace kf::python {

using detail::ArgShape;
using detail::fits_extent;
using detail::Refusal;
using detail::refused;
using detail::unknown_extent;
using manifest::Form;
using manifest::HostPassing;
using manifest::OwnStruct;
using manifest::ParameterTree;
using manifest::Role;

namespace {

std::string shown_with_type(py::handle value) {
    return shown(value) + " (" + detail::with_article(type_name(value)) + ")";
}

py::object snapshot(py::handle list) {
    auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(list.ptr()));
    if (!items) throw py::error_already_set();
    return items;
}

/// An object that a method writes to is a struct's.
bool is_of_object(const manifest::Call& call, const manifest::Argument& argument) {
    return manifest::is_or_lies_in(argument.name, "this") &&
           std::ranges::any_of(call.parameters,
                               [](const ParameterTree& parameter) { return parameter.form != Form::leaf; });
}

/// What a texture that feeds a call texel by texel gives its shape.
Dims call_extents(const TextureShape& shape) {
    Dims extents;
    if (shape.is_array || shape.is_cube) extents.push_back(shape.layers);
    for (const std::int64_t extent : shape.extents) extents.push_back(extent);
    return extents;
}

/// What torch.autocast() may give a copy of another type: what is read alone, as a view may be.
bool may_be_cast(const manifest::Argument& argument) {
    return manifest::passes_elements(argument) && is_floating(argument.element.scalar) &&
           argument.role == Role::in && (!writes_elements(argument) || has_one_gradient(argument));
}

/// How a tensor of another library gets in; empty for what is none.
std::string way_in(py::handle value) {
    return is_foreign(value.ptr()) ? ": kf.Tensor.from_dlpack(x) takes it" : "";
}

}  // namespace

bool read_value(py::handle value, detail::ArgShape& shape, std::optional<py::array>& array,
                std::optional<Nested>& nested, Refusal& fault) {
    if (py::isinstance<py::array>(value)) {
        shape.kind = detail::ArgShape::Kind::array;
        array = py::reinterpret_borrow<py::array>(value);
        const auto scalar = scalar_of(*array, &fault);
        const auto extents = scalar ? shape_of(*array, &fault) : std::nullopt;
        if (!extents) return false;
        shape.scalar = *scalar;
        shape.shape = *extents;
        return true;
    }
    nested = look_through(value, &fault);
    if (!nested) return false;
    shape.kind = detail::ArgShape::Kind::weak;
    shape.scalar = nested->scalar;
    shape.shape = nested->shape;
    shape.components = nested->components;
    shape.own = nested->own;
    return true;
}

GivenObject::GivenObject(const Reader& reader, py::handle value, std::pmr::memory_resource* memory)
    : reader_(reader),
      memory_(memory),
      given_(py::reinterpret_borrow<py::object>(value)),
      content_(given_),
      tensor_(as_tensor(value)) {
    if (tensor_ != nullptr) return;
    differentiable_ = as_differentiable(value);
    generator_ = as_generator(value);
    if (differentiable_ != nullptr) {
        content_ = differentiable_->value;
        if (!differentiable_->needs_grad()) differentiable_ = nullptr;
    }
    if (const Batchable* const batch = as_batchable(value)) {
        content_ = batch->value;
        is_batch_ = true;
    }
    if (const WithGradients* with = as_with_gradients(value)) content_ = with->value;
    if (!content_.is(given_)) tensor_ = as_tensor(content_);
    if (tensor_ != nullptr || generator_ != nullptr) return;
    see_texture();
    if (texture_ == nullptr && sampler_ == nullptr) see_torch();
}

/// Sees a texture, a sampler, or both of them in a tuple or a list.
void GivenObject::see_texture() {
    texture_ = as_texture(content_);
    if (texture_ != nullptr) return;
    sampler_ = as_sampler(content_);
    if (sampler_ != nullptr || !is_list(content_) || PySequence_Fast_GET_SIZE(content_.ptr()) != 2) return;
    PyObject* const* const pair = PySequence_Fast_ITEMS(content_.ptr());
    if (as_texture(pair[0]) == nullptr || as_sampler(pair[1]) == nullptr) return;
    content_ = snapshot(content_);  // a list may change meanwhile
    texture_ = as_texture(PyTuple_GET_ITEM(content_.ptr(), 0));
    sampler_ = as_sampler(PyTuple_GET_ITEM(content_.ptr(), 1));
}

/// From here on a tensor of PyTorch's is the array or the tensor that it is seen as.
void GivenObject::see_torch() {
    if (reader_.described) {
        is_described_ = is_describable(content_);
        return;
    }
    const TorchKind kind = torch_kind(content_.ptr());
    if (kind == TorchKind::none) return;
    const Torch& torch = *Torch::loaded();
    reader_.torch.meet(torch, kind, content_.ptr());
    torch_ = python::see_torch(torch, content_);
    if (torch_->array) content_ = *torch_->array;
    if (torch_->on_device.any) tensor_ = &torch_->on_device;
}

GivenObject::~GivenObject() {
    if (read_ != nullptr) std::pmr::polymorphic_allocator<>(memory_).delete_object(read_);
}

GivenObject::Read& GivenObject::read() {
    if (read_ == nullptr) read_ = std::pmr::polymorphic_allocator<>(memory_).new_object<Read>();
    return *read_;
}

GivenObject::Read& GivenObject::elements() {
    Read& read = this->read();
    if (read.is_read) return read;
    read.is_read = true;
    ArgShape& shape = read.shape;
    shape.is_torch = torch_ != nullptr;
    if (torch_ != nullptr && !torch_->is_readable()) {
        read.fault = torch_->fault;
        return read;
    }
    if (is_described_) {
        shape = described().shape;
        read.is_elements = described().is_known;
        if (!read.is_elements) read.fault = {ErrorCode::type_mismatch, unknown_dtype_text(described().dtype)};
        return read;
    }
    if (generator_ != nullptr) {
        shape.kind = ArgShape::Kind::generator;
        shape.generator = generator_->kind;
        shape.shape = generator_->shape;
    } else if (tensor_ != nullptr) {
        shape.kind = ArgShape::Kind::tensor;
        shape.scalar = tensor_->any.element().scalar;
        shape.shape = tensor_->any.shape();
    } else if (texture_ != nullptr) {
        shape.kind = ArgShape::Kind::texture;
        shape.shape = call_extents(texture_->any.shape());
        shape.texture = &texture_->any;
        shape.sampler = sampler_ == nullptr && texture_->any.sampler() ? &texture_->any.sampler() : sampler_;
    } else if (sampler_ != nullptr) {
        shape.kind = ArgShape::Kind::sampler;
        shape.sampler = sampler_;
    } else if (!read_value(content_, shape, read.array, read.nested, read.fault)) {
        if (!take_stand_in(read.fault)) return read;
        read.fault = {};
        read.is_read = false;
        return elements();
    }
    read.is_elements = true;
    return read;
}

/// Takes what stands for the object, if anything does.
bool GivenObject::take_stand_in(Refusal& fault) {
    // An iterator inside of something else would be at its end where the call is made anew.
    if (is_stand_in_ || is_iterator(content_.ptr())) return false;
    is_stand_in_ = true;
    const bool is_fault = !fault.text.empty();
    py::object other;
    if (is_fault) {
        Stack stack = stacked(content_, &fault);
        other = std::move(stack.array);
        list_context_ = std::move(stack.context);
    } else {
        other = stand_in(content_);
    }
    if (!other) return false;
    content_ = std::move(other);
    tensor_ = as_tensor(content_);
    return true;
}

const ArgShape* GivenObject::as_elements(const manifest::Call& call, const manifest::Argument& argument,
                                         bool by_value, Refusal* why) {
    const ArgShape* const found = as_given(call, argument, by_value, why);
    if (found == nullptr || list_context_ == nullptr) return found;
    if (reader_.recorded) {
        refused(why, ErrorCode::type_mismatch, [&] {
            return "a recorded call runs later, and a list of tensors is read when the call is made: "
                   "give one tensor, kf.Tensor(list)";
        });
        return nullptr;
    }
    const bool has_gradient =
        argument.gradient != manifest::Gradient::never || is_only_written(argument.role);
    if (runs_backward(reader_.pass) && has_gradient) {
        refused(why, ErrorCode::not_differentiable, [&] {
            return "the tensors of a list get no gradients, and give none: give one tensor, "
                   "kf.Tensor(list).with_grads(), or arrays, [x.to_numpy() for x in list]";
        });
        return nullptr;
    }
    return found;
}

/// Without the rules for lists of tensors.
const ArgShape* GivenObject::as_given(const manifest::Call& call, const manifest::Argument& argument,
                                      bool by_value, Refusal* why) {
    if (!take_names(argument, why)) return nullptr;
    if (is_batch_ && (by_value || manifest::passes_value(argument))) {
        refused(why, ErrorCode::type_mismatch,
                [&] { return "one value is needed, not a kf.Batchable, which has one for each call"; });
        return nullptr;
    }
    if (by_value) return as_value(why);
    const bool output = is_only_written(argument.role);
    const bool written = argument.role != Role::in && runs_forward(reader_.pass);
    const auto no = [&](auto text) -> const ArgShape* {
        refused(why, ErrorCode::type_mismatch, text);
        return nullptr;
    };
    if (generator_ != nullptr && (output || written))
        return no([&] { return "an output can't be " + shown(given_); });
    if (torch_ != nullptr && !torch_->is_readable()) {
        if (why != nullptr) *why = torch_->fault;
        return nullptr;
    }
    if (!is_right_resource(argument, why)) return nullptr;
    if (output && written && tensor_ == nullptr && texture_ == nullptr && !is_described_ &&
        !py::isinstance<py::array>(content_)) {
        return no([&] {
            return "an output is written to a kf.Tensor or a NumPy array, not to " + shown(given_) +
                   (is_foreign(content_.ptr()) ? way_in(content_) : "; out=np.ndarray makes a new array");
        });
    }
    if (reader_.described) {
        if (const ArgShape* const shape = as_cast(argument)) return shape;
        if (const ArgShape* const shape = as_any_generator(argument)) return shape;
    }
    const Read& read = elements();
    if (!read.is_elements) {
        if (!read.fault.text.empty()) {
            if (why != nullptr) *why = read.fault;
            return nullptr;
        }
        return no([&] {
            return "a number, a list, a NumPy array or a kf.Tensor is needed, not " +
                   shown_with_type(content_) + way_in(content_);
        });
    }
    if (written && is_stand_in_ && tensor_ == nullptr) {
        return no([&] {
            return "it is written: give a kf.Tensor or a writable NumPy array, not " +
                   shown_with_type(given_);
        });
    }
    if (written && read.nested && is_of_object(call, argument)) {
        return no([&] {
            return "the method writes it: give a kf.Tensor or a writable NumPy array, not " + shown(given_);
        });
    }
    return &read.shape;
}

DescribedTensor& GivenObject::described() {
    if (description_ == nullptr) description_ = std::make_unique<DescribedTensor>(describe_tensor(content_));
    return *description_;
}

/// A tensor that torch.autocast() casts to what the argument takes; null for others.
const ArgShape* GivenObject::as_cast(const manifest::Argument& argument) {
    if (!is_described_ || !reader_.casts || !may_be_cast(argument)) return nullptr;
    DescribedTensor& tensor = described();
    const ScalarType wanted = argument.element.scalar;
    if (!tensor.may_cast || (tensor.is_known && tensor.shape.scalar == wanted)) return nullptr;
    tensor.cast = tensor.shape;
    tensor.cast.scalar = wanted;
    tensor.cast.is_cast = true;
    return &tensor.cast;
}

/// A generator of which traced code says the class alone; null for anything else.
const ArgShape* GivenObject::as_any_generator(const manifest::Argument& argument) {
    const auto generator = generator_of_class(content_);
    if (!generator) return nullptr;
    ArgShape& shape = read().shape;
    shape.kind = ArgShape::Kind::generator;
    shape.generator = *generator;
    shape.shape = Dims(static_cast<std::size_t>(argument.call_rank), unknown_extent);
    return &shape;
}

bool GivenObject::take_names(const manifest::Argument& argument, Refusal* why) {
    const bool named = !argument.members.empty() && has_names(named_ ? named_ : content_);
    if (!named && !named_) return true;
    const py::object given = named_ ? named_ : content_;
    py::object numbers = named ? without_names(given, argument, why) : given;
    if (!numbers) return false;
    named_ = named ? given : py::object();
    content_ = std::move(numbers);
    if (read_ != nullptr) {
        read_->is_read = read_->is_elements = false;
        read_->array.reset();
        read_->nested.reset();
        read_->fault = {};
    }
    return true;
}

/// Tells whether a texture, or a sampler, is given for one, and something else for what is none.
bool GivenObject::is_right_resource(const manifest::Argument& argument, Refusal* why) {
    const HostPassing passed = manifest::passed_as(argument);
    const bool is_texture = passed == HostPassing::texture;
    const bool is_sampler = passed == HostPassing::sampler;
    if (is_texture == (texture_ != nullptr) && is_sampler == (sampler_ != nullptr && texture_ == nullptr))
        return true;
    return refused(why, ErrorCode::type_mismatch, [&] {
        if (is_sampler) return "a kf.Sampler is needed, not " + shown(given_);
        if (is_texture) {
            const char* const cure = tensor_ != nullptr ? ": kf.Texture.from_tensor(x, format) makes one"
                                     : py::isinstance<py::array>(content_)
                                         ? ": kf.Texture.from_numpy(a, format) makes one"
                                         : "";
            return "a kf.Texture is needed, not " + shown(given_) + cure;
        }
        return "expected " + detail::describe(argument) + ", found " +
               (texture_ != nullptr ? detail::with_article(describe(*texture_)) + "; to_tensor() copies it"
                                    : shown(given_));
    });
}

const ArgShape* GivenObject::as_value(Refusal* why) {
    const bool is_resource = texture_ != nullptr || sampler_ != nullptr;
    const bool is_tensor = tensor_ != nullptr || is_described_;
    if (differentiable_ == nullptr && generator_ == nullptr && !is_tensor && !is_resource) {
        const Read& read = elements();
        if (read.is_elements) return &read.shape;
        if (!read.fault.text.empty()) {
            if (why != nullptr) *why = read.fault;
            return nullptr;
        }
    }
    refused(why, ErrorCode::type_mismatch, [&] {
        const bool tensor = as_tensor(given_) != nullptr;
        return std::string("the field is given by value") +
               (tensor ? ", not as a kf.Tensor: the call spec has no \"fields\" that takes one here"
                       : ": a number, a list or a NumPy array is needed, not " + shown_with_type(given_));
    });
    return nullptr;
}

bool GivenObject::holds(ScalarType scalar, Refusal* why) {
    const Read& read = elements();
    std::array<std::byte, 8> scratch;
    return !read.nested || std::all_of(read.nested->numbers.begin(), read.nested->numbers.end(),
                                       [&](const py::object& number) {
                                           return pack_number(number, scalar, scratch.data(), why);
                                       });
}

bool GivenObject::is_own_class(const ParameterTree& structure) const {
    const auto known = reader_.classes.find(structure.type);
    return known != reader_.classes.end() &&
           known->second.ptr() == reinterpret_cast<PyObject*>(Py_TYPE(content_.ptr()));
}

bool GivenObject::is_object(bool part) {
    if (is_batch_ || (part && differentiable_ != nullptr)) return false;
    return is_struct_like(content_);
}

/// The dict that stands for the value; null where it has the fields itself, or can be no such struct.
py::dict GivenObject::own_form(const ParameterTree& structure, bool tangent) const {
    const auto null = [] { return py::reinterpret_steal<py::dict>(py::handle()); };
    const std::vector<ParameterTree>& fields = structure.fields;
    py::dict dict;
    if (structure.own == OwnStruct::optional) {
        // A tangent has the value alone.
        const ParameterTree& said = tangent ? fields.front() : fields.back();
        if (is_own_class(structure) || has_field_of(content_, said.name)) return null();
        if (!content_.is_none()) dict[fields.front().name.c_str()] = content_;
        if (!tangent) dict[fields.back().name.c_str()] = py::bool_(!content_.is_none());
        return dict;
    }
    const bool is_tuple = structure.own == OwnStruct::tuple && is_list(content_);
    if (!is_tuple || py::len(content_) != fields.size()) return null();
    const auto values = py::reinterpret_steal<py::tuple>(snapshot(content_).release());
    for (std::size_t i = 0; i < fields.size(); ++i) dict[fields[i].name.c_str()] = values[i];
    return dict;
}

GivenObject& GivenObject::as_struct(const ParameterTree& structure, bool tangent) {
    if (structure.own != OwnStruct::optional && structure.own != OwnStruct::tuple) return *this;
    const OwnForm form{structure.own, tangent};
    for (const auto& [known, object] : own_forms_)
        if (known == form) return *object;
    if (is_batch_) return *this;
    const py::dict dict = own_form(structure, tangent);
    if (!dict) return *this;
    return *own_forms_.emplace_back(form, std::make_unique<GivenObject>(reader_, dict, memory_)).second;
}

GivenObject* GivenObject::field(const ParameterTree& structure, std::size_t field) {
    const std::string_view name = structure.fields[field].name;
    for (const auto& [known, value] : fields_)
        if (known == name) return value.get();
    const py::object value = find_field(content_, reader_.views.of(structure), field);
    auto made = value ? std::make_unique<GivenObject>(reader_, value, memory_) : nullptr;
    return fields_.emplace_back(name, std::move(made)).second.get();
}

GivenObject* GivenObject::default_field(const ParameterTree& structure, std::size_t field) {
    const auto known = reader_.classes.find(structure.type);
    if (PyDict_Check(content_.ptr()) == 0 || known == reader_.classes.end()) return nullptr;
    const py::object defaults = py::getattr(known->second, "_defaults", py::none());
    if (PyDict_Check(defaults.ptr()) == 0) return nullptr;
    const py::handle attribute = reader_.views.of(structure).fields[field].attribute;
    const py::handle value = PyDict_GetItem(defaults.ptr(), attribute.ptr());
    if (!value) return nullptr;
    const std::string_view name = structure.fields[field].name;
    const auto own = std::ranges::find(fields_, name, [](const auto& one) { return one.first; });
    if (own == fields_.end()) return nullptr;
    own->second = std::make_unique<GivenObject>(reader_, value, memory_);
    return own->second.get();
}

std::string GivenObject::other_field(const ParameterTree& structure) {
    // Objects of the class have its fields, and no others.
    if (is_own_class(structure)) return {};
    return python::other_field(content_, structure, reader_.views.of(structure));
}

bool GivenObject::is_of_other_class(const ParameterTree& structure) {
    if (reader_.classes.empty() || PyDict_CheckExact(content_.ptr()) || is_own_class(structure)) return false;
    const auto is_one = [&](const auto& known) { return is_instance(content_, known.second); };
    const auto own = reader_.classes.find(structure.type);
    if (own != reader_.classes.end() && is_one(*own)) return false;
    return std::ranges::any_of(reader_.classes, is_one);
}

bool GivenObject::has_bytes_of(const manifest::Call& call, const ParameterTree& structure) {
    // Neither do numbers of Python's own.
    if (PyDict_CheckExact(content_.ptr()) || is_own_class(structure) || !has_dtype_fields(content_))
        return false;
    if (!reader_.views.type_of(call, structure).dtype.equal(content_.attr("dtype"))) return false;
    return py::array::ensure(content_).ndim() == 0;
}

std::optional<std::size_t> GivenObject::length(bool or_array, bool part) {
    if (part && differentiable_ != nullptr) return std::nullopt;
    if (is_batch_ && or_array) return std::nullopt;
    const bool array = or_array && py::isinstance<py::array>(content_) &&
                       py::reinterpret_borrow<py::array>(content_).ndim() > 0;
    if (!array && !is_list(content_)) return std::nullopt;
    return py::len(content_);
}

GivenObject& GivenObject::element(std::size_t i) {
    if (elements_.empty()) {
        const py::object items = snapshot(content_);
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k) {
            elements_.push_back(
                std::make_unique<GivenObject>(reader_, PyTuple_GET_ITEM(items.ptr(), k), memory_));
        }
    }
    return *elements_.at(i);
}

void GivenObject::each_element(const std::function<bool(Given&)>& visit) {
    const py::object items = snapshot(content_);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items.ptr()); ++k) {
        GivenObject item(reader_, PyTuple_GET_ITEM(items.ptr(), k), std::pmr::new_delete_resource());
        if (!visit(item)) return;
    }
}

const Dims* GivenObject::as_structs(const manifest::Call& call, const ParameterTree& structure, bool& is_list,
                                    Refusal* why) {
    is_list = false;
    if (torch_ != nullptr || is_described_) return as_torch_structs(call, structure, why);
    Refusal none;
    if (tensor_ == nullptr && !python::is_list(content_) && !py::isinstance<py::array>(content_))
        take_stand_in(none);
    const StructType* found = nullptr;
    Read& read = this->read();
    if (tensor_ != nullptr) {
        found = tensor_->structure;
        read.shape.shape = tensor_->any.shape();
    } else if (python::is_list(content_)) {
        is_list = role_of(call, structure) == Role::in || !runs_forward(reader_.pass);
        if (is_list) return nullptr;
        refused(why, ErrorCode::type_mismatch, [&] {
            return "it is written: give a kf.Tensor or a NumPy array of " + structure.type +
                   " structs, not a list";
        });
        return nullptr;
    } else if (py::isinstance<py::array>(content_)) {
        if (!read.array) read.array = py::reinterpret_borrow<py::array>(content_);
        if (why != nullptr) *why = {};
        found = struct_type(read.array->dtype(), why);
        if (found == nullptr && why != nullptr && !why->text.empty()) return nullptr;
        const auto shape = shape_of(*read.array, why);
        if (!shape) return nullptr;
        read.structure = found;
        read.shape.shape = *shape;
    } else {
        refused(why, ErrorCode::type_mismatch, [&] {
            return "a kf.Tensor, a NumPy array or a list of " + structure.type + " structs is needed, not " +
                   shown_with_type(content_);
        });
        return nullptr;
    }
    const StructType& wanted = reader_.views.type_of(call, structure);
    if (found == &wanted) return &read.shape.shape;
    refused(why, ErrorCode::type_mismatch, [&] {
        return "expected " + structure.type + " structs, found " +
               (found == nullptr ? shown(given_) : "others: " + dtype_difference(wanted.dtype, found->dtype));
    });
    return nullptr;
}

std::string scalars_text(const ParameterTree& structure, const manifest::StructScalars& scalars,
                         std::size_t rank) {
    std::string shape;
    for (std::size_t d = 0; d < rank; ++d) shape += "*, ";
    return "expected " + structure.type + " tensor[" + std::to_string(rank) + "], as " +
           detail::with_article(numpy_name(scalars.scalar)) + " torch.Tensor of shape [" + shape +
           to_string(Dims(scalars.extents)).substr(1);
}

/// Takes a tensor of PyTorch's, which has no structs, for those whose scalars it holds.
const Dims* GivenObject::as_torch_structs(const manifest::Call& call, const ParameterTree& structure,
                                          Refusal* why) {
    if (torch_ != nullptr && !torch_->is_readable()) {
        if (why != nullptr) *why = torch_->fault;
        return nullptr;
    }
    const manifest::StructScalars* const wanted = reader_.views.scalars_of(call, structure);
    if (wanted == nullptr) {
        refused(why, ErrorCode::type_mismatch, [&] {
            return "a torch.Tensor holds no " + structure.type +
                   " structs, whose fields are of several types "
                   "or have gaps between them: give a kf.Tensor or a NumPy array of the dtype of the class, "
                   "or "
                   "the fields, with \"fields\" in the call spec, not " +
                   shown(given_);
        });
        return nullptr;
    }
    Read& read = elements();
    const Dims& shape = read.shape.shape;
    const std::vector<std::int64_t>& extents = wanted->extents;
    const auto rank = static_cast<std::size_t>(call.arguments[static_cast<std::size_t>(structure.leaf)].rank);
    const bool is_cast = is_described_ && reader_.casts && described().may_cast &&
                         is_floating(wanted->scalar) && role_of(call, structure) != Role::inout;
    const bool is_of_type = is_cast || (read.is_elements && read.shape.scalar == wanted->scalar);
    const bool is_of_rank = shape.size() == rank + extents.size();
    if (!is_of_type || !is_of_rank ||
        !std::equal(extents.begin(), extents.end(), shape.begin() + rank,
                    [](auto one, auto given) { return fits_extent(given, one); })) {
        refused(why,
                !is_of_type   ? ErrorCode::type_mismatch
                : !is_of_rank ? ErrorCode::rank_mismatch
                              : ErrorCode::shape_mismatch,
                [&] { return scalars_text(structure, *wanted, rank) + ", found " + shown(given_); });
        return nullptr;
    }
    read.structs = shape;
    read.structs.erase(shape.size() - 1);
    return &read.structs;
}

int GivenObject::structs_cost() const {
    return torch_ != nullptr || is_described_ ? detail::scalars_as_structs_cost : 0;
}

std::string GivenObject::text() const { return shown(given_); }

std::string GivenObject::type_text() const {
    if (texture_ != nullptr) return detail::with_article(describe(*texture_));
    return sampler_ != nullptr ? "a sampler" : detail::with_article(type_name(given_));
}

void GivenObject::move_to(Host& host, bool as_struct) {
    host.given = given_;
    host.object = this;
    host.content = content_;
    host.differentiable = differentiable_;
    host.torch = torch_.get();
    host.generator = generator_;
    host.texture = texture_;
    host.sampler = sampler_;
    if (!as_struct) host.tensor = tensor_;
    if (as_struct || read_ == nullptr) return;
    host.array = std::move(read_->array);
    host.nested = std::move(read_->nested);
    host.structure = read_->structure;
    host.scalar = read_->shape.scalar;
    host.shape = read_->shape.shape;
}

}  // namespace kf::python
