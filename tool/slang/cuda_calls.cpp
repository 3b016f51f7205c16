// Counts the copies of functions by what calls what.
#include "slang/cuda_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "slang/cuda_words.h"

namespace kf::gen {

namespace {

constexpr std::string_view sum_prefix = "AtomicTensor_add";
constexpr std::string_view device_marker = "__device__ ";

/// Copies of one function in a kernel: as many cost less than what the calls of one would.
constexpr std::uint64_t most_copies = 16;

struct CudaFunction {
    std::string_view name;
    std::string_view body;
    std::size_t at = 0;  ///< where its line begins in the code
};

/// The name that is declared in a function's first line, before its parameters.
std::string_view declared_name(std::string_view line) {
    const std::size_t open = line.find('(');
    if (open == std::string_view::npos) return {};
    std::size_t begin = open;
    while (begin > 0 && is_of_word(line[begin - 1])) --begin;
    return line.substr(begin, open - begin);
}

/// The functions with bodies; Slang begins and ends them at the start of a line.
std::vector<CudaFunction> functions_in(std::string_view code) {
    std::vector<CudaFunction> functions;
    for (std::size_t at = 0; at < code.size();) {
        const std::size_t line_end = std::min(code.find('\n', at), code.size());
        const std::string_view line = code.substr(at, line_end - at);
        const bool begins = line.starts_with(device_marker) || line.starts_with("extern \"C\" __global__ ");
        if (begins && !line.ends_with(';') && code.substr(line_end).starts_with("\n{\n")) {
            const std::size_t end = std::min(code.find("\n}\n", line_end), code.size());
            functions.push_back({declared_name(line), code.substr(line_end, end - line_end), at});
            at = end + 1;
        } else {
            at = line_end + 1;
        }
    }
    return functions;
}

/// What calls what: counts the copies of functions that a kernel has when all calls are inlined.
class CudaCalls {
public:
    explicit CudaCalls(const std::vector<CudaFunction>& functions)
        : functions_(functions), called_(functions.size()) {
        for (std::size_t i = 0; i < functions.size(); ++i) numbers_[functions[i].name] = i;
        for (std::size_t i = 0; i < functions.size(); ++i) add_calls(i);
    }

    /// The copies of `target` in a function with all that it calls.
    [[nodiscard]] std::uint64_t copies(std::size_t target, std::size_t within) const {
        std::vector<std::uint64_t> known(functions_.size(), unknown);
        return copies(target, within, known);
    }

private:
    static constexpr std::uint64_t unknown = ~std::uint64_t{0};
    static constexpr std::uint64_t enough = std::uint64_t{1} << 32;

    std::uint64_t copies(std::size_t target, std::size_t within, std::vector<std::uint64_t>& known) const {
        if (within == target) return 1;
        if (known[within] != unknown) return known[within];
        known[within] = 0;  // while a function that calls itself is counted
        std::uint64_t sum = 0;
        for (const std::size_t callee : called_[within])
            sum = std::min(enough, sum + copies(target, callee, known));
        return known[within] = sum;
    }

    void add_calls(std::size_t number) {
        const std::string_view body = functions_[number].body;
        for (std::size_t at = 0; at < body.size();) {
            if (!is_of_word(body[at])) {
                ++at;
                continue;
            }
            std::size_t end = at;
            while (end < body.size() && is_of_word(body[end])) ++end;
            const auto found = end < body.size() && body[end] == '('
                                   ? numbers_.find(body.substr(at, end - at))
                                   : numbers_.end();
            if (found != numbers_.end()) called_[number].push_back(found->second);
            at = end;
        }
    }

    const std::vector<CudaFunction>& functions_;
    std::map<std::string_view, std::size_t> numbers_;
    std::vector<std::vector<std::size_t>> called_;  ///< by caller, each as often as it is called
};

}  // namespace

std::string call_sums(std::string_view code) {
    if (code.find(sum_prefix) == std::string_view::npos) return std::string(code);
    const std::vector<CudaFunction> functions = functions_in(code);
    const CudaCalls calls(functions);
    std::string result;
    std::size_t done = 0;
    for (std::size_t i = 0; i < functions.size(); ++i) {
        // The kernel comes last.
        if (!functions[i].name.starts_with(sum_prefix) ||
            calls.copies(i, functions.size() - 1) <= most_copies)
            continue;
        result.append(code.substr(done, functions[i].at - done)).append("__noinline__ ");
        done = functions[i].at;
    }
    return result.append(code.substr(done));
}

}  // namespace kf::gen
