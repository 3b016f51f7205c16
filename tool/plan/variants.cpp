// Variants of calls.
#include "plan/variants.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "plan/group_extents.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// Enough threads to fill a multiprocessor a few groups at a time on every device we know.
constexpr std::uint32_t default_group_size = 256;

Diagnostic variant_error(const PlannedVariant& variant, std::string message,
                         std::vector<std::string> notes = {}) {
    return {Severity::error, "variant-options", variant.location, std::move(message), std::move(notes)};
}

bool is_same(const PlannedVariant& a, const PlannedVariant& b) {
    const auto size = [](const PlannedVariant& one) {
        return one.threads ? one.threads->size : std::array<int, 3>{};
    };
    const auto maps = [](const PlannedVariant& one) {
        std::map<std::string, std::vector<int>> all;
        for (const MapSpec& map : one.maps) all.emplace(map.argument, map.map);
        return all;
    };
    return size(a) == size(b) && a.link == b.link && maps(a) == maps(b) && a.prints == b.prints &&
           a.checks == b.checks;
}

/// Whether hosts pass the same for both.
bool are_alike(const PlannedCall& a, const PlannedCall& b) {
    return a.rank == b.rank &&
           std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                      [](const PlannedArgument& x, const PlannedArgument& y) {
                          return x.host.kind == y.host.kind && x.host.rank == y.host.rank &&
                                 x.host.element == y.host.element;
                      });
}

/// Returns the options by which run time finds the variant.
manifest::OptionSet described(const PlannedVariant& variant) {
    manifest::OptionSet made;
    made.name = variant.name;
    if (variant.threads)
        made.threads.assign(variant.threads->size.begin(),
                            variant.threads->size.begin() + variant.threads->dimensions);
    for (const ConstantSpec& constant : variant.given.constants) {
        const auto linked = std::find_if(variant.link.constants.begin(), variant.link.constants.end(),
                                         [&](const LinkConstant& one) { return one.name == constant.name; });
        made.constants.emplace_back(constant.name, linked->value);
    }
    for (const NamedText& type : variant.given.types) made.types.emplace_back(type.name, type.text);
    if (!variant.given.conformances.empty()) {
        for (const Conformance& one : variant.link.conformances)
            made.conformances.push_back({one.interface_name, one.type, one.id});
    }
    return made;
}

/// Calls that are launched by threads have groups of three dimensions.
std::array<std::uint32_t, 3> group_size_of(const PlannedCall& call, const ThreadsSpec& threads) {
    if (call.dispatch == manifest::Dispatch::elements) return group_size(threads, call.rank);
    return {static_cast<std::uint32_t>(threads.size[0]), static_cast<std::uint32_t>(threads.size[1]),
            static_cast<std::uint32_t>(threads.size[2])};
}

/// Gives the call the group size that [numthreads] says with the variant's constants.
void settle_group_size(PlannedCall& call, const LinkTime& link) {
    auto group = linked_group(call.group_text, call.function, link);
    if (!group) return;
    std::ranges::transform(group->size, call.group_size.begin(),
                           [](std::int64_t extent) { return static_cast<std::uint32_t>(extent); });
    call.group_extents = std::move(group->extents);
}

}  // namespace

std::array<std::uint32_t, 3> group_size(const std::optional<ThreadsSpec>& threads, std::int64_t rank) {
    if (rank == 0) return {1, 1, 1};
    if (!threads) return {default_group_size, 1, 1};
    const auto& size = threads->size;
    return {static_cast<std::uint32_t>(size[0] * size[1] * size[2]), 1, 1};
}

std::uint32_t group_width(const std::optional<ThreadsSpec>& threads) {
    constexpr std::uint32_t usual = 16;
    if (!threads) return usual;
    return threads->dimensions > 1 ? static_cast<std::uint32_t>(threads->size[0]) : 0;
}

Outcome<std::vector<PlannedVariant>> plan_variants(const CallSpec& call, const LinkTime& base,
                                                   const Module& module, TypeLookup& types) {
    std::vector<PlannedVariant> variants;
    Diagnostics errors;
    for (const VariantSpec& spec : call.variants) {
        PlannedVariant variant{spec.name,
                               spec.threads,
                               spec.link,
                               {},
                               spec.location,
                               spec.maps,
                               spec.debug_print.value_or(call.debug_print),
                               spec.checked.value_or(call.checked)};
        if (!spec.threads && spec.link == LinkSpec{} && spec.maps.empty() && !spec.debug_print &&
            !spec.checked) {
            errors.push_back(variant_error(variant, "the variant '" + spec.name + "' says nothing",
                                           {"it may have \"threads\", \"constants\", \"types\", "
                                            "\"conformances\", \"map\", \"debug_print\" and \"checked\""}));
        }
        Outcome<LinkTime> link = link_time(spec.link, base, module, types);
        if (link) {
            variant.link = std::move(link.value());
        } else {
            errors.insert(errors.end(), link.errors().begin(), link.errors().end());
        }
        variants.push_back(std::move(variant));
    }
    if (!errors.empty()) return errors;
    return variants;
}

