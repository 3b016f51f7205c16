// Finds Slang's fields in C++ structs, and how they lie there.
#include "plan/host_structs.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "diagnostic/suggest.h"
#include "plan/host_table.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// Scalars of one type that lie at regular distances.
struct Grid {
    ScalarType scalar = ScalarType::float32;
    std::vector<std::int64_t> extents;
    std::vector<std::int64_t> strides;  ///< bytes
    std::int64_t offset = 0;            ///< bytes
    /// Whether the matrix says itself in which order its numbers are; and whether they are by columns, though
    /// they aren't put in the order of rows yet.
    bool has_order = false;
    bool is_by_columns = false;

    [[nodiscard]] bool is_like(const Grid& other) const {
        return scalar == other.scalar && extents == other.extents && strides == other.strides;
    }
};

std::optional<Grid> grid_of(const CppType& type);

/// Puts columns in the order of rows.
void transpose(Grid& grid) {
    const std::size_t last = grid.extents.size() - 1;
    std::swap(grid.extents[last - 1], grid.extents[last]);
    std::swap(grid.strides[last - 1], grid.strides[last]);
}

/// Gives the grid these extents, where it has them, or has what the last of them hold in one dimension:
/// float m[12] does for a float3x4, row by row.
bool unfold(Grid& grid, const std::vector<std::int64_t>& extents) {
    if (grid.extents == extents) return true;
    if (grid.extents.empty() || grid.extents.size() > extents.size()) return false;
    const std::size_t same = grid.extents.size() - 1;
    const std::vector<std::int64_t> rest(extents.begin() + static_cast<std::ptrdiff_t>(same), extents.end());
    if (!std::equal(grid.extents.begin(), grid.extents.end() - 1, extents.begin()) ||
        grid.extents.back() != scalar_count(rest))
        return false;
    std::int64_t step = grid.strides.back();
    grid.extents = extents;
    grid.strides.resize(extents.size());
    for (std::size_t i = extents.size(); i-- > same;) {
        grid.strides[i] = step;
        step *= extents[i];
    }
    return true;
}

/// Gives the grid the extents of rows of a matrix, or an array of matrices, where it has its columns.
bool unfold_columns(Grid& grid, std::vector<std::int64_t> extents) {
    if (extents.size() < 2) return false;
    std::swap(extents[extents.size() - 2], extents[extents.size() - 1]);
    if (!unfold(grid, extents)) return false;
    transpose(grid);
    return true;
}

/// Fields that are alike, at one distance: x, y and z, or rows.
std::optional<Grid> grid_of_fields(const std::vector<Grid>& fields) {
    if (fields.empty()) return {};
    Grid grid = fields.front();
    if (fields.size() == 1) return grid;
    const std::int64_t distance = fields[1].offset - fields[0].offset;
    for (std::size_t i = 1; i < fields.size(); ++i) {
        if (!fields[i].is_like(grid) || fields[i].offset - fields[i - 1].offset != distance) return {};
    }
    grid.extents.insert(grid.extents.begin(), static_cast<std::int64_t>(fields.size()));
    grid.strides.insert(grid.strides.begin(), distance);
    return grid;
}

