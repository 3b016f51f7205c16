// A disk in memory, which can be told to fail.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "output/file_system.h"

namespace kf::gen {

/// Counts what is done to it. Files whose names contain a string of `unwritable` can't be written, of
/// `unrenamable` can't be renamed to, of `unreadable` can't be read.
class FakeFileSystem final : public FileSystem {
public:
    std::map<std::string, std::string> files;
    std::set<std::string> directories;
    std::set<std::string> unwritable;
    std::set<std::string> unrenamable;
    std::set<std::string> unreadable;
    std::map<std::string, std::int64_t> times;
    mutable int reads = 0;
    int writes = 0;

    [[nodiscard]] std::optional<FileStatus> status(const std::filesystem::path& path) const override {
        const std::lock_guard lock(mutex_);
        if (directories.count(path.string()) != 0) {
            return FileStatus{true, 0, 0};
        }
        const auto file = files.find(path.string());
        if (file == files.end()) {
            return std::nullopt;
        }
        const auto time = times.find(path.string());
        const std::int64_t when = time == times.end() ? 0 : time->second;
        return FileStatus{false, file->second.size(), when, when, 1};
    }

    [[nodiscard]] Outcome<std::string> read(const std::filesystem::path& path) const override {
        const std::lock_guard lock(mutex_);
        ++reads;
        const auto file = files.find(path.string());
        if (file == files.end()) {
            return error("file-not-found", path);
        }
        if (matches(unreadable, path)) {
            return error("file-unreadable", path);
        }
        return file->second;
    }

    std::optional<Diagnostic> write(const std::filesystem::path& path, std::string_view content) override {
        const std::lock_guard lock(mutex_);
        ++writes;
        if (matches(unwritable, path)) {
            return error("file-unwritable", path);
        }
        files[path.string()] = content;
        times[path.string()] = ++clock_;
        return std::nullopt;
    }

    std::optional<Diagnostic> rename(const std::filesystem::path& from,
                                     const std::filesystem::path& to) override {
        const std::lock_guard lock(mutex_);
        if (matches(unrenamable, to) || files.count(from.string()) == 0) {
            return error("file-unwritable", to);
        }
        files[to.string()] = std::move(files[from.string()]);
        times[to.string()] = times[from.string()];
        files.erase(from.string());
        return std::nullopt;
    }

    void remove(const std::filesystem::path& path) override {
        const std::lock_guard lock(mutex_);
        files.erase(path.string());
    }

    std::filesystem::path temporary_beside(const std::filesystem::path& path) override {
        const std::lock_guard lock(mutex_);
        return path.string() + ".tmp" + std::to_string(++temporaries_);
    }

    /// Those of tests that went on as another process.
    [[nodiscard]] std::vector<std::filesystem::path> abandoned_beside(
        const std::filesystem::path& path) const override {
        const std::lock_guard lock(mutex_);
        std::vector<std::filesystem::path> found;
        for (const auto& [name, content] : files) {
            if (name.starts_with(path.string() + ".tmp")) {
                found.emplace_back(name);
            }
        }
        return found;
    }

private:
    static bool matches(const std::set<std::string>& parts, const std::filesystem::path& path) {
        for (const std::string& part : parts) {
            if (path.string().find(part) != std::string::npos) {
                return true;
            }
        }
        return false;
    }
    static Diagnostic error(const char* id, const std::filesystem::path& path) {
        return {Severity::error, id, {path.string(), 0, 0}, "told to fail", {}};
    }

    mutable std::mutex mutex_;
    int temporaries_ = 0;
    std::int64_t clock_ = 0;
};

}  // namespace kf::gen
