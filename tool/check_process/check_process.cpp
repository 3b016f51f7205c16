// kfgen's end of the conversation with kfgen-check.
#include "check_process/check_process.h"

#include <unistd.h>

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <variant>

#include "process/child_program.h"
#include "process/socket_messages.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using process::Transfer;

Diagnostic unusable(const fs::path& program, const std::string& message) {
    return {Severity::error, "check-program-unusable", {program.string(), 0, 0}, message, {}};
}

std::string version_text(const check::Greeting& greeting) {
    return greeting.version + " (messages " + std::to_string(greeting.messages) + ")";
}

class Conversation {
public:
    Conversation(process::ChildProgram& child, const fs::path& program, const fs::path& input,
                 const check::Task& task, const MakeArtifact& make_artifact)
        : child_(child), program_(program), input_(input), task_(task), make_artifact_(make_artifact) {}

    CheckEnd run() {
        std::string bytes;
        while (process::receive_message(child_.socket(), bytes) == Transfer::done) {
            const std::optional<check::Message> message = decoded(bytes);
            if (!message) return failed("sent what is no message");
            std::optional<CheckEnd> end =
                std::visit([this](const auto& one) { return this->take(one); }, *message);
            if (end) return ended_with(std::move(*end));
        }
        return failed("ended by " + process::describe_status(child_.wait()));
    }

private:
    static std::optional<check::Message> decoded(const std::string& bytes) {
        try {
            return check::decode_message(bytes);
        } catch (const std::runtime_error&) {
            return std::nullopt;
        }
    }

    // Each returns the end, if the message is the last one. What can't be sent is noticed when nothing comes
    // back.
    std::optional<CheckEnd> take(const check::Greeting& greeting) {
        const check::Greeting own{KFGEN_VERSION, check::messages_version};
        if (greeting != own) {
            return CheckEnd{exit_failed,
                            {},
                            {unusable(program_, "it is of version " + version_text(greeting) +
                                                    ", and this kfgen of " + version_text(own))}};
        }
        send(check::encode(task_));
        return std::nullopt;
    }
    std::optional<CheckEnd> take(const check::Step& step) {
        step_ = step.text;
        return std::nullopt;
    }
    std::optional<CheckEnd> take(const check::Question& question) {
        send(check::encode(make_artifact_(question)));
        return std::nullopt;
    }
    static std::optional<CheckEnd> take(const check::Conclusion& conclusion) {
        return CheckEnd{conclusion.right ? exit_done : exit_input, conclusion.report, {}};
    }
    std::optional<CheckEnd> take(const check::Refusal& refusal) {
        return CheckEnd{refusal.of_device ? exit_failed : exit_input,
                        {},
                        {{Severity::error, refusal.id, {input_.string(), 0, 0}, refusal.message, {}}}};
    }
    static std::optional<CheckEnd> take(const check::Fault& fault) {
        throw std::runtime_error(fault.message);
    }

    void send(const std::string& bytes) { (void)process::send_message(child_.socket(), bytes); }

    /// A driver may still crash as it is closed. A program of another version waits for a task, and is ended.
    CheckEnd ended_with(CheckEnd end) {
        if (!end.errors.empty() && end.errors.front().id == "check-program-unusable") return end;
        const int status = child_.wait();
        if (status == 0) return end;
        step_ = "closing the device";
        CheckEnd broken = failed("ended by " + process::describe_status(status));
        broken.report = std::move(end.report);
        broken.errors.insert(broken.errors.begin(), end.errors.begin(), end.errors.end());
        return broken;
    }

    [[nodiscard]] CheckEnd failed(const std::string& how) const {
        Diagnostic error{Severity::error,
                         "check-program-failed",
                         {input_.string(), 0, 0},
                         "'" + program_.string() + "' " + how + (step_.empty() ? "" : " while " + step_),
                         {}};
        return {exit_failed, {}, {std::move(error)}};
    }

    process::ChildProgram& child_;
    const fs::path& program_;
    const fs::path& input_;
    const check::Task& task_;
    const MakeArtifact& make_artifact_;
    std::string step_;  ///< what it is doing, in its own words
};

}  // namespace

Outcome<fs::path> find_check_program() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (error) return unusable("kfgen-check", "kfgen can't find its own folder: " + error.message());
    return find_check_program(self.parent_path());
}

Outcome<fs::path> find_check_program(const fs::path& folder) {
    const fs::path program = folder / "kfgen-check";
    std::error_code error;
    if (!fs::exists(program, error)) {
        return unusable(
            program, "it isn't there; `kfgen check --gradients` starts it, and it is installed with kfgen");
    }
    if (!fs::is_regular_file(program, error)) return unusable(program, "it is no file");
    if (access(program.c_str(), X_OK) != 0) {
        return unusable(program, "it can't be executed: " + std::generic_category().message(errno));
    }
    return program;
}

CheckEnd run_check(const fs::path& program, const fs::path& input, const check::Task& task,
                   const MakeArtifact& make_artifact) {
    std::optional<process::ChildProgram> child;
    try {
        child.emplace(program);
    } catch (const std::system_error& error) {
        return {exit_failed, {}, {unusable(program, "it can't be executed: " + error.code().message())}};
    }
    return Conversation(*child, program, input, task, make_artifact).run();
}

}  // namespace kf::gen
