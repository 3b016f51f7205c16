// A forked child that answers requests, so that a crash or a hang in it is an error here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace kf::process {

/// The child is forked, not executed: `handler` runs in a copy of this process, with its memory as it
/// was at construction (or, after a failure, at the next call). Construct it before other threads
/// start where that is possible. The child ends with this object, and when the parent dies.
/// Not thread-safe: one call at a time.
class WorkerProcess {
public:
    using Handler = std::function<std::string(const std::string& request)>;

    enum class Result { answered, timed_out, too_large, died };
    struct Reply {
        Result result = Result::answered;
        std::string text;  ///< the answer; of a child that died: how ("signal 11 (Segmentation fault)")
    };

    explicit WorkerProcess(Handler handler);
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// False when the child could not be started; call() tries again.
    [[nodiscard]] bool running() const { return child_ > 0; }

    /// Sends `request` and waits for the answer. A child that needs longer than `limit`, or more bytes of
    /// memory than `memory`, is killed; the next call starts another. 0 bytes: any number.
    Reply call(const std::string& request, std::chrono::milliseconds limit, std::uint64_t memory = 0);

private:
    bool start();
    std::string stop();
    Result wait_for_answer(std::chrono::steady_clock::time_point deadline, std::uint64_t memory) const;

    Handler handler_;
    pid_t child_ = -1;
    int socket_ = -1;
};

/// "longer than 2.5 s" and "more than 300 MiB of memory": what was stopped took that.
std::string limit_text(std::chrono::milliseconds time);
std::string limit_text(std::uint64_t memory);

}  // namespace kf::process
