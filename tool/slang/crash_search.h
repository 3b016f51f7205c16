// Finds the declaration that Slang crashes on when it reads modules, since Slang says nothing of it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/module_texts.h"

namespace kf::gen {

/// The place of the first declaration with which `crashes` is true of the files' texts, by their paths, where
/// the declarations behind it are left out; modules go before those that import them. Nothing where it is
/// true of none. `crashes` is asked as often as halving takes.
[[nodiscard]] std::optional<Location> find_crash(
    const std::vector<ModuleFile>& files,
    const std::function<bool(const std::map<std::string, std::string>& texts)>& crashes);

}  // namespace kf::gen
