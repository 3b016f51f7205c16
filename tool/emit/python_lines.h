// Lines of a stub, as wide as formatters make them.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kf::gen {

/// Returns a class's `def`.
[[nodiscard]] std::string method_line(const std::string& name, const std::vector<std::string>& parameters,
                                      const std::string& result);

/// Returns `head` and names in brackets, "()" only where they need them: on one line, or one name a line.
[[nodiscard]] std::string import_line(const std::string& head, const std::set<std::string>& names, char open,
                                      char close);

}  // namespace kf::gen
