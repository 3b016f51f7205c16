// Make's jobserver: a pipe with a token for each job that may run beside the first.
#pragma once

#include <memory>
#include <string_view>

namespace kf::process {

/// May be used from several threads at once; one lives at a time. A signal that ends the process (SIGINT,
/// SIGTERM, SIGHUP) gives back what it holds.
class JobServer {
public:
    /// A job that may run; given back when it ends. Must not outlive the server.
    class Slot {
    public:
        Slot() = default;
        Slot(JobServer& server, char token) : server_(&server), token_(token) {}
        Slot(Slot&& other) noexcept : server_(other.server_), token_(other.token_) {
            other.server_ = nullptr;
        }
        Slot& operator=(Slot&&) = delete;
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;
        ~Slot() {
            if (server_ != nullptr) server_->give_back(token_);
        }
        explicit operator bool() const { return server_ != nullptr; }

    private:
        JobServer* server_ = nullptr;
        char token_ = 0;
    };

    /// Opens MAKEFLAGS' value, "--jobserver-auth=fifo:PATH" or "=R,W"; null where there is none, or Make has
    /// not handed it to this process, as it does to recipes that begin with + or name $(MAKE).
    static std::unique_ptr<JobServer> of(std::string_view make_flags);
    ~JobServer();
    JobServer(const JobServer&) = delete;
    JobServer& operator=(const JobServer&) = delete;

    /// Waits a moment for a slot; an empty one where none came free.
    [[nodiscard]] Slot wait();

private:
    JobServer(int in, int out) : in_(in), out_(out) {}
    void give_back(char token) const;

    int in_;
    int out_;
};

}  // namespace kf::process
