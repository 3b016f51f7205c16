// A line that says how far a run is, for whoever watches it.
#include "output/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace kf::gen {
namespace {

bool can_write_over() {
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && terminal != nullptr && *terminal != '\0' &&
           std::string_view(terminal) != "dumb";
}

std::size_t columns() {
    struct winsize size {};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

constexpr const char* start_of_line = "\r\x1b[K";        // and nothing behind it
constexpr std::chrono::milliseconds terminal_pause{50};  // more often than that nobody reads it

}  // namespace

std::string progress_line(std::size_t done, std::size_t total, const std::string& name, std::size_t columns) {
    std::string line = "[" + std::to_string(done) + "/" + std::to_string(total) + "] " + name;
    // The last column is left free: some terminals go on to the next line behind it.
    if (columns > 0 && line.size() >= columns) line.resize(columns - 1);
    return line;
}

Progress::Progress(bool wanted, bool wanted_lines, Clock::duration pause)
    : in_place_(can_write_over()),
      wanted_(wanted && (in_place_ || wanted_lines)),
      pause_(in_place_ ? terminal_pause : pause),
      next_(in_place_ ? Clock::time_point::min() : Clock::now() + pause) {}

void Progress::tell(std::size_t done, std::size_t total, const std::string& name) {
    if (!wanted_) return;
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (now < next_ && (done != total || !in_place_)) return;
    next_ = now + pause_;
    if (!in_place_) {
        std::cerr << progress_line(done, total, name, 0) + '\n' << std::flush;
        return;
    }
    std::cerr << start_of_line << progress_line(done, total, name, columns()) << std::flush;
    shown_ = true;
}

void Progress::clear() {
    const std::lock_guard lock(mutex_);
    if (!shown_) return;
    std::cerr << start_of_line << std::flush;
    shown_ = false;
}

}  // namespace kf::gen
