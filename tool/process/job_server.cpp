// The job server of Make, in both of its forms, opened anew so that Make's own descriptors stay as they are.
#include "process/job_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>

namespace kf::process {

namespace {

constexpr int moment = 100;  // milliseconds

bool is_pipe(int descriptor) {
    struct stat status {};
    return descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

/// Returns the place that the last of Make's options names.
std::string_view place_of(std::string_view make_flags) {
    for (const std::string_view option : {"--jobserver-auth=", "--jobserver-fds="}) {
        const std::size_t at = make_flags.rfind(option);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = make_flags.substr(at + option.size());
        return rest.substr(0, rest.find(' '));
    }
    return {};
}

int opened(const std::string& path, int mode) {
    const int descriptor = ::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC);
    if (descriptor >= 0 && is_pipe(descriptor)) return descriptor;
    if (descriptor >= 0) ::close(descriptor);
    return -1;
}

std::string path_of(std::string_view number) {
    int descriptor = -1;
    const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), descriptor);
    const bool good = failure == std::errc() && end == number.data() + number.size() && is_pipe(descriptor);
    return good ? "/proc/self/fd/" + std::to_string(descriptor) : std::string();
}

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP};

/// The tokens to give back when a signal ends the process: a handler has only globals to find them by.
struct Held {
    std::atomic<pid_t> owner{0};  ///< children have copies of the counts, but none of the tokens
    std::atomic<int> out{-1};
    std::atomic<int> busy{0};  ///< threads that count or move a token
    std::array<std::atomic<int>, 256> tokens{};
};
Held held;

void write_token(int out, char token) {
    while (::write(out, &token, 1) < 0 && (errno == EINTR || errno == EAGAIN)) {
    }
}

extern "C" void end_without_tokens(int signal) {
    if (held.owner == ::getpid()) {
        // No thread is interrupted while it is busy.
        while (held.busy != 0) {
        }
        for (std::size_t token = 0; token < held.tokens.size(); ++token) {
            for (int count = held.tokens[token].exchange(0); count > 0; --count)
                write_token(held.out, static_cast<char>(static_cast<unsigned char>(token)));
        }
    }
    // The process ends as it would have without a handler: that was reset when this one began.
    ::raise(signal);
}

/// Keeps handlers from running on this thread while it lives; on other threads they wait.
class Busy {
public:
    Busy() {
        sigset_t ending;
        sigemptyset(&ending);
        for (const int signal : ending_signals) sigaddset(&ending, signal);
        pthread_sigmask(SIG_BLOCK, &ending, &before_);
        ++held.busy;
    }
    ~Busy() {
        --held.busy;
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

private:
    sigset_t before_{};
};

std::atomic<int>& count_of(char token) { return held.tokens[static_cast<unsigned char>(token)]; }

void handle_ending_signals(int out) {
    held.out = out;
    held.owner = ::getpid();
    for (const int signal : ending_signals) {
        struct sigaction before {};
        // A signal that is ignored, or has a handler, stays so.
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = end_without_tokens;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace

std::unique_ptr<JobServer> JobServer::of(std::string_view make_flags) {
    const std::string_view place = place_of(make_flags);
    std::string in;
    std::string out;
    if (place.starts_with("fifo:")) {
        in = out = place.substr(5);
    } else if (const std::size_t comma = place.find(','); comma != std::string_view::npos) {
        in = path_of(place.substr(0, comma));
        out = path_of(place.substr(comma + 1));
    }
    if (in.empty() || out.empty()) return nullptr;
    const int reader = opened(in, O_RDONLY);  // first: a named pipe without one has no writers
    const int writer = opened(out, O_WRONLY);
    std::unique_ptr<JobServer> server(new JobServer(reader, writer));
    if (server->in_ < 0 || server->out_ < 0) return nullptr;
    handle_ending_signals(server->out_);
    return server;
}

JobServer::~JobServer() {
    held.owner = 0;
    for (const int descriptor : {in_, out_}) {
        if (descriptor >= 0) ::close(descriptor);
    }
}

JobServer::Slot JobServer::wait() {
    struct pollfd ready {
        in_, POLLIN, 0
    };
    char token = 0;
    if (::poll(&ready, 1, moment) > 0) {
        const Busy busy;
        // This fails where another process was quicker.
        if (::read(in_, &token, 1) == 1) {
            ++count_of(token);
            return {*this, token};
        }
    }
    if ((ready.revents & POLLIN) == 0 && (ready.revents & (POLLHUP | POLLERR)) != 0) {
        // Make is gone.
        ::poll(nullptr, 0, moment);
    }
    return {};
}

void JobServer::give_back(char token) const {
    const Busy busy;
    // Tokens that a handler has given back are not held any more; the process ends then.
    if (count_of(token)-- > 0) write_token(out_, token);
}

}  // namespace kf::process
