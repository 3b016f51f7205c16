// Variants: a call's named sets of options, each a function of its own that `.options()` picks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "plan/overloads.h"
#include "plan/plan.h"
#include "spec/spec.h"

namespace kf::gen {

/// Calls are numbered flat, so a group of any shape is a run of that many calls.
/// PlannedCall::group_width.
std::uint32_t group_width(const std::optional<ThreadsSpec>& threads);

std::array<std::uint32_t, 3> group_size(const std::optional<ThreadsSpec>& threads, std::int64_t rank);

/// Plans the variants that the spec gives a call. Errors: those of link_time(), and "variant" for one that
/// says nothing.
Outcome<std::vector<PlannedVariant>> plan_variants(const CallSpec& call, const LinkTime& base,
                                                   const Module& module, TypeLookup& types);

/// "variant" where constants of a variant could change the size of what the call is passed.
Diagnostics check_variant_sizes(const PlannedCall& call);

/// The call with the maps of a variant. Errors: "variant-options" for what there is no argument of.
Outcome<CallSpec> with_maps(CallSpec call, const VariantSpec& variant);

/// Gives the calls their variant number `variant`, planned with its maps. Errors: "variant-options" where
/// hosts would have to pass other things.
Diagnostics set_mapped(std::vector<Fit>& calls, std::size_t variant, std::vector<Fit> mapped);

/// Makes a function of each variant, behind the one that has none.
Diagnostics add_variants(Plan& plan);

}  // namespace kf::gen
