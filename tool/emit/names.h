// Identifiers in the languages that are generated.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

/// `name` as a C++ identifier: other characters become _ ("Box<float, 3>" is Box_float_3), keywords, common
/// macros and the names that generated code uses itself (encoder, result) take a trailing _.
std::string cpp_identifier(std::string_view name);

/// `name` as a Python identifier: keywords, and names like __all__, take a trailing _.
std::string python_identifier(std::string_view name);

/// "grid_sample2" becomes "GridSample2".
std::string pascal_case(std::string_view name);

/// Hands out names that differ: one that is taken gets trailing _ until it isn't.
class UniqueNames {
public:
    explicit UniqueNames(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
    std::string claim(std::string name);
    /// Claims a name that is free when followed by any of `endings`, too; all of these are taken then.
    std::string claim_with(std::string name, std::span<const std::string_view> endings);

private:
    std::set<std::string> taken_;
};

/// Claims names for things that stand beside each other, of which `made` makes identifiers. Those that stay
/// as they are in Slang go first, and the others give way.
std::vector<std::string> claim_names(UniqueNames& names, const std::vector<std::string>& slang,
                                     std::string (*made)(std::string_view));

}  // namespace kf::gen
