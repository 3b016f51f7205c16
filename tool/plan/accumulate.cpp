// Ways to accumulate.
#include "plan/accumulate.h"

#include <algorithm>
#include <string_view>

#include "core/roles.h"
#include "diagnostic/suggest.h"
#include "plan/kinds/questions.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Accumulate;
using manifest::Argument;
using manifest::Gradient;
using manifest::Role;

/// Each makes a function of its own, with the names that it needs in an artifact.
constexpr std::size_t max_combinations = 64;

constexpr std::string_view gradient_suffix = ".grad";

bool is_gradient(const std::string& name) { return name.ends_with(gradient_suffix); }

std::string owner_name(const std::string& name) {
    return is_gradient(name) ? name.substr(0, name.size() - gradient_suffix.size()) : name;
}

const char* word(const AccumulateWay& way) {
    return way.overwrite ? "overwrite" : manifest::accumulate_words.at(static_cast<std::size_t>(way.combine));
}

/// A tensor of structs is one argument, whatever its elements' fields are.
const std::string& name_of(const PlannedCall& call, const PlannedArgument& leaf) {
    const std::int64_t index = &leaf - call.arguments.data();
    for (const PlannedParameter& parameter : call.parameters) {
        const std::int64_t first = parameter.host.leaf;
        if (holds_struct_tensor(parameter) && index >= first && index < first + parameter.host.leaves)
            return parameter.host.name;
    }
    return leaf.host.name;
}

/// Whether the name is the leaf's, or that of the struct which it is a field of.
bool is_of(const std::string& name, const std::string& leaf) { return manifest::is_or_lies_in(leaf, name); }

bool is_meant(const std::string& name, const PlannedArgument& argument) {
    if (is_gradient(name)) {
        return argument.host.role == Role::in && argument.host.gradient != Gradient::never &&
               is_of(owner_name(name), argument.host.name);
    }
    return is_only_written(argument.host.role) && is_of(name, argument.host.name);
}

/// Whether the leaf is a field of a struct that is passed by value: one gradient comes back for it.
bool is_field_of_value(const manifest::ParameterTree& parameter, std::int64_t leaf) {
    if (leaf < parameter.leaf || leaf >= parameter.leaf + parameter.leaves) return false;
    if (parameter.form == manifest::Form::value) return true;
    return std::any_of(parameter.fields.begin(), parameter.fields.end(),
                       [&](const manifest::ParameterTree& field) { return is_field_of_value(field, leaf); });
}

/// Why the argument can't be accumulated so; empty if it can.
std::string refusal(const PlannedArgument& argument, const AccumulateWay& way) {
    const Argument& host = argument.host;
    if (is_only_written(host.role)) {
        if (is_for_gradients(way)) return "it is for gradients";
        const Type& inner = innermost_of(argument.type);
        if (way.combine != Accumulate::none && inner.is_enum) return "values of an enum can't be combined";
        if (way.combine != Accumulate::none && host.element.scalar == ScalarType::boolean)
            return way.combine == Accumulate::sum ? "sums are of numbers, not of bool"
                                                  : "values of bool can't be combined";
        return {};
    }
    return gradient_refusal(host, way);
}

bool is_in_struct_value(const PlannedCall& call, const PlannedArgument& leaf) {
    return std::any_of(call.parameters.begin(), call.parameters.end(),
                       [&](const PlannedParameter& parameter) {
                           return is_field_of_value(parameter.host, &leaf - call.arguments.data());
                       });
}

void apply(PlannedCall& call, const std::string& name, const AccumulateWay& way) {
    for (PlannedArgument& argument : call.arguments) {
        if (!is_meant(name, argument)) continue;
        Argument& host = argument.host;
        host.overwrite = way.overwrite;
        // Gradients are added up anyway.
        const bool added = is_gradient(name) && way.combine == Accumulate::sum;
        host.accumulate = added ? Accumulate::automatic : way.combine;
    }
}

Diagnostic accumulate_error(const AccumulateSpec& at, std::string id, std::string message,
                            std::vector<std::string> notes = {}) {
    return {Severity::error, std::move(id), at.location, std::move(message), std::move(notes)};
}

/// The ways to accumulate that the calls of one function offer together.
struct Offer {
    std::vector<AccumulateSpec> ways;
    Diagnostics errors;

    void add(const AccumulateSpec& given) {
        const auto known = std::find_if(
            ways.begin(), ways.end(), [&](const AccumulateSpec& one) { return one.target == given.target; });
        if (known == ways.end()) {
            ways.push_back(given);
        } else if (known->choices != given.choices && errors.empty()) {
            errors.push_back(accumulate_error(given, "accumulate-way",
                                              "overloads offer different ways to accumulate '" +
                                                  given.target + "': run time chooses for all of them",
                                              {"give them the same list"}));
        }
    }
};

/// `function` with the ways of combination number `place`.
PlannedFunction chosen(const PlannedFunction& function, const std::vector<AccumulateSpec>& ways,
                       std::size_t place) {
    PlannedFunction made = function;
    std::string text;
    for (std::size_t i = ways.size(); i-- > 0;) {
        const AccumulateWay& way = ways[i].choices[place % ways[i].choices.size()];
        place /= ways[i].choices.size();
        text = ways[i].target + "=" + word(way) + (text.empty() ? "" : ", ") + text;
        for (PlannedCall& call : made.calls) apply(call, ways[i].target, way);
    }
    made.name += ".accumulate(" + text + ")";
    made.is_choice = true;
    return made;
}

}  // namespace

