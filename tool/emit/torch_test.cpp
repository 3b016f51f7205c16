// Prepares the view of NAME_torch_test.py; the text is in templates/torch_test.mustache.
#include "emit/torch_test.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "core/join.h"
#include "core/kinds/questions.h"
#include "emit/items.h"
#include "emit/names.h"
#include "emit/overload.h"
#include "emit/render.h"
#include "emit/text.h"
#include "emit_templates.h"

namespace kf::gen {
namespace {

using manifest::Argument;
using manifest::Form;
using manifest::Gradient;
using manifest::Role;

/// The names of a call's dimensions, and of those of whole tensors, in order; a tensor has at most eight.
constexpr std::string_view call_dimensions = "ijklmnpq";
constexpr std::string_view inner_dimensions = "uvwxyzst";

bool is_made_by_kernels(const Argument& argument) { return !has_host_value(argument); }

/// Structs in tensors, and arrays of structs, have no form in PyTorch.
bool has_torch_form(const manifest::ParameterTree& parameter) {
    if (parameter.form == Form::tensor || (parameter.form == Form::value && !parameter.extents.empty()))
        return false;
    return std::all_of(parameter.fields.begin(), parameter.fields.end(), has_torch_form);
}

/// Whether tensors of PyTorch's can be given for all that the call takes, and for something at least.
bool takes_torch_tensors(const PlannedCall& call) {
    if (call.dispatch != manifest::Dispatch::elements || !call.globals.empty()) return false;
    const bool good =
        std::all_of(call.parameters.begin(), call.parameters.end(),
                    [](const PlannedParameter& parameter) { return has_torch_form(parameter.host); });
    const auto fits = [](const PlannedArgument& argument) {
        return is_made_by_kernels(argument.host) || passes_elements(argument.host);
    };
    const auto given = [](const PlannedArgument& argument) {
        return passes_tensor(argument.host) &&
               (argument.host.role == Role::in || argument.host.role == Role::inout);
    };
    return good && std::all_of(call.arguments.begin(), call.arguments.end(), fits) &&
           std::any_of(call.arguments.begin(), call.arguments.end(), given);
}

/// Writes the class that tests one call.
class CallWriter {
public:
    CallWriter(const PlannedFunction& function, const PlannedCall& call, const PlannedCall* jvp)
        : function_(function), call_(call) {
        if (jvp == nullptr) return;
        for (const PlannedArgument& argument : jvp->arguments) {
            const std::int64_t primal = argument.host.tangent_of;
            // A field that can't be differentiated is no part of its struct's tangent.
            if (primal >= 0 && argument.host.differentiable)
                tangents_.insert(jvp->arguments[static_cast<std::size_t>(primal)].host.name);
        }
    }

    View view(const std::string& class_name, const std::string& member) {
        View::List arguments;
        View::List results;
        View::List outputs;
        const std::vector<std::string> keywords = python_parameters_of(call_);
        for (std::size_t i = 0; i < call_.parameters.size(); ++i) {
            const manifest::ParameterTree& tree = call_.parameters[i].host;
            // The result is named by a keyword, which no parameter can have.
            const std::string keyword = call_.parameters[i].role == Role::result ? "return" : keywords[i];
            for (std::int64_t leaf = tree.leaf; leaf < tree.leaf + tree.leaves; ++leaf) {
                const Argument& argument = call_.arguments[static_cast<std::size_t>(leaf)].host;
                if (is_made_by_kernels(argument)) continue;
                const View view = argument_view(argument, keyword + argument.name.substr(tree.name.size()));
                if (argument.role == Role::in || argument.role == Role::inout) arguments.push_back(view);
                if (argument.role == Role::result) results.push_back(view);
                // A method's object is changed in place, and doesn't come back.
                const bool object = call_.member == Member::method && i == 0;
                if (!object && (argument.role == Role::out || argument.role == Role::inout))
                    outputs.push_back(view);
            }
        }
        results.insert(results.end(), outputs.begin(), outputs.end());
        std::vector<std::string> extents;
        for (const auto& [dimension, extent] : extents_)
            extents.push_back("\"" + std::string(1, dimension) + "\": " + std::to_string(extent));
        const std::vector<std::string> lines = docstring(4, doc());
        return View::Object{{"class", class_name},
                            {"bases", bases()},
                            {"doc", View::List(lines.begin(), lines.end())},
                            {"function", member},
                            {"strict", call_.strict_broadcasting},
                            {"has_extents", !extents.empty()},
                            {"open", open_dimensions()},
                            {"extents", "{" + join(extents) + "}"},
                            {"is_open", !open_dimensions().empty()},
                            {"arguments", std::move(arguments)},
                            {"results", std::move(results)}};
    }

private:
    [[nodiscard]] bool has_gradient(const Argument& argument) const {
        const bool output = argument.role == Role::out || argument.role == Role::result;
        return call_.has_backward && argument.differentiable &&
               (output || is_only_written(argument) || argument.gradient != Gradient::never) &&
               is_floating(argument.element.scalar);
    }
    [[nodiscard]] static bool is_only_written(const Argument& argument) {
        return passes_tensor(argument) && argument.role == Role::in && writes_elements(argument) &&
               !reads_elements(argument);
    }
    [[nodiscard]] bool has_tangent(const Argument& argument) const {
        return tangents_.contains(argument.name) && is_floating(argument.element.scalar);
    }

