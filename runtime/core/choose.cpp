// Picks among the functions that a call spec's ways to accumulate make of one.
#include <kf/error.h>
#include <kf/invoke.h>

#include <algorithm>

#include "core/choose.h"
#include "core/join.h"
#include "core/module_state.h"

namespace kf::detail {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <class Range, class Text>
std::string listed(const Range& range, Text text_of) {
    const std::string text = join(range, [&](const auto& one) { return quoted(text_of(one)); });
    return text.empty() ? "nothing" : text;
}

[[noreturn]] void fail(const manifest::Function& function, const std::string& what) {
    throw ArgumentError(ErrorCode::unknown_name, function.name + ": accumulate: " + what);
}

}  // namespace

std::size_t chosen_function(const manifest::Manifest& manifest, std::size_t index,
                            std::span<const Accumulation> chosen) {
    const manifest::Function& function = manifest.functions.at(index);
    const auto name_of = [](const manifest::Choice& choice) { return choice.name; };
    for (const auto& [name, way] : chosen) {
        if (std::ranges::find(function.choices, name, name_of) == function.choices.end()) {
            fail(function, "no choice " + quoted(name) + "; there is: " + listed(function.choices, name_of));
        }
    }
    const auto own = std::ranges::find(function.chosen, static_cast<std::int64_t>(index));
    if (own == function.chosen.end()) {
        return index;
    }
    // The place in `chosen`, digit by digit from the last one on.
    auto rest = static_cast<std::size_t>(own - function.chosen.begin());
    std::size_t place = 0;
    std::size_t weight = 1;
    for (std::size_t i = function.choices.size(); i-- > 0;) {
        const manifest::Choice& choice = function.choices[i];
        std::size_t digit = rest % choice.ways.size();
        rest /= choice.ways.size();
        for (const auto& [name, way] : chosen) {
            if (name != choice.name) {
                continue;
            }
            const auto found = std::ranges::find(choice.ways, way);
            if (found == choice.ways.end()) {
                fail(function, "no way " + quoted(way) + " for " + quoted(name) + "; there is: " +
                                   listed(choice.ways, [](const std::string& one) { return one; }));
            }
            digit = static_cast<std::size_t>(found - choice.ways.begin());
        }
        place += digit * weight;
        weight *= choice.ways.size();
    }
    return static_cast<std::size_t>(function.chosen[place]);
}

FunctionRef accumulated(const FunctionRef& function, std::span<const Accumulation> chosen) {
    check_function(function);
    FunctionRef made = function;
    made.function = chosen_function(function.module->manifest(), function.function, chosen);
    return made;
}

}  // namespace kf::detail
