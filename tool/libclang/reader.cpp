// Walks what libclang knows of the types that a spec names.
#include "libclang/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "libclang/library.h"

namespace kf::gen {

namespace {

/// In no folder of the user's: what the source includes is found as the options say alone.
constexpr const char* source_name = "/kfgen/structs.cpp";
constexpr std::size_t most_errors = 20;
constexpr int max_nesting = 16;
constexpr std::int64_t bits = 8;

/// What the source asks of each type, in order.
enum Fact : std::uint8_t { fact_copied_by_bytes, fact_polymorphic, fact_made_by_default, fact_count };

/// Includes the headers, each on a line of its own, and names each type on another one.
struct Source {
    std::string text;
    std::map<unsigned, Location> lines;  ///< what in the spec they are of
};

Source source_of(const std::vector<CppRequest>& requests) {
    Source source;
    unsigned line = 0;
    const auto add = [&](const std::string& text, const Location& location) {
        source.text += text + "\n";
        source.lines[++line] = location;
    };
    std::set<std::string> included;
    for (const CppRequest& request : requests) {
        if (included.insert(request.header).second)
            add("#include \"" + request.header + "\"", request.header_location);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::string number = std::to_string(i);
        const std::string name = "kf_type_" + number;
        add("using " + name + " = " + requests[i].type + "; enum kf_facts_" + number + " { kf_copied_" +
                number + " = __is_trivially_copyable(" + name + "), kf_virtual_" + number +
                " = __is_polymorphic(" + name + "), kf_made_" + number + " = __is_constructible(" + name +
                "), kf_size_" + number + " = sizeof(" + name + ") != 0 };",
            requests[i].type_location);
    }
    return source;
}

std::optional<ScalarType> integer_of(bool is_signed, std::int64_t size) {
    switch (size) {
        case 1: return is_signed ? ScalarType::int8 : ScalarType::uint8;
        case 2: return is_signed ? ScalarType::int16 : ScalarType::uint16;
        case 4: return is_signed ? ScalarType::int32 : ScalarType::uint32;
        case 8: return is_signed ? ScalarType::int64 : ScalarType::uint64;
        default: return {};
    }
}

std::optional<ScalarType> scalar_of(CXTypeKind kind, std::int64_t size) {
    switch (kind) {
        case CXType_Bool: return ScalarType::boolean;
        case CXType_Char_S:
        case CXType_SChar:
        case CXType_Short:
        case CXType_Int:
        case CXType_Long:
        case CXType_LongLong: return integer_of(true, size);
        case CXType_Char_U:
        case CXType_UChar:
        case CXType_UShort:
        case CXType_UInt:
        case CXType_ULong:
        case CXType_ULongLong: return integer_of(false, size);
        case CXType_Half:
        case CXType_Float16: return ScalarType::float16;
        case CXType_Float: return ScalarType::float32;
        case CXType_Double: return ScalarType::float64;
        default: return {};
    }
}

/// Calls a function object for each child; it says how to go on.
template <class Visit>
CXChildVisitResult visit_child(CXCursor cursor, CXCursor /*parent*/, CXClientData data) {
    return (*static_cast<Visit*>(data))(cursor);
}

template <class Visit>
CXVisitorResult visit_field(CXCursor cursor, CXClientData data) {
    (*static_cast<Visit*>(data))(cursor);
    return CXVisit_Continue;
}

/// Returns the option for the folder where GCC has stddef.h and its kin, which is looked in last, or nothing
/// without a GCC. A libclang without the headers that belong to it, as a wheel's is, needs it.
std::optional<std::string> gcc_headers() {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::path newest;
    int most = 0;
    for (const auto& triple : fs::directory_iterator("/usr/lib/gcc", failed)) {
        for (const auto& version : fs::directory_iterator(triple.path(), failed)) {
            const fs::path folder = version.path() / "include";
            const int number = std::atoi(version.path().filename().c_str());
            if (number <= most || !fs::exists(folder / "stddef.h", failed)) continue;
            most = number;
            newest = folder;
        }
    }
    return most == 0 ? std::nullopt : std::optional("-idirafter" + newest.string());
}

/// One translation unit, and its index.
class Unit {
public:
    Unit(const LibClang& clang, const Source& source, const std::vector<std::string>& options)
        : clang_(clang), index_(clang.create_index(0, 0)) {
        std::vector<const char*> arguments{"-x", "c++", "-std=c++20", "-w"};
        for (const std::string& option : options) arguments.push_back(option.c_str());
        const std::optional<std::string> own = gcc_headers();
        if (own) arguments.push_back(own->c_str());
        CXUnsavedFile file{source_name, source.text.c_str(),
                           static_cast<unsigned long>(source.text.size())};  // NOLINT(google-runtime-int)
        error_ = clang_.parse(index_, source_name, arguments.data(), static_cast<int>(arguments.size()),
                              &file, 1, CXTranslationUnit_SkipFunctionBodies, &unit_);
    }
    ~Unit() {
        if (unit_ != nullptr) clang_.dispose_unit(unit_);
        clang_.dispose_index(index_);
    }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    [[nodiscard]] bool is_parsed() const { return error_ == CXError_Success && unit_ != nullptr; }
    [[nodiscard]] CXTranslationUnit get() const { return unit_; }

private:
    const LibClang& clang_;
    CXIndex index_;
    CXTranslationUnit unit_ = nullptr;
    CXErrorCode error_ = CXError_Failure;
};

class Walk {
public:
    Walk(const LibClang& clang, const Unit& unit, const Source& source)
        : clang_(clang), unit_(unit), source_(source) {}

