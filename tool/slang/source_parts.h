// Slang sources in parts: which declarations there are, under which names code reaches them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kf::gen {

struct SourceFile {
    std::string label;  ///< the file, the same wherever it lies
    std::string text;
};

/// A declaration, or a directive.
struct SourcePart {
    std::string file;  ///< its source's label
    std::string text;  ///< with what it stands in; without comments, however its lines are broken
    std::vector<std::string> names = {};  ///< code that uses none of these doesn't depend on it
    bool everywhere = false;              ///< all code may depend on it, whatever it names
    std::vector<std::string> uses = {};   ///< the names that it may depend on, each once, sorted

    bool operator==(const SourcePart&) const = default;
};

/// The parts of all sources, in their order. Names are matched alone: not by scope, type or overload. What
/// isn't plainly a function, type, alias, static variable or macro counts everywhere. Sources whose brackets
/// or macros can't be followed are one part each, and where a source asks for its own lines, or Slang may see
/// other tokens in it, they are left as they are. `defines`: macros of the command line.
[[nodiscard]] std::vector<SourcePart> source_parts(
    const std::vector<SourceFile>& sources,
    const std::vector<std::pair<std::string, std::string>>& defines = {});

/// The identifiers in a text, each once, sorted: those in its literals and comments too.
[[nodiscard]] std::vector<std::string> identifiers_in(std::string_view text);

/// Parts, and how names lead from one to others.
class PartGraph {
public:
    PartGraph() = default;
    explicit PartGraph(std::vector<SourcePart> parts);

    [[nodiscard]] const std::vector<SourcePart>& parts() const { return parts_; }
    /// For each part, whether all code may depend on it.
    [[nodiscard]] const std::vector<bool>& everywhere() const { return everywhere_; }
    /// Sets `reached` for the parts that code with these names may depend on.
    void add_reached(const std::vector<std::string>& uses, std::vector<bool>& reached) const;

private:
    std::vector<SourcePart> parts_;
    std::unordered_map<std::string, std::vector<std::size_t>> named_;  ///< parts, by each of their names
    std::vector<bool> everywhere_;
};

}  // namespace kf::gen
