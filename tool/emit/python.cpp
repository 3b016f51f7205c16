// Prepares the views of NAME.py and NAME.pyi; the text is in templates/python_*.mustache.
#include "emit/python.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/items.h"
#include "core/join.h"
#include "core/python_names.h"
#include "emit/element.h"
#include "emit/items.h"
#include "emit/kinds/questions.h"
#include "emit/kinds/value.h"
#include "emit/names.h"
#include "emit/python_lines.h"
#include "emit/python_signature.h"
#include "emit/python_structs.h"
#include "emit/render.h"
#include "emit/text.h"
#include "emit_templates.h"
#include "plan/globals.h"
#include "plan/memory_layout.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

using manifest::Argument;
using manifest::Gradient;
using manifest::Role;

/// The endings of the names of a function's other classes in the stub.
constexpr std::array<std::string_view, 4> stub_endings{"Backward", "Fused", "Jvp", "Result"};

bool is_input(const Argument& argument) { return argument.role == Role::in || argument.role == Role::inout; }

/// The names of the parameters, and of every item: "ray.origin" where the ray is given field by field.
struct ArgumentNames {
    std::vector<std::string> parameters;
    std::vector<std::string> items;
};

ArgumentNames argument_names(const PlannedCall& call) {
    ArgumentNames list;
    list.parameters = python_parameters_of(call);
    const std::vector<PlannedArgument> items = host_items(call);
    std::size_t at = 0;
    for (std::size_t i = 0; i < call.parameters.size(); ++i) {
        const PlannedParameter& parameter = call.parameters[i];
        for (const std::size_t end = at + manifest::item_count(parameter.host); at < end; ++at) {
            const std::string& path = items[at].host.name;
            list.items.push_back(list.parameters[i] + path.substr(parameter.host.name.size()));
        }
    }
    return list;
}

/// One thing that comes back.
struct Returned {
    std::size_t parameter;
    std::string name;  ///< the loaded function's
    std::string type;
};

/// A named tuple of results.
struct Tuple {
    std::string name;
    std::vector<std::pair<std::string, std::string>> fields;
};

/// Whether some field is a tensor of ours or PyTorch's.
bool holds_tensor(const std::vector<std::pair<std::string, std::string>>& fields) {
    return std::ranges::any_of(fields, [](const auto& field) { return returns_tensor(field.second); });
}

enum class MethodForm : std::uint8_t {
    call,
    append_to,
    backward,
    backward_append_to,
    fused,
    fused_append_to,
    jvp,
    jvp_append_to
};

bool is_fused(MethodForm form) { return form == MethodForm::fused || form == MethodForm::fused_append_to; }

bool is_jvp(MethodForm form) { return form == MethodForm::jvp || form == MethodForm::jvp_append_to; }
bool is_recorded(MethodForm form) {
    return form == MethodForm::append_to || form == MethodForm::backward_append_to ||
           form == MethodForm::fused_append_to || form == MethodForm::jvp_append_to;
}

bool is_backward(MethodForm form) {
    return form == MethodForm::backward || form == MethodForm::backward_append_to;
}

/// The stub's classes of one function.
class FunctionWriter {
public:
    /// `jvp`: the function of its forward derivatives, or null.
    /// `bound`: of a method that is taken from an object, which isn't an argument any more.
    FunctionWriter(const PlannedFunction& function, const PlannedFunction* jvp, std::string class_name,
                   const PythonStructs& structs, bool bound = false)
        : function_(function), jvp_(jvp), class_(std::move(class_name)), structs_(structs), bound_(bound) {}

    /// Whether some overload takes an object that a generated class is of.
    static bool can_be_bound(const PlannedFunction& function) {
        return function.is_method() &&
               std::any_of(function.calls.begin(), function.calls.end(), takes_object);
    }

    View view(const std::string& member) {
        const auto has = [&](bool PlannedCall::*pass) {
            return std::ranges::any_of(function_.calls, [&](const PlannedCall& call) {
                return call.*pass && (!bound_ || takes_object(call));
            });
        };
        const auto derivative = [&](bool exists, MethodForm call, MethodForm append) {
            View::List list;
            if (exists) list.emplace_back(View::Object{{"methods", methods(call, append)}});
            return list;
        };
        const bool has_backward = has(&PlannedCall::has_backward);
        const bool has_fused = has(&PlannedCall::has_fused);
        View::List backward = derivative(has_backward, MethodForm::backward, MethodForm::backward_append_to);
        View::List fused = derivative(has_fused, MethodForm::fused, MethodForm::fused_append_to);
        View::List jvp = derivative(jvp_ != nullptr, MethodForm::jvp, MethodForm::jvp_append_to);
        const std::vector<std::string> quoted = docstring(4, doc());
        View::List lines(quoted.begin(), quoted.end());
        return View::Object{{"class", class_},
                            {"prefix", bound_ ? "Bound" : ""},
                            {"member", member},
                            {"has_doc", !quoted.empty()},
                            {"doc", std::move(lines)},
                            {"backward", std::move(backward)},
                            {"fused", std::move(fused)},
                            {"fused_type", has_fused ? class_ + "Fused" : "None"},
                            {"jvp", std::move(jvp)},
                            {"methods", methods(MethodForm::call, MethodForm::append_to)},
                            {"return_types", return_types()},
                            {"jvp_type", jvp_ != nullptr ? class_ + "Jvp" : "None"},
                            {"backward_type", has_backward ? class_ + "Backward" : "None"}};
    }

