// Walks what libclang knows of the types that a spec names.
#include "libclang/reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "libclang/library.h"
#include "libclang/source.h"

namespace kf::gen {

namespace {

/// The source's name, in no folder of the user's: its includes are found as the options alone say.
constexpr const char* source_name = "/kfgen/structs.cpp";
constexpr std::size_t most_errors = 20;
constexpr int max_nesting = 16;
constexpr int most_rounds = 16;  ///< of questions about base classes of base classes
constexpr std::int64_t bits = 8;

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
        std::vector<const char*> arguments{"-x", "c++", "-std=c++20", "-w", "-ferror-limit=0"};
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

/// The answers of a unit about one base class.
struct BaseAnswer {
    CXType type;
    bool is_empty = false;
    std::int64_t offset = 0;
};

struct Answer {
    std::vector<BaseAnswer> bases;
    std::array<std::int64_t, shape_count> shape{};
};

/// The types that were requested, and what must be asked before they are whole.
struct Findings {
    std::vector<CppType> types;
    std::vector<BaseQuestion> questions;
};

class Walk {
public:
    /// `questions`: those that the source asks.
    Walk(const LibClang& clang, const Unit& unit, const Source& source,
         const std::vector<BaseQuestion>& questions)
        : clang_(clang), unit_(unit), source_(source) {
        for (const BaseQuestion& question : questions) {
            asked_.emplace(question.type, asked_.size());
            answers_.emplace_back();
            answers_.back().bases.resize(question.bases.size(), BaseAnswer{CXType{}, false, -1});
        }
    }

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

