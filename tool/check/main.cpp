// kfgen-check: the program that `kfgen check --gradients` starts, which runs what was generated.
#include <kf/error.h>
#include <sys/prctl.h>

#include <charconv>
#include <csignal>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "check/gradients.h"
#include "check/messages.h"
#include "process/socket_messages.h"

namespace {

using namespace kf::check;
using kf::process::Transfer;

/// kfgen's end of the conversation. What isn't sent or received is std::runtime_error: kfgen is gone.
class Kfgen {
public:
    explicit Kfgen(int socket) : socket_(socket) {}

    void tell(const Message& message) const {
        if (kf::process::send_message(socket_, encode(message)) != Transfer::done) fail();
    }
    [[nodiscard]] std::string hear() const {
        std::string text;
        if (kf::process::receive_message(socket_, text) != Transfer::done) fail();
        return text;
    }

private:
    [[noreturn]] static void fail() { throw std::runtime_error("kfgen does not answer"); }

    int socket_;
};

/// The words of the source where it has some: of an input by its numbers in the artifact.
Explain explanations(const Task& task) {
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::string> texts;
    for (const Reason& one : task.reasons) texts[{one.function, one.call, one.argument}] = one.text;
    return [texts = std::move(texts)](std::size_t function, std::size_t call, std::size_t argument) {
        const auto found = texts.find({function, call, argument});
        return found == texts.end() ? std::string() : found->second;
    };
}

Conclusion check_task(const Task& task, const Kfgen& kfgen) {
    std::string failure;
    LimitedLoops loops{task.loops, {}};
    loops.artifact = [&](std::size_t begin, std::size_t end, const std::string& function) {
        kfgen.tell(Question{begin, end, function});
        Answer answer = decode_answer(kfgen.hear());
        if (!answer.failure.empty()) failure = answer.failure;
        return std::move(answer.artifact);
    };
    Report report = check_gradients(task.artifact, task.settings, explanations(task), task.differences, loops,
                                    [&](const std::string& next) { kfgen.tell(Step{next}); });
    report.not_compared.insert(report.not_compared.begin(), task.not_compared.begin(),
                               task.not_compared.end());
    if (!failure.empty()) report.not_compared.push_back("loops with their limits: " + failure);
    return {task.json ? json_of(report) : text_of(report), report.is_right()};
}

Message end_of(const Task& task, const Kfgen& kfgen) {
    try {
        return check_task(task, kfgen);
    } catch (const kf::Error& error) {
        return Refusal{std::string(kf::error_id(error.code())), error.what(),
                       dynamic_cast<const kf::DeviceError*>(&error) != nullptr};
    } catch (const std::exception& error) {
        return Fault{error.what()};
    }
}

/// The number of the socket, which is the only argument; -1 where it isn't.
int socket_of(int argc, char** argv) {
    const std::string_view text = argc == 2 ? argv[1] : "";
    int socket = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), socket);
    return error == std::errc() && end == text.data() + text.size() ? socket : -1;
}

}  // namespace

int main(int argc, char** argv) {
    const int socket = socket_of(argc, argv);
    if (socket < 0) {
        std::cerr << "kfgen-check " KFGEN_VERSION " is started by `kfgen check --gradients`\n";
        return 2;
    }
    // However kfgen ends, so does this, even in the middle of a driver's function.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (kf::process::is_abandoned(socket)) return 1;
    try {
        const Kfgen kfgen(socket);
        kfgen.tell(Greeting{KFGEN_VERSION, messages_version});
        kfgen.tell(end_of(decode_task(kfgen.hear()), kfgen));
    } catch (const std::exception& error) {
        std::cerr << "kfgen-check: " << error.what() << '\n';
        return 1;
    }
    return 0;
}