    [[nodiscard]] Diagnostics errors() const {
        Diagnostics errors;
        const unsigned count = clang_.diagnostic_count(unit_.get());
        for (unsigned i = 0; i < count && errors.size() < most_errors; ++i) {
            CXDiagnostic found = clang_.diagnostic(unit_.get(), i);
            if (clang_.severity(found) >= CXDiagnostic_Error) errors.push_back(error_of(found));
            clang_.dispose_diagnostic(found);
        }
        return errors;
    }

    [[nodiscard]] std::vector<CppType> types(std::size_t count) const {
        std::vector<CppType> types(count);
        const auto visit = [&](CXCursor cursor) {
            const std::string name = text(clang_.cursor_spelling(cursor));
            if (const auto type = number_behind(name, "kf_type_"); type && *type < count)
                types[*type] = describe(clang_.underlying_type(cursor), 0);
            if (const auto facts = number_behind(name, "kf_facts_"); facts && *facts < count)
                add_facts(cursor, types[*facts]);
            return CXChildVisit_Continue;
        };
        visit_children(clang_.unit_cursor(unit_.get()), visit);
        return types;
    }

    [[nodiscard]] std::vector<std::filesystem::path> files() const {
        struct Found {
            const Walk& walk;
            std::set<std::filesystem::path> files;
        } found{*this, {}};
        const CXInclusionVisitor visit = [](CXFile file, CXSourceLocation*, unsigned depth,
                                            CXClientData data) {
            Found& all = *static_cast<Found*>(data);
            const Walk& walk = all.walk;
            if (depth == 0 || walk.clang_.is_system(walk.clang_.location_at(walk.unit_.get(), file, 0)) != 0)
                return;
            all.files.insert(
                std::filesystem::path(walk.text(walk.clang_.file_name(file))).lexically_normal());
        };
        clang_.inclusions(unit_.get(), visit, &found);
        return {found.files.begin(), found.files.end()};
    }

private:
    [[nodiscard]] std::string text(CXString string) const {
        const char* characters = clang_.c_string(string);
        std::string result = characters != nullptr ? characters : "";
        clang_.dispose_string(string);
        return result;
    }

    template <class Visit>
    void visit_children(CXCursor parent, const Visit& visit) const {
        clang_.visit_children(parent, visit_child<const Visit>, const_cast<Visit*>(&visit));
    }

    template <class Visit>
    void visit_fields(CXType type, const Visit& visit) const {
        clang_.visit_fields(type, visit_field<const Visit>, const_cast<Visit*>(&visit));
    }

    /// The number that follows `start` in one of the source's names; nothing in a header's own name.
    static std::optional<std::size_t> number_behind(const std::string& name, std::string_view start) {
        if (!name.starts_with(start)) return {};
        std::size_t number = 0;
        const char* const last = name.data() + name.size();
        const auto [end, failure] = std::from_chars(name.data() + start.size(), last, number);
        return failure == std::errc() && end == last ? std::optional(number) : std::nullopt;
    }

    /// A place in the source is one in the spec.
    [[nodiscard]] Location place_of(CXSourceLocation location) const {
        CXFile file = nullptr;
        unsigned line = 0;
        unsigned column = 0;
        clang_.file_location(location, &file, &line, &column, nullptr);
        if (file == nullptr) return {};
        const std::string name = text(clang_.file_name(file));
        if (name != source_name) return {name, line, column};
        const auto known = source_.lines.find(line);
        return known == source_.lines.end() ? Location() : known->second;
    }

