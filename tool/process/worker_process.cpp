// One child per object, joined by a socket pair.
#include "process/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <thread>

#include "process/socket_messages.h"

namespace kf::process {

namespace {

using Clock = std::chrono::steady_clock;

// A child takes requests at once, unless the machine is too busy to let it run.
constexpr std::chrono::milliseconds least_to_send{10'000};

std::uint64_t resident_bytes(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::uint64_t all = 0;
    std::uint64_t resident = 0;
    file >> all >> resident;
    return file ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// The processor time that a child has taken; nothing of one that has ended.
std::chrono::nanoseconds processor_time(pid_t process) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return {};
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string seconds_text(std::chrono::milliseconds time) {
    std::string text = std::to_string(time.count() / 1000);
    if (time.count() % 1000 != 0) {
        std::string rest = std::to_string(1000 + time.count() % 1000).substr(1);
        rest.erase(rest.find_last_not_of('0') + 1);
        text += "." + rest;
    }
    return text + " s";
}

// Ends this process if the other end of the socket is closed.
void end_if_abandoned(int socket) {
    if (is_abandoned(socket)) {
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
        while (receive_message(socket, request) == Transfer::done) {
            if (send_message(socket, handler(request)) != Transfer::done) {
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
        // The child closes other workers' sockets: their children would outlive the parent.
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

// Looks at the child now and then until it answers or ends; memory that is shared with the parent counts. A
// busy machine gives it less processor time, but some: one that takes none waits for something.
WorkerProcess::Reply WorkerProcess::wait_for_answer(std::chrono::milliseconds limit,
                                                    std::uint64_t memory) const {
    constexpr std::chrono::milliseconds pause{20};
    struct pollfd answer {
        socket_, POLLIN, 0
    };
    const auto before = processor_time(child_);
    auto last = before;
    Clock::time_point worked = Clock::now();
    for (;;) {
        if (::poll(&answer, 1, static_cast<int>(std::min(pause, limit).count())) > 0) return {};
        const auto now = processor_time(child_);
        if (now - before > limit)
            return {Result::timed_out, "longer than " + seconds_text(limit) + " of processor time"};
        if (now > last) {
            last = now;
            worked = Clock::now();
        } else if (Clock::now() - worked > limit) {
            return {Result::timed_out, "longer than " + seconds_text(limit) + ", in which it did nothing"};
        }
        if (memory != 0 && resident_bytes(child_) > memory)
            return {Result::too_large, "more than " + std::to_string(memory >> 20) + " MiB of memory"};
    }
}

WorkerProcess::Reply WorkerProcess::call(const std::string& request, std::chrono::milliseconds limit,
                                         std::uint64_t memory) {
    if (child_ <= 0 && !start()) {
        return {Result::died, std::string("it could not be started: ") + std::strerror(errno)};
    }
    Reply reply;
    Transfer transfer = send_message(socket_, request, Clock::now() + std::max(limit, least_to_send));
    if (transfer == Transfer::done) {
        reply = wait_for_answer(limit, memory);
        if (reply.result == Result::answered) transfer = receive_message(socket_, reply.text);
    } else if (transfer == Transfer::timed_out) {
        reply = {Result::timed_out, "longer than " + seconds_text(limit) + " to be sent"};
    }
    if (reply.result != Result::answered) {
        stop();
        return reply;
    }
    if (transfer == Transfer::done) {
        return reply;
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

}  // namespace kf::process
