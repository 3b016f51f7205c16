// Where a run's outputs go: all of them or none, and only those that changed.
#include "output/sink.h"

#include <optional>

#include "core/sha256.h"
#include "output/journal.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

/// The action that an output needs, and the text that is there now.
struct Change {
    OutputAction action = OutputAction::unchanged;
    std::optional<std::string> previous;
};

Outcome<Change> compare(const FileSystem& file_system, const OutputFile& file) {
    const auto status = file_system.status(file.path);
    if (!status) {
        return Change{OutputAction::created, std::nullopt};
    }
    if (status->is_directory) {
        return Diagnostic{Severity::error,
                          "file-unwritable",
                          {file.path.string(), 0, 0},
                          "this output is to be a file, but a folder has its name",
                          {}};
    }
    Outcome<std::string> content = file_system.read(file.path);
    if (!content) {
        return content.errors();
    }
    const bool same = content.value() == file.content && !file.always_rewrite;
    return Change{same ? OutputAction::unchanged : OutputAction::updated, std::move(content.value())};
}

Outcome<std::vector<Change>> compare_all(const FileSystem& file_system,
                                         const std::vector<OutputFile>& files) {
    std::vector<Change> changes;
    Diagnostics errors;
    for (const OutputFile& file : files) {
        Outcome<Change> change = compare(file_system, file);
        if (change) {
            changes.push_back(std::move(change.value()));
        } else {
            errors.insert(errors.end(), change.errors().begin(), change.errors().end());
        }
    }
    if (!errors.empty()) {
        return errors;
    }
    return changes;
}

std::vector<OutputResult> results(const std::vector<OutputFile>& files, const std::vector<Change>& changes) {
    std::vector<OutputResult> all;
    for (std::size_t i = 0; i < files.size(); ++i) {
        all.push_back({files[i].path, changes[i].action});
    }
    return all;
}

/// Changed files under temporary names; what was not committed is undone when it goes out of scope.
class Staging {
public:
    explicit Staging(FileSystem& file_system) : file_system_(file_system) {}
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    ~Staging() {
        for (const Entry& entry : entries_) {
            if (!entry.renamed) {
                file_system_.remove(entry.temporary);
            } else if (!committed_ && entry.previous) {
                file_system_.write(entry.path, *entry.previous);
            } else if (!committed_) {
                file_system_.remove(entry.path);
            }
        }
        if (!journal_.empty()) {
            file_system_.remove(journal_);
        }
    }

    std::optional<Diagnostic> add(const OutputFile& file, std::optional<std::string> previous) {
        const fs::path temporary = file_system_.temporary_beside(file.path);
        entries_.push_back({file.path, temporary, std::move(previous), false});
        renames_.push_back({temporary, file.path, hex_digest(file.content)});
        return file_system_.write(temporary, file.content);
    }

    std::optional<Diagnostic> commit(const fs::path& journal) {
        if (entries_.size() > 1) {
            journal_ = file_system_.temporary_beside(journal);
            if (auto error = file_system_.write(journal_, journal_text(renames_))) {
                return error;
            }
        }
        for (Entry& entry : entries_) {
            if (auto error = file_system_.rename(entry.temporary, entry.path)) {
                return error;
            }
            entry.renamed = true;
        }
        committed_ = true;
        return std::nullopt;
    }

private:
    struct Entry {
        fs::path path;
        fs::path temporary;
        std::optional<std::string> previous;
        bool renamed;
    };

    FileSystem& file_system_;
    std::vector<Entry> entries_;
    std::vector<PlannedRename> renames_;
    fs::path journal_;  ///< empty: not written
    bool committed_ = false;
};

}  // namespace

Outcome<std::vector<OutputResult>> DiskSink::write(const std::vector<OutputFile>& files) {
    Outcome<std::vector<Change>> changes = compare_all(file_system_, files);
    if (!changes) {
        return changes.errors();
    }
    Staging staging(file_system_);
    for (std::size_t i = 0; i < files.size(); ++i) {
        Change& change = changes.value()[i];
        if (change.action != OutputAction::unchanged) {
            if (auto error = staging.add(files[i], std::move(change.previous))) {
                return *error;
            }
        }
    }
    if (auto error = staging.commit(journal_)) {
        return *error;
    }
    return results(files, changes.value());
}

Outcome<std::vector<OutputResult>> DryRunSink::write(const std::vector<OutputFile>& files) {
    const Outcome<std::vector<Change>> changes = compare_all(file_system_, files);
    if (!changes) {
        return changes.errors();
    }
    return results(files, changes.value());
}

}  // namespace kf::gen
