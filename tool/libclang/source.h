// The C++ source that libclang parses: it includes the user's headers, and asks about types in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libclang/reader.h"

namespace kf::gen {

/// A class whose base classes libclang doesn't show: those of what a template was made into depend on its
/// arguments, and of several bases only the first one's place is known.
struct BaseQuestion {
    std::string type;                ///< "Eigen::Matrix<float, 3, 1>"
    std::vector<std::string> bases;  ///< as the class, or its template, names them
    /// The template's, which is empty for other classes: the namespaces around it, "std", "inline v1", "" for
    /// one without a name; its parameters, "class T"; and itself with their names, "Matrix<T, n>".
    std::vector<std::string> scope = {};
    std::vector<std::string> parameters = {};
    std::string pattern = {};
};

/// The beginnings of names that the source declares; the request's or the question's number follows, and of a
/// base class "_" and its own.
struct SourceName {
    static constexpr std::string_view type = "kf_type_";    ///< a typedef
    static constexpr std::string_view facts = "kf_facts_";  ///< an enum of Facts
    static constexpr std::string_view base = "kf_base_";    ///< a typedef
    static constexpr std::string_view place = "kf_place_";  ///< an enum of Places
    static constexpr std::string_view shape = "kf_shape_";  ///< an enum of Shapes
};

/// The facts that the enums' members state, in order.
enum Fact : std::uint8_t {
    fact_copied_by_bytes,
    fact_polymorphic,
    fact_made_by_default,
    fact_copyable,
    fact_destroyed_by_bytes,
    fact_count
};
enum Place : std::uint8_t { place_is_empty, place_offset, place_count };
/// A matrix that states its shape as Eigen's do; 0 for others.
enum Shape : std::uint8_t { shape_rows, shape_columns, shape_by_columns, shape_count };

struct Source {
    std::string text;
    std::map<unsigned, Location> lines;         ///< of requests, and where the spec has them
    std::map<unsigned, std::size_t> questions;  ///< lines of questions, and their numbers
};

[[nodiscard]] Source source_of(const std::vector<CppRequest>& requests,
                               const std::vector<BaseQuestion>& questions);

}  // namespace kf::gen