/// "x" of m_x and x_.
std::string_view without_marks(std::string_view name) {
    if (name.starts_with("m_")) name.remove_prefix(2);
    while (name.starts_with('_')) name.remove_prefix(1);
    while (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

/// Whether the fields are called columns, or col0 and so on.
bool has_named_columns(const CppType& record) {
    const auto is_column = [](const CppField& field) {
        std::string_view name = without_marks(field.name);
        name = name.substr(0, name.find_last_not_of("0123456789") + 1);
        return name == "columns" || name == "column" || name == "cols" || name == "col";
    };
    return !record.fields.empty() && std::ranges::all_of(record.fields, is_column);
}

std::optional<Grid> grid_of_record(const CppType& type) {
    if (type.has_unseen_base || type.is_polymorphic) return {};
    std::vector<Grid> fields;
    for (const CppField& field : type.fields) {
        std::optional<Grid> grid = field.is_bit_field ? std::nullopt : grid_of(field.type);
        if (!grid && !type.is_union) return {};
        if (!grid) continue;
        grid->offset += field.offset;
        if (type.is_union) return grid;  // its other members are other names for the same
        // x, y and z may be members of an anonymous struct.
        fields.push_back(std::move(*grid));
    }
    std::optional<Grid> grid = grid_of_fields(fields);
    if (!grid) return {};
    if (type.rows > 0) {
        if (type.rows == 1 || type.columns == 1) return grid;  // a vector
        grid->has_order = true;
        const bool fits = type.is_by_columns ? unfold_columns(*grid, {type.rows, type.columns})
                                             : unfold(*grid, {type.rows, type.columns});
        return fits ? grid : std::nullopt;
    }
    if (!type.is_by_columns && !has_named_columns(type)) return grid;
    // Only columns apart tell how many there are where the shape is missing.
    grid->has_order = true;
    if (grid->extents.size() == 2)
        transpose(*grid);
    else
        grid->is_by_columns = true;
    return grid;
}

/// The numbers that a type is made of, if it is made of one kind of numbers alone.
std::optional<Grid> grid_of(const CppType& type) {
    if (type.kind == CppKind::scalar) return Grid{type.scalar, {}, {}, 0};
    if (type.kind == CppKind::record) return grid_of_record(type);
    if (type.kind != CppKind::array) return {};
    std::optional<Grid> grid = grid_of(type.element.front());
    if (!grid) return {};
    grid->extents.insert(grid->extents.begin(), type.extent);
    grid->strides.insert(grid->strides.begin(), type.element.front().size);
    return grid;
}

/// The letter that names a component, "x" of m_x, X and x_; 0 for other names.
char letter_of(std::string_view name) {
    name = without_marks(name);
    return name.size() == 1 ? static_cast<char>(std::tolower(static_cast<unsigned char>(name[0]))) : '\0';
}

/// "xyz", where a record's fields are called so. Of a union the first one names the number.
std::string letters_of(const CppType& record) {
    std::string letters;
    for (const CppField& field : record.fields) {
        if (field.name.empty()) {
            const std::string inner = letters_of(field.type);
            if (inner.empty()) return {};
            letters += inner;
        } else {
            const char letter = letter_of(field.name);
            if (letter == '\0') return {};
            letters += letter;
        }
        if (record.is_union) break;
    }
    return letters;
}

/// Returns what contradicts the order of a vector's components in a type of numbers: "'app::Quat', whose
/// numbers are w, x, y, z". Empty: nothing does.
std::string disorder_of(const CppType& type) {
    if (type.kind == CppKind::array) return disorder_of(type.element.front());
    if (type.kind != CppKind::record) return {};
    const std::string letters = letters_of(type);
    for (const std::string_view order : {"xyzw", "rgba", "stpq"}) {
        if (letters.find_first_not_of(order) != std::string::npos) continue;
        const auto before = [&](char a, char b) { return order.find(a) < order.find(b); };
        if (std::ranges::is_sorted(letters, before)) continue;
        std::string list;
        for (const char letter : letters) list += (list.empty() ? "" : ", ") + std::string(1, letter);
        return "'" + type.name + "', whose numbers are " + list;
    }
    for (const CppField& field : type.fields) {
        if (std::string found = disorder_of(field.type); !found.empty()) return found;
    }
    return {};
}

/// Whether the type holds nothing but numbers, which no copy can miss.
bool is_of_numbers(const CppType& type) {
    if (type.kind == CppKind::array) return is_of_numbers(type.element.front());
    if (type.kind != CppKind::record) return type.kind == CppKind::scalar;
    return !type.has_unseen_base && !type.is_polymorphic &&
           std::ranges::all_of(type.fields, [](const CppField& field) { return is_of_numbers(field.type); });
}

/// Whether something in the type says itself how it is copied. `by_more`: something that has more than
/// numbers.
bool has_own_copy(const CppType& type, bool by_more) {
    if (type.kind == CppKind::array) return has_own_copy(type.element.front(), by_more);
    if (type.kind != CppKind::record) return false;
    if (type.has_own_copy) return !by_more || !is_of_numbers(type);
    if (by_more && (type.has_unseen_base || type.is_polymorphic)) return true;
    return std::ranges::any_of(type.fields,
                               [&](const CppField& field) { return has_own_copy(field.type, by_more); });
}

/// Whether copying an object's bytes is as good as copying it. Vectors that write their copy constructors
/// out, as Eigen's do, are no less vectors for that.
bool can_be_copied_by_bytes(const CppType& type) {
    if (type.is_copied_by_bytes) return true;
    return type.is_copyable && type.is_destroyed_by_bytes && has_own_copy(type, false) &&
           !has_own_copy(type, true);
}

/// Halves are 16 bits to C++, which has no such type before C++23.
bool holds_scalar(ScalarType wanted, ScalarType found) {
    return wanted == found || (wanted == ScalarType::float16 && found == ScalarType::uint16);
}

/// Returns the type that holds all of an array, where that is a record, as std::array is.
const CppType& without_wrapper(const CppType& type) {
    const CppType* inner = &type;
    while (inner->kind == CppKind::record && inner->fields.size() == 1 && !inner->is_union &&
           inner->fields.front().offset == 0 && inner->fields.front().type.size == inner->size &&
           inner->fields.front().type.kind != CppKind::scalar)
        inner = &inner->fields.front().type;
    return *inner;
}

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

class Matcher {
public:
    Matcher(const std::vector<StructSpec>& entries, const std::vector<CppType>& types, TypeLookup& lookup)
        : entries_(entries), types_(types), lookup_(lookup) {}

    Outcome<HostStructs> run() {
        std::vector<Type> slang;
        for (const StructSpec& entry : entries_) slang.push_back(struct_of(entry));
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (slang[i].name.empty()) continue;
            const auto [known, is_new] = named_.try_emplace(slang[i].name, i);
            if (!is_new)
                fail(entries_[i].location, "two entries of \"structs\" are for " + in_quotes(slang[i].name),
                     {"the other one is at " + format_place(entries_[known->second].location)});
        }
        if (!errors_.empty()) return std::move(errors_);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (!can_be_passed(entries_[i], types_[i])) continue;
            // The parts of a trivially copyable type are trivially copyable.
            is_copied_by_bytes_ = types_[i].is_copied_by_bytes;
            match(slang[i], types_[i], entries_[i], true);
        }
        if (!errors_.empty()) return std::move(errors_);
        return std::move(hosts_);
    }

private:
    void fail(const Location& location, std::string message, std::vector<std::string> notes) {
        errors_.push_back({Severity::error, "host-struct", location, std::move(message), std::move(notes)});
    }

    /// The Slang struct of an entry; without a name where there is none.
    Type struct_of(const StructSpec& entry) {
        Outcome<std::optional<Type>> type = lookup_.type_named(entry.slang);
        if (!type) {
            errors_.insert(errors_.end(), type.errors().begin(), type.errors().end());
            return {};
        }
        if (!type.value() || type.value()->kind != TypeKind::structure) {
            fail(entry.location, "the spec's modules have no struct " + in_quotes(entry.slang), {});
            return {};
        }
        return std::move(*type.value());
    }

    /// Checks the C++ type by itself; adds an error where it can't be passed.
    bool can_be_passed(const StructSpec& entry, const CppType& type) {
        std::string reason;
        std::string cure;
        if (type.kind != CppKind::record || type.is_union) {
            reason = "is no struct or class";
            cure = "name one; vectors and numbers need no entry";
        } else if (type.is_polymorphic) {
            reason = "has virtual functions or base classes, whose tables GPUs can't use";
            cure = "give the data a struct of its own";
        } else if (!can_be_copied_by_bytes(type)) {
            reason =
                "can't be copied byte by byte: it has a copy constructor, a destructor, or a member with one";
            cure = "give the data a struct of its own, without them";
        } else if (!type.is_made_by_default) {
            reason = "has no default constructor, by which results are made";
            cure = "add one: " + own_name(type.name) + "() = default;";
        }
        if (reason.empty()) return true;
        std::vector<std::string> notes;
        if (!type.location.file.empty()) notes.push_back("it is declared at " + format_place(type.location));
        notes.push_back(cure);
        fail(entry.type_location, "the C++ type " + in_quotes(type.name) + " " + reason, std::move(notes));
        return false;
    }

    static auto is_called(const std::string& name) {
        return [&name](const auto& one) { return one.name == name; };
    }

    static std::string own_name(const std::string& name) {
        const std::size_t end = std::min(name.find('<'), name.size());
        const std::size_t colon = name.substr(0, end).rfind(':');
        return name.substr(colon == std::string::npos ? 0 : colon + 1, end - (colon + 1));
    }

    /// Whether both fit. What doesn't is one error, with all of it. `is_entrys`: the entry names these
    /// structs, and not one that holds them.
    bool match(const Type& slang, const CppType& record, const StructSpec& entry, bool is_entrys) {
        if (const auto known = hosts_.find(slang.name); known != hosts_.end()) {
            if (known->second->type == record.name) return true;
            fail(entry.type_location,
                 in_quotes(slang.name) + " would be " + in_quotes(known->second->type) + " here and " +
                     in_quotes(record.name) + " there: one C++ struct stands for a Slang struct",
                 {});
            return false;
        }
        HostStruct host{record.name, entry.header, record.size, record.alignment, {}, false};
        host.is_copied_by_bytes = is_copied_by_bytes_ || !has_own_copy(record, false);
        const std::vector<NamedText> renamed = is_entrys ? entry.fields : std::vector<NamedText>();
        const std::vector<NamedText> by_columns = is_entrys ? entry.columns : std::vector<NamedText>();
        std::vector<HostMember> members = members_of(record);
        std::vector<int> pairs;
        std::vector<std::string> problems;
        for (const std::vector<NamedText>& named : {renamed, by_columns}) {
            for (const NamedText& one : named) {
                if (std::ranges::none_of(slang.fields, is_called(one.name)))
                    problems.push_back(in_quotes(slang.name) + " has no field " + in_quotes(one.name));
            }
        }
        for (const Field& field : slang.fields) {
            const auto other = std::ranges::find_if(renamed, is_called(field.name));
            const bool columns = std::ranges::any_of(by_columns, is_called(field.name));
            const std::string name = other == renamed.end() ? field.name : other->text;
            const std::optional<std::size_t> found = find_member(name, members);
            pairs.push_back(found ? static_cast<int>(*found) : -1);
            HostStruct::Place place;
            const std::string problem = found ? match_field(field, members[*found], entry, columns, place)
                                              : missing(field, name, record, members);
            if (!problem.empty()) problems.push_back(problem);
            host.fields.push_back(std::move(place));
        }
        if (!problems.empty()) {
            refuse(slang, record, entry, {members, pairs, problems});
            return false;
        }
        host.is_laid_out_as_slangs = is_natural(slang, host);
        std::vector<HostMember> written;
        for (const int index : pairs) written.push_back(members[static_cast<std::size_t>(index)]);
        host.unwritten = unwritten_of(members, written);
        hosts_[slang.name] = std::make_shared<const HostStruct>(std::move(host));
        return true;
    }

    struct Findings {
        const std::vector<HostMember>& members;
        const std::vector<int>& pairs;
        const std::vector<std::string>& problems;
    };

    void refuse(const Type& slang, const CppType& record, const StructSpec& entry, const Findings& found) {
        std::vector<std::string> notes(found.problems.begin() + 1, found.problems.end());
        for (std::string& line : layout_table(slang, record, found.members, found.pairs))
            notes.push_back(std::move(line));
        fail(entry.type_location,
             "the C++ struct " + in_quotes(record.name) + " can't stand for " + in_quotes(slang.name) + ": " +
                 found.problems.front(),
             std::move(notes));
    }

    /// Returns a member that shares no byte with those that kernels write, and its place, or nothing. Structs
    /// that are written in part are looked into.
    static std::string unwritten_of(const std::vector<HostMember>& members,
                                    const std::vector<HostMember>& written) {
        for (const HostMember& member : members) {
            const std::int64_t end = member.offset + std::max<std::int64_t>(member.type->size, 1);
            const auto is_in = [&](const HostMember& other) {
                return member.offset < other.offset + other.type->size && other.offset < end;
            };
            const auto is_all = [&](const HostMember& other) {
                return other.offset <= member.offset && end <= other.offset + other.type->size;
            };
            if (std::ranges::none_of(written, is_in))
                return in_quotes(member.name) + " (" + format_place(member.location) + ")";
            const bool is_struct = member.type->kind == CppKind::record && !member.type->is_union;
            if (!is_struct || std::ranges::any_of(written, is_all)) continue;
            std::vector<HostMember> parts = members_of(*member.type);
            for (HostMember& part : parts) {
                part.name.insert(0, member.name + ".");
                part.offset += member.offset;
            }
            if (std::string found = unwritten_of(parts, written); !found.empty()) return found;
        }
        return {};
    }

    static std::string missing(const Field& field, const std::string& name, const CppType& record,
                               const std::vector<HostMember>& members) {
        std::vector<std::string> names;
        for (const HostMember& member : members) names.push_back(member.name);
        std::string text = "it has no member " + in_quotes(name);
        for (const std::string& note : suggestion_notes(name, "members", names)) {
            if (note.starts_with("did you mean")) text += " (" + note + ")";
        }
        if (record.has_unseen_base) text += "; what a template inherits isn't seen";
        return text + "; what is called otherwise is named in \"fields\": {\"" + field.name + "\": \"…\"}";
    }

    /// "camera.origin" becomes a member of its own.
    static std::optional<std::size_t> find_member(const std::string& path, std::vector<HostMember>& members) {
        const auto found = std::ranges::find_if(members, is_called(path));
        if (found != members.end()) return static_cast<std::size_t>(found - members.begin());
        const std::size_t dot = path.find('.');
        if (dot == std::string::npos) return {};
        std::string outer = path.substr(0, dot);
        std::vector<HostMember> all = members;
        std::optional<HostMember> member;
        for (std::size_t start = 0; start != std::string::npos;) {
            const std::size_t end = path.find('.', start);
            const std::string name = path.substr(start, end - start);
            const auto next = std::ranges::find_if(all, is_called(name));
            if (next == all.end()) return {};
            HostMember inner = *next;
            if (member) {
                inner.offset += member->offset;
                inner.is_public = inner.is_public && member->is_public;
            }
            all = members_of(*inner.type);
            member = std::move(inner);
            start = end == std::string::npos ? end : end + 1;
        }
        member->name = path;
        members.push_back(std::move(*member));
        return members.size() - 1;
    }

    /// Returns what is wrong, or nothing.
    std::string match_field(const Field& field, const HostMember& member, const StructSpec& entry,
                            bool by_columns, HostStruct::Place& place) {
        place.member = member.name;
        place.member_offset = place.offset = member.offset;
        const std::string subject = in_quotes(member.name) + " (" + format_place(member.location) + ") ";
        if (member.is_bit_field) return subject + "is a bit-field, which has no address";
        if (!member.is_public)
            return subject + "is private or protected: generated code can't check where it is";
        if (member.type->kind == CppKind::unsupported)
            return subject + "is a " + in_quotes(member.type->name) + ", which no kernel can read";
        if (holds_structs(field.type)) return match_structs(field, member, entry, subject);
        return match_numbers(field, member, by_columns, subject, place);
    }

    /// A struct in a struct, or an array of some.
    std::string match_structs(const Field& field, const HostMember& member, const StructSpec& entry,
                              const std::string& subject) {
        const CppType* inner = member.type;
        const Type* slang = &field.type;
        std::string wrong = subject + "is a " + in_quotes(member.type->name) + ", and Slang's a " +
                            in_quotes(field.type.name);
        while (slang->kind == TypeKind::array) {
            inner = &without_wrapper(*inner);
            if (inner->kind != CppKind::array || inner->extent != slang->extent) return wrong;
            inner = &inner->element.front();
            slang = &slang->element.front();
        }
        if (inner->kind != CppKind::record) return wrong;
        if (!inner->is_named) return subject + "is of a struct without a name, which no function can take";
        if (const auto other = named_.find(slang->name); other != named_.end()) {
            const CppType& stated = types_[other->second];
            if (stated.name == inner->name) return {};
            return subject + "is a " + in_quotes(inner->name) + ", and \"structs\" have " +
                   in_quotes(stated.name) + " for " + in_quotes(slang->name);
        }
        if (match(*slang, *inner, entry, false)) return {};
        return subject + "is a " + in_quotes(inner->name) + ", which can't stand for " +
               in_quotes(slang->name);
    }

    static std::string match_numbers(const Field& field, const HostMember& member, bool by_columns,
                                     const std::string& subject, HostStruct::Place& place) {
        std::optional<manifest::Element> wanted = element_of(field.type);
        if (field.type.kind == TypeKind::pointer) wanted = manifest::Element{ScalarType::uint64, {}};
        if (!wanted)
            return "Slang's " + in_quotes(field.name) + " is a " + in_quotes(field.type.name) +
                   ", which has no layout on the host";
        std::string wrong = subject + "is a " + in_quotes(member.type->name) + ", and Slang's a " +
                            in_quotes(field.type.name);
        std::optional<Grid> found = grid_of(*member.type);
        if (!found) return wrong;
        if (!holds_scalar(wanted->scalar, found->scalar) && !is_same_enum(field.type, *member.type))
            return wrong;
        if (const std::string disorder = disorder_of(*member.type); !disorder.empty())
            return subject + "is a " + disorder + ", and Slang's a " + in_quotes(field.type.name) +
                   "; a Slang struct with these fields fits";
        if (by_columns && innermost_of(field.type).kind != TypeKind::matrix)
            return in_quotes(field.name) + " is no matrix, which alone has \"columns\"";
        if (by_columns && found->has_order)
            return subject + "is a " + in_quotes(member.type->name) +
                   ", which says itself how its numbers lie: \"columns\" must not name it";
        const bool fits = by_columns || found->is_by_columns ? unfold_columns(*found, wanted->extents)
                                                             : unfold(*found, wanted->extents);
        if (!fits) return wrong;
        const std::int64_t scalar = manifest::scalar_bytes(wanted->scalar);
        place.offset += found->offset;
        bool packed = true;
        std::int64_t step = 1;
        for (std::size_t i = wanted->extents.size(); i-- > 0;) {
            if (found->strides[i] % scalar != 0 || found->strides[i] <= 0)
                return subject + "has numbers that aren't aligned";
            place.spacing.insert(place.spacing.begin(), found->strides[i] / scalar);
            packed = packed && place.spacing.front() == step;
            step *= wanted->extents[i];
        }
        if (packed) place.spacing.clear();
        if (place.offset % scalar != 0)
            return subject + "isn't aligned to its numbers' size: the struct is packed";
        return enum_problem(field.type, *member.type, subject);
    }

    /// Whether enums differ by no more than a sign that none of their values has: C++ compilers choose the
    /// types of enums that state none.
    static bool is_same_enum(const Type& slang, const CppType& type) {
        if (!slang.is_enum || !type.is_enum || manifest::scalar_bytes(slang.scalar) != type.size)
            return false;
        constexpr int bits = std::numeric_limits<std::int64_t>::digits + 1;
        const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> (bits - 8 * type.size);
        const auto fits = [&](const auto& one) { return one.second >= 0 && one.second <= most; };
        return std::ranges::all_of(slang.members, fits) && std::ranges::all_of(type.members, fits);
    }

    static std::string enum_problem(const Type& slang, const CppType& type, const std::string& subject) {
        if (!slang.is_enum || !type.is_enum) return {};
        for (const auto& [name, value] : slang.members) {
            for (const auto& [other, number] : type.members) {
                if (name == other && value != number)
                    return subject + "is a " + in_quotes(type.name) + ", whose " + in_quotes(name) + " is " +
                           std::to_string(number) + ", and " + std::to_string(value) + " in Slang";
            }
        }
        return {};
    }

    /// Whether functions find the fields where Slang has them.
    [[nodiscard]] bool is_natural(const Type& slang, const HostStruct& host) const {
        const StructLayout layout = layout_of(slang);
        if (layout.size != host.size) return false;
        for (std::size_t i = 0; i < slang.fields.size(); ++i) {
            if (host.fields[i].offset != layout.offsets[i] || !host.fields[i].spacing.empty()) return false;
        }
        return true;
    }

    const std::vector<StructSpec>& entries_;
    const std::vector<CppType>& types_;
    TypeLookup& lookup_;
    std::map<std::string, std::size_t> named_;  ///< Slang structs' names, and their entries
    HostStructs hosts_;
    bool is_copied_by_bytes_ = true;  ///< the entry's type is trivially copyable
    Diagnostics errors_;
};

}  // namespace

