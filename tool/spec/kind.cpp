// The kinds' little language: name, <element type>, [rank].
#include "spec/kind.h"

#include <algorithm>
#include <array>

#include "diagnostic/suggest.h"

namespace kf::gen {
namespace {

struct KindForm {
    std::string_view name;
    Kind kind;
    bool has_element;
    bool has_rank;
    TextureShape texture;
    GeneratorKind generator = GeneratorKind::none;
};

constexpr TextureDimension one = TextureDimension::one;
constexpr TextureDimension two = TextureDimension::two;
constexpr TextureDimension three = TextureDimension::three;
constexpr TextureDimension cube = TextureDimension::cube;

constexpr std::array forms{
    KindForm{"value", Kind::value, true, false, {}},
    KindForm{"tensor", Kind::tensor, true, true, {}},
    KindForm{"buffer", Kind::buffer, false, false, {}},
    KindForm{"rwbuffer", Kind::rwbuffer, false, false, {}},
    KindForm{"byteaddress", Kind::byteaddress, false, false, {}},
    KindForm{"rwbyteaddress", Kind::rwbyteaddress, false, false, {}},
    KindForm{"texture1d", Kind::texture, false, false, {one, false, false}},
    KindForm{"texture1d_array", Kind::texture, false, false, {one, false, true}},
    KindForm{"texture2d", Kind::texture, false, false, {two, false, false}},
    KindForm{"texture2d_array", Kind::texture, false, false, {two, false, true}},
    KindForm{"texture3d", Kind::texture, false, false, {three, false, false}},
    KindForm{"texturecube", Kind::texture, false, false, {cube, false, false}},
    KindForm{"texturecube_array", Kind::texture, false, false, {cube, false, true}},
    KindForm{"rwtexture1d", Kind::texture, false, false, {one, true, false}},
    KindForm{"rwtexture1d_array", Kind::texture, false, false, {one, true, true}},
    KindForm{"rwtexture2d", Kind::texture, false, false, {two, true, false}},
    KindForm{"rwtexture2d_array", Kind::texture, false, false, {two, true, true}},
    KindForm{"rwtexture3d", Kind::texture, false, false, {three, true, false}},
    KindForm{"rwtexturecube", Kind::texture, false, false, {cube, true, false}},
    KindForm{"rwtexturecube_array", Kind::texture, false, false, {cube, true, true}},
    KindForm{"sampler", Kind::sampler, false, false, {}},
    KindForm{"pointer", Kind::pointer, false, false, {}},
    KindForm{"acceleration_structure", Kind::acceleration_structure, false, false, {}},
    KindForm{"call_id", Kind::generator, false, false, {}, GeneratorKind::call_id},
    KindForm{"thread_id", Kind::generator, false, false, {}, GeneratorKind::thread_id},
    KindForm{"grid", Kind::generator, false, true, {}, GeneratorKind::grid},
    KindForm{"range", Kind::generator, false, false, {}, GeneratorKind::range},
    KindForm{"wang_hash", Kind::generator, false, false, {}, GeneratorKind::wang_hash},
    KindForm{"rand_float", Kind::generator, false, false, {}, GeneratorKind::rand_float},
    KindForm{"auto", Kind::automatic, false, false, {}}};

constexpr int max_nesting = 32;
constexpr std::size_t max_length = 1024;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

class KindParser {
public:
    KindParser(std::string_view text, Location location) : text_(text), location_(std::move(location)) {}

