// Messages between kfgen and kfgen-check about a check of gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "check/report.h"
#include "check/settings.h"

namespace kf::check {

/// Changes with any message. The programs are of one build: kfgen refuses one that greets it with another.
inline constexpr int messages_version = 1;

/// kfgen-check's first message. How it is written stays the same in all versions.
struct Greeting {
    std::string version;                       ///< of the program: "0.1.0"
    std::int64_t messages = messages_version;  ///< of the messages

    bool operator==(const Greeting&) const = default;
};

/// Why an input has no gradient, where the source says more than the artifact.
struct Reason {
    std::size_t function = 0, call = 0, argument = 0;  ///< numbers in the artifact
    std::string text;

    bool operator==(const Reason&) const = default;
};

/// kfgen's answer to the greeting: what to check, and how. Of an artifact without its source the last four
/// are empty.
struct Task {
    std::vector<std::byte> artifact;
    Settings settings;
    bool json = false;  ///< how the report is written
    std::vector<Reason> reasons;
    std::vector<std::vector<std::byte>> differences;  ///< as check_gradients() takes them
    std::vector<PastLimit> loops;                     ///< those of LimitedLoops
    std::vector<std::string> not_compared;            ///< what the report is to name, too

    bool operator==(const Task&) const = default;
};

/// Says what comes next, for errors: "opening the device".
struct Step {
    std::string text;

    bool operator==(const Step&) const = default;
};

/// Asks for an artifact in which the loops from number `begin` to before `end` end at their limits.
struct Question {
    std::size_t begin = 0, end = 0;
    std::string function;  ///< the one that it must have at least; empty: all

    bool operator==(const Question&) const = default;
};

/// kfgen's answer to a question.
struct Answer {
    std::vector<std::byte> artifact;  ///< empty where there can't be one
    std::string failure;              ///< why not

    bool operator==(const Answer&) const = default;
};

/// The end of a check that ran.
struct Conclusion {
    std::string report;  ///< what to print
    bool right = false;

    bool operator==(const Conclusion&) const = default;
};

/// The end of a check that an Error ended.
struct Refusal {
    std::string id;  ///< "no-device"
    std::string message;
    bool of_device = false;  ///< rather than of the artifact or the settings

    bool operator==(const Refusal&) const = default;
};

/// The end of a check that any other exception ended: a fault of the program's.
struct Fault {
    std::string message;

    bool operator==(const Fault&) const = default;
};

/// A message of kfgen-check.
using Message = std::variant<Greeting, Step, Question, Conclusion, Refusal, Fault>;

std::string encode(const Message& message);
std::string encode(const Task& task);
std::string encode(const Answer& answer);

/// The decoders throw std::runtime_error for bytes that are no such message.
Message decode_message(std::string_view bytes);
Task decode_task(std::string_view bytes);
Answer decode_answer(std::string_view bytes);

}  // namespace kf::check
