// Picks the call that takes what is given at the least cost. Pure.
#pragma once

#include <kf/invoke.h>

#include <span>

#include "core/fit.h"
#include "core/manifest.h"

namespace kf::detail {

/// A call that may be meant.
struct Candidate {
    const manifest::Call* call = nullptr;
    std::span<Given* const> given;  ///< one a parameter; null: not given
    /// Which list of parameters it has, by name: those of one list are told apart by what is given alone.
    std::size_t list = 0;
    std::size_t left_out = 0;  ///< outputs that aren't given: fewer is nearer
    /// Why the arguments can't even be told to be for which of its parameters; null where they can.
    const Refusal* refused = nullptr;
};

struct Resolution {
    const manifest::Function& function;
    std::span<const Candidate> candidates;  ///< at least one
    bool forward = true;                    ///< see FitQuestion
    bool recorded = false;
    bool globals = true;
};

/// Returns the candidate of the least cost. Ranks and scalar types decide, and what structs hold; extents
/// only among calls that both fit, so that a wrong extent is reported by the binder, which says more.
/// Throws ArgumentError: what is wrong with the argument where there is just one candidate, else no_overload
/// with every candidate and what it refuses, or with those that are as near as each other.
std::size_t resolve(const Resolution& resolution);

/// See the public resolve() in kf/invoke.h.
std::size_t resolve(const manifest::Function& function, std::span<const ArgShape> args);

}  // namespace kf::detail
