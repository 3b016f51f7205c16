// Messages through a socket between two processes: each is its length (8 bytes) and its bytes.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace kf::process {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

enum class Transfer { done, timed_out, broken };

/// Sends the whole message. Without a deadline it waits for as long as it takes; `broken`: the other end is
/// closed.
Transfer send_message(int socket, std::string_view text, const Deadline& deadline = std::nullopt);

/// Receives a whole message, as send_message() does; `broken` also stands for a length that no message has.
Transfer receive_message(int socket, std::string& text, const Deadline& deadline = std::nullopt);

/// Whether the other end is closed.
bool is_abandoned(int socket);

/// Says how a child ended, by what waitpid() gave: "signal 11 (Segmentation fault)", "exit status 3".
std::string describe_status(int status);

}  // namespace kf::process
