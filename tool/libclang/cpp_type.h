// A C++ type of the user's as a plain value: what is in it, and where.
#pragma once

#include <kf/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

enum class CppKind : std::uint8_t {
    scalar,       ///< numbers, bool, enums
    array,        ///< T[n], and the compiler's own vectors
    record,       ///< struct, class, union
    unsupported,  ///< pointers, references, long double …: what no kernel reads
};

struct CppField;

/// A type without typedefs, const and volatile.
struct CppType {
    CppKind kind = CppKind::unsupported;
    std::string name;                                                ///< "app::Pair<float>", "float [3]"
    std::int64_t size = 0;                                           ///< bytes
    std::int64_t alignment = 1;                                      ///< bytes
    ScalarType scalar = ScalarType::float32;                         ///< of scalars
    bool is_enum = false;                                            ///< of scalars
    std::vector<std::pair<std::string, std::int64_t>> members = {};  ///< of enums
    std::int64_t extent = 0;                                         ///< of arrays
    std::vector<CppType> element;                                    ///< of arrays: exactly one
    std::vector<CppField> fields;  ///< of records: those of base classes first
    bool is_union = false;
    bool is_named = true;          ///< false: an unnamed struct
    bool is_polymorphic = false;   ///< it has virtual functions or bases
    bool has_unseen_base = false;  ///< a base class that depends on a template's arguments wasn't found
    bool has_own_copy = false;     ///< it, or what it inherits, says itself how it is copied
    /// A matrix whose elements are its columns: it declares a `col_type`, or states so with its shape.
    bool is_by_columns = false;
    /// A matrix that states its shape, by RowsAtCompileTime, ColsAtCompileTime and IsRowMajor; 0: others.
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Location location = {};  ///< of its declaration
    // The rest is known of the types that were requested alone:
    bool is_copied_by_bytes = true;     ///< trivially copyable
    bool is_made_by_default = true;     ///< it has a default constructor
    bool is_copyable = true;            ///< it has a copy constructor
    bool is_destroyed_by_bytes = true;  ///< its destructor does nothing
};

struct CppField {
    std::string name;  ///< empty: an anonymous struct or union, whose fields are named as the record's own
    CppType type;
    std::int64_t offset = 0;  ///< bytes from the start of the record
    Location location = {};
    bool is_public = true;
    bool is_bit_field = false;
};

}  // namespace kf::gen
