// Tells what it costs that a call takes what is given, or why it doesn't. Throws nothing of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/given.h"
#include "core/manifest.h"

namespace kf::detail {

/// What is compared with what.
struct FitQuestion {
    const manifest::Call& call;
    std::span<Given* const> given;  ///< one a parameter; null: not given
    bool forward = true;            ///< a pass that returns results
    bool recorded = false;          ///< runs later
    /// Whether to look into structs that are passed by value, and lists of structs. Without, whoever packs
    /// them says what is wrong.
    bool deep = true;
    /// Whether globals count. Without, whoever makes the call sets them meanwhile.
    bool globals = true;
};

/// Returns what it costs to take what is given, or nothing when the call can't.
[[nodiscard]] std::optional<int> fit_cost(const FitQuestion& question);

/// Why a call doesn't take what is given, or takes it only when nothing else does.
struct Misfit {
    Refusal refusal;           ///< "argument 's.size': …"; empty text: it fits
    std::size_t contents = 0;  ///< how many structs hold what they can't; 0 where something else is wrong
    std::size_t distance = 0;  ///< how far off all arguments are: 1 for a type, more for a rank
};
[[nodiscard]] Misfit explain_misfit(const FitQuestion& question);

// What packers of structs ask, too.

/// Returns what it costs that a field of a struct which is passed by value gets this, or nothing, and why.
/// `level`: how many of the leaf's extents are of arrays around. `numbers`: whether these are looked at.
[[nodiscard]] std::optional<int> field_cost(const manifest::Call& call, const manifest::Argument& leaf,
                                            std::size_t level, Given& given, bool numbers, Refusal* why);

/// Sets `fields` to those of the struct, in order: null for what may be left out, and is. Returns false, and
/// why, for anything else.
bool take_fields(const manifest::Call& call, const manifest::ParameterTree& structure, Given& given,
                 bool part, std::vector<Given*>& fields, Refusal* why);

/// Returns whether it is as long a list as dimension `dimension` of an array of structs.
bool is_as_long(const manifest::ParameterTree& structure, std::size_t dimension, Given& given, bool part,
                Refusal* why);

/// Returns whether it is a list of exactly as many elements as the parameter, which takes each by itself.
bool has_elements(const manifest::ParameterTree& array, Given& given, Refusal* why);

}  // namespace kf::detail
