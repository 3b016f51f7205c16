// "Did you mean …?": the known word nearest to an unknown one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// How many letters must be added, dropped, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest candidate, upper and lower case alike, when it is near enough to be a slip.
std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" when there is a closest one, then "`what`: a, b, c". For Diagnostic::notes.
std::vector<std::string> suggestion_notes(std::string_view word, std::string_view what,
                                          const std::vector<std::string>& candidates);

}  // namespace kf::gen