Diagnostics check_variant_sizes(const PlannedCall& call) {
    for (const PlannedParameter& parameter : call.parameters) {
        if (!is_link_sized(parameter.type)) continue;
        for (const PlannedVariant& variant : call.variants) {
            if (variant.given.constants.empty()) continue;
            return {variant_error(
                variant,
                "the variant '" + variant.name + "' changes constants, and the size of '" +
                    parameter.host.name + "' of '" + call.function + "' depends on linking",
                {"all variants are passed the same: give the call another \"name\" in a spec of its own, or "
                 "make the size a generic parameter of the function"})};
        }
    }
    return {};
}

Outcome<CallSpec> with_maps(CallSpec call, const VariantSpec& variant) {
    Diagnostics errors;
    for (const MapSpec& given : variant.maps) {
        std::vector<KindSpec>* kinds = given.argument == "result" ? &call.result : nullptr;
        for (ArgumentSpec& argument : call.arguments) {
            if (argument.name == given.argument) kinds = &argument.alternatives;
        }
        if (kinds == nullptr || kinds->empty()) {
            errors.push_back({Severity::error,
                              "variant-options",
                              given.location,
                              "the variant '" + variant.name + "' maps '" + given.argument +
                                  "', of which the call of '" + call.written() + "' states no kind",
                              {R"(name one of its "args", or the "result", and give it a kind there)"}});
            continue;
        }
        for (KindSpec& kind : *kinds) {
            kind.map = given.map;
            kind.location = given.location;
        }
    }
    if (!errors.empty()) return errors;
    return call;
}

Diagnostics set_mapped(std::vector<Fit>& calls, std::size_t variant, std::vector<Fit> mapped) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
        PlannedCall& call = calls[i].planned;
        PlannedVariant& own = call.variants.at(variant);
        if (i >= mapped.size() || !are_alike(call, mapped[i].planned)) {
            return {variant_error(
                own,
                "the variant '" + own.name + "' has maps with which hosts would pass '" + call.function +
                    "' other things, or get others back",
                {"all variants are passed the same, and their calls have one rank: give the call another "
                 "\"name\""})};
        }
        own.mapped = std::make_shared<const PlannedCall>(std::move(mapped[i].planned));
    }
    return {};
}

Diagnostics add_variants(Plan& plan) {
    Diagnostics errors;
    const std::size_t count = plan.functions.size();
    for (std::size_t f = 0; f < count; ++f) {
        std::vector<PlannedVariant> all;
        for (const PlannedCall& call : plan.functions[f].calls) {
            for (const PlannedVariant& variant : call.variants) {
                const auto known = std::find_if(all.begin(), all.end(), [&](const PlannedVariant& other) {
                    return other.name == variant.name;
                });
                if (known == all.end()) {
                    all.push_back(variant);
                } else if (!is_same(*known, variant)) {
                    errors.push_back(variant_error(variant,
                                                   "overloads of '" + plan.functions[f].name +
                                                       "' have different variants '" + variant.name +
                                                       "': run time picks one for all of them",
                                                   {"give them the same options, or another name"}));
                }
            }
        }
        std::vector<manifest::OptionSet> sets;
        for (const PlannedVariant& variant : all) {
            sets.push_back(described(variant));
            sets.back().function = static_cast<std::int64_t>(plan.functions.size());
            PlannedFunction made = plan.functions[f];
            made.name += ".options(variant=" + variant.name + ")";
            made.is_choice = true;
            for (PlannedCall& call : made.calls) {
                const auto own =
                    std::find_if(call.variants.begin(), call.variants.end(),
                                 [&](const PlannedVariant& one) { return one.name == variant.name; });
                if (own == call.variants.end()) continue;
                if (own->mapped != nullptr) call = PlannedCall(*own->mapped);
                settle_group_size(call, variant.link);
                if (variant.threads) {
                    const std::array<std::uint32_t, 3> declared = call.group_size;
                    call.group_size = group_size_of(call, *variant.threads);
                    call.group_width = group_width(variant.threads);
                    if (call.declares_group_size && call.group_size != declared) {
                        errors.push_back(variant_error(
                            variant,
                            "the variant '" + variant.name +
                                "' has other \"threads\" than the [numthreads] of '" + call.function + "'",
                            {"leave [numthreads] to the spec, or its numbers to \"constants\""}));
                    }
                }
                call.link = variant.link;
                call.prints = variant.prints;
                call.checks = variant.checks;
            }
            plan.functions.push_back(std::move(made));
        }
        for (const manifest::OptionSet& set : sets)
            plan.functions[static_cast<std::size_t>(set.function)].option_sets = sets;
        plan.functions[f].option_sets = std::move(sets);
    }
    return errors;
}

}  // namespace kf::gen
