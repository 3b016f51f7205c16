// How a diagnostic is printed: as people read it, and as tools read it.
#include "diagnostic/diagnostic.h"

#include <nlohmann/json.hpp>
#include <string_view>

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

}  // namespace

std::string format_text(const Diagnostic& diagnostic) {
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

}  // namespace kf::gen
