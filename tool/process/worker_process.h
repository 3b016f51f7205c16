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
        /// The answer; of a child that died: how ("signal 11 (Segmentation fault)"); of one that was stopped:
        /// what it took ("longer than 2.5 s of processor time").
        std::string text;
    };

    explicit WorkerProcess(Handler handler);
    ~WorkerProcess();
    WorkerProcess(const WorkerProcess&) = delete;
    WorkerProcess& operator=(const WorkerProcess&) = delete;

    /// False when the child could not be started; call() tries again.
    [[nodiscard]] bool running() const { return child_ > 0; }

    /// Sends `request` and waits for the answer. A child that needs more processor time than `limit`, does
    /// nothing for as long, or needs more bytes of memory than `memory`, is killed; the next call starts
    /// another. 0 bytes: any number.
    Reply call(const std::string& request, std::chrono::milliseconds limit, std::uint64_t memory = 0);

private:
    bool start();
    std::string stop();
    [[nodiscard]] Reply wait_for_answer(std::chrono::milliseconds limit, std::uint64_t memory) const;

    Handler handler_;
    pid_t child_ = -1;
    int socket_ = -1;
};

}  // namespace kf::process