Outcome<HostStructs> match_host_structs(const std::vector<StructSpec>& entries,
                                        const std::vector<CppType>& types, TypeLookup& lookup) {
    return Matcher(entries, types, lookup).run();
}

Type with_host_structs(Type type, const HostStructs& hosts) {
    if (hosts.empty()) return type;
    for (Type& element : type.element) element = with_host_structs(std::move(element), hosts);
    for (Field& field : type.fields) field.type = with_host_structs(std::move(field.type), hosts);
    if (type.kind != TypeKind::structure) return type;
    if (const auto host = hosts.find(type.name); host != hosts.end()) type.host = host->second;
    return type;
}

Function with_host_structs(Function function, const HostStructs& hosts) {
    if (hosts.empty()) return function;
    for (Parameter& parameter : function.parameters)
        parameter.type = with_host_structs(std::move(parameter.type), hosts);
    function.result = with_host_structs(std::move(function.result), hosts);
    return function;
}

std::string unwritten_member(const Type& type) {
    if (type.host && !type.host->unwritten.empty()) return type.host->unwritten;
    for (const Type& element : type.element) {
        if (std::string member = unwritten_member(element); !member.empty()) return member;
    }
    for (const Field& field : type.fields) {
        if (std::string member = unwritten_member(field.type); !member.empty()) return member;
    }
    return {};
}

std::string host_layout_text(const Type& type) {
    if (type.host && !type.host->is_laid_out_as_slangs) {
        return "functions find structs by themselves, as Slang lays them out, and the C++ struct " +
               in_quotes(type.host->type) + " has another layout than " + in_quotes(type.name);
    }
    for (const Type& element : type.element) {
        if (std::string text = host_layout_text(element); !text.empty()) return text;
    }
    for (const Field& field : type.fields) {
        if (std::string text = host_layout_text(field.type); !text.empty()) return text;
    }
    return {};
}

}  // namespace kf::gen
