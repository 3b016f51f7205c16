// The files that a run read and wrote, so that the next one finds that nothing changed without loading Slang.
#include "cache/run_state.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cache/hash.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view header = "kfgen-state 3";

std::string content_fingerprint(std::string_view content) { return "sha256:" + hash_parts({content}); }

std::string fingerprint(const FileSystem& file_system, const fs::path& path, bool by_content) {
    const auto status = file_system.status(path);
    if (!status || status->is_directory) {
        return "absent";
    }
    if (!by_content) {
        return "stat:" + std::to_string(status->size) + ':' + std::to_string(status->modified);
    }
    const Outcome<std::string> content = file_system.read(path);
    return content ? content_fingerprint(content.value()) : "absent";
}

std::string look_of(const FileStatus& status) {
    return std::to_string(status.size) + ':' + std::to_string(status.modified) + ':' +
           std::to_string(status.changed) + ':' + std::to_string(status.serial);
}

std::string look_at(const FileSystem& file_system, const fs::path& path) {
    const auto status = file_system.status(path);
    return status && !status->is_directory ? look_of(*status) : std::string();
}

/// Whether the file, without reading it, is what was recorded.
bool looks_unchanged(const FileSystem& file_system, const RecordedFile& file, std::int64_t recorded) {
    if (file.look.empty()) return false;
    const auto status = file_system.status(file.path);
    return status && std::max(status->modified, status->changed) < recorded && look_of(*status) == file.look;
}

bool is_unchanged(const FileSystem& file_system, const RecordedFile& file) {
    const bool by_content = file.fingerprint.substr(0, 5) != "stat:";
    return fingerprint(file_system, file.path, by_content) == file.fingerprint;
}

/// A path on one line.
std::string escaped(const std::string& path) {
    std::string text;
    for (const char c : path) {
        text += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
    }
    return text;
}

std::string unescaped(std::string_view text) {
    std::string path;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
            path += text[++i] == 'n' ? '\n' : text[i];
        } else {
            path += text[i];
        }
    }
    return path;
}

/// Cuts the text up to the separator off its front; false when there is none.
bool cut(std::string_view& text, char separator, std::string_view& front) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) {
        return false;
    }
    front = text.substr(0, at);
    text.remove_prefix(at + 1);
    return true;
}

}  // namespace

std::vector<fs::path> RunInputs::paths() const {
    std::vector<fs::path> all;
    for (const auto& [path, text] : files) all.push_back(path);
    all.insert(all.end(), programs.begin(), programs.end());
    return all;
}

RunState record_run(const FileSystem& file_system, std::string key, const RunInputs& inputs,
                    const std::vector<OutputFile>& outputs, Diagnostics warnings) {
    RunState state{std::move(key), {}, {}, std::move(warnings)};
    for (const auto& [path, text] : inputs.files) {
        state.inputs.push_back({path, content_fingerprint(text)});
    }
    for (const fs::path& path : inputs.programs) {
        state.inputs.push_back({path, fingerprint(file_system, path, false)});
    }
    for (const OutputFile& file : outputs) {
        state.outputs.push_back({file.path, content_fingerprint(file.content)});
    }
    return state;
}

bool is_current(const FileSystem& file_system, const RunState& state, std::string_view key,
                std::int64_t recorded) {
    const auto unchanged = [&](const RecordedFile& file) { return is_unchanged(file_system, file); };
    const auto output_unchanged = [&](const RecordedFile& file) {
        return looks_unchanged(file_system, file, recorded) || is_unchanged(file_system, file);
    };
    return state.key == key && std::all_of(state.inputs.begin(), state.inputs.end(), unchanged) &&
           std::all_of(state.outputs.begin(), state.outputs.end(), output_unchanged);
}

bool is_settled(const FileSystem& file_system, const RunState& state, std::int64_t recorded) {
    return std::all_of(state.outputs.begin(), state.outputs.end(), [&](const RecordedFile& file) {
        return looks_unchanged(file_system, file, recorded);
    });
}

void settle(FileSystem& file_system, RunState state, const fs::path& path) {
    constexpr auto tick = std::chrono::milliseconds(12);  // of most file systems' clocks, and more
    for (int attempt = 0; attempt < 3; ++attempt) {
        for (RecordedFile& file : state.outputs) file.look = look_at(file_system, file.path);
        const bool unchanged =
            std::all_of(state.outputs.begin(), state.outputs.end(),
                        [&](const RecordedFile& file) { return is_unchanged(file_system, file); });
        if (!unchanged) return;
        const fs::path temporary = file_system.temporary_beside(path);
        if (file_system.write(temporary, run_state_text(state)) || file_system.rename(temporary, path)) {
            file_system.remove(temporary);
            return;
        }
        const auto status = file_system.status(path);
        if (!status || is_settled(file_system, state, status->changed)) return;
        std::this_thread::sleep_for(tick);
    }
}

std::string run_state_text(const RunState& state) {
    std::string text(header);
    text += "\nkey " + state.key + '\n';
    for (const auto& [word, files] : {std::pair{"in ", &state.inputs}, std::pair{"out ", &state.outputs}}) {
        for (const RecordedFile& file : *files) {
            text += word + file.fingerprint + ' ' + escaped(file.path.string()) + '\n';
            if (!file.look.empty()) text += "look " + file.look + '\n';
        }
    }
    for (const Diagnostic& warning : state.warnings) {
        text += "warning " + format_json(warning) + '\n';
    }
    // A state that lost its end would forget inputs, and call stale outputs current.
    return text + "end " + hash_parts({text}) + '\n';
}

std::optional<RunState> parse_run_state(std::string_view text) {
    const std::size_t end = text.rfind("\nend ");
    if (end == std::string_view::npos ||
        text.substr(end + 1) != "end " + hash_parts({text.substr(0, end + 1)}) + '\n') {
        return std::nullopt;
    }
    text = text.substr(0, end + 1);
    RunState state;
    std::string_view line;
    if (!cut(text, '\n', line) || line != header) {
        return std::nullopt;
    }
    while (cut(text, '\n', line)) {
        std::string_view word;
        std::string_view mark;
        if (!cut(line, ' ', word)) {
            return std::nullopt;
        }
        if (word == "key") {
            state.key = line;
        } else if ((word == "in" || word == "out") && cut(line, ' ', mark)) {
            (word == "in" ? state.inputs : state.outputs).push_back({unescaped(line), std::string(mark)});
        } else if (word == "look" && !state.outputs.empty()) {
            state.outputs.back().look = line;
        } else if (word == "warning") {
            const std::optional<Diagnostic> warning = parse_json(line);
            if (!warning) {
                return std::nullopt;
            }
            state.warnings.push_back(*warning);
        } else {
            return std::nullopt;
        }
    }
    return state;
}

void settle(FileSystem& file_system, const fs::path& path) {
    const Outcome<std::string> text = file_system.read(path);
    const auto state = text ? parse_run_state(text.value()) : std::nullopt;
    if (state) settle(file_system, *state, path);
}

}  // namespace kf::gen
