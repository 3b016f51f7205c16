// What modules leave to linking, and what they give to it.
#pragma once

#include <slang.h>

#include <vector>

#include "slang/module.h"
#include "slang/sources.h"

namespace kf::gen {

/// Those of all files that the session has loaded. Members of structs and generic declarations are left out.
[[nodiscard]] std::vector<LinkDeclaration> link_declarations(slang::ISession& session, Sources& sources);

}  // namespace kf::gen
