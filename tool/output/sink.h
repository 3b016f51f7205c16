// Where a run's outputs go: all of them or none, and only those that changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "output/file_system.h"

namespace kf::gen {

struct OutputFile {
    std::filesystem::path path;
    std::string content;
    bool always_rewrite = false;  ///< even when it holds the same bytes: stamps, for their time
};

enum class OutputAction : std::uint8_t { unchanged, created, updated };

struct OutputResult {
    std::filesystem::path path;
    OutputAction action = OutputAction::unchanged;

    bool operator==(const OutputResult&) const = default;
};

class OutputSink {
public:
    virtual ~OutputSink() = default;
    /// One result a file, in order. When any file fails, every file is as it was before the call.
    virtual Outcome<std::vector<OutputResult>> write(const std::vector<OutputFile>& files) = 0;
};

/// Writes beside each file first, then renames in the order given: readers see the old file or the new
/// one, never half of one. What is to be renamed stands in a journal meanwhile, beside the name given, from
/// which finish_interrupted() of the next run does the rest when this one is killed.
class DiskSink final : public OutputSink {
public:
    /// `file_system` must outlive the sink.
    DiskSink(FileSystem& file_system, std::filesystem::path journal)
        : file_system_(file_system), journal_(std::move(journal)) {}
    Outcome<std::vector<OutputResult>> write(const std::vector<OutputFile>& files) override;

private:
    FileSystem& file_system_;
    std::filesystem::path journal_;
};

/// Says what DiskSink would do and touches nothing.
class DryRunSink final : public OutputSink {
public:
    /// `file_system` must outlive the sink.
    explicit DryRunSink(const FileSystem& file_system) : file_system_(file_system) {}
    Outcome<std::vector<OutputResult>> write(const std::vector<OutputFile>& files) override;

private:
    const FileSystem& file_system_;
};

}  // namespace kf::gen
