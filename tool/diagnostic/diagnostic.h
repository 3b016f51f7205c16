// An error as a value: a stable id, a place, and the sentence that people read.
#pragma once

#include <cstdint>
#include <string>
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

/// What a stage returns: its value, or all the errors it found (never both).
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

private:
    std::variant<T, Diagnostics> content_;
};

/// `file:line:column: error: message [id]`, then each note on a line of its own.
std::string format_text(const Diagnostic& diagnostic);
/// The same as one JSON object on one line (for --error-format json).
std::string format_json(const Diagnostic& diagnostic);

}  // namespace kf::gen
