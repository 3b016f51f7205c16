// Names the workarounds: a new one is a line here.
#include "slang/workarounds/workarounds.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "slang/workarounds/constructed_structs.h"
#include "slang/workarounds/elements.h"
#include "slang/workarounds/folded_vectors.h"
#include "slang/workarounds/inout_constants.h"
#include "slang/workarounds/loop_limits.h"
#include "slang/workarounds/loop_scalars.h"
#include "slang/workarounds/loop_starts.h"
#include "slang/workarounds/nested_loops.h"
#include "slang/workarounds/no_diff_calls.h"
#include "slang/workarounds/remainders.h"
#include "slang/workarounds/scalar_parameters.h"
#include "slang/workarounds/stored_parts.h"
#include "slang/workarounds/tuple_parts.h"
#include "slang/workarounds/while_loops.h"
#include "slang/workarounds/written_scalars.h"
#include "slang/workarounds/written_values.h"

namespace kf::gen {

namespace {

constexpr std::array all_workarounds = {
    &loop_starts,     // before all: it makes another text, in whose lines the others' #line directives count
    &written_values,  // before what goes behind statements: it may put braces around one
    &inout_constants,   &stored_parts,  &loop_scalars,        &written_scalars,
    &scalar_parameters,  // behind what others put at a function's end: it closes a block there
    &loop_limits,        // in front of a loop's attributes, so before nested_loops
    &nested_loops,      &while_loops,
    &remainders,  // a loop's condition may begin with one, or an element
    &elements,          &no_diff_calls, &constructed_structs, &tuple_parts,     &folded_vectors,
};

}  // namespace

std::span<const Workaround* const> workarounds() { return all_workarounds; }

Workarounds needed_workarounds(const std::optional<SlangVersion>& version) {
    Workarounds needed;
    std::copy_if(all_workarounds.begin(), all_workarounds.end(), std::back_inserter(needed),
                 [&](const Workaround* workaround) { return is_needed(*workaround, version); });
    return needed;
}

bool contains(const Workarounds& some, const Workaround& workaround) {
    return std::find(some.begin(), some.end(), &workaround) != some.end();
}

}  // namespace kf::gen
