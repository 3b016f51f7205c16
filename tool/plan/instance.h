// A function in which the spec has chosen every generic parameter and every interface.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/type_text.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

struct Instance {
    Function function;          ///< all types concrete; its name is how kernels call it: "scale<float>"
    bool is_general = false;    ///< it was generic or took interfaces: a plain overload goes before it
    bool by_interface = false;  ///< Slang declares a parameter's type as an interface
};

/// The generic arguments that a spec's "function" states, one list for each of its dotted names.
/// Error: "generic-argument".
Outcome<std::vector<std::vector<TypeText>>> stated_arguments(const CallSpec& call);

/// Makes an instance of `function`, given one kind for each of its parameters. Generic parameters are those
/// stated, then those that the kinds determine: of their element types the whole where it fits, or what its
/// last dimensions hold; of generators what they make; of whole tensors the rank too. `call_rank`: as many
/// indices a call_id makes; 0 where that isn't known, and then it makes one. An interface's type is the
/// kind's element. Errors: "generic-argument", "generic-inference", "generic-constraint", "interface-type".
Outcome<Instance> instantiate(const Function& function, const CallSpec& call,
                              const std::vector<const KindSpec*>& kinds, std::int64_t call_rank,
                              TypeLookup& types);

}  // namespace kf::gen
