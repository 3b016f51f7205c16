// Values that are set of calls which are kept to run often.
#include "python/kept_values.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/convert.h"
#include "core/kinds/binding.h"
#include "core/python_names.h"
#include "core/resolve_text.h"
#include "python/differentiable.h"
#include "python/enums.h"
#include "python/errors.h"
#include "python/function.h"
#include "python/generator.h"
#include "python/gil.h"
#include "python/given_object.h"
#include "python/host.h"
#include "python/host_value.h"
#include "python/sampler.h"
#include "python/scalars.h"
#include "python/struct_fields.h"
#include "python/structs.h"
#include "python/texture.h"

namespace kf::python {
namespace {

using detail::Arg;
using detail::ArgShape;
using detail::KeptCall;
using manifest::ParameterTree;

/// Whether a path names its owner or a part of it, as global parameters are named too.
const ParameterTree* descend(const ParameterTree& tree, const std::string& path, std::string_view name) {
    if (path == name) return &tree;
    for (std::size_t i = 0; i < tree.fields.size(); ++i) {
        for (const std::string& field : {tree.fields[i].name, detail::python_attribute(tree.fields, i)}) {
            const std::string below = manifest::field_path(path, field);
            if (manifest::is_or_lies_in(name, below)) return descend(tree.fields[i], below, name);
        }
    }
    return nullptr;
}

/// The values that one call gets.
class NewValues {
public:
    explicit NewValues(const NamedCall& call) : kept_(*call.call), info_(*call.info), call_(kept_.call()) {}

    /// Returns false where the call has nothing of that name: Python's, or else Slang's.
    bool add(const std::string& name, py::handle value) {
        return add_by(&HostParameter::keyword, name, value) || add_by(&HostParameter::name, name, value);
    }
    void check() { lock_ = kept_.check(changes_); }
    void set() {
        kept_.set(changes_, lock_);
        lock_.unlock();
    }
    /// Puts each texture that was set in the place of the one that it replaced.
    void exchange_in(py::object& result) const {
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            if (changes_[i].replaced) exchange(result, changes_[i].replaced, given_[i]);
        }
    }

private:
    /// `called`: the parameters' names that are meant.
    bool add_by(std::string HostParameter::*called, const std::string& name, py::handle value) {
        for (std::size_t i = 0; i < info_.parameters.size(); ++i) {
            const HostParameter& parameter = info_.parameters[i];
            if (parameter.hidden) continue;
            std::string_view root = parameter.*called;
            if (manifest::is_global(root) && !manifest::is_global(name))
                root.remove_prefix(manifest::global_prefix.size());
            if (parameter.role == manifest::Role::result && name == "out") root = name;
            if (!manifest::is_or_lies_in(name, root)) continue;
            const ParameterTree* const tree = descend(call_.parameters[i], std::string(root), name);
            if (tree == nullptr) continue;
            add_tree(*tree, name, value);
            return true;
        }
        return false;
    }

    void add_tree(const ParameterTree& tree, const std::string& name, py::handle value) {
        const Where where{info_.function.name, name};
        if (tree.form == manifest::Form::tensor || tree.fields.empty())
            return add_leaf(static_cast<std::size_t>(tree.leaf), where, value);
        const bool listed = PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0;
        if (tree.form == manifest::Form::value && !tree.extents.empty()) {
            refuse(ErrorCode::type_mismatch, where,
                   "of an array of structs set one field at a time, as in set({\"" +
                       manifest::field_path(name, tree.fields.front().name) + "\": …})");
        }
        if (listed && manifest::is_array(tree)) return add_elements(tree, name, value);
        if (!is_struct_like(value)) {
            refuse(ErrorCode::type_mismatch, where,
                   "a dict or an object with its fields is needed, not " + shown(value));
        }
        add_fields(tree, name, value);
    }

