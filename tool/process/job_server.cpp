// Both of Make's forms, opened anew so that its own descriptors stay as they are.
#include "process/job_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>

namespace kf::process {

namespace {

constexpr int moment = 100;  // milliseconds

bool is_pipe(int descriptor) {
    struct stat status {};
    return descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

/// What Make says of it last counts.
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
    return server->in_ >= 0 && server->out_ >= 0 ? std::move(server) : nullptr;
}

JobServer::~JobServer() {
    for (const int descriptor : {in_, out_}) {
        if (descriptor >= 0) ::close(descriptor);
    }
}

JobServer::Slot JobServer::wait() {
    struct pollfd ready {
        in_, POLLIN, 0
    };
    char token = 0;
    // Another process may be quicker between the two.
    if (::poll(&ready, 1, moment) > 0 && ::read(in_, &token, 1) == 1) return {*this, token};
    if ((ready.revents & POLLIN) == 0 && (ready.revents & (POLLHUP | POLLERR)) != 0) {
        // Make is gone.
        ::poll(nullptr, 0, moment);
    }
    return {};
}

void JobServer::give_back(char token) const {
    while (::write(out_, &token, 1) < 0 && (errno == EINTR || errno == EAGAIN)) {
    }
}

}  // namespace kf::process
