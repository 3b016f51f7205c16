// Keeps what calls resolved to.
#include "python/known_calls.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/convert.h"
#include "core/items.h"
#include "core/kinds/questions.h"
#include "core/pass_rules.h"
#include "core/roles.h"
#include "core/tensor_state.h"

namespace kf::python {
namespace {

using detail::runs_backward;
using detail::runs_forward;
using manifest::HostPassing;
using manifest::Role;
using Place = KnownCall::Place;
using Result = KnownCall::Result;

/// Shows all names of a call, keywords first, as long as visit() returns true. Returns whether it did.
template <class Visit>
bool each_name(const Arguments& arguments, Visit visit) {
    for (std::size_t i = 0; i < arguments.keywords.size(); ++i) {
        if (!visit(arguments.keywords.name(i))) return false;
    }
    for (std::size_t i = 0; i < arguments.globals.size(); ++i) {
        if (!visit(arguments.globals.name(i))) return false;
    }
    return true;
}

/// Returns the last extents of the tensor's shape, `last` of them at most; none of a tensor of structs.
std::span<const std::int64_t> last_extents(const Tensor& tensor, std::size_t last) {
    if (tensor.structure != nullptr) return {};
    const Dims& shape = tensor.any.state()->shape;
    const std::size_t count = std::min(last, shape.size());
    return {shape.end() - count, count};
}

bool is_text(PyObject* name, const char* text) { return PyUnicode_CompareWithASCIIString(name, text) == 0; }

/// Finds out what a call's arguments become, once it was made.
class Notes {
public:
    Notes(const CallKey& key, const FunctionInfo& chosen, const manifest::Call& overload, KnownCall& known)
        : key_(key), info_(chosen), call_(overload), known_(known), given_(chosen.parameters.size()) {}

    /// Returns false where more than the types counts, or what comes back isn't simple.
    bool note() {
        if (manifest::is_jvp(info_.function) || !note_items()) return false;
        known_.places.resize(key_.tagged.size());
        return note_positional() && note_keywords() && note_globals() && note_results();
    }

private:
    [[nodiscard]] bool forward() const { return runs_forward(key_.pass); }

    bool note_items() {
        for (const manifest::ParameterTree& parameter : call_.parameters) {
            if (parameter.form == manifest::Form::fields) return false;
        }
        known_.items = info_.items[known_.overload].size();
        return known_.items == info_.parameters.size() && known_.items <= KnownCall::most_items;
    }

    [[nodiscard]] const HostItem& item(std::size_t i) const { return info_.items[known_.overload][i]; }
    [[nodiscard]] const manifest::Argument& leaf(std::size_t i) const {
        return call_.arguments[item(i).leaf];
    }

    bool note_positional() {
        const auto& places = forward() ? info_.places : info_.places_backward;
        for (std::size_t i = 0; i < key_.arguments.positional.size(); ++i) {
            if (!note_argument(i, places[i])) return false;
        }
        return true;
    }