    void add_elements(const ParameterTree& tree, const std::string& name, py::handle value) {
        const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(value.ptr()));
        if (!items) throw py::error_already_set();
        if (static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr())) != tree.fields.size()) {
            refuse(ErrorCode::shape_mismatch, {info_.function.name, name},
                   std::to_string(tree.fields.size()) + " values are needed, not " + shown(value));
        }
        for (std::size_t k = 0; k < tree.fields.size(); ++k) {
            add_tree(tree.fields[k], manifest::field_path(name, tree.fields[k].name),
                     PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(k)));
        }
    }

    /// What a dict doesn't name stays as it is.
    void add_fields(const ParameterTree& tree, const std::string& name, py::handle value) {
        const StructView& view = info_.views->of(tree);
        if (const std::string other = other_field(value, tree, view); !other.empty()) {
            refuse(ErrorCode::unknown_name, {info_.function.name, name},
                   tree.type + " has no field " + other + "; what can be set: " + kept_.settable_text());
        }
        for (std::size_t i = 0; i < tree.fields.size(); ++i) {
            const std::string path = manifest::field_path(name, tree.fields[i].name);
            if (const py::object one = find_field(value, view, i)) {
                add_tree(tree.fields[i], path, one);
            } else if (PyDict_Check(value.ptr()) == 0) {
                refuse(ErrorCode::missing_argument, {info_.function.name, path}, "not given");
            }
        }
    }

    static void exchange(py::object& result, const AnyTexture& known, const py::object& other) {
        if (PyTuple_CheckExact(result.ptr()) != 0) {
            py::list parts(result);
            for (std::size_t i = 0; i < parts.size(); ++i) {
                py::object part = parts[i];
                exchange(part, known, other);
                parts[i] = part;
            }
            result = py::tuple(parts);
        } else if (const Texture* texture = as_texture(result);
                   texture != nullptr && texture->any.state() == known.state()) {
            result = other;
        }
    }

    void add(std::size_t leaf, const Arg& arg, py::object given) {
        changes_.push_back({leaf, arg});
        given_.push_back(std::move(given));
    }

    /// Takes a texture, one with a sampler, or a sampler.
    void add_resource(std::size_t leaf, const Where& where, py::handle value) {
        const bool is_texture = passed_as(call_.arguments[leaf]) == manifest::HostPassing::texture;
        py::object given = py::reinterpret_borrow<py::object>(value);
        Arg arg;
        if (!is_texture) {
            arg.kind = Arg::Kind::sampler;
            arg.sampler = as_sampler(given);
            if (arg.sampler == nullptr)
                refuse(ErrorCode::type_mismatch, where, "a kf.Sampler is needed, not " + shown(given));
            return add(leaf, arg, std::move(given));
        }
        if (PyTuple_Check(given.ptr()) != 0 && PyTuple_GET_SIZE(given.ptr()) == 2) {
            arg.sampler = as_sampler(PyTuple_GET_ITEM(given.ptr(), 1));
            if (arg.sampler != nullptr) value = PyTuple_GET_ITEM(given.ptr(), 0);
        }
        const Texture* const texture = as_texture(value);
        if (texture == nullptr)
            refuse(ErrorCode::type_mismatch, where, "a kf.Texture is needed, not " + shown(given));
        arg.kind = Arg::Kind::texture;
        arg.texture = &texture->any;
        add(leaf, arg, std::move(given));
    }

    void add_leaf(std::size_t leaf, const Where& where, py::handle value) {
        kept_.check_settable(leaf);
        const manifest::Argument& argument = call_.arguments[leaf];
        if (passes_texture(argument) || passes_sampler(argument)) return add_resource(leaf, where, value);
        Host host;
        host.content = py::reinterpret_borrow<py::object>(value);
        host.given = host.content;
        host.tensor = as_tensor(value);
        host.generator = host.tensor == nullptr ? as_generator(value) : nullptr;
        ArgShape shape;
        if (host.tensor != nullptr) {
            shape.kind = ArgShape::Kind::tensor;
            shape.scalar = host.tensor->any.element().scalar;
            shape.shape = host.tensor->any.shape();
        } else if (host.generator != nullptr) {
            shape.kind = ArgShape::Kind::generator;
            shape.generator = host.generator->kind;
            shape.shape = host.generator->shape;
        } else {
            if (!argument.members.empty() && has_names(value)) {
                detail::Refusal why;
                host.content = without_names(value, argument, &why);
                if (!host.content) refuse(why, where);
            }
            read(host, shape, where);
        }
        if (!detail::conversion_cost(argument, shape)) {
            const detail::Refusal why = detail::mismatch(argument, shape);
            refuse(why.code, where, why.text);
        }
        if (host.generator == nullptr && passed_as(argument) == manifest::HostPassing::generator) {
            host.content = grid_of_shape(value, where);
            host.generator = as_generator(host.content);
        }
        if (host.generator != nullptr) {
            return add(leaf,
                       Arg::make(Arg::Kind::generator, host.generator->data(), nullptr, nullptr, nullptr),
                       host.content);
        }
        host.value.reserve(element_type(argument.element).size());
        pack_value(host, argument, where);
        const auto packed = host.value.bytes();
        bytes_.emplace_back(packed.begin(), packed.end());
        add(leaf, Arg::make(Arg::Kind::value, bytes_.back().data(), nullptr, nullptr, nullptr), py::none());
    }

    static void read(Host& host, ArgShape& shape, const Where& where) {
        detail::Refusal fault;
        if (!read_value(host.content, shape, host.array, host.nested, fault)) {
            if (!fault.text.empty()) refuse(fault.code, where, fault.text);
            refuse(ErrorCode::type_mismatch, where,
                   "a number, a list or a NumPy array is needed, not " + shown(host.content));
        }
        host.scalar = shape.scalar;
        host.shape = shape.shape;
    }

    KeptCall& kept_;
    const FunctionInfo& info_;
    const manifest::Call& call_;
    std::vector<KeptCall::Change> changes_;
    std::vector<std::vector<std::byte>> bytes_;  ///< what changes point to, ...
    std::vector<py::object> given_;              ///< ... or None, one a change
    std::unique_lock<std::mutex> lock_;
};

