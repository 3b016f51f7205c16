// The kinds' little language: name, <element type>, [rank].
#include "spec/kind.h"

#include <algorithm>
#include <array>

#include "core/generator_rules.h"
#include "core/join.h"
#include "diagnostic/suggest.h"

namespace kf::gen {
namespace {

struct KindRow {
    std::string_view name;
    Kind kind;
    KindOptions options;
    bool has_element = false;
    bool has_rank = false;
    bool is_supported = false;
    GeneratorKind generator = GeneratorKind::none;
    TextureShape texture = {};
};

constexpr KindRow texture(std::string_view name, const TextureShape& shape) {
    return {.name = name,
            .kind = Kind::texture,
            .options = {.map = true, .format = true},
            .is_supported = true,
            .texture = shape};
}

constexpr KindRow buffer(std::string_view name, Kind kind) {
    const bool elements = kind == Kind::buffer || kind == Kind::rwbuffer;
    return {.name = name,
            .kind = kind,
            .options = {.map = elements, .grad = elements, .accumulate = elements},
            .is_supported = true};
}

constexpr KindRow generator(GeneratorKind kind) {
    return {.name = manifest::generator_words[static_cast<std::size_t>(kind)],
            .kind = Kind::generator,
            .options = {.map = detail::is_spread(kind)},
            .has_rank = kind == GeneratorKind::grid,
            .is_supported = true,
            .generator = kind};
}

constexpr std::array kind_table{
    KindRow{.name = "value",
            .kind = Kind::value,
            .options = {.map = true, .element = true, .grad = true, .accumulate = true},
            .has_element = true,
            .is_supported = true},
    KindRow{.name = "tensor",
            .kind = Kind::tensor,
            .options = {.map = true, .element = true, .grad = true, .layout = true, .accumulate = true},
            .has_element = true,
            .has_rank = true,
            .is_supported = true},
    buffer("buffer", Kind::buffer),
    buffer("rwbuffer", Kind::rwbuffer),
    buffer("byteaddress", Kind::byteaddress),
    buffer("rwbyteaddress", Kind::rwbyteaddress),
    texture("texture1d", {TextureDimension::one, false, false}),
    texture("texture1d_array", {TextureDimension::one, false, true}),
    texture("texture2d", {TextureDimension::two, false, false}),
    texture("texture2d_array", {TextureDimension::two, false, true}),
    texture("texture3d", {TextureDimension::three, false, false}),
    texture("texturecube", {TextureDimension::cube, false, false}),
    texture("texturecube_array", {TextureDimension::cube, false, true}),
    texture("rwtexture1d", {TextureDimension::one, true, false}),
    texture("rwtexture1d_array", {TextureDimension::one, true, true}),
    texture("rwtexture2d", {TextureDimension::two, true, false}),
    texture("rwtexture2d_array", {TextureDimension::two, true, true}),
    texture("rwtexture3d", {TextureDimension::three, true, false}),
    texture("rwtexturecube", {TextureDimension::cube, true, false}),
    texture("rwtexturecube_array", {TextureDimension::cube, true, true}),
    KindRow{.name = "sampler", .kind = Kind::sampler, .options = {}, .is_supported = true},
    KindRow{.name = "pointer", .kind = Kind::pointer, .options = {}, .is_supported = true},
    KindRow{.name = "acceleration_structure", .kind = Kind::acceleration_structure, .options = {}},
    generator(GeneratorKind::call_id),
    generator(GeneratorKind::thread_id),
    generator(GeneratorKind::grid),
    generator(GeneratorKind::range),
    generator(GeneratorKind::wang_hash),
    generator(GeneratorKind::rand_float),
    KindRow{.name = "constant", .kind = Kind::constant, .options = {.value = true}, .is_supported = true},
    KindRow{.name = "auto",
            .kind = Kind::automatic,
            .options = {.grad = true, .accumulate = true},
            .is_supported = true}};

const KindRow* row_of(const KindSpec& kind) {
    const auto row = std::find_if(kind_table.begin(), kind_table.end(), [&](const KindRow& candidate) {
        return candidate.kind == kind.kind && candidate.generator == kind.generator &&
               candidate.texture == kind.texture;
    });
    return row == kind_table.end() ? nullptr : &*row;
}

std::string spelling_of(const KindRow& row) {
    std::string spelling(row.name);
    if (row.has_rank) spelling += row.generator == GeneratorKind::grid ? "[n]" : "[rank]";
    return spelling;
}

void add_spellings(const KindRow& row, std::vector<std::string>& spellings) {
    spellings.push_back(spelling_of(row));
    if (row.has_element) spellings.push_back(spelling_of(row).insert(row.name.size(), "<type>"));
}

/// The spellings that suggestions name: what this version can't do helps nobody.
std::vector<std::string> offered_spellings() {
    std::vector<std::string> spellings;
    for (const KindRow& row : kind_table)
        if (row.is_supported) add_spellings(row, spellings);
    return spellings;
}

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
        const auto row = std::find_if(kind_table.begin(), kind_table.end(),
                                      [&](const KindRow& f) { return f.name == name; });
        if (row == kind_table.end()) {
            return unknown(name, begin);
        }
        kind_.kind = row->kind;
        kind_.texture = row->texture;
        kind_.generator = row->generator;
        kind_.spelling = name;
        if (auto error = element(*row)) {
            return *error;
        }
        if (auto error = rank(*row)) {
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
    std::optional<Diagnostic> element(const KindRow& row) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != '<') {
            return std::nullopt;
        }
        if (!row.has_element) {
            return error_here("the kind '" + std::string(row.name) + "' takes no element type");
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

    std::optional<Diagnostic> rank(const KindRow& row) {
        skip_spaces();
        const bool given = at_ < text_.size() && text_[at_] == '[';
        if (!given) {
            if (row.has_rank) {
                return error_here("the kind '" + kind_.spelling + "' needs its rank in brackets",
                                  {"for example " + kind_.spelling + "[1] or " + kind_.spelling + "[2]"});
            }
            return std::nullopt;
        }
        if (!row.has_rank) {
            return error_here("the kind '" + std::string(row.name) + "' takes no rank");
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
        const int least = row.generator == GeneratorKind::grid ? 1 : 0;
        if (value < least || value > max_rank) {
            at_ = begin;
            return error_here("the rank of '" + std::string(row.name) + "' must be from " +
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
            return error_here("expected a kind", {"kinds: " + join(offered_spellings())});
        }
        std::vector<std::string> names;
        for (const KindRow& row : kind_table) {
            if (row.is_supported) names.emplace_back(row.name);
        }
        Diagnostic error = error_here("unknown kind '" + std::string(name) + "'");
        if (const auto near = closest(name, names)) {
            error.notes.push_back("did you mean '" + *near + "'?");
        }
        error.notes.push_back("kinds: " + join(offered_spellings()));
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
           accumulate == other.accumulate && format == other.format && value == other.value &&
           fields == other.fields && location == other.location;
}

bool FieldSpec::operator==(const FieldSpec& other) const {
    return name == other.name && alternatives == other.alternatives && location == other.location;
}

Outcome<KindSpec> parse_kind(std::string_view text, const Location& location) {
    return KindParser(text, location).parse();
}

KindOptions options_of(const KindSpec& kind) {
    if (kind.kind == Kind::fields) return {.grad = true};
    const KindRow* row = row_of(kind);
    return row != nullptr ? row->options : KindOptions{};
}

bool is_supported(const KindSpec& kind) {
    const KindRow* row = row_of(kind);
    return kind.kind == Kind::fields || (row != nullptr && row->is_supported);
}

std::vector<std::string> kind_spellings() {
    std::vector<std::string> spellings;
    for (const KindRow& row : kind_table) add_spellings(row, spellings);
    return spellings;
}

std::vector<std::string> supported_spellings() {
    std::vector<std::string> spellings;
    for (const KindRow& row : kind_table) {
        if (row.is_supported && row.kind != Kind::automatic) add_spellings(row, spellings);
    }
    return spellings;
}

}  // namespace kf::gen