    [[nodiscard]] const std::vector<Tuple>& tuples() const { return tuples_; }
    /// Names of kernelfunctions.typing and of typing that the classes use.
    [[nodiscard]] const std::set<std::string>& words() const { return words_; }
    [[nodiscard]] bool overloaded() const { return overloaded_; }
    [[nodiscard]] bool is_generic() const { return generic_; }
    [[nodiscard]] bool takes_sequences() const { return sequence_; }
    [[nodiscard]] bool makes_arrays() const { return numpy_; }
    /// Whether results are tensors of PyTorch's where arguments are, and what takes none has to say so.
    [[nodiscard]] bool follows_torch() const { return torch_; }
    [[nodiscard]] bool refuses_torch() const { return never_; }

private:
    static bool takes_object(const PlannedCall& call) {
        return call.parameters.front().host.form != manifest::Form::tensor;
    }

    [[nodiscard]] const std::vector<PlannedCall>& calls_of(MethodForm form) const {
        return is_jvp(form) ? jvp_->calls : function_.calls;
    }

    View::List methods(MethodForm call, MethodForm append) {
        View::List list;
        add_methods(list, "__call__", call);
        list.emplace_back(View::Object{{"overloaded", false}, {"text", "    call = __call__"}});
        add_methods(list, "append_to", append);
        return list;
    }

