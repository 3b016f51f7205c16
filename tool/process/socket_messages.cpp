// Messages through a socket between two processes.
#include "process/socket_messages.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kf::process {

namespace {

/// A bound above the length of any message; text that isn't a length is read as a larger one.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

int milliseconds_until(std::chrono::steady_clock::time_point deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

/// Waits until the socket is ready for `events`.
Transfer wait_ready(int socket, short events, const Deadline& deadline) {
    for (;;) {
        pollfd entry{socket, events, 0};
        const int ready = poll(&entry, 1, deadline ? milliseconds_until(*deadline) : -1);
        if (ready > 0) {
            return Transfer::done;
        }
        if (ready == 0) {
            return Transfer::timed_out;
        }
        if (errno != EINTR) {
            return Transfer::broken;
        }
    }
}

Transfer send_all(int socket, const char* data, std::size_t size, const Deadline& deadline) {
    while (size > 0) {
        const Transfer ready = wait_ready(socket, POLLOUT, deadline);
        if (ready != Transfer::done) {
            return ready;
        }
        const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EINTR || errno == EAGAIN) {
                continue;
            }
            return Transfer::broken;
        }
        data += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return Transfer::done;
}

Transfer receive_all(int socket, char* data, std::size_t size, const Deadline& deadline) {
    while (size > 0) {
        const Transfer ready = wait_ready(socket, POLLIN, deadline);
        if (ready != Transfer::done) {
            return ready;
        }
        const ssize_t received = recv(socket, data, size, MSG_DONTWAIT);
        if (received < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (received <= 0) {
            return Transfer::broken;
        }
        data += received;
        size -= static_cast<std::size_t>(received);
    }
    return Transfer::done;
}

}  // namespace

Transfer send_message(int socket, std::string_view text, const Deadline& deadline) {
    const std::uint64_t size = text.size();
    std::array<char, sizeof(size)> head{};
    std::memcpy(head.data(), &size, sizeof(size));
    const Transfer sent = send_all(socket, head.data(), head.size(), deadline);
    return sent == Transfer::done ? send_all(socket, text.data(), text.size(), deadline) : sent;
}

Transfer receive_message(int socket, std::string& text, const Deadline& deadline) {
    std::uint64_t size = 0;
    std::array<char, sizeof(size)> head{};
    const Transfer received = receive_all(socket, head.data(), head.size(), deadline);
    if (received != Transfer::done) {
        return received;
    }
    std::memcpy(&size, head.data(), sizeof(size));
    if (size > most_bytes) {
        return Transfer::broken;
    }
    text.resize(size);
    return receive_all(socket, text.data(), text.size(), deadline);
}

bool is_abandoned(int socket) {
    pollfd entry{socket, POLLRDHUP, 0};
    return poll(&entry, 1, 0) > 0;
}

std::string describe_status(int status) {
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace kf::process