    bool note_keywords() {
        const Keywords& keywords = key_.arguments.keywords;
        for (std::size_t k = 0; k < keywords.size(); ++k) {
            const std::size_t i = key_.arguments.positional.size() + k;
            PyObject* const name = keywords.name(k);
            if (const auto parameter = parameter_of(name)) {
                if (!note_argument(i, *parameter)) return false;
                continue;
            }
            const Tag& tag = key_.tagged[i].tag;
            if (tag.kind == Tag::Kind::stream && !key_.is_recorded) {
                known_.places[i].kind = Place::Kind::stream;
                continue;
            }
            if (!is_text(name, "shape") && !is_text(name, "stream")) return false;
            if (tag.kind == Tag::Kind::integer || tag.kind == Tag::Kind::integers) {
                known_.places[i].kind = Place::Kind::shape;
            } else if (tag.kind != Tag::Kind::none) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::optional<std::size_t> parameter_of(PyObject* name) const {
        for (std::size_t p = 0; p < info_.parameters.size(); ++p) {
            if (info_.names[p].ptr() == name && !info_.parameters[p].hidden && !info_.parameters[p].is_global)
                return p;
        }
        return std::nullopt;
    }

    /// Globals that the overload doesn't reach count for nothing.
    bool note_globals() {
        const GlobalValues& globals = key_.arguments.globals;
        for (std::size_t g = 0; g < globals.size(); ++g) {
            const std::size_t i = key_.tagged.size() - globals.size() + g;
            for (std::size_t p = 0; p < info_.parameters.size(); ++p) {
                if (!info_.parameters[p].is_global || info_.names[p].ptr() != globals.name(g)) continue;
                if (!note_argument(i, p)) return false;
            }
        }
        return true;
    }

    /// Whether None is a value for the parameter: an optional that is read.
    [[nodiscard]] bool is_value(std::size_t parameter) const {
        const manifest::ParameterTree* const structure = item(parameter).structure;
        return structure != nullptr && structure->own == manifest::OwnStruct::optional &&
               !is_only_written(item(parameter).role);
    }

    /// Notes that argument `i` of the call is for a parameter, whose only item has the same number.
    bool note_argument(std::size_t i, std::size_t parameter) {
        const Tag& tag = key_.tagged[i].tag;
        if (tag.kind == Tag::Kind::none) return !is_value(parameter);
        if (given_[parameter]) return false;
        given_[parameter] = i;
        Place& place = known_.places[i];
        place.item = parameter;
        if (tag.kind == Tag::Kind::generator) {
            place.kind = Place::Kind::generator;
            return manifest::passed_as(leaf(parameter)) == HostPassing::generator;
        }
        if (tag.kind == Tag::Kind::texture) {
            place.kind = Place::Kind::texture;
            return manifest::passed_as(leaf(parameter)) == HostPassing::texture;
        }
        if (tag.kind == Tag::Kind::sampler) {
            place.kind = Place::Kind::sampler;
            return manifest::passed_as(leaf(parameter)) == HostPassing::sampler;
        }
        return tag.is_tensor() ? note_tensor(place, parameter) : note_number(tag, place, parameter);
    }

    bool note_tensor(Place& place, std::size_t i) {
        const manifest::Argument& argument = leaf(i);
        if (item(i).structure != nullptr && (item(i).type == nullptr || !item(i).structure->extents.empty()))
            return false;
        if (runs_backward(key_.pass) && manifest::is_pushed(argument)) return false;
        const bool is_value = manifest::passes_value(argument);
        // What is written to by a copy, once the value is back.
        if (is_value && (forward() || !is_only_written(item(i).role))) return false;
        const bool is_memory = manifest::passes_memory(argument);
        const bool is_pointer = manifest::passed_as(argument) == HostPassing::pointer;
        place.kind = is_pointer ? Place::Kind::pointer : Place::Kind::tensor;
        place.is_written = (forward() && item(i).role != Role::in) ||
                           (argument.role == Role::in && stores_elements(argument, key_.pass)) ||
                           may_write_through(argument);
        return is_value || is_memory || is_pointer;
    }

    bool note_number(const Tag& tag, Place& place, std::size_t i) {
        const manifest::Argument& argument = leaf(i);
        if (item(i).structure != nullptr || is_only_written(item(i).role)) return false;
        if (manifest::passed_as(argument) == HostPassing::pointer) {
            place.kind = Place::Kind::address;
            return tag.kind == Tag::Kind::integer;
        }
        if (manifest::passed_as(argument) == HostPassing::generator) {
            place.kind = Place::Kind::grid;
            return ++grids_ <= KnownCall::most_grids;
        }
        const ElementType element = element_type(argument.element);
        if (!manifest::passes_value(argument) || element.size() > KnownCall::room) return false;
        if (tag.is_list() && (element.rank != 1 || element.extents[0] != tag.rank)) return false;
        place.kind = Place::Kind::value;
        place.scalar = element.scalar;
        place.scalars = static_cast<std::uint8_t>(element.scalars());
        place.is_written = item(i).role != Role::in && forward();
        return tag.is_number() || tag.is_list();
    }

    bool note_results() {
        if (!forward()) return true;
        if (!note_outputs()) return false;
        for (std::size_t p = 0; p < info_.parameters.size(); ++p) {
            if (is_returned(info_.parameters[p]) && !note_result(p)) return false;
        }
        // The result is the last of what is returned, and comes first.
        if (std::ranges::find(info_.parameters, Role::result, &HostParameter::role) != info_.parameters.end())
            std::rotate(known_.results.begin(), known_.results.end() - 1, known_.results.end());
        return true;
    }

    /// Values that come back have their elements behind those of the arguments.
    bool note_outputs() {
        for (std::size_t i = 0; i < known_.items; ++i) {
            if (given_[i] || !is_only_written(item(i).role) || !manifest::passes_value(leaf(i))) continue;
            if (item(i).structure != nullptr || element_type(leaf(i).element).size() > KnownCall::room)
                return false;
            known_.outputs.push_back({i, key_.tagged.size() + known_.outputs.size()});
        }
        return known_.outputs.size() <= KnownCall::most_outputs;
    }

    bool note_result(std::size_t i) {
        const manifest::Argument& argument = leaf(i);
        Result& result = known_.results.emplace_back();
        if (manifest::passes_value(argument)) {
            const auto output = std::ranges::find(known_.outputs, i, &KnownCall::Output::item);
            const bool is_output = output != known_.outputs.end();
            result.kind = Result::Kind::value;
            result.index = is_output ? output->room : given_[i].value_or(0);
            result.element = element_type(argument.element);
            if (!argument.members.empty()) result.enumeration = &argument;
            return is_output || given_[i];
        }
        const bool is_texture = manifest::passed_as(argument) == HostPassing::texture;
        if (!manifest::passes_elements(argument) && !is_texture) return false;
        const Result::Kind made = is_texture ? Result::Kind::made_texture : Result::Kind::made;
        result.kind = given_[i] ? Result::Kind::given : made;
        result.index = given_[i].value_or(i);
        result.structure = item(i).type;
        result.scalars = item(i).scalars;
        return item(i).structure == nullptr || item(i).structure->extents.empty();
    }

    const CallKey& key_;
    const FunctionInfo& info_;
    const manifest::Call& call_;
    KnownCall& known_;
    std::vector<std::optional<std::size_t>> given_;  ///< the argument for each parameter
    std::size_t grids_ = 0;
};

}  // namespace

bool KnownCall::is_like(const CallKey& key, std::size_t last) const {
    const Arguments& arguments = key.arguments;
    if (tags.size() != key.tagged.size() || positional != arguments.positional.size() || pass != key.pass ||
        is_recorded != key.is_recorded || named != arguments.keywords.size())
        return false;
    for (std::size_t i = 0; i < tags.size(); ++i) {
        if (!(tags[i] == key.tagged[i].tag)) return false;
    }
    // Most calls are made again where they were made before.
    const std::size_t told = keywords.ptr() == arguments.keywords.names ? named : 0;
    for (std::size_t i = told; i < named; ++i) {
        if (names[i].ptr() != arguments.keywords.name(i)) return false;
    }
    for (std::size_t i = 0; i < arguments.globals.size(); ++i) {
        if (names[named + i].ptr() != arguments.globals.name(i)) return false;
    }
    if (last == 0) return true;
    auto extent = last_extents.begin();
    for (const TaggedArgument& argument : key.tagged) {
        if (argument.tensor == nullptr) continue;
        for (const std::int64_t one : python::last_extents(*argument.tensor, last)) {
            if (*extent++ != one) return false;
        }
    }
    return true;
}

KnownCalls::KnownCalls(const manifest::Function& function) : last_(0) {
    for (const manifest::Call& call : function.calls) {
        for (const manifest::Argument& argument : call.arguments)
            // The last extent of a torch.Tensor may be that of the structs whose scalars it holds.
            last_ = std::max(last_, argument.element.extents.size() + (argument.pitch != 0 ? 1 : 0));
    }
}

const KnownCall* KnownCalls::find(const CallKey& key) {
    for (std::size_t k = 0; k < kept; ++k) {
        const std::size_t i = (recent_ + k) % kept;
        if (calls_[i] == nullptr || !calls_[i]->is_like(key, last_)) continue;
        recent_ = i;
        return calls_[i].get();
    }
    return nullptr;
}

void KnownCalls::keep(const CallKey& key, const FunctionInfo& chosen, const manifest::Call& overload) {
    const auto is_interned = [](PyObject* name) { return PyUnicode_CHECK_INTERNED(name) != 0; };
    if (!each_name(key.arguments, is_interned)) return;
    auto known = std::make_unique<KnownCall>();
    known->pass = key.pass;
    known->is_recorded = key.is_recorded;
    known->positional = key.arguments.positional.size();
    known->named = key.arguments.keywords.size();
    known->keywords = py::reinterpret_borrow<py::object>(key.arguments.keywords.names);
    known->info = &chosen;
    known->overload = static_cast<std::size_t>(&overload - chosen.function.calls.data());
    if (!Notes(key, chosen, overload, *known).note()) return;
    (void)each_name(key.arguments, [&](PyObject* name) {
        known->names.push_back(py::reinterpret_borrow<py::object>(name));
        return true;
    });
    for (const TaggedArgument& argument : key.tagged) {
        known->tags.push_back(argument.tag);
        if (argument.tensor == nullptr) continue;
        const auto extents = last_extents(*argument.tensor, last_);
        known->last_extents.insert(known->last_extents.end(), extents.begin(), extents.end());
    }
    for (std::size_t tried = 0; tried < kept; ++tried) {
        const std::size_t i = next_++ % kept;
        if (calls_[i] != nullptr && calls_[i]->under_way > 0) continue;
        calls_[i] = std::move(known);
        recent_ = i;
        return;
    }
}

}  // namespace kf::python
