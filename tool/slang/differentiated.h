// The functions whose derivatives calls reach, found by names alone.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "slang/compiler.h"
#include "slang/source_parts.h"

namespace kf::gen {

/// Functions as a spec's calls name them: "ns.Ray<float>.advance".
struct CalledFunctions {
    std::vector<std::string> all;
    std::vector<std::string> differentiated;  ///< those of calls with a derivative
};

/// What these calls' derivatives reach, and what the code that any call reaches takes a derivative of itself.
/// Names are matched alone, so that more may count.
class DifferentiatedFunctions {
public:
    DifferentiatedFunctions(PartGraph graph, const CalledFunctions& called);

    /// `function`: by its name, a method's "Ray.advance".
    [[nodiscard]] bool has(const std::string& function) const;

private:
    PartGraph graph_;
    std::vector<bool> reached_;
    std::unordered_map<std::string, int> mentions_;  ///< how often what is reached has each word
};

/// Those of the options' calls in these files; nothing where it isn't known what takes derivatives.
[[nodiscard]] std::optional<DifferentiatedFunctions> differentiated_functions(
    const std::map<std::filesystem::path, std::string>& texts, const CompilerOptions& options);

}  // namespace kf::gen