    [[nodiscard]] Diagnostic error_of(CXDiagnostic found) const {
        Diagnostic error{Severity::error,
                         "cpp-header",
                         place_of(clang_.diagnostic_location(found)),
                         text(clang_.diagnostic_text(found)),
                         {}};
        CXDiagnosticSet children = clang_.diagnostic_children(found);
        const unsigned count = clang_.count_in_set(children);
        for (unsigned i = 0; i < count && i < 4; ++i) {
            CXDiagnostic child = clang_.diagnostic_in_set(children, i);
            const Location place = place_of(clang_.diagnostic_location(child));
            error.notes.push_back((place.file.empty() ? "" : format_place(place) + ": ") +
                                  text(clang_.diagnostic_text(child)));
        }
        const bool missing = error.message.ends_with("file not found");
        const bool own = missing && (error.message.starts_with("'std") || error.message.starts_with("'xmm"));
        if (own)
            error.notes.emplace_back(
                "the compiler's own headers come with libclang-dev, or libclang-common-dev");
        else if (missing)
            error.notes.emplace_back(
                "give its folder by --cxx-option=-I…, or in CMake by target_include_directories() of the "
                "target");
        return error;
    }

    void add_facts(CXCursor facts, CppType& type) const {
        std::array<bool, fact_count> all{};
        std::size_t next = 0;
        const auto visit = [&](CXCursor constant) {
            if (clang_.cursor_kind(constant) == CXCursor_EnumConstantDecl && next < all.size())
                all.at(next++) = clang_.constant_value(constant) != 0;
            return CXChildVisit_Continue;
        };
        visit_children(facts, visit);
        type.is_copied_by_bytes = all[fact_copied_by_bytes];
        type.is_polymorphic = type.is_polymorphic || all[fact_polymorphic];
        type.is_made_by_default = all[fact_made_by_default];
    }

    [[nodiscard]] CppType describe(CXType written, int depth) const {
        const CXType type = clang_.canonical_type(written);
        CppType made;
        made.name = name_of(type);
        made.size = std::max<std::int64_t>(clang_.size_of(type), 0);
        made.alignment = std::max<std::int64_t>(clang_.align_of(type), 1);
        if (depth > max_nesting) return made;
        if (const std::optional<ScalarType> scalar = scalar_of(type.kind, made.size)) {
            made.kind = CppKind::scalar;
            made.scalar = *scalar;
            return made;
        }
        switch (type.kind) {
            case CXType_Enum: describe_enum(type, made); break;
            case CXType_ConstantArray:
            case CXType_Vector:
            case CXType_ExtVector:
                made.kind = CppKind::array;
                made.extent = clang_.element_count(type);
                made.element.push_back(describe(clang_.element_type(type), depth + 1));
                break;
            case CXType_Record: describe_record(type, made, depth); break;
            default: break;
        }
        return made;
    }

    /// "float[3]", which some versions spell "float [3]".
    [[nodiscard]] std::string name_of(CXType type) const {
        std::string name = text(clang_.type_spelling(type));
        for (auto at = name.find(" ["); at != std::string::npos; at = name.find(" [", at)) name.erase(at, 1);
        return name;
    }

    void describe_enum(CXType type, CppType& made) const {
        const CXCursor declaration = clang_.type_declaration(type);
        const CXType integer = clang_.canonical_type(clang_.enum_integer(declaration));
        const std::optional<ScalarType> scalar = scalar_of(integer.kind, made.size);
        made.location = place_of(clang_.cursor_location(declaration));
        if (!scalar) return;
        made.kind = CppKind::scalar;
        made.scalar = *scalar;
        made.is_enum = true;
        const auto visit = [&](CXCursor constant) {
            if (clang_.cursor_kind(constant) == CXCursor_EnumConstantDecl)
                made.members.emplace_back(text(clang_.cursor_spelling(constant)),
                                          clang_.constant_value(constant));
            return CXChildVisit_Continue;
        };
        visit_children(declaration, visit);
    }

    void describe_record(CXType type, CppType& made, int depth) const {
        const CXCursor declaration = clang_.type_declaration(type);
        made.kind = CppKind::record;
        made.location = place_of(clang_.cursor_location(declaration));
        made.is_union = clang_.cursor_kind(declaration) == CXCursor_UnionDecl;
        made.is_named = clang_.is_anonymous(declaration) == 0;
        add_declared(declaration, made, depth);
        const auto visit = [&](CXCursor cursor) { made.fields.push_back(field_of(cursor, depth)); };
        visit_fields(type, visit);
    }