[[noreturn]] void refuse_unknown(const std::string& owner, const std::string& name,
                                 std::span<const NamedCall> calls) {
    if (calls.size() == 1) {
        refuse(ErrorCode::unknown_name, {owner, {}},
               "set: no value '" + name + "'; it has " + calls.front().call->settable_text());
    }
    std::string known;
    for (const NamedCall& call : calls)
        known += "\n  " + call.info->function.name + ": " + call.call->settable_text();
    refuse(ErrorCode::unknown_name, {owner, {}},
           "set: no call has a value '" + name + "'; its calls have:" + known);
}

}  // namespace

void set_values(const std::string& owner, std::span<const NamedCall> calls, py::handle given,
                const Keywords& named, py::object* result) {
    std::vector<NewValues> all;
    all.reserve(calls.size());
    for (const NamedCall& call : calls) all.emplace_back(call);
    const auto add = [&](const std::string& name, py::handle value) {
        bool found = false;
        for (NewValues& values : all) found = values.add(name, value) || found;
        if (!found) refuse_unknown(owner, name, calls);
    };
    if (given && !given.is_none()) {
        if (PyDict_Check(given.ptr()) == 0) {
            refuse(ErrorCode::type_mismatch, {owner, "set"},
                   "a dict of values is needed, as in {\"ray.t\": 2}, not " + shown(given));
        }
        const auto dict = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
        if (!dict) throw py::error_already_set();
        for (const auto& [key, value] : dict) add(std::string(utf8_of(py::str(key))), value);
    }
    for (std::size_t i = 0; i < named.size(); ++i) add(std::string(named.text(i)), named.values[i]);
    {
        const GilRelease release;  // both wait for a run that is being made
        for (NewValues& values : all) values.check();
        for (NewValues& values : all) values.set();
    }
    if (result == nullptr) return;
    for (const NewValues& values : all) values.exchange_in(*result);
}

}  // namespace kf::python
