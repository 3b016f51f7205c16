// How a diagnostic is printed: as people read it, and as tools read it.
#include "diagnostic/diagnostic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kf::gen {
namespace {

std::string_view word(Severity severity) {
    switch (severity) {
        case Severity::note: return "note";
        case Severity::warning: return "warning";
        case Severity::error: break;
    }
    return "error";
}

std::optional<Severity> severity_of(std::string_view text) {
    for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
        if (word(severity) == text) return severity;
    }
    return std::nullopt;
}

}  // namespace

void add_distinct(Diagnostics& all, Diagnostics more) {
    for (Diagnostic& diagnostic : more) {
        if (std::find(all.begin(), all.end(), diagnostic) == all.end()) all.push_back(std::move(diagnostic));
    }
}

std::string format_place(const Location& location) {
    return location.file + ':' + std::to_string(location.line) + ':' + std::to_string(location.column);
}

std::string format_text(const Diagnostic& diagnostic, std::string_view snippet) {
    const Location& location = diagnostic.location;
    std::string text = location.file.empty() ? "kfgen" : location.file;
    if (location.line > 0) {
        text += ':' + std::to_string(location.line);
        if (location.column > 0) {
            text += ':' + std::to_string(location.column);
        }
    }
    text += ": ";
    text += word(diagnostic.severity);
    text += ": " + diagnostic.message + " [" + diagnostic.id + "]";
    text += snippet;
    for (const std::string& note : diagnostic.notes) {
        text += "\n    note: " + note;
    }
    return text;
}

std::string format_json(const Diagnostic& diagnostic) {
    const Location& location = diagnostic.location;
    const nlohmann::ordered_json json{{"severity", word(diagnostic.severity)},
                                      {"id", diagnostic.id},
                                      {"file", location.file},
                                      {"line", location.line},
                                      {"column", location.column},
                                      {"message", diagnostic.message},
                                      {"notes", diagnostic.notes}};
    // File names and Slang's messages need not be UTF-8: replace what is not, never throw.
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<Diagnostic> parse_json(std::string_view text) {
    try {
        const auto json = nlohmann::json::parse(text);
        const auto severity = severity_of(json.at("severity").get<std::string>());
        if (!severity) return std::nullopt;
        return Diagnostic{*severity,
                          json.at("id").get<std::string>(),
                          {json.at("file").get<std::string>(), json.at("line").get<std::int64_t>(),
                           json.at("column").get<std::int64_t>()},
                          json.at("message").get<std::string>(),
                          json.at("notes").get<std::vector<std::string>>()};
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

}  // namespace kf::gen