    Findings run(std::size_t count) {
        read_answers();
        found_.types.resize(count);
        const auto visit = [&](CXCursor cursor) {
            const std::string name = text(clang_.cursor_spelling(cursor));
            if (const auto type = number_behind(name, SourceName::type); type && *type < count)
                found_.types[*type] = describe(clang_.underlying_type(cursor), 0);
            if (const auto facts = number_behind(name, SourceName::facts); facts && *facts < count)
                add_facts(cursor, found_.types[*facts]);
            return CXChildVisit_Continue;
        };
        visit_children(clang_.unit_cursor(unit_.get()), visit);
        return std::move(found_);
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
    static std::optional<std::size_t> number_behind(std::string_view name, std::string_view start) {
        if (!name.starts_with(start)) return {};
        std::size_t number = 0;
        const char* const last = name.data() + name.size();
        const auto [end, failure] = std::from_chars(name.data() + start.size(), last, number);
        return failure == std::errc() && end == last ? std::optional(number) : std::nullopt;
    }

    /// The two numbers that follow it, "2_0".
    static std::optional<std::pair<std::size_t, std::size_t>> numbers_behind(std::string_view name,
                                                                             std::string_view start) {
        const std::size_t between = name.rfind('_');
        if (between == std::string_view::npos || between < start.size()) return {};
        const auto first = number_behind(name.substr(0, between), start);
        const auto second = number_behind(name.substr(between), "_");
        return first && second ? std::optional(std::pair(*first, *second)) : std::nullopt;
    }

    struct Position {
        std::string file;
        unsigned line = 0;
        unsigned column = 0;
    };

    [[nodiscard]] Position position_of(CXSourceLocation location) const {
        Position position;
        CXFile file = nullptr;
        clang_.file_location(location, &file, &position.line, &position.column, nullptr);
        if (file != nullptr) position.file = text(clang_.file_name(file));
        return position;
    }

    /// A place in the source is one in the spec.
    [[nodiscard]] Location place_of(CXSourceLocation location) const {
        const auto [name, line, column] = position_of(location);
        if (name.empty()) return {};
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
        const bool own =
            (missing && (error.message.starts_with("'std") || error.message.starts_with("'xmm"))) ||
            error.message.starts_with("definition of builtin function");
        if (own)
            error.notes.emplace_back(
                "the compiler's own headers come with libclang-dev, or libclang-common-dev");
        else if (missing)
            error.notes.emplace_back(
                "give its folder by --cxx-option=-I…, or in CMake by target_include_directories() of the "
                "target");
        return error;
    }

    /// The values of an enum's first members.
    template <std::size_t count>
    [[nodiscard]] std::array<std::int64_t, count> values_of(CXCursor declaration) const {
        std::array<std::int64_t, count> values{};
        std::size_t next = 0;
        const auto visit = [&](CXCursor constant) {
            if (clang_.cursor_kind(constant) == CXCursor_EnumConstantDecl && next < values.size())
                values.at(next++) = clang_.constant_value(constant);
            return CXChildVisit_Continue;
        };
        visit_children(declaration, visit);
        return values;
    }

    void add_facts(CXCursor declaration, CppType& type) const {
        const std::array<std::int64_t, fact_count> facts = values_of<fact_count>(declaration);
        type.is_copied_by_bytes = facts[fact_copied_by_bytes] != 0;
        type.is_polymorphic = type.is_polymorphic || facts[fact_polymorphic] != 0;
        type.is_made_by_default = facts[fact_made_by_default] != 0;
        type.is_copyable = facts[fact_copyable] != 0;
        type.is_destroyed_by_bytes = facts[fact_destroyed_by_bytes] != 0;
    }

    /// Reads what the unit says to the source's questions. One with an error has no answer.
    void read_answers() {
        if (answers_.empty()) return;
        const auto visit = [&](CXCursor cursor) {
            const std::string name = text(clang_.cursor_spelling(cursor));
            if (const auto base = numbers_behind(name, SourceName::base); base && is_asked(*base))
                answers_[base->first].bases[base->second].type = clang_.underlying_type(cursor);
            if (const auto base = numbers_behind(name, SourceName::place); base && is_asked(*base)) {
                const auto place = values_of<place_count>(cursor);
                BaseAnswer& answer = answers_[base->first].bases[base->second];
                answer.is_empty = place[place_is_empty] != 0;
                answer.offset = place[place_offset];
            }
            if (const auto number = number_behind(name, SourceName::shape);
                number && *number < answers_.size())
                answers_[*number].shape = values_of<shape_count>(cursor);
            return CXChildVisit_Continue;
        };
        visit_children(clang_.unit_cursor(unit_.get()), visit);
        const unsigned count = clang_.diagnostic_count(unit_.get());
        for (unsigned i = 0; i < count; ++i) {
            CXDiagnostic found = clang_.diagnostic(unit_.get(), i);
            if (clang_.severity(found) >= CXDiagnostic_Error) withdraw_answers(found);
            clang_.dispose_diagnostic(found);
        }
    }

    /// Removes the answer that an error is about, or all answers where that isn't known.
    void withdraw_answers(CXDiagnostic error) {
        std::optional<std::size_t> question = question_at(clang_.diagnostic_location(error));
        CXDiagnosticSet children = clang_.diagnostic_children(error);
        const unsigned count = clang_.count_in_set(children);
        for (unsigned i = 0; i < count && !question; ++i)
            question = question_at(clang_.diagnostic_location(clang_.diagnostic_in_set(children, i)));
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            if (!question || *question == i) answers_[i] = {};
        }
    }

    [[nodiscard]] std::optional<std::size_t> question_at(CXSourceLocation location) const {
        const auto [name, line, column] = position_of(location);
        const auto found = source_.questions.find(line);
        return name != source_name || found == source_.questions.end() ? std::nullopt
                                                                       : std::optional(found->second);
    }

    [[nodiscard]] bool is_asked(const std::pair<std::size_t, std::size_t>& base) const {
        return base.first < answers_.size() && base.second < answers_[base.first].bases.size();
    }

