// A line that says how far a run is, for whoever watches it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace kf::gen {

/// Told by stages how many of their parts are done, and the name of the last one. From any thread.
using TellProgress = std::function<void(std::size_t done, std::size_t total, const std::string& name)>;

/// "[37/1000] name" on standard error, written over in place and gone at the end.
class Progress {
public:
    /// Says nothing where standard error is no terminal, or one that can't write over a line.
    explicit Progress(bool wanted);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    void tell(std::size_t done, std::size_t total, const std::string& name);
    /// Removes the line: before anything else is written.
    void clear();

private:
    using Clock = std::chrono::steady_clock;

    bool shown_ = false;
    bool wanted_;
    Clock::time_point next_ = Clock::time_point::min();
    std::mutex mutex_;
};

/// What is shown on a terminal so many columns wide: shortened, so that it stays one line.
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t total, const std::string& name,
                                        std::size_t columns);

}  // namespace kf::gen
