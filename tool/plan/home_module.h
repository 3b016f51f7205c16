// Which module the function is of that a call names: the spec's, or one of those that they import.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slang/module.h"
#include "slang/type_lookup.h"
#include "spec/spec.h"

namespace kf::gen {

/// Where a call's function is to be looked for.
struct Home {
    CallSpec call;                           ///< its "function" is the module's own name for it
    std::string import_name;                 ///< what kernels of the call `import`; empty: the spec's modules
    std::unique_ptr<Module> own = {};        ///< of the module alone; null: the spec's modules
    std::unique_ptr<TypeLookup> types = {};  ///< likewise
};

/// The home of the only function that the call can mean; of what none has, the one that it names, or the
/// spec's modules. `types` must outlive the home. Error: "function-ambiguous".
Outcome<Home> find_home(const CallSpec& call, const Module& module, TypeLookup& types);

}  // namespace kf::gen
