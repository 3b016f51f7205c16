// One child per object, joined by a socket pair; a message is its length (8 bytes) and its bytes.
#include "slang/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

namespace kf::gen {

namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000));
}

enum class Transfer { done, timed_out, broken };

// Waits until the socket is ready for `events`; without a deadline for as long as it takes.
Transfer wait_ready(int socket, short events, const std::optional<Clock::time_point>& deadline) {
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

Transfer send_all(int socket, const char* data, std::size_t size,
                  const std::optional<Clock::time_point>& deadline) {
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

Transfer receive_all(int socket, char* data, std::size_t size,
                     const std::optional<Clock::time_point>& deadline) {
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

Transfer send_message(int socket, const std::string& text, const std::optional<Clock::time_point>& deadline) {
    const std::uint64_t size = text.size();
    std::array<char, sizeof(size)> head{};
    std::memcpy(head.data(), &size, sizeof(size));
    const Transfer sent = send_all(socket, head.data(), head.size(), deadline);
    return sent == Transfer::done ? send_all(socket, text.data(), text.size(), deadline) : sent;
}

Transfer receive_message(int socket, std::string& text, const std::optional<Clock::time_point>& deadline) {
    std::uint64_t size = 0;
    std::array<char, sizeof(size)> head{};
    const Transfer received = receive_all(socket, head.data(), head.size(), deadline);
    if (received != Transfer::done) {
        return received;
    }
    std::memcpy(&size, head.data(), sizeof(size));
    text.resize(size);
    return receive_all(socket, text.data(), text.size(), deadline);
}

// Ends this process if the other end of the socket is closed.
void end_if_abandoned(int socket) {
    pollfd entry{socket, POLLRDHUP, 0};
    if (poll(&entry, 1, 0) > 0) {
        _exit(0);
    }
}

// A handler that hangs must not outlive the parent: a signal says that the socket changed. A thread that
// waits for that would be one more whose locks a fork() in the handler may copy while they are held.
bool end_when_abandoned(int socket) {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
        // A system short of memory sends the signal without saying which file it is about.
        if (info->si_code <= 0 || info->si_code == SI_KERNEL) {
            return;
        }
        const int before = errno;
        end_if_abandoned(info->si_fd);
        errno = before;
    };
    if (sigaction(SIGIO, &action, nullptr) != 0 || fcntl(socket, F_SETOWN, getpid()) != 0 ||
        fcntl(socket, F_SETSIG, SIGIO) != 0 || fcntl(socket, F_SETFL, O_ASYNC) != 0) {
        return false;
    }
    end_if_abandoned(socket);  // before the signal was asked for
    return true;
}

// Does not return. Nothing of the parent's may be flushed or destroyed here, hence _exit.
[[noreturn]] void serve(int socket, const WorkerProcess::Handler& handler) {
    try {
        if (!end_when_abandoned(socket)) {
            _exit(71);
        }
        std::string request;
        while (receive_message(socket, request, std::nullopt) == Transfer::done) {
            if (send_message(socket, handler(request), std::nullopt) != Transfer::done) {
                break;
            }
        }
        _exit(0);
    } catch (const std::exception&) {
        _exit(70);
    } catch (...) {
        _exit(70);
    }
}

std::string describe_status(int status) {
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    }
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

WorkerProcess::WorkerProcess(Handler handler) : handler_(std::move(handler)) { start(); }

WorkerProcess::~WorkerProcess() { stop(); }

bool WorkerProcess::start() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return false;
    }
    child_ = fork();
    if (child_ == 0) {
        // Other workers' sockets must not stay open here: their children would outlive the parent.
        const auto kept = static_cast<unsigned>(ends[1]);
        if (kept > 3) {
            close_range(3, kept - 1, 0);
        }
        close_range(kept + 1, ~0U, 0);
        serve(ends[1], handler_);
    }
    close(ends[1]);
    if (child_ < 0) {
        close(ends[0]);
        return false;
    }
    socket_ = ends[0];
    return true;
}

// Ends the child, whatever it does, and says how it ended.
std::string WorkerProcess::stop() {
    if (child_ <= 0) {
        return "it could not be started";
    }
    close(socket_);
    socket_ = -1;
    int status = 0;
    // A child that died by itself keeps its own status.
    if (waitpid(child_, &status, WNOHANG) != child_) {
        kill(child_, SIGKILL);
        while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
        }
    }
    child_ = -1;
    return describe_status(status);
}

WorkerProcess::Reply WorkerProcess::call(const std::string& request, std::chrono::milliseconds limit) {
    if (child_ <= 0 && !start()) {
        return {Result::died, std::string("it could not be started: ") + std::strerror(errno)};
    }
    const Clock::time_point deadline = Clock::now() + limit;
    Reply reply;
    Transfer transfer = send_message(socket_, request, deadline);
    if (transfer == Transfer::done) {
        transfer = receive_message(socket_, reply.text, deadline);
    }
    if (transfer == Transfer::done) {
        return reply;
    }
    if (transfer == Transfer::timed_out) {
        stop();
        return {Result::timed_out, {}};
    }
    // The socket closes a moment before the child becomes a zombie whose status can be read.
    int status = 0;
    pid_t ended = 0;
    const Clock::time_point grace = Clock::now() + std::chrono::seconds(2);
    while ((ended = waitpid(child_, &status, WNOHANG)) == 0 && Clock::now() < grace) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (ended == child_) {
        close(socket_);
        socket_ = -1;
        child_ = -1;
        return {Result::died, describe_status(status)};
    }
    return {Result::died, stop()};
}

}  // namespace kf::gen
