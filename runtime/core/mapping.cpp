// Picks among the functions whose arguments lie in different dimensions of a call.
#include "core/mapping.h"

#include <kf/error.h>
#include <kf/invoke.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/describe.h"
#include "core/join.h"
#include "core/module_state.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Call;
using manifest::Function;

/// "w [1]"
std::string map_text(std::string_view name, std::span<const std::int64_t> map) {
    return std::string(name) + " [" + join(map) + "]";
}

/// "(x [0, 1], w [1])" of the first overload with the most dimensions.
std::string maps_text(const Function& function) {
    const Call& call = *std::ranges::max_element(function.calls, {}, &Call::rank);
    std::string text;
    std::string last;  // all fields of a struct that is passed whole are mapped alike
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const std::string name = host_name(call, i);
        if (call.arguments[i].map.empty() || name == last) continue;
        text += (text.empty() ? "" : ", ") + map_text(name, call.arguments[i].map);
        last = name;
    }
    return "(" + text + ")";
}

/// Tells whether a name means the argument: its own, or that of a struct that it is a field of.
bool means(std::string_view name, const Argument& argument) {
    return manifest::is_or_lies_in(argument.name, name);
}

/// Tells whether an overload maps the argument to those dimensions, and no other overload maps as many
/// dimensions of it elsewhere.
bool places(const Function& function, const Mapping& chosen) {
    bool found = false;
    for (const Call& call : function.calls) {
        for (const Argument& argument : call.arguments) {
            if (!means(chosen.first, argument) || argument.map.size() != chosen.second.size()) continue;
            if (argument.map != chosen.second) return false;
            found = true;
        }
    }
    return found;
}

/// The function and its variants, with the ways to accumulate that it has, by number; itself first.
std::vector<std::size_t> family(const manifest::Manifest& manifest, std::size_t index) {
    const Function& function = manifest.functions.at(index);
    const auto own = std::ranges::find(function.chosen, static_cast<std::int64_t>(index));
    const auto place = own - function.chosen.begin();
    std::vector<std::size_t> all{index};
    const auto add = [&](std::size_t candidate) {
        const Function& other = manifest.functions.at(candidate);
        const std::size_t number =
            own == function.chosen.end()
                ? candidate
                : static_cast<std::size_t>(other.chosen.at(static_cast<std::size_t>(place)));
        if (std::ranges::find(all, number) == all.end()) all.push_back(number);
    };
    // The function without a variant has the same variants and isn't one.
    for (std::size_t i = 0; i < manifest.functions.size(); ++i) {
        const Function& other = manifest.functions[i];
        const bool is_combined =
            !other.chosen.empty() && other.chosen.front() != static_cast<std::int64_t>(i);
        const bool is_variant = std::ranges::any_of(other.option_sets, [&](const manifest::OptionSet& set) {
            return set.function == static_cast<std::int64_t>(i);
        });
        if (!function.option_sets.empty() && other.option_sets == function.option_sets && !is_combined &&
            !is_variant) {
            add(i);
        }
    }
    for (const manifest::OptionSet& set : function.option_sets) {
        add(static_cast<std::size_t>(set.function));
    }
    return all;
}

/// What to write for maps that nothing was generated with; empty where the names or the numbers of dimensions
/// don't fit.
std::string cure_of(const Function& function, std::span<const Mapping> chosen) {
    const std::int64_t rank = std::ranges::max(function.calls, {}, &Call::rank).rank;
    std::string maps;
    std::string kinds;
    bool is_wider = false;
    for (const Mapping& wanted : chosen) {
        const std::string name(wanted.first);
        const std::vector<std::int64_t>& map = wanted.second;
        const auto fits = [&](const Argument& one) {
            return means(name, one) && one.map.size() == map.size();
        };
        const bool known = std::ranges::any_of(
            function.calls, [&](const Call& call) { return std::ranges::any_of(call.arguments, fits); });
        if (!known || std::ranges::any_of(map, [](std::int64_t dimension) { return dimension < 0; }))
            return {};
        is_wider = is_wider || std::ranges::any_of(map, [&](std::int64_t d) { return d >= rank; });
        const std::string listed = map_text("", map).substr(1);
        const std::string comma = maps.empty() ? "" : ", ";
        maps += comma + "\"" + name + "\": " + listed;
        kinds += comma + "\"" + name + "\": {\"kind\": …, \"map\": " + listed + "}";
    }
    if (!is_wider) return "; for that, its call needs \"variants\": {\"NAME\": {\"map\": {" + maps + "}}}";
    return "; its calls have rank " + std::to_string(rank) +
           ", and those of another rank are a function of their own: a call with another \"name\", and " +
           kinds + " among its \"args\"";
}

}  // namespace

std::size_t mapped_function(const manifest::Manifest& manifest, std::size_t index,
                            std::span<const Mapping> chosen) {
    const std::vector<std::size_t> all = family(manifest, index);
    std::vector<std::size_t> found;
    for (const std::size_t candidate : all) {
        if (std::ranges::all_of(
                chosen, [&](const Mapping& one) { return places(manifest.functions[candidate], one); })) {
            found.push_back(candidate);
        }
    }
    if (found.size() == 1 || (!found.empty() && found.front() == index)) {
        return found.front();
    }
    const std::string wanted =
        join(chosen, [](const Mapping& one) { return map_text(one.first, one.second); });
    const std::string there = join(found.empty() ? all : found, [&](std::size_t candidate) {
        return manifest.functions[candidate].name + " " + maps_text(manifest.functions[candidate]);
    });
    throw ArgumentError(ErrorCode::unknown_name,
                        manifest.functions[index].name +
                            ": map: " + (found.empty() ? "nothing was" : "more than one was") +
                            " generated with " + wanted + "; there is: " + there +
                            (found.empty() ? cure_of(manifest.functions[index], chosen) : ""));
}

FunctionRef mapped(const FunctionRef& function, std::span<const Mapping> chosen) {
    check_function(function);
    FunctionRef made = function;
    made.function = mapped_function(function.module->manifest(), function.function, chosen);
    return made;
}

}  // namespace kf::detail
