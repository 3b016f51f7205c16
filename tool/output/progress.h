// A line that says how far a run is, for whoever watches it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace kf::gen {

/// Called by stages with how many of their parts are done, and the name of the last one. From any thread.
using TellProgress = std::function<void(std::size_t done, std::size_t total, const std::string& name)>;

/// "[37/1000] name" on standard error: on a terminal written over in place and gone at the end, elsewhere a
/// line every few seconds.
class Progress {
public:
    using Clock = std::chrono::steady_clock;

    /// How often lines are written where none can be written over: a short run writes none.
    static constexpr std::chrono::seconds line_pause{5};

    /// `wanted_lines`: where no line can be written over, too.
    explicit Progress(bool wanted, bool wanted_lines = true, Clock::duration pause = line_pause);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() { clear(); }

    void tell(std::size_t done, std::size_t total, const std::string& name);
    /// Removes the line: before anything else is written.
    void clear();

private:
    bool shown_ = false;
    bool in_place_;
    bool wanted_;
    Clock::duration pause_;
    Clock::time_point next_;
    std::mutex mutex_;
};

/// Returns the line that is shown on a terminal so many columns wide: shortened, so that it stays one line.
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t total, const std::string& name,
                                        std::size_t columns);

}  // namespace kf::gen
