// Picks among the functions that a call spec's variants make of one.
#include "core/variants.h"

#include <kf/error.h>
#include <kf/invoke.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/choose_constants.h"
#include "core/join.h"
#include "core/module_state.h"

namespace kf::detail {
namespace {

using manifest::OptionSet;

std::string threads_text(const std::vector<std::int64_t>& threads) {
    return "threads [" + join(threads) + "]";
}

/// "'tiled' (threads [8, 8], N = 5)"
std::string described(const OptionSet& set) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (!set.threads.empty()) {
        add(threads_text(set.threads));
    }
    for (const auto& [name, value] : set.constants) {
        add(name + " = " + value);
    }
    for (const auto& [name, type] : set.types) {
        add(name + " = " + type);
    }
    for (const OptionSet::Conformance& one : set.conformances) {
        add(one.type + ": " + one.interface_name);
    }
    return "'" + set.name + "'" + (text.empty() ? "" : " (" + text + ")");
}

std::string texts_of(const std::vector<const OptionSet*>& sets) {
    return join(sets, [](const OptionSet* set) { return described(*set); });
}

std::string requested(const VariantRequest& request) {
    OptionSet set{request.name, request.threads, request.constants, request.types, {}, 0};
    for (const auto& [interface_name, types] : request.conformances) {
        for (const std::string& type : types) {
            set.conformances.push_back({interface_name, type, 0});
        }
    }
    std::string text = described(set);
    if (request.name.empty()) {
        return "with " + text.substr(4, text.size() - 5);
    }
    return text;
}

std::vector<std::int64_t> three(std::vector<std::int64_t> threads) {
    threads.resize(std::max<std::size_t>(3, threads.size()), 1);
    return threads;
}

std::optional<double> number(const std::string& text) {
    if (text == "true" || text == "false") {
        return text == "true" ? 1 : 0;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_same_value(const std::string& a, const std::string& b) {
    const std::optional<double> x = number(a);
    // Doubles don't tell large integers apart, whose text is exact.
    const bool is_exact = !x || (*x >= -9e15 && *x <= 9e15);
    return a == b || (is_exact && x && x == number(b));
}

bool has_types(const OptionSet& set, const std::string& interface_name, std::vector<std::string> types) {
    std::vector<std::string> own;
    for (const OptionSet::Conformance& one : set.conformances) {
        if (one.interface_name == interface_name) {
            own.push_back(one.type);
        }
    }
    std::ranges::sort(own);
    std::ranges::sort(types);
    return own == types;
}

bool fits(const OptionSet& set, const VariantRequest& request) {
    const auto is_in = [](const auto& list, const auto& same) { return std::ranges::any_of(list, same); };
    return (request.name.empty() || request.name == set.name) &&
           (request.threads.empty() ||
            (!set.threads.empty() && three(request.threads) == three(set.threads))) &&
           std::ranges::all_of(request.constants,
                               [&](const auto& wanted) {
                                   return is_in(set.constants, [&](const auto& one) {
                                       return one.first == wanted.first &&
                                              is_same_value(one.second, wanted.second);
                                   });
                               }) &&
           std::ranges::all_of(request.types,
                               [&](const auto& wanted) {
                                   return is_in(set.types, [&](const auto& one) { return one == wanted; });
                               }) &&
           std::ranges::all_of(request.conformances, [&](const auto& wanted) {
               return has_types(set, wanted.first, wanted.second);
           });
}

}  // namespace

bool VariantRequest::says_anything() const {
    return !name.empty() || !threads.empty() || !constants.empty() || !types.empty() || !conformances.empty();
}

std::size_t variant_function(const manifest::Manifest& manifest, std::size_t index,
                             const VariantRequest& request) {
    const manifest::Function& function = manifest.functions.at(index);
    std::vector<const OptionSet*> all;
    std::vector<const OptionSet*> found;
    for (const OptionSet& set : function.option_sets) {
        all.push_back(&set);
        if (fits(set, request)) {
            found.push_back(&set);
        }
    }
    if (found.size() != 1) {
        const std::string what = found.empty() ? "no variant " : "more than one variant ";
        const std::string which =
            all.empty() ? "it has none" : "there is: " + texts_of(found.empty() ? all : found);
        const std::string chosen =
            manifest.constants.empty() ? "" : "; run time chooses: " + constants_text(manifest);
        throw ArgumentError(ErrorCode::unknown_name, function.name + ": options: " + what +
                                                         requested(request) + "; " + which + chosen);
    }
    // The variant keeps the combination of ways to accumulate that the function was chosen by.
    const auto own = std::ranges::find(function.chosen, static_cast<std::int64_t>(index));
    const auto variant = static_cast<std::size_t>(found.front()->function);
    if (own == function.chosen.end()) {
        return variant;
    }
    const auto place = static_cast<std::size_t>(own - function.chosen.begin());
    return static_cast<std::size_t>(manifest.functions.at(variant).chosen.at(place));
}

FunctionRef variant_of(const FunctionRef& function, std::string_view name) {
    check_function(function);
    FunctionRef made = function;
    made.function =
        variant_function(function.module->manifest(), function.function, {std::string(name), {}, {}, {}, {}});
    return made;
}

FunctionRef FunctionRef::with(const Options& chosen) const {
    check_function(*this);
    FunctionRef made = *this;
    made.options = options.with(chosen);
    if (chosen.variant.empty() && chosen.constants.empty()) return made;
    VariantRequest request{std::string(chosen.variant), {}, {}, {}, {}};
    for (const auto& [name, value] : chosen.constants) request.constants.emplace_back(name, value.text());
    const manifest::Manifest& manifest = module->manifest();
    const ConstantValues constants =
        chosen_constants(manifest, function, module->artifact()->constants(), request.constants);
    if (request.says_anything()) made.function = variant_function(manifest, function, request);
    made.module = ModuleState::with(module, constants);
    return made;
}

}  // namespace kf::detail