    void add_methods(View::List& list, const std::string& name, MethodForm form) {
        std::vector<PythonSignature> signatures;
        const std::vector<PlannedCall>& calls = calls_of(form);
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (offers(calls[i], form)) signatures.push_back(signature(calls[i], i, form));
        }
        // Signatures that give PyTorch's tensors come last: those that take none have been told apart then.
        std::vector<Definition> made;
        std::vector<Definition> torch;
        signatures = separate_overloads(std::move(signatures));
        for (const PythonSignature& signature : signatures) {
            for (Definition& variant : definitions(signature, form, torch_by(signature, signatures))) {
                std::vector<Definition>& kind = variant.torch ? torch : made;
                const bool known = std::ranges::any_of(
                    kind, [&](const Definition& one) { return one.parameters == variant.parameters; });
                if (!known) kind.push_back(std::move(variant));
            }
        }
        std::ranges::move(torch, std::back_inserter(made));
        std::vector<std::string> texts;
        texts.reserve(made.size());
        for (const Definition& one : made) texts.push_back(method_line(name, one.parameters, one.result));
        overloaded_ = overloaded_ || texts.size() > 1;
        for (const std::string& text : texts)
            list.emplace_back(View::Object{{"overloaded", texts.size() > 1}, {"text", text}});
    }

    /// Recording is for calls that leave their results in tensors.
    bool offers(const PlannedCall& call, MethodForm form) const {
        if (bound_ && !takes_object(call)) return false;
        if (is_backward(form) && !call.has_backward) return false;
        if (is_fused(form) && !call.has_fused) return false;
        const std::vector<PlannedArgument> items = host_items(call);
        const bool gives_value = std::any_of(items.begin(), items.end(), [](const PlannedArgument& argument) {
            return argument.host.role != Role::in && passes_value(argument.host);
        });
        if (form == MethodForm::fused_append_to && gives_value) return false;
        if (form == MethodForm::append_to || form == MethodForm::jvp_append_to) return !gives_value;
        if (form == MethodForm::backward_append_to || form == MethodForm::fused_append_to)
            return std::any_of(items.begin(), items.end(), [](const PlannedArgument& argument) {
                return is_input(argument.host) && !passes_value(argument.host) &&
                       argument.host.gradient != Gradient::never;
            });
        return true;
    }

    PythonSignature signature(const PlannedCall& call, std::size_t index, MethodForm form) {
        const std::vector<std::string> names = argument_names(call).parameters;
        const std::vector<PlannedParameter>& parameters = call.parameters;
        const std::vector<PlannedArgument> items = host_items(call);
        PythonSignature made;
        made.calls.push_back(index);
        const bool launched = call.dispatch != manifest::Dispatch::elements;
        made.takes_shape = !is_backward(form) && call.rank > 0 && !launched;
        for (const PlannedArgument& argument : call.arguments)
            made.takes_shape = made.takes_shape && (argument.host.call_rank == 0 || !is_input(argument.host));
        std::vector<Returned> results;
        std::set<std::size_t> differentiable;
        std::size_t at = 0;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const PlannedArgument& item = items[at];
            at += manifest::item_count(parameters[i].host);
            if (bound_ && i == 0) continue;
            if (parameters[i].tangent_of >= 0) {
                const auto primal = static_cast<std::size_t>(parameters[i].tangent_of);
                if (parameters[i].role == Role::out) differentiable.insert(primal);
            } else {
                add_parameter(made, parameters[i], item, names[i], form);
                const std::optional<std::string> type = returned_type(call, parameters[i], item);
                if (!type) continue;
                if (parameters[i].role == Role::result) {
                    results.insert(results.begin(), {i, "result", *type});
                } else {
                    results.push_back({i, names[i], *type});
                }
            }
        }
        std::string result = is_backward(form) ? "None"
                             : launched        ? note("LaunchResult")
                                               : result_type(results);
        if (is_jvp(form)) {
            for (Returned& one : results)
                if (!differentiable.contains(one.parameter)) one.type = "None";
            result = "tuple[" + result + ", " + result_type(results) + "]";
        }
        made.results.insert(std::move(result));
        return made;
    }

    /// Returns the type that comes back for the parameter, if any does.
    std::optional<std::string> returned_type(const PlannedCall& call, const PlannedParameter& parameter,
                                             const PlannedArgument& item) {
        const bool fields = parameter.host.form == manifest::Form::fields;
        if (parameter.role == Role::in || !returns(parameter, item)) return std::nullopt;
        if (!fields && !has_host_value(item.host)) return std::nullopt;
        // Tensors of structs are ours.
        std::string type = holds_structs(item.type) ? "kf.Tensor" : "_Tensor";
        if (fields)
            type = structs_.fields_of(call, parameter.host, parameter.type);
        else if (passed_as(item.host) == manifest::HostPassing::texture)
            type = "kf.Texture";
        else if (passes_value(item.host))
            type = holds_structs(item.type) ? structs_.value_of(item.type)
                                            : structs_.number_of(item.type, item.host.element);
        numpy_ = numpy_ || type.find("npt.") != std::string::npos;
        return type;
    }

    /// Returns the types of a parameter that is given field by field, or element by element.
    static PythonTypes fields_types(const Type& type) {
        if (type.kind == TypeKind::array) return python_sequence;
        return type.kind == TypeKind::vector ? python_components : python_struct;
    }

    /// A tuple may hold tensors, which no checker tells from one of numbers, or from a tensor's list.
    static PythonTypes own_types_by_field(const Type& type) {
        const PythonTypes types = own_types(type);
        return (types & python_sequence) != 0 ? types | python_tensor : types;
    }

    /// `item`: what the host passes for the parameter, or for its first field.
    void add_parameter(PythonSignature& made, const PlannedParameter& parameter, const PlannedArgument& item,
                       const std::string& name, MethodForm form) const {
        const bool fields = parameter.host.form == manifest::Form::fields;
        const Argument& argument = item.host;
        const bool returned = parameter.role == Role::result;
        if (!fields && !has_host_value(argument)) return;
        if (parameter.role == Role::in || parameter.role == Role::inout) {
            // A recorded pass can't add to a value's gradient. Forward ones take the value inside.
            const bool recorded =
                form == MethodForm::backward_append_to || form == MethodForm::fused_append_to;
            const bool gradient = !recorded && argument.gradient != Gradient::never;
            PythonTypes types = python_types(item, gradient);
            if (argument.gradient != Gradient::never && (types & python_tensor) != 0)
                types |= python_diff_tensor;
            if (fields) types = fields_types(parameter.type) | own_types_by_field(parameter.type);
            made.parameters.push_back({name, types, false});
            const std::string words = structs_.enum_names_of(item.type);
            if (!words.empty() && (types & python_int) != 0) {
                made.parameters.back().types |= python_name;
                made.parameters.back().names.insert(words);
            }
            if ((types & python_struct) != 0)
                made.parameters.back().structs.insert(structs_.object_of(parameter.type));
            return;
        }
        const bool is_texture = passed_as(argument) == manifest::HostPassing::texture;
        PythonTypes types = is_texture ? python_texture : python_writable;
        if (fields || (holds_structs(item.type) && passes_value(argument)))
            types = fields ? fields_types(parameter.type) : PythonTypes(python_struct);
        else if (is_backward(form) && passes_value(argument))
            types = value_types(argument.element, argument.differentiable, false);
        else if (is_backward(form) && argument.differentiable)
            types = python_writable | python_diff_tensor;
        if (!returned)
            made.parameters.push_back({name, types, true});
        else if (is_backward(form) || (!fields && !passes_value(argument)))
            made.given_result = types;
    }

    /// `this` of a method comes back to nobody.
    static bool returns(const PlannedParameter& parameter, const PlannedArgument& item) {
        return parameter.role != Role::inout || parameter.host.form == manifest::Form::fields ||
               item.host.role != Role::in;
    }

    std::string result_type(const std::vector<Returned>& results) {
        if (results.empty()) return "None";
        if (results.size() == 1) return results.front().type;
        std::vector<std::string> names;
        for (const Returned& one : results) names.push_back(one.name);
        names = detail::python_result_names(names);
        std::vector<std::pair<std::string, std::string>> fields;
        for (std::size_t i = 0; i < results.size(); ++i) fields.emplace_back(names[i], results[i].type);
        const std::string held = holds_tensor(fields) ? "[_Tensor]" : "";
        for (const Tuple& tuple : tuples_)
            if (tuple.fields == fields) return tuple.name + held;
        // An inner underscore, as names of functions' classes have none.
        const std::string number = tuples_.empty() ? "" : "_" + std::to_string(tuples_.size() + 1);
        tuples_.push_back({class_ + "Result" + number, std::move(fields)});
        return tuples_.back().name + held;
    }

    /// The array that a request for one is answered with.
    std::string array_type(const PythonSignature& signature, MethodForm form) const {
        std::set<std::string> types;
        for (const std::size_t call : signature.calls) {
            const PlannedArgument last = host_items(calls_of(form)[call]).back();
            types.insert("npt.NDArray[np." +
                         (holds_structs(last.type) ? "void" : numpy_name(last.host.element.scalar)) + "]");
        }
        std::string text;
        for (const std::string& type : types) text += (text.empty() ? "" : " | ") + type;
        return text;
    }

    /// The forms of `out`: left out, something to write to, or a wish for a NumPy array, a kf.Tensor or one
    /// of PyTorch's.
    enum class GivenResult : std::uint8_t { none, output, array, tensor, torch };

    /// One `def`: a signature may take several, since Python has no way to say "by place all, or leave it
    /// out".
    struct Definition {
        std::vector<std::string> parameters;
        std::string result;
        bool torch = false;  ///< gives PyTorch's tensors
    };

    std::vector<Definition> definitions(const PythonSignature& signature, MethodForm form,
                                        const std::vector<std::size_t>& torch_by) {
        const auto& all = signature.parameters;
        std::size_t inputs_end = 0;
        std::size_t first_output = all.size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!all[i].output) inputs_end = i + 1;
            if (all[i].output) first_output = std::min(first_output, i);
        }
        std::vector<Definition> made;
        // A given result comes back as it is, when it is all that comes back.
        const bool is_free = may_be_asked_for(signature, form);
        const bool generic = signature.given_result != 0 && is_free;
        for (const GivenResult given : {GivenResult::none, GivenResult::output, GivenResult::array,
                                        GivenResult::tensor, GivenResult::torch}) {
            const bool is_request = given != GivenResult::none && given != GivenResult::output;
            if (given == GivenResult::output && !generic) continue;
            if (is_request && !is_free) continue;
            if (is_request && given != GivenResult::tensor && is_recorded(form)) continue;
            for (const Torch torch : torch_forms(signature, form, given, torch_by)) {
                made.push_back({parameters(signature, form, inputs_end, all.size(), torch),
                                returned(signature, form, torch.form), torch.form == TorchForm::some});
                add_result(made.back(), signature, form, generic, given, torch.form);
                if (first_output >= inputs_end) continue;
                made.push_back({parameters(signature, form, inputs_end, first_output, torch),
                                returned(signature, form, torch.form), torch.form == TorchForm::some});
                add_result(made.back(), signature, form, generic, given, torch.form);
            }
        }
        return made;
    }

    static bool takes_torch(const PythonParameter& parameter) {
        return !parameter.output &&
               python_spelling(parameter.types, parameter.structs, parameter.names).find("[_Tensor]") !=
                   std::string::npos;
    }

    /// Which parameter must be a tensor of PyTorch's for results to be, those before it being none; or npos:
    /// any.
    static constexpr std::size_t npos = static_cast<std::size_t>(-1);
    struct Torch {
        TorchForm form = TorchForm::any;
        std::size_t at = npos;
    };

    /// Returns the parameters that, as PyTorch's tensors, make results theirs. One definition is for all of
    /// them, but beside others that return something else a checker can't tell it from those that take none.
    static std::vector<std::size_t> torch_by(const PythonSignature& signature,
                                             const std::vector<PythonSignature>& all) {
        std::vector<std::size_t> takers;
        bool structs = false;
        for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
            if (!takes_torch(signature.parameters[i])) continue;
            takers.push_back(i);
            structs = structs || (signature.parameters[i].types & python_struct) != 0;
        }
        bool has_rival = false;
        bool has_wider = false;
        for (const PythonSignature& other : all) {
            if (!overlap(signature, other) || signature.results == other.results) continue;
            has_rival = true;
            has_wider = has_wider || narrower(signature, other);
        }
        if (structs && has_wider) return {};
        if (structs || (!has_rival && takers.size() > 1)) return {npos};
        return takers;
    }

    /// Returns the types that a parameter takes, as text.
    static std::string taken(const PythonSignature& signature, std::size_t index, Torch torch) {
        const PythonParameter& parameter = signature.parameters[index];
        TorchForm form = torch.form;
        if (form == TorchForm::some && torch.at != npos && takes_torch(parameter)) {
            if (index == torch.at)
                return (parameter.types & python_diff_tensor) != 0 ? "DiffTorchTensor[_Tensor]"
                                                                   : "TorchTensor[_Tensor]";
            if (index < torch.at) form = TorchForm::none;
        }
        return taken_in_form(python_spelling(parameter.types, parameter.structs, parameter.names), form);
    }

    /// Definitions for each way, where results are made that are PyTorch's if and only if some argument is.
    static std::vector<Torch> torch_forms(const PythonSignature& signature, MethodForm form,
                                          GivenResult given, const std::vector<std::size_t>& torch_by) {
        const bool takes = std::ranges::any_of(signature.parameters, takes_torch);
        const bool makes = given == GivenResult::none || (given == GivenResult::output && is_jvp(form));
        if (!takes || !makes || !returns_tensor(returned_spelling(signature))) return {{}};
        std::vector<Torch> forms{{TorchForm::none, npos}};
        for (const std::size_t at : torch_by) forms.push_back({TorchForm::some, at});
        return forms;
    }

    /// A recorded call makes PyTorch's tensors where it is given some of a GPU's.
    std::string returned(const PythonSignature& signature, MethodForm form, TorchForm torch) {
        const std::string all = returned_spelling(signature);
        torch_ = torch_ || torch == TorchForm::some;
        std::string text = returned_in_form(all, torch);
        if (is_recorded(form) && torch == TorchForm::some)
            text = returned_in_form(all, TorchForm::none) + " | " + text;
        return text;
    }

    /// Whether the result can be made as a tensor or an array of the caller's choice, and is all that comes
    /// back.
    bool may_be_asked_for(const PythonSignature& signature, MethodForm form) const {
        if (is_backward(form) || (signature.given_result & python_texture) != 0 ||
            !returns_one(signature, form))
            return false;
        if (signature.given_result != 0) return true;
        return !is_jvp(form) && std::ranges::all_of(signature.calls, [&](std::size_t call) {
            // A result that isn't given field by field is one item.
            const std::vector<PlannedArgument> items = host_items(calls_of(form)[call]);
            const auto item = std::ranges::find(items, Role::result,
                                                [](const PlannedArgument& one) { return one.host.role; });
            return item != items.end() && item->host.name == "result" && passes_value(item->host) &&
                   !holds_structs(item->type);
        });
    }

    /// Returns what return_type(np.ndarray) makes of the function's results; nothing for several of them.
    std::optional<std::string> array_results() const {
        PythonSignature every;
        for (std::size_t i = 0; i < function_.calls.size(); ++i) {
            if (!offers(function_.calls[i], MethodForm::call)) continue;
            FunctionWriter other(function_, jvp_, class_, structs_, bound_);
            const PythonSignature one = other.signature(function_.calls[i], i, MethodForm::call);
            if (!may_be_asked_for(one, MethodForm::call)) return std::nullopt;
            every.calls.push_back(i);
        }
        if (every.calls.empty()) return std::nullopt;
        return array_type(every, MethodForm::call);
    }

    /// The view of return_type(), where it says what the results are.
    View return_types() {
        const std::optional<std::string> arrays = bound_ ? std::nullopt : array_results();
        if (!arrays) return View::List{};
        words_.insert({"ArrayRequest", "Returning", "TensorRequest", "TorchRequest"});
        numpy_ = torch_ = overloaded_ = true;
        return View::List{View::Object{{"arrays", *arrays}}};
    }

    bool returns_one(const PythonSignature& signature, MethodForm form) const {
        const std::vector<PlannedCall>& calls = calls_of(form);
        return std::none_of(signature.parameters.begin(), signature.parameters.end(),
                            [](const PythonParameter& parameter) { return parameter.output; }) &&
               std::none_of(signature.calls.begin(), signature.calls.end(), [&](std::size_t call) {
                   const auto& parameters = calls[call].parameters;
                   return std::any_of(
                       parameters.begin(), parameters.end(),
                       [](const PlannedParameter& parameter) { return parameter.role == Role::inout; });
               });
    }

    /// Returns the type that comes back for a wish, and the parameter that states the wish.
    std::pair<std::string, std::string> request(const PythonSignature& signature, MethodForm form,
                                                GivenResult given) {
        if (given == GivenResult::tensor) return {"kf.Tensor", "out: " + note("TensorRequest")};
        if (given == GivenResult::torch) {
            torch_ = true;
            return {"_Tensor", "out: " + note("TorchRequest[_Tensor]")};
        }
        numpy_ = true;
        return {array_type(signature, form), "out: " + note("ArrayRequest")};
    }

    void add_result(Definition& made, const PythonSignature& signature, MethodForm form, bool generic,
                    GivenResult given, TorchForm torch) {
        auto& list = made.parameters;
        const bool shape = signature.takes_shape && given != GivenResult::output;
        const bool starred = std::find(list.begin(), list.end(), "*") != list.end();
        const bool has_out = signature.given_result != 0 || given != GivenResult::none;
        if (!is_backward(form) && !starred && (has_out || shape)) list.emplace_back("*");
        if (given == GivenResult::output) {
            list.emplace_back("out: _Out");
            const std::string tangent = torch == TorchForm::some ? "_Tensor" : "kf.Tensor";
            made.result = is_jvp(form) ? "tuple[_Out, " + tangent + "]" : "_Out";
            generic_ = true;
            note("OutValue");
        } else if (given != GivenResult::none) {
            std::tie(made.result, list.emplace_back()) = request(signature, form, given);
            if (is_jvp(form)) made.result = "tuple[" + made.result + ", " + made.result + "]";
        } else if (generic) {
            list.emplace_back("out: None = None");
        } else if (signature.given_result != 0) {
            list.push_back("out: " + note(python_spelling(signature.given_result)) + " | None = None");
        }
        if (shape) {
            list.emplace_back("shape: Sequence[int] | None = None");
            sequence_ = true;
        }
        if (std::ranges::any_of(signature.calls,
                                [&](std::size_t call) { return leads_elsewhere(calls_of(form)[call]); })) {
            if (std::find(list.begin(), list.end(), "*") == list.end()) list.emplace_back("*");
            for (const char* word : {"reads", "writes"})
                list.push_back(std::string(word) + ": " + note("MemoryValue") + " | None = None");
        }
        if (is_recorded(form) && !is_jvp(form)) return;
        if (std::find(list.begin(), list.end(), "*") == list.end()) list.emplace_back("*");
        if (is_jvp(form)) list.push_back("tangents: " + note("Tangents") + " | None = None");
        if (is_recorded(form)) return;
        list.push_back("stream: " + note("Stream") + " | None = None");
    }

    /// Outputs before `inputs_end` must be given (or None) by those who go by place; from `by_name` on all
    /// goes by name.
    std::vector<std::string> parameters(const PythonSignature& signature, MethodForm form,
                                        std::size_t inputs_end, std::size_t by_name, Torch torch) {
        const auto named = [&](const std::string& name) {
            return std::any_of(signature.parameters.begin(), signature.parameters.end(),
                               [&](const PythonParameter& parameter) { return parameter.name == name; });
        };
        const bool nameless = named("");
        const bool records = is_recorded(form);
        std::vector<std::string> list{"self"};
        if (records) list.emplace_back(named("encoder") ? "_encoder: kf.Encoder" : "encoder: kf.Encoder");
        if (!nameless && records) list.emplace_back("/");
        for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
            const PythonParameter& parameter = signature.parameters[i];
            if (i == by_name) list.emplace_back("*");
            const std::string name = nameless ? "_" + std::to_string(i) : parameter.name;
            std::string text = name + ": " + note(taken(signature, i, torch));
            if (parameter.output) text += i < inputs_end && i < by_name ? " | None" : " | None = None";
            list.push_back(std::move(text));
        }
        if (nameless) list.emplace_back("/");
        return list;
    }

    /// Remembers which words of kernelfunctions.typing a text uses.
    std::string note(const std::string& text) {
        for (const std::string word :
             {"BoolValue",       "IntValue",        "FloatValue",  "DiffValue",       "VectorValue",
              "DiffVectorValue", "ComponentsValue", "StructValue", "TensorValue",     "DiffTensorValue",
              "TorchValue",      "DiffTorchValue",  "TorchTensor", "DiffTorchTensor", "OutValue",
              "DiffOutValue",    "LaunchResult",    "Stream",      "ArrayRequest",    "TensorRequest",
              "TorchRequest",    "Tangents",        "MemoryValue", "SampledTexture"}) {
            for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
                if (at == 0 || text[at - 1] == ' ') words_.insert(word);
        }
        never_ = never_ || text.find("[Never]") != std::string::npos;
        return text;
    }

    /// The source's comment, and what the arguments are.
    [[nodiscard]] std::vector<std::string> doc() const {
        std::vector<std::string> lines = doc_lines(function_.doc);
        std::vector<ArgumentDocs> calls;
        for (const PlannedCall& call : function_.calls) {
            if (bound_ && !takes_object(call)) continue;
            const ArgumentNames names = argument_names(call);
            calls.push_back(describe_arguments(host_items(call), names.items));
            // The object that a method is taken from is no argument of its.
            if (bound_)
                std::erase_if(calls.back(), [&](const ArgumentDoc& one) {
                    const std::string& object = names.parameters.front();
                    return one.name == object || one.name.starts_with(object + ".");
                });
        }
        std::vector<std::string> arguments = describe_function(calls);
        if (function_.calls.front().dispatch != manifest::Dispatch::elements)
            arguments.insert(arguments.begin(), {describe_shape(function_.calls.front()), ""});
        if (!lines.empty() && !arguments.empty()) lines.emplace_back();
        lines.insert(lines.end(), arguments.begin(), arguments.end());
        return lines;
    }

    const PlannedFunction& function_;
    const PlannedFunction* jvp_;
    std::string class_;
    const PythonStructs& structs_;
    bool bound_;
    std::vector<Tuple> tuples_;
    std::set<std::string> words_;
    bool overloaded_ = false;
    bool generic_ = false;
    bool sequence_ = false;
    bool numpy_ = false;
    bool torch_ = false;
    bool never_ = false;
};