    [[nodiscard]] CppType describe(CXType written, int depth) {
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

    void describe_record(CXType type, CppType& made, int depth) {
        const CXCursor declaration = clang_.type_declaration(type);
        made.kind = CppKind::record;
        made.location = place_of(clang_.cursor_location(declaration));
        made.is_union = clang_.cursor_kind(declaration) == CXCursor_UnionDecl;
        made.is_named = clang_.is_anonymous(declaration) == 0;
        add_declared(declaration, made, depth);
        const auto visit = [&](CXCursor cursor) { made.fields.push_back(field_of(cursor, depth)); };
        visit_fields(type, visit);
    }

    /// Adds what the declaration says beside its own fields: the fields of base classes, and facts from
    /// members other than fields.
    void add_declared(CXCursor declaration, CppType& made, int depth) {
        // libclang shows nothing in what a template was made into by itself, but what the template says.
        const CXCursor from = clang_.template_of(declaration);
        const bool is_template = clang_.cursor_kind(from) != CXCursor_InvalidFile;
        std::vector<CXCursor> bases;
        const auto visit = [&](CXCursor cursor) {
            if (clang_.cursor_kind(cursor) == CXCursor_CXXBaseSpecifier)
                bases.push_back(cursor);
            else
                add_member(cursor, made);
            return CXChildVisit_Continue;
        };
        visit_children(is_template ? from : declaration, visit);
        const auto is_dependent = [&](CXCursor base) { return clang_.size_of(clang_.cursor_type(base)) < 0; };
        if (bases.size() > 1 || std::ranges::any_of(bases, is_dependent))
            add_asked_bases(from, bases, made, depth);
        else if (!bases.empty())
            add_base(describe(clang_.cursor_type(bases[0]), depth + 1), bases[0], 0, made);
    }

    void add_member(CXCursor cursor, CppType& made) const {
        switch (clang_.cursor_kind(cursor)) {
            case CXCursor_TypedefDecl:
            case CXCursor_TypeAliasDecl:
                if (text(clang_.cursor_spelling(cursor)) == "col_type") made.is_by_columns = true;
                break;
            case CXCursor_Constructor:
                if ((clang_.is_copy_constructor(cursor) != 0 || clang_.is_move_constructor(cursor) != 0) &&
                    clang_.is_defaulted(cursor) == 0)
                    made.has_own_copy = true;
                break;
            case CXCursor_Destructor:
            case CXCursor_CXXMethod:
                if (clang_.is_virtual(cursor) != 0) made.is_polymorphic = true;
                if (text(clang_.cursor_spelling(cursor)) == "operator=" && clang_.is_defaulted(cursor) == 0)
                    made.has_own_copy = true;
                break;
            default: break;
        }
    }

    /// Adds base classes that only an answer of the unit's states. Where there is none yet, it asks.
    void add_asked_bases(CXCursor from, const std::vector<CXCursor>& bases, CppType& made, int depth) {
        const auto asked = asked_.find(made.name);
        if (asked == asked_.end()) ask(from, bases, made);
        if (asked == asked_.end() || answers_[asked->second].bases.size() != bases.size()) {
            made.has_unseen_base = true;
            return;
        }
        const Answer answer = answers_[asked->second];
        for (std::size_t i = 0; i < bases.size(); ++i) {
            if (!answer.bases[i].is_empty)
                add_base(describe(answer.bases[i].type, depth + 1), bases[i], answer.bases[i].offset, made);
        }
        if (answer.shape[shape_rows] <= 0 || answer.shape[shape_columns] <= 0) return;
        made.rows = answer.shape[shape_rows];
        made.columns = answer.shape[shape_columns];
        made.is_by_columns = answer.shape[shape_by_columns] != 0;
    }

    /// Asks for the base classes of a type, if C++ can name it and them.
    void ask(CXCursor from, const std::vector<CXCursor>& bases, const CppType& type) {
        if (!type.is_named || type.name.find("(unnamed") != std::string::npos ||
            type.name.find("(anonymous") != std::string::npos)
            return;
        BaseQuestion question{type.name, {}};
        for (const CXCursor& base : bases)
            question.bases.push_back(text(clang_.type_spelling(clang_.cursor_type(base))));
        const bool is_template = clang_.cursor_kind(from) == CXCursor_ClassTemplate ||
                                 clang_.cursor_kind(from) == CXCursor_ClassTemplatePartialSpecialization;
        if (is_template && !add_template(from, question)) return;
        if (!is_template) {
            for (std::size_t i = 0; i < bases.size(); ++i)
                question.bases[i] = name_of(clang_.canonical_type(clang_.cursor_type(bases[i])));
        }
        const auto is_same = [&](const BaseQuestion& other) { return other.type == type.name; };
        if (std::ranges::none_of(found_.questions, is_same)) found_.questions.push_back(std::move(question));
    }

    /// Adds the template's place and parameters. False: it is in a class, where C++ can't ask about it.
    bool add_template(CXCursor from, BaseQuestion& question) const {
        // CXCursor_TranslationUnit is another number in LLVM 14 than in later versions.
        const CXCursorKind unit = clang_.cursor_kind(clang_.unit_cursor(unit_.get()));
        for (CXCursor around = clang_.parent(from); clang_.cursor_kind(around) != unit;
             around = clang_.parent(around)) {
            if (clang_.cursor_kind(around) == CXCursor_LinkageSpec) continue;
            if (clang_.cursor_kind(around) != CXCursor_Namespace) return false;
            question.scope.insert(question.scope.begin(),
                                  (clang_.is_inline_namespace(around) != 0 ? "inline " : "") +
                                      text(clang_.cursor_spelling(around)));
        }
        std::string names;
        const auto visit = [&](CXCursor cursor) {
            const CXCursorKind kind = clang_.cursor_kind(cursor);
            if (kind != CXCursor_TemplateTypeParameter && kind != CXCursor_NonTypeTemplateParameter &&
                kind != CXCursor_TemplateTemplateParameter)
                return CXChildVisit_Continue;
            std::string parameter = text(clang_.pretty_text(cursor, nullptr));
            parameter = parameter.substr(0, parameter.find(" = "));
            std::string name = text(clang_.cursor_spelling(cursor));
            if (name.empty()) {
                name = "kf_unnamed_" + std::to_string(question.parameters.size());
                parameter += " " + name;
            }
            const bool is_pack = parameter.find("...") != std::string::npos;
            names += (names.empty() ? "" : ", ") + name + (is_pack ? "..." : "");
            question.parameters.push_back(std::move(parameter));
            return CXChildVisit_Continue;
        };
        visit_children(from, visit);
        question.pattern = clang_.cursor_kind(from) == CXCursor_ClassTemplate
                               ? text(clang_.cursor_spelling(from)) + "<" + names + ">"
                               : text(clang_.display_name(from));
        return true;
    }

    void add_base(CppType base, CXCursor specifier, std::int64_t start, CppType& made) const {
        const bool is_public = clang_.access(specifier) == CX_CXXPublic;
        made.is_polymorphic =
            made.is_polymorphic || base.is_polymorphic || clang_.is_virtual_base(specifier) != 0;
        made.has_unseen_base = made.has_unseen_base || base.has_unseen_base;
        made.has_own_copy = made.has_own_copy || base.has_own_copy;
        for (CppField& field : base.fields) {
            field.offset += start;
            field.is_public = field.is_public && is_public;
            made.fields.push_back(std::move(field));
        }
    }

    [[nodiscard]] CppField field_of(CXCursor cursor, int depth) {
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
    std::map<std::string, std::size_t> asked_;  ///< by the types' names
    std::vector<Answer> answers_;               ///< without bases: there is none
    Findings found_;
};

class Reader final : public CppReader {
public:
    explicit Reader(std::shared_ptr<const LibClang> clang) : clang_(std::move(clang)) {}

    [[nodiscard]] Outcome<CppReading> read(const std::vector<CppRequest>& requests,
                                           const std::vector<std::string>& options) const override {
        std::vector<BaseQuestion> questions;
        for (int round = 0;; ++round) {
            const Source source = source_of(requests, questions);
            const Unit unit(*clang_, source, options);
            if (!unit.is_parsed()) {
                return Diagnostic{
                    Severity::error,
                    "cpp-header",
                    requests.front().header_location,
                    "libclang (" + clang_->file.string() + ") can't parse the headers of \"structs\"",
                    {"check the options: --cxx-option, \"compile_commands\""}};
            }
            Walk walk(*clang_, unit, source, questions);
            // Errors of later rounds are those of questions, which then have no answer.
            if (Diagnostics errors = walk.errors(); round == 0 && !errors.empty()) return errors;
            Findings found = walk.run(requests.size());
            if (!found.questions.empty() && round < most_rounds) {
                std::ranges::move(found.questions, std::back_inserter(questions));
                continue;
            }
            CppReading reading{std::move(found.types), walk.files()};
            if (!clang_->file.empty()) reading.files.push_back(clang_->file);
            return reading;
        }
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
