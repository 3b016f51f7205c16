// Reads lines of "code TAB severity TAB file TAB line TAB column TAB end line TAB end column TAB text".
#include "slang/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "slang/tensor_constraints.h"

namespace kf::gen {

namespace {

struct Line {
    std::string_view code;
    std::string_view severity;
    Location location;
    std::string_view text;
};

std::int64_t to_number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Notes of some findings have no number.
bool is_code(std::string_view text) {
    return text.starts_with('E') && text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::optional<Line> parse_line(std::string_view line) {
    std::array<std::string_view, 8> cells;
    for (std::size_t index = 0; index + 1 < cells.size(); ++index) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos) {
            return std::nullopt;
        }
        cells[index] = line.substr(0, tab);
        line.remove_prefix(tab + 1);
    }
    cells.back() = line;
    if (!is_code(cells[0])) {
        return std::nullopt;
    }
    return Line{
        cells[0], cells[1], {std::string(cells[2]), to_number(cells[3]), to_number(cells[4])}, cells[7]};
}

// Says only that something else was wrong. E39999 is the code of other errors too.
bool is_closing_remark(const Line& line) {
    return line.code == "E40003" || (line.code == "E39999" && line.text.starts_with("import failed"));
}

std::string place_text(const Location& location) {
    return location.file.empty() || location.line == 0 ? std::string() : format_place(location) + ": ";
}

Location location_in(std::string_view text) {
    const std::size_t column = text.rfind(':');
    const std::size_t line = column == std::string_view::npos ? column : text.rfind(':', column - 1);
    if (line == std::string_view::npos) return {};
    return {std::string(text.substr(0, line)), to_number(text.substr(line + 1)),
            to_number(text.substr(column + 1))};
}

class Collector {
public:
    explicit Collector(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            std::string_view line = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
            while (!line.empty() && (line.back() == '\r' || line.back() == '\0')) {
                line.remove_suffix(1);
            }
            if (const std::optional<Line> parsed = parse_line(line)) {
                add(*parsed);
            } else {
                add_unknown(line);
            }
        }
    }
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    Diagnostics take() {
        for (Diagnostic& error : errors_) {
            add_cure(error);
        }
        if (errors_.empty()) {
            errors_ = std::move(remarks_);
        }
        if (!unknown_.empty() && (errors_.empty() || unknown_.find("assert") != std::string::npos)) {
            errors_.push_back({Severity::error, "slang-internal", {}, "Slang failed: " + unknown_, {}});
        }
        return std::move(errors_);
    }
    Diagnostics take_warnings() {
        Diagnostics distinct;
        add_distinct(distinct, std::move(warnings_));
        return distinct;
    }

private:
    void add(const Line& line) {
        if (line.severity == "span") {
            add_span(line);
        } else if (line.severity.find("error") != std::string_view::npos) {
            add_finding(line, Severity::error);
        } else if (line.severity == "warning") {
            add_finding(line, Severity::warning);
        } else {
            first_span_ = false;
            if (line.severity == "note" && !skipping_) {
                add_note(place_text(line.location) + std::string(line.text));
            }
        }
    }
    void add_unknown(std::string_view line) {
        if (add_readable(line)) return;
        // "abort compilation: …" repeats the fatal error before it.
        if (line.empty() || line.starts_with("abort compilation")) {
            return;
        }
        unknown_ += (unknown_.empty() ? "" : "; ") + std::string(line);
    }
    // Asked for a layout, Slang prints for people: "warning[E39019]: title", then "--> file:line:column",
    // then the line with carets below it, and behind them what exactly is wrong.
    bool add_readable(std::string_view line) {
        constexpr std::string_view opening = "warning[";
        constexpr std::string_view arrow = "--> ";
        const std::size_t end = line.find("]: ");
        if (line.starts_with(opening) && end != std::string_view::npos) {
            add_finding(
                {line.substr(opening.size(), end - opening.size()), "warning", {}, line.substr(end + 3)},
                Severity::warning);
            readable_ = true;
        } else if (line.empty() || !readable_) {
            readable_ = false;
        } else {
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
            const std::size_t carets = line.starts_with('|') ? line.rfind('^') : std::string_view::npos;
            if (line.starts_with(arrow)) {
                current_->back().location = location_in(line.substr(arrow.size()));
            } else if (carets != std::string_view::npos) {
                add_span({{}, {}, {}, line.substr(std::min(carets + 2, line.size()))});
            }
        }
        return readable_;
    }
    void add_finding(const Line& line, Severity severity) {
        const std::string id =
            line.code == "E99999" ? std::string("slang-internal") : "slang-" + std::string(line.code);
        Diagnostic finding{severity, id, line.location, std::string(line.text), {}};
        // Each importing module repeats what was found in the imported one.
        const auto same = [&](const Seen& seen) { return seen.id == id && seen.location == line.location; };
        // Warnings of one place and id may differ in what their spans say.
        skipping_ = severity == Severity::error && !line.location.file.empty() &&
                    std::find_if(seen_.begin(), seen_.end(), same) != seen_.end();
        first_span_ = true;
        if (skipping_) {
            return;
        }
        seen_.push_back({id, line.location});
        current_ = severity == Severity::warning ? &warnings_
                   : is_closing_remark(line)     ? &remarks_
                                                 : &errors_;
        current_->push_back(std::move(finding));
    }
    // The first span is the finding's own place and says what exactly is wrong there.
    void add_span(const Line& line) {
        if (skipping_ || line.text.empty()) {
            return;
        }
        Diagnostic& finding = current_->back();
        if (!first_span_) {
            add_note(place_text(line.location) + std::string(line.text));
            return;
        }
        first_span_ = false;
        finding.message = std::string(line.text);
        while (finding.message.ends_with('.')) {
            finding.message.pop_back();
        }
    }
    void add_note(std::string text) { current_->back().notes.push_back(std::move(text)); }

    // Kernels can't say whose function they mean, as the user's own module does by being the nearest.
    static void add_cure(Diagnostic& error) {
        const bool slangs_own = std::any_of(
            error.notes.begin(), error.notes.end(),
            [](const std::string& note) { return note.find(".meta.slang:") != std::string::npos; });
        if (slangs_own && error.message.starts_with("ambiguous call")) {
            error.notes.emplace_back(
                "Slang has a function of this name and these types: mark yours [OverloadRank(1)], or put it "
                "into "
                "a namespace");
        }
        constexpr std::string_view type = "type '";
        if (error.id == "slang-E30401" && error.message.starts_with(type) &&
            names_tensor(std::string_view(error.message).substr(type.size()))) {
            error.notes.emplace_back(tensor_constraint_cure());
        }
    }

    struct Seen {
        std::string id;
        Location location;
    };

    Diagnostics errors_;
    Diagnostics warnings_;
    Diagnostics remarks_;             // kept for when there is nothing else
    Diagnostics* current_ = nullptr;  // where the last finding went; null before the first
    std::vector<Seen> seen_;
    std::string unknown_;
    bool skipping_ = true;
    bool first_span_ = false;
    bool readable_ = false;  // within what is printed for people
};

}  // namespace

Diagnostics parse_slang_diagnostics(std::string_view text) { return Collector(text).take(); }

Diagnostics parse_slang_warnings(std::string_view text) { return Collector(text).take_warnings(); }

}  // namespace kf::gen
