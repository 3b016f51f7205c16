// Finds the generic parameters in a parameter's type that a kind determines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/type_text.h"
#include "spec/kind.h"

namespace kf::gen {

/// A way to read the kinds. Readings of the lowest cost go first: what is peeled off an element or a
/// parameter costs, and so does a scalar type of an index that isn't the usual one.
struct Reading {
    int cost = 0;
    Bindings bindings;
};

/// Whether the kind says anything of the parameter's type: it names an element, makes its values itself, or
/// goes to a tensor.
bool says_type(const KindSpec& kind, const TypeText& pattern);

/// Adds every way to feed a parameter of the type `pattern`, in which `names` are open, from the kind.
/// `call_rank`: how many indices a call_id makes; 0: not known yet.
void read_kind(const TypeText& pattern, const KindSpec& kind, const std::vector<std::string>& names,
               std::int64_t call_rank, const Reading& so_far, std::vector<Reading>& readings);

}  // namespace kf::gen