    [[nodiscard]] std::string bases() const {
        bool gradients = false;
        bool tangents = false;
        for (const PlannedArgument& argument : call_.arguments) {
            if (argument.host.role == Role::out || argument.host.role == Role::result) continue;
            if (!passes_tensor(argument.host) || is_only_written(argument.host)) continue;
            gradients = gradients || has_gradient(argument.host);
            tangents = tangents || has_tangent(argument.host);
        }
        std::vector<std::string> list{"testing.Operator"};
        if (gradients) list.emplace_back("testing.Gradients");
        if (tangents) list.emplace_back("testing.Tangents");
        return join(list);
    }

    /// "\"i\", \"j\"" where what goes in doesn't give the call all of its shape; empty where it does.
    [[nodiscard]] std::string open_dimensions() const {
        std::set<std::int64_t> open;
        for (std::int64_t d = 0; d < call_.rank; ++d) open.insert(d);
        for (const PlannedArgument& argument : call_.arguments) {
            if (argument.host.role == Role::out || argument.host.role == Role::result) continue;
            if (is_made_by_kernels(argument.host)) continue;
            for (const std::int64_t d : argument.host.map) open.erase(d);
        }
        if (open.empty()) return {};
        std::vector<std::string> names;
        for (std::int64_t d = 0; d < call_.rank; ++d)
            names.push_back("\"" + std::string(1, call_dimensions[static_cast<std::size_t>(d)]) + "\"");
        return join(names) + (names.size() == 1 ? "," : "");
    }

    /// The call as commands print it, in lines.
    [[nodiscard]] std::vector<std::string> doc() const {
        std::vector<std::string> lines{""};
        const std::string text = function_.name + overload_text(call_);
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            const std::string word = text.substr(at, end - at);
            std::string& line = lines.back();
            if (!line.empty() && 4 + 6 + line.size() + 1 + word.size() > columns)
                lines.push_back(word);
            else
                line += (line.empty() ? "" : " ") + word;
            at = end + 1;
        }
        return lines;
    }

    View argument_view(const Argument& argument, const std::string& path) {
        std::string options;
        const auto add = [&](bool wanted, const std::string& text) {
            if (wanted) options += ", " + text;
        };
        const bool tensor = passes_tensor(argument);
        std::vector<std::string> values;
        for (const auto& [name, value] : argument.members) values.push_back(std::to_string(value));
        add(!values.empty(), "values=[" + join(values) + "]");
        const bool view = argument.role == Role::in && has_one_gradient(argument);
        add(view, "view=True");
        add(argument.role == Role::inout || (!view && argument.role == Role::in && writes_elements(argument)),
            "written=True");
        add(is_only_written(argument), "read=False");
        add(has_gradient(argument), "gradient=True");
        add(has_tangent(argument), "tangent=True");
        add(tensor && argument.inner_rank > 0, "whole=True");
        add(tensor && requires_contiguous(argument), "contiguous=True");
        add(argument.role != Role::in && argument.accumulate != manifest::Accumulate::automatic,
            "combined=True");
        return View::Object{
            {"path", path},
            {"kind", tensor ? "tensor" : "value"},
            {"scalar", manifest::scalar_words[static_cast<std::size_t>(argument.element.scalar)]},
            {"shape", shape(argument)},
            {"options", options}};
    }

    /// ", \"i\", 3": the extents, dimensions by name.
    std::string shape(const Argument& argument) {
        std::string text;
        const auto rank = static_cast<std::size_t>(argument.rank);
        const auto calls = static_cast<std::size_t>(argument.call_rank);
        const auto inner = static_cast<std::size_t>(argument.inner_rank);
        const std::vector<std::int64_t>& fixed = argument.element.extents;
        for (std::size_t i = 0; i < calls + inner + argument.trailing.size(); ++i) {
            std::string_view letters = call_dimensions;
            std::size_t dimension = 0;
            if (i < calls) {
                dimension = static_cast<std::size_t>(argument.map[i]);
                if (i >= rank) extents_[letters[dimension]] = fixed[i - rank];
            } else if (i < calls + inner && i < rank) {
                letters = inner_dimensions;
                dimension = i - calls;
            } else {
                const std::int64_t extent =
                    i < calls + inner ? fixed[i - rank] : argument.trailing[i - calls - inner];
                text += ", " + std::to_string(extent);
                continue;
            }
            text += ", \"" + std::string(1, letters[dimension]) + "\"";
        }
        return text;
    }

    const PlannedFunction& function_;
    const PlannedCall& call_;
    std::set<std::string> tangents_;
    std::map<char, std::int64_t> extents_;  ///< of the call's dimensions, where elements say them
};

}  // namespace

Outcome<std::string> emit_torch_test(const Plan& plan, const std::vector<std::string>& functions) {
    View::List calls;
    UniqueNames classes;
    for (std::size_t i = 0; i < plan.functions.size(); ++i) {
        const PlannedFunction& function = plan.functions[i];
        if (function.is_hidden()) continue;
        const PlannedFunction* jvp =
            function.jvp < 0 ? nullptr : &plan.functions[static_cast<std::size_t>(function.jvp)];
        std::size_t number = 0;
        std::size_t derived = 0;
        for (const PlannedCall& call : function.calls) {
            const PlannedCall* forward = jvp != nullptr && call.has_jvp ? &jvp->calls[derived++] : nullptr;
            if (!takes_torch_tensors(call)) continue;
            std::string name = "Test" + pascal_case(functions[i]);
            if (function.calls.size() > 1) name += "_" + std::to_string(++number);
            CallWriter writer(function, call, forward);
            calls.push_back(writer.view(classes.claim(name), plan.name + "." + functions[i]));
        }
    }
    const bool has_calls = !calls.empty();
    return render("torch_test.mustache", templates::torch_test_mustache,
                  View::Object{{"name", plan.name}, {"has_calls", has_calls}, {"calls", std::move(calls)}});
}

}  // namespace kf::gen