    /// Adds what the declaration says beside its own fields: the fields of base classes, and col_type.
    void add_declared(CXCursor declaration, CppType& made, int depth) const {
        // libclang shows nothing in what a template was made into by itself, but what the template says.
        const CXCursor from = clang_.template_of(declaration);
        const bool is_template = clang_.cursor_kind(from) != CXCursor_InvalidFile;
        std::int64_t end = 0;
        const auto visit = [&](CXCursor cursor) {
            const CXCursorKind kind = clang_.cursor_kind(cursor);
            const bool names_type = kind == CXCursor_TypedefDecl || kind == CXCursor_TypeAliasDecl;
            if (names_type && text(clang_.cursor_spelling(cursor)) == "col_type") made.is_by_columns = true;
            if (kind != CXCursor_CXXBaseSpecifier) return CXChildVisit_Continue;
            made.is_polymorphic = made.is_polymorphic || clang_.is_virtual_base(cursor) != 0;
            const CXType type = clang_.cursor_type(cursor);
            if (clang_.size_of(type) < 0) {
                made.has_unseen_base = true;
                return CXChildVisit_Continue;
            }
            add_base(describe(type, depth + 1), clang_.access(cursor) == CX_CXXPublic, end, made);
            return CXChildVisit_Continue;
        };
        visit_children(is_template ? from : declaration, visit);
    }

    /// Bases lie in order from the start; generated headers assert what follows from that.
    static void add_base(CppType base, bool is_public, std::int64_t& end, CppType& made) {
        made.is_polymorphic = made.is_polymorphic || base.is_polymorphic;
        made.has_unseen_base = made.has_unseen_base || base.has_unseen_base;
        if (base.fields.empty()) return;
        const std::int64_t start = (end + base.alignment - 1) / base.alignment * base.alignment;
        for (CppField& field : base.fields) {
            field.offset += start;
            field.is_public = field.is_public && is_public;
            made.fields.push_back(std::move(field));
        }
        end = start + base.size;
    }

    [[nodiscard]] CppField field_of(CXCursor cursor, int depth) const {
        CppField field;
        const CXType type = clang_.cursor_type(cursor);
        field.type = describe(type, depth + 1);
        const CXCursor declaration = clang_.type_declaration(clang_.canonical_type(type));
        const bool anonymous =
            field.type.kind == CppKind::record && clang_.is_anonymous_record(declaration) != 0;
        if (!anonymous) field.name = text(clang_.cursor_spelling(cursor));
        field.offset = clang_.field_offset(cursor) / bits;
        field.location = place_of(clang_.cursor_location(cursor));
        field.is_public = clang_.access(cursor) == CX_CXXPublic;
        field.is_bit_field = clang_.is_bit_field(cursor) != 0;
        return field;
    }

    const LibClang& clang_;
    const Unit& unit_;
    const Source& source_;
};

class Reader final : public CppReader {
public:
    explicit Reader(std::shared_ptr<const LibClang> clang) : clang_(std::move(clang)) {}

    [[nodiscard]] Outcome<CppReading> read(const std::vector<CppRequest>& requests,
                                           const std::vector<std::string>& options) const override {
        const Source source = source_of(requests);
        const Unit unit(*clang_, source, options);
        if (!unit.is_parsed()) {
            return Diagnostic{
                Severity::error,
                "cpp-header",
                requests.front().header_location,
                "libclang (" + clang_->file.string() + ") can't parse the headers of \"structs\"",
                {"check the options: --cxx-option, \"compile_commands\""}};
        }
        const Walk walk(*clang_, unit, source);
        if (Diagnostics errors = walk.errors(); !errors.empty()) return errors;
        CppReading reading{walk.types(requests.size()), walk.files()};
        if (!clang_->file.empty()) reading.files.push_back(clang_->file);
        return reading;
    }

private:
    std::shared_ptr<const LibClang> clang_;
};

}  // namespace

Outcome<std::shared_ptr<const CppReader>> open_libclang(const std::filesystem::path& site_packages) {
    Outcome<std::shared_ptr<const LibClang>> clang = load_libclang(site_packages);
    if (!clang) return clang.errors();
    return std::shared_ptr<const CppReader>(std::make_shared<Reader>(std::move(clang.value())));
}

}  // namespace kf::gen
