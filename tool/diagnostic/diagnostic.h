// An error as a value: a stable id, a place, and the sentence that people read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kf::gen {

/// A place in an input file. Lines and columns count from 1; 0 means "unknown".
struct Location {
    std::string file;
    std::int64_t line = 0;
    std::int64_t column = 0;

    bool operator==(const Location&) const = default;
};

enum class Severity { note, warning, error };

/// One finding. `id` is stable and is what tests match and what docs/errors.md explains.
struct Diagnostic {
    Severity severity = Severity::error;
    std::string id;  ///< e.g. "spec-unknown-key"
    Location location;
    std::string message;             ///< names the argument, what was expected and what was found
    std::vector<std::string> notes;  ///< suggestions and candidates, one line each

    bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// Appends those that `all` doesn't hold yet.
void add_distinct(Diagnostics& all, Diagnostics more);

/// The result of a stage: its value, or all the errors it found (never both), and with either its warnings.
template <class T>
class Outcome {
public:
    Outcome(T value) : content_(std::move(value)) {}              // NOLINT(google-explicit-constructor)
    Outcome(Diagnostics errors) : content_(std::move(errors)) {}  // NOLINT(google-explicit-constructor)
    Outcome(Diagnostic error)
        : content_(Diagnostics{std::move(error)}) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const { return std::holds_alternative<T>(content_); }
    explicit operator bool() const { return ok(); }
    T& value() { return std::get<T>(content_); }
    const T& value() const { return std::get<T>(content_); }
    [[nodiscard]] const Diagnostics& errors() const { return std::get<Diagnostics>(content_); }

    /// Findings of Severity::warning, each once. A stage that calls others passes theirs on.
    [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }
    Outcome&& with_warnings(Diagnostics warnings) && {
        add_distinct(warnings_, std::move(warnings));
        return std::move(*this);
    }

private:
    std::variant<T, Diagnostics> content_;
    Diagnostics warnings_;
};

/// `file:line:column`.
std::string format_place(const Location& location);
/// `file:line:column: error: message [id]`, the lines of `snippet` (see snippet.h), then each note on a line
/// of its own.
std::string format_text(const Diagnostic& diagnostic, std::string_view snippet = {});
/// Returns it as a JSON object on one line (for --error-format json): see diagnostic.schema.json.
std::string format_json(const Diagnostic& diagnostic);
/// Reads what format_json() wrote; nothing when the text isn't that.
std::optional<Diagnostic> parse_json(std::string_view text);

}  // namespace kf::gen