std::vector<AccumulateSpec> ways_of(const CallSpec& call, const PlannedCall& planned,
                                    const std::vector<const KindSpec*>& kinds) {
    std::vector<AccumulateSpec> ways = call.accumulate;
    for (std::size_t i = 0; i < kinds.size() && i < planned.parameters.size(); ++i) {
        if (kinds[i] == nullptr || kinds[i]->accumulate.empty()) continue;
        const PlannedParameter& parameter = planned.parameters[i];
        const bool output = is_only_written(parameter.role);
        const std::vector<AccumulateWay>& choices = kinds[i]->accumulate;
        const bool fixed = choices.size() == 1 && choices.front().combine == Accumulate::sum;
        if (!output && fixed && kinds[i]->kind == Kind::tensor) continue;
        const std::string name = parameter.host.name + (output ? "" : std::string(gradient_suffix));
        ways.push_back({name, choices, kinds[i]->location});
    }
    return ways;
}

bool may_combine(const PlannedCall& call, const PlannedArgument& output) {
    return std::any_of(call.accumulate.begin(), call.accumulate.end(), [&](const AccumulateSpec& one) {
        return is_meant(one.target, output) &&
               std::any_of(one.choices.begin(), one.choices.end(), [](const AccumulateWay& way) {
                   return way.combine == Accumulate::first ||
                          (way.combine == Accumulate::sum && !way.overwrite);
               });
    });
}

std::optional<std::string> name_to_sum(const PlannedCall& call, const PlannedArgument& output) {
    for (const PlannedParameter& parameter : call.parameters) {
        const std::string& name = parameter.host.name;
        if (!is_meant(name, output)) continue;
        const bool summed =
            std::all_of(call.arguments.begin(), call.arguments.end(), [&](const PlannedArgument& argument) {
                return !is_meant(name, argument) || refusal(argument, AccumulateWay{}).empty();
            });
        if (summed) return name;
    }
    return std::nullopt;
}

Diagnostics check_ways(const PlannedCall& call) {
    Diagnostics errors;
    std::vector<std::string> possible;
    for (const PlannedParameter& parameter : call.parameters) {
        for (const char* suffix : {"", ".grad"}) {
            const std::string name = parameter.host.name + suffix;
            if (std::any_of(call.arguments.begin(), call.arguments.end(),
                            [&](const PlannedArgument& argument) { return is_meant(name, argument); }))
                possible.push_back(name);
        }
    }
    for (std::size_t i = 0; i < call.accumulate.size(); ++i) {
        const AccumulateSpec& given = call.accumulate[i];
        if (std::any_of(call.accumulate.begin(), call.accumulate.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const AccumulateSpec& other) { return other.target == given.target; })) {
            errors.push_back(accumulate_error(given, "accumulate-way",
                                              "ways to accumulate '" + given.target +
                                                  "' are given twice: by the call and "
                                                  "by the argument's kind"));
        }
        if (std::find(possible.begin(), possible.end(), given.target) == possible.end()) {
            errors.push_back(accumulate_error(
                given, "accumulate-target",
                "there is nothing to accumulate in '" + given.target + "': " +
                    (is_gradient(given.target)
                         ? "no input '" + owner_name(given.target) + "' gets a gradient that is only written"
                         : "it is no output that is only written"),
                suggestion_notes(given.target, "names", possible)));
            continue;
        }
        for (const AccumulateWay& way : given.choices) {
            for (const PlannedArgument& argument : call.arguments) {
                if (!is_meant(given.target, argument)) continue;
                std::string reason = refusal(argument, way);
                if (way.combine == Accumulate::push && is_in_struct_value(call, argument))
                    reason = "it is a field of a struct that is passed by value; give the struct its fields";
                if (reason.empty()) continue;
                const std::string name =
                    name_of(call, argument) + (is_gradient(given.target) ? std::string(gradient_suffix) : "");
                errors.push_back(accumulate_error(
                    given, "accumulate-way",
                    "'" + name + "' can't be accumulated by \"" + word(way) + "\": " + reason));
                break;
            }
        }
    }
    return errors;
}

Diagnostics add_choices(Plan& plan) {
    Diagnostics errors;
    const std::size_t count = plan.functions.size();
    for (std::size_t f = 0; f < count; ++f) {
        Offer offer;
        for (const PlannedCall& call : plan.functions[f].calls) {
            for (const AccumulateSpec& one : call.accumulate) offer.add(one);
        }
        errors.insert(errors.end(), offer.errors.begin(), offer.errors.end());
        std::size_t combinations = offer.ways.empty() ? 0 : 1;
        for (const AccumulateSpec& one : offer.ways) combinations *= one.choices.size();
        if (combinations > max_combinations) {
            errors.push_back(
                accumulate_error(offer.ways.front(), "accumulate-way",
                                 "'" + plan.functions[f].name + "' has " + std::to_string(combinations) +
                                     " combinations of ways to accumulate, and " +
                                     std::to_string(max_combinations) + " are the most there can be"));
        }
        if (!errors.empty() || combinations == 0) continue;
        const PlannedFunction own = plan.functions[f];
        std::vector<manifest::Choice> choices;
        for (const AccumulateSpec& one : offer.ways) {
            manifest::Choice& choice = choices.emplace_back();
            choice.name = one.target;
            for (const AccumulateWay& way : one.choices) choice.ways.emplace_back(word(way));
        }
        std::vector<std::int64_t> all{static_cast<std::int64_t>(f)};
        plan.functions[f].calls = chosen(own, offer.ways, 0).calls;
        for (std::size_t place = 1; place < combinations; ++place) {
            all.push_back(static_cast<std::int64_t>(plan.functions.size()));
            plan.functions.push_back(chosen(own, offer.ways, place));
        }
        for (const std::int64_t index : all) {
            plan.functions[static_cast<std::size_t>(index)].choices = choices;
            plan.functions[static_cast<std::size_t>(index)].chosen = all;
        }
    }
    return errors;
}

}  // namespace kf::gen
