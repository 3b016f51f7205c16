// A program that runs as a child of this one, joined to it by a socket.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace kf::process {

/// The child has this process's standard input, output and error, and no file that is open here.
class ChildProgram {
public:
    /// Runs the program with one argument: the number of its end of the socket. Throws std::system_error
    /// where that fails.
    explicit ChildProgram(const std::filesystem::path& program);
    /// Ends the child, whatever it does.
    ~ChildProgram();
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;

    /// Returns this process's end of the socket.
    [[nodiscard]] int socket() const { return socket_; }

    /// Closes the socket and waits until the child has ended; returns what waitpid() says of it.
    int wait();

private:
    int socket_ = -1;
    pid_t child_ = -1;
};

}  // namespace kf::process
