// The findings of a check of gradients, and how they are printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kf::check {

enum class Status : std::uint8_t {
    right,          ///< every component that could be compared agrees
    wrong,          ///< some component doesn't
    not_exercised,  ///< gradient and differences were 0 wherever they were compared: that says nothing
    unused,         ///< the same, and the compiled code shows that no result depends on it
    not_smooth,     ///< differences came out otherwise for every step, at ten of eleven places or more
    not_finite,     ///< wherever it was tried, the function gave infinities or NaN
    not_run,        ///< the call failed, or no kernel of it runs on the device
    not_checked,    ///< it has a gradient that can't be compared
    no_gradient,    ///< there is none to compare
};
const char* status_name(Status status);

/// One input of one overload.
struct InputReport {
    std::string name;
    Status status = Status::not_run;
    std::string why_not;        ///< of no_gradient and not_checked
    std::int64_t compared = 0;  ///< components and directions
    std::int64_t unsure = 0;    ///< those where differences were too uncertain
    std::int64_t wrong = 0;     ///< of those compared
    bool exercised = false;     ///< a gradient, or a difference, was not 0
    bool steps = false;         ///< results change with it, if not by small steps
    double largest_error = -1;  ///< relative to the input's largest gradient; -1: nothing was compared
    double gradient = 0;        ///< where the error is largest
    double differences = 0;     ///< there
    double uncertainty = 0;     ///< of the differences there
    std::string place;          ///< there: "[2, 1]", "along a direction"
    std::string how;            ///< there: "strided", "deterministic, rows"
};

/// The values that an input had which is no floating number.
struct Tried {
    std::string name;
    std::vector<std::string> values;      ///< with which something was compared
    std::vector<std::string> not_finite;  ///< with which results were infinite or NaN
    std::vector<std::string> not_given;   ///< which the function compares it with, but are too large
};

/// Where the numbers of an input came from that gave results, if they had to be searched for.
struct Searched {
    std::string name;
    double low = 0;
    double high = 0;
};

/// A loop that ran more often than its [MaxIters] says, where the backward pass may have ended it.
struct PastLimit {
    std::string file;
    std::int64_t line = 0;
    std::string function;  ///< the one that it is in, where that has a name
    std::string limit;     ///< as written

    bool operator==(const PastLimit&) const = default;
};

struct CallReport {
    std::string function;
    std::string overload;  ///< "f(x: float tensor[1]) -> float tensor[1]"
    bool has_backward = false;
    std::string failure;  ///< why it could not be run at all
    std::vector<InputReport> inputs;
    std::vector<Tried> tried = {};
    std::vector<Searched> searched = {};
    /// Loops that ran past their limits in some trial; several together where it may have been any of them.
    std::vector<std::vector<PastLimit>> past_limits = {};
};

struct Report {
    std::string module;
    std::string device;  ///< "vulkan:0, llvmpipe (LLVM 15.0.6, 256 bits)"
    std::uint64_t seed = 0;
    std::vector<CallReport> calls;
    std::int64_t kernels = 0;                    ///< backward kernels of the calls that were checked
    std::vector<std::string> kernels_not_run;    ///< by name
    std::vector<std::string> not_compared = {};  ///< derivatives that functions take, and why

    [[nodiscard]] std::int64_t count(Status status) const;
    /// Returns the functions with a gradient that was not compared, though it could be run.
    [[nodiscard]] std::vector<std::string> not_passed() const;
    /// Whether anything was compared at all.
    [[nodiscard]] bool has_compared() const;
    /// Whether something was compared, and all gradients could be. None is wrong, every call could be run, no
    /// loop ran past its limit, and every input took part in a gradient, except for those that nothing
    /// depends on, or by steps alone.
    [[nodiscard]] bool is_right() const;
};

/// One line an input, below its overload; a summary last.
std::string text_of(const Report& report);
/// Returns the report as one JSON object, on lines of its own.
std::string json_of(const Report& report);

}  // namespace kf::check
