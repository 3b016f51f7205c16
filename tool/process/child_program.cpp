// A program that runs as a child of this one, joined to it by a socket.
#include "process/child_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace kf::process {

namespace {

/// The number that the child's end has there.
constexpr int child_end = 3;

[[noreturn]] void fail_with(int error) { throw std::system_error(error, std::generic_category()); }

/// Moves a file above the numbers that stand for the standard streams, which may be closed, and the child's
/// end.
int above_streams(int file) {
    const int moved = fcntl(file, F_DUPFD_CLOEXEC, child_end + 1);
    const int error = errno;
    close(file);
    if (moved < 0) fail_with(error);
    return moved;
}

pid_t spawn_child(const std::string& program, int file) {
    posix_spawn_file_actions_t actions;
    if (const int error = posix_spawn_file_actions_init(&actions)) fail_with(error);
    std::string name = program;
    std::string number = std::to_string(child_end);
    const std::array<char*, 3> arguments{name.data(), number.data(), nullptr};
    pid_t child = -1;
    int error = posix_spawn_file_actions_adddup2(&actions, file, child_end);
    if (error == 0)
        error = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail_with(error);
    return child;
}

}  // namespace

ChildProgram::ChildProgram(const std::filesystem::path& program) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail_with(errno);
    int other = -1;
    try {
        socket_ = above_streams(std::exchange(ends[0], -1));
        other = above_streams(std::exchange(ends[1], -1));
        child_ = spawn_child(program.string(), other);
        close(other);
    } catch (...) {
        for (const int file : {ends[1], other, socket_}) {
            if (file >= 0) close(file);
        }
        throw;
    }
}

ChildProgram::~ChildProgram() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    wait();
}

int ChildProgram::wait() {
    close(std::exchange(socket_, -1));
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return status;
}

}  // namespace kf::process
