// The files that a run read and wrote, so that the next one finds that nothing changed without loading Slang.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/file_system.h"
#include "output/sink.h"

namespace kf::gen {

/// A file and what it held: "sha256:…", "stat:SIZE:TIME", or "absent".
struct RecordedFile {
    std::filesystem::path path;
    std::string fingerprint;
    std::string look = {};  ///< of an output that holds that: its status, "SIZE:MODIFIED:CHANGED:SERIAL"

    bool operator==(const RecordedFile&) const = default;
};

/// `key` stands for all that is not a file: kfgen's version and the options that shape the outputs.
struct RunState {
    std::string key;
    std::vector<RecordedFile> inputs;
    std::vector<RecordedFile> outputs;
    Diagnostics warnings;  ///< what the run warned of, and every run does until something changes

    bool operator==(const RunState&) const = default;
};

/// The inputs of a run. Files come with what they held when they were read: edited while the run went on,
/// they make the next one start anew.
struct RunInputs {
    std::vector<std::pair<std::filesystem::path, std::string>> files;  ///< by content
    std::vector<std::filesystem::path>
        programs;  ///< by size and time: kfgen, libslang: large, and replaced whole

    [[nodiscard]] std::vector<std::filesystem::path> paths() const;
};

RunState record_run(const FileSystem& file_system, std::string key, const RunInputs& inputs,
                    const std::vector<OutputFile>& outputs, Diagnostics warnings = {});

/// Whether all inputs and outputs are as recorded and the key is the same. Outputs, which are large, aren't
/// read where their status is the recorded one and older than `recorded`: when the state's file was changed
/// last. Files that are changed within a tick of the file system's clock look alike.
bool is_current(const FileSystem& file_system, const RunState& state, std::string_view key,
                std::int64_t recorded = 0);

/// Whether is_current() reads no output.
[[nodiscard]] bool is_settled(const FileSystem& file_system, const RunState& state, std::int64_t recorded);

/// Writes the state, if its outputs are as recorded, so that the next run needn't read them. What can't be
/// written stays as it is.
void settle(FileSystem& file_system, RunState state, const std::filesystem::path& path);
/// Rewrites the state that was just written, so that the next run needn't read its outputs.
void settle(FileSystem& file_system, const std::filesystem::path& path);

/// The state file's text. parse_run_state gives nothing when the text is damaged or of another version:
/// then the run is simply not current.
std::string run_state_text(const RunState& state);
std::optional<RunState> parse_run_state(std::string_view text);

}  // namespace kf::gen