View optional_line(const std::string& line) { return line.empty() ? View::List{} : View::List{line}; }

/// Returns each function's name as an attribute. A class has names of its own, and those of its fields, which
/// would hide a method's; a trailing _ must not make it another member's name, either.
std::vector<std::string> attribute_names(const Plan& plan, const PythonStructs& structs) {
    std::map<std::string, std::set<std::string>> taken;  // by owner
    std::vector<std::string> names(plan.functions.size());
    for (const bool renamed : {false, true}) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const PlannedFunction& function = plan.functions[i];
            if (function.is_hidden() || !names[i].empty()) continue;
            std::set<std::string>& others = taken[function.owner];
            const std::string member = function.member_name();
            std::string name = detail::is_kept_by_python(member) ? member + "_" : python_identifier(member);
            const auto is_free = [&] {
                return !structs.has_field(function.owner, name) && !others.contains(name);
            };
            if (!renamed && (name != member || !is_free())) continue;
            while (!is_free()) name += '_';
            others.insert(name);
            names[i] = name;
        }
    }
    return names;
}

}  // namespace

Outcome<PythonFiles> emit_python(const Plan& plan) {
    const bool has_globals = !plan.globals.empty();
    // Names that the module and its stub use themselves.
    std::set<std::string> taken;
    taken.insert({"Any",       "ClassVar", "Generic",    "IntEnum",        "IntFlag",
                  "Literal",   "Mapping",  "NamedTuple", "Protocol",       "Sequence",
                  "TypeAlias", "TypeVar",  "TypedDict",  "_Path",          "_kf",
                  "_module",   "_np",      "dict",       "list",           "np",
                  "npt",       "load",     "object",     "overload",       "property",
                  "str",       "torch",    "tuple",      "type_check_only"});
    if (has_globals) taken.insert("set");
    UniqueNames members(std::move(taken));
    UniqueNames classes({"_Out", "_Tensor", "_Tensor_co"});
    const PythonStructs structs(with_globals(plan), members, classes);
    View::List module_functions;
    View::List variables;
    View::List configured_members;
    std::map<std::string, View::List> attributes;  ///< of the classes, by the struct's name in Slang
    View::List stub_functions;
    View::List tuples;
    std::set<std::string> exported;
    std::set<std::string> words;
    std::set<std::string> typing{"type_check_only"};
    bool numpy = false;
    bool sequences = false;
    bool follows_torch = false;
    bool refuses_torch = false;
    View::List operators;
    const std::vector<std::string> attributes_called = attribute_names(plan, structs);
    std::vector<std::string> functions(plan.functions.size());
    for (std::size_t i = 0; i < plan.functions.size(); ++i) {
        const PlannedFunction& function = plan.functions[i];
        if (function.is_hidden()) continue;
        const std::string owner = structs.class_named(function.owner);
        const std::string& attribute = attributes_called[i];
        const std::string member =
            owner.empty() ? members.claim(python_identifier(function.name)) : owner + "." + attribute;
        functions[i] = member;
        if (owner.empty()) exported.insert("\"" + member + "\"");
        const std::string loaded = "_module.function(\"" + function.name + "\")";
        View::List doc;
        for (const std::string& line : doc_lines(function.doc))
            doc.emplace_back(line.empty() ? "" : " " + line);
        module_functions.emplace_back(
            View::Object{{"member", member},
                         {"value", function.is_method() ? "_kf.Method(" + loaded + ")" : loaded},
                         {"doc", std::move(doc)}});

        const std::string class_name = classes.claim_with("_" + pascal_case(function.name), stub_endings);
        const PlannedFunction* jvp =
            function.jvp < 0 ? nullptr : &plan.functions[static_cast<std::size_t>(function.jvp)];
        std::vector<FunctionWriter> writers{FunctionWriter(function, jvp, class_name, structs)};
        std::string attribute_type = class_name;
        if (function.is_method()) {
            std::string bound = "kf.BoundFunction";
            if (FunctionWriter::can_be_bound(function)) {
                bound = classes.claim_with("_Bound" + pascal_case(function.name), stub_endings);
                writers.emplace_back(function, jvp, bound, structs, true);
            }
            attribute_type = "kf.Method[" + class_name + ", " + bound + "]";
        }
        std::string operator_name = function.name;
        std::ranges::replace(operator_name, '.', '_');
        operator_name = python_identifier(operator_name);
        if (operator_name != "register")
            operators.emplace_back(View::Object{{"name", operator_name}, {"class", class_name}});
        if (owner.empty()) {
            variables.emplace_back(View::Object{{"member", member}, {"class", class_name}});
            configured_members.emplace_back(View::Object{{"member", member}});
        } else {
            attributes[function.owner].emplace_back(
                View::Object{{"name", attribute}, {"type", "ClassVar[" + attribute_type + "]"}});
        }
        for (FunctionWriter& writer : writers) {
            stub_functions.push_back(writer.view(member));
            words.insert(writer.words().begin(), writer.words().end());
            if (writer.overloaded()) typing.insert("overload");
            if (writer.is_generic()) typing.insert("TypeVar");
            sequences = sequences || writer.takes_sequences();
            numpy = numpy || writer.makes_arrays();
            follows_torch = follows_torch || writer.follows_torch();
            refuses_torch = refuses_torch || writer.refuses_torch();
            for (const Tuple& tuple : writer.tuples()) {
                typing.insert("NamedTuple");
                const bool generic = holds_tensor(tuple.fields);
                follows_torch = follows_torch || generic;
                if (generic) typing.insert("Generic");
                View::List fields;
                for (const auto& [name, type] : tuple.fields)
                    fields.emplace_back(View::Object{
                        {"name", name}, {"type", type}, {"hides", detail::is_tuple_method(name)}});
                tuples.emplace_back(
                    View::Object{{"class", tuple.name},
                                 {"bases", generic ? "NamedTuple, Generic[_Tensor]" : "NamedTuple"},
                                 {"fields", std::move(fields)}});
            }
        }
        for (const PlannedCall& call : function.calls)
            for (const PlannedArgument& argument : host_items(call))
                numpy = numpy || (argument.host.role != Role::in && passes_value(argument.host) &&
                                  !holds_structs(argument.type) && !argument.host.element.extents.empty());
    }
    for (const std::string& name : structs.names()) exported.insert("\"" + name + "\"");
    const bool has_enums = !structs.enums().empty();
    std::set<std::string> enum_bases;
    std::set<std::string> private_bases;  // of NAME.py, where all names are users'
    for (const UsedEnum& used : structs.enums()) {
        const std::string base = used.flags ? "IntFlag" : "IntEnum";
        enum_bases.insert(base);
        private_bases.insert(base + " as _" + base);
    }
    View::List classes_view = structs.module_view();
    const bool has_structs = !classes_view.empty();
    if (has_structs) typing.insert({"Any", "ClassVar"});
    typing.insert(structs.typing_words().begin(), structs.typing_words().end());
    words.insert(structs.words().begin(), structs.words().end());
    if (has_globals) typing.insert("Any");
    std::set<std::string> collections;
    if (sequences) collections.insert("Sequence");
    if (has_globals) collections.insert("Mapping");
    const std::string configured = classes.claim_with("_Configured", stub_endings);
    numpy = numpy || structs.has_dtypes();
    const bool generic = typing.contains("TypeVar");
    follows_torch = follows_torch || structs.follow_torch();
    std::set<std::string> extensions;  // type variables of these have defaults, and Python 3.10 lacks others
    if (structs.has_variables() || follows_torch) extensions.insert("TypeVar");
    if (refuses_torch) extensions.insert("Never");
    if (structs.has_optional_fields()) extensions.insert("NotRequired");
    if (words.contains("Returning")) extensions.insert("Self");
    if (extensions.contains("TypeVar")) typing.erase("TypeVar");
    if (follows_torch) typing.insert("Any");
    if (follows_torch) words.insert("TorchTensor");
    const std::string torch_class = classes.claim_with("_TorchFunctions", stub_endings);

    const std::string all = import_line("__all__ = ", exported, '[', ']');
    auto module =
        render("python_module.mustache", templates::python_module_mustache,
               View::Object{
                   {"name", plan.name},
                   {"numpy", structs.has_dtypes() || has_enums},
                   {"enum_import", optional_line(has_enums ? "from enum import " + join(private_bases) : "")},
                   {"enums", structs.enums_view(false)},
                   {"structs", std::move(classes_view)},
                   {"functions", std::move(module_functions)},
                   {"has_globals", has_globals},
                   {"configured", std::move(configured_members)},
                   {"all", all}});
    auto stub = render(
        "python_stub.mustache", templates::python_stub_mustache,
        View::Object{
            {"name", plan.name},
            {"typing_import", optional_line(import_line("from typing import ", typing, '(', ')'))},
            {"collections_import",
             optional_line(collections.empty()
                               ? ""
                               : import_line("from collections.abc import ", collections, '(', ')'))},
            {"enum_import", optional_line(has_enums ? "from enum import " + join(enum_bases) : "")},
            {"enums", structs.enums_view(true)},
            {"has_globals", has_globals},
            {"configured", configured},
            {"extensions", optional_line(extensions.empty() ? ""
                                                            : import_line("from typing_extensions import ",
                                                                          extensions, '(', ')'))},
            {"follows_torch", follows_torch},
            {"fields_follow", structs.follow_torch()},
            {"torch_class", torch_class},
            {"operators", std::move(operators)},
            {"generic", generic},
            {"numpy", numpy},
            {"value_import", optional_line(words.empty() ? ""
                                                         : import_line("from kernelfunctions.typing import ",
                                                                       words, '(', ')'))},
            {"all", all},
            {"structs", structs.stub_view(attributes)},
            {"variables", std::move(variables)},
            {"tuples", std::move(tuples)},
            {"functions", std::move(stub_functions)}});
    if (!module) return module.errors();
    if (!stub) return stub.errors();
    return PythonFiles{std::move(module.value()), std::move(stub.value()), std::move(functions)};
}

}  // namespace kf::gen