    Outcome<KindSpec> parse() {
        skip_spaces();
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_name(text_[at_])) {
            ++at_;
        }
        const std::string_view name = text_.substr(begin, at_ - begin);
        const auto form =
            std::find_if(forms.begin(), forms.end(), [&](const KindForm& f) { return f.name == name; });
        if (form == forms.end()) {
            return unknown(name, begin);
        }
        kind_.kind = form->kind;
        kind_.texture = form->texture;
        kind_.generator = form->generator;
        kind_.spelling = name;
        if (auto error = element(*form)) {
            return *error;
        }
        if (auto error = rank(*form)) {
            return *error;
        }
        skip_spaces();
        if (at_ < text_.size()) {
            return error_here("unexpected '" + std::string(text_.substr(at_)) + "' after the kind '" +
                              kind_.spelling + "'");
        }
        kind_.location = location_;
        return std::move(kind_);
    }

private:
    std::optional<Diagnostic> element(const KindForm& form) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != '<') {
            return std::nullopt;
        }
        if (!form.has_element) {
            return error_here("the kind '" + std::string(form.name) + "' takes no element type");
        }
        const std::size_t open = at_++;
        std::string type;
        for (int depth = 1;; ++at_) {
            if (at_ == text_.size()) {
                at_ = open;
                return error_here("this '<' is never closed");
            }
            const char c = text_[at_];
            depth += c == '<' ? 1 : c == '>' ? -1 : 0;
            if (depth == 0) {
                break;
            }
            if (depth > max_nesting || type.size() > max_length) {
                at_ = open;
                return error_here("this element type is longer or nested deeper than any that there is");
            }
            if (!is_name(c) && !is_space(c) &&
                std::string_view("<>,.:[]").find(c) == std::string_view::npos) {
                return error_here("'" + std::string(1, c) + "' can't be part of an element type");
            }
            // One spelling for one type: spaces stay only between two words and after commas.
            if (is_space(c)) {
                if (!type.empty() && is_name(type.back()) && at_ + 1 < text_.size() &&
                    is_name(text_[at_ + 1])) {
                    type += ' ';
                }
            } else {
                type += c;
                type += c == ',' ? " " : "";
            }
        }
        if (type.empty()) {
            return error_here("the element type inside <> is missing");
        }
        ++at_;
        kind_.element = type;
        kind_.spelling += '<' + type + '>';
        return std::nullopt;
    }

    std::optional<Diagnostic> rank(const KindForm& form) {
        skip_spaces();
        const bool given = at_ < text_.size() && text_[at_] == '[';
        if (!given) {
            if (form.has_rank) {
                return error_here("the kind '" + kind_.spelling + "' needs its rank in brackets",
                                  {"for example " + kind_.spelling + "[1] or " + kind_.spelling + "[2]"});
            }
            return std::nullopt;
        }
        if (!form.has_rank) {
            return error_here("the kind '" + std::string(form.name) + "' takes no rank");
        }
        ++at_;
        skip_spaces();
        const std::size_t begin = at_;
        std::int64_t value = 0;
        while (at_ < text_.size() && is_digit(text_[at_])) {
            value = std::min(value * 10 + (text_[at_++] - '0'), max_rank + 1);
        }
        if (begin == at_) {
            return error_here("expected the rank, a number, inside the brackets");
        }
        const int least = form.generator == GeneratorKind::grid ? 1 : 0;
        if (value < least || value > max_rank) {
            at_ = begin;
            return error_here("the rank of '" + std::string(form.name) + "' must be from " +
                              std::to_string(least) + " to " + std::to_string(max_rank));
        }
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != ']') {
            return error_here("expected ']' after the rank");
        }
        ++at_;
        kind_.rank = static_cast<int>(value);
        kind_.spelling += '[' + std::to_string(value) + ']';
        return std::nullopt;
    }

    Diagnostic unknown(std::string_view name, std::size_t begin) {
        at_ = begin;
        if (name.empty()) {
            return error_here("expected a kind", {"kinds: " + join(kind_spellings())});
        }
        std::vector<std::string> names;
        for (const KindForm& form : forms) {
            names.emplace_back(form.name);
        }
        Diagnostic error = error_here("unknown kind '" + std::string(name) + "'");
        if (const auto near = closest(name, names)) {
            error.notes.push_back("did you mean '" + *near + "'?");
        }
        error.notes.push_back("kinds: " + join(kind_spellings()));
        return error;
    }

    Diagnostic error_here(std::string message, std::vector<std::string> notes = {}) const {
        Location place = location_;
        if (place.column > 0) {
            place.column += static_cast<std::int64_t>(at_);
        }
        return {Severity::error, "spec-kind", std::move(place), std::move(message), std::move(notes)};
    }

    void skip_spaces() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }

    std::string_view text_;
    Location location_;
    std::size_t at_ = 0;
    KindSpec kind_;
};

}  // namespace

bool KindSpec::operator==(const KindSpec& other) const {
    return kind == other.kind && spelling == other.spelling && element == other.element &&
           rank == other.rank && generator == other.generator && texture == other.texture &&
           map == other.map && grad == other.grad && contiguous_only == other.contiguous_only &&
           accumulate == other.accumulate && format == other.format && fields == other.fields &&
           location == other.location;
}

bool FieldSpec::operator==(const FieldSpec& other) const {
    return name == other.name && alternatives == other.alternatives && location == other.location;
}

Outcome<KindSpec> parse_kind(std::string_view text, const Location& location) {
    return KindParser(text, location).parse();
}

std::vector<std::string> kind_spellings() {
    std::vector<std::string> spellings;
    for (const KindForm& form : forms) {
        std::string spelling(form.name);
        if (form.has_rank) {
            spelling += form.generator == GeneratorKind::grid ? "[n]" : "[rank]";
        }
        spellings.push_back(spelling);
        if (form.has_element) {
            spelling.insert(form.name.size(), "<type>");
            spellings.push_back(spelling);
        }
    }
    return spellings;
}

}  // namespace kf::gen
