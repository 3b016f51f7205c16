// Puts the CUDA source of many kernels into one translation unit.
#include "cuda/unit.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "slang/compiler.h"

namespace kf::gen {

namespace {

/// Replaces whole words: entry points are named in declarations and nowhere else.
std::string replace_word(const std::string& text, const std::string& word, const std::string& by) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::string result;
    std::size_t from = 0;
    for (;;) {
        const std::size_t at = text.find(word, from);
        if (at == std::string::npos) return result + text.substr(from);
        const std::size_t end = at + word.size();
        const bool whole = (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
        result += text.substr(from, at - from) + (whole ? by : word);
        from = end;
    }
}

/// Ends a kernel's namespace before what its text includes, and goes on with it behind: headers belong in no
/// namespace, and directives around them mean what they did. What is included always is so once in a unit, as
/// not every header has a guard.
class IncludesOutside {
public:
    [[nodiscard]] std::string operator()(const std::string& text, const std::string& kernel) {
        std::string result;
        std::size_t number = lines_before;
        int depth = 0;  // of #if
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string line = text.substr(at, end - at);
            const std::string directive = directive_of(line);
            ++number;
            if (directive.starts_with("if")) ++depth;
            if (directive.starts_with("endif")) --depth;
            if (!directive.starts_with("include")) {
                result += line;
            } else if (depth > 0 || always_.insert(directive).second) {
                const std::string place = "#line " + std::to_string(number) + " \"" + kernel + "\"\n";
                result.append("}\n").append(place).append(line).append("\n");
                result.append(place).append("namespace " + kernel + " {");
            }
            if (end < text.size()) result += '\n';
            at = end + 1;
        }
        return result;
    }

private:
    /// The lines of a namespace before a kernel's text.
    static constexpr std::size_t lines_before = 2;

    /// What is behind a line's #, and the blanks there; empty where it begins with none.
    static std::string directive_of(const std::string& line) {
        const std::size_t sign = line.find_first_not_of(" \t");
        if (sign == std::string::npos || line[sign] != '#') return {};
        return line.substr(std::min(line.find_first_not_of(" \t", sign + 1), line.size()));
    }

    std::set<std::string> always_;
};

/// What each kernel's part of the unit calls itself, before its number.
constexpr std::string_view file_start = "kf_kernel_";

std::string bound_name(std::size_t kernel) { return "kf_bounds_" + std::to_string(kernel); }

/// Slang writes no bounds, so they go before the entry point's name.
std::string bounded(const std::string& text, const std::string& entry_point, std::size_t kernel) {
    const std::string declared = "__global__ void ";
    const std::size_t at = text.find(declared + entry_point + "(");
    if (at == std::string::npos) return text;
    std::string result = text;
    return result.insert(at + declared.size(), "__launch_bounds__(" + bound_name(kernel) + ") ");
}

/// Slang's prelude turns these parts on when a kernel uses the type.
std::vector<std::string> defines_for(const std::string& bodies) {
    std::vector<std::string> defines;
    if (bodies.find("__half") != std::string::npos) defines.emplace_back("SLANG_CUDA_ENABLE_HALF=1");
    if (bodies.find("__nv_bfloat16") != std::string::npos) defines.emplace_back("SLANG_CUDA_ENABLE_BF16=1");
    return defines;
}

}  // namespace

Outcome<CudaUnit> join_cuda_sources(const std::vector<CudaKernelSource>& kernels) {
    CudaUnit unit;
    std::string bodies;
    IncludesOutside includes_outside;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const CudaKernelSource& kernel = kernels[i];
        const std::size_t end = kernel.text.find(cuda_prelude_end);
        if (end == std::string::npos || kernel.text.find(kernel.entry_point, end) == std::string::npos) {
            return Diagnostic{Severity::error,
                              "internal-cuda-source",
                              kernel.origin,
                              "CUDA source of '" + kernel.entry_point + "' does not have the expected form",
                              {}};
        }
        if (unit.text.empty()) unit.text = kernel.text.substr(0, end);
        const std::string number = std::to_string(i);
        const std::string ending = kernel.interface.empty() ? "" : "_" + kernel.interface;
        unit.entry_points.push_back(kernel.entry_point + "_" + number + ending);
        const std::string file = std::string(file_start) + number;
        const std::string text = includes_outside(kernel.text.substr(end + cuda_prelude_end.size()), file);
        std::string body = replace_word(text, kernel.entry_point, unit.entry_points.back());
        if (kernel.resident_groups != 0) {
            body = bounded(body, unit.entry_points.back(), i);
            unit.bounds.push_back({i, kernel.threads, kernel.resident_groups});
        }
        // The compiler's log names this "file": see kernel_of_log_line().
        bodies += "\n#line 1 \"" + file + "\"\nnamespace " + file + "\n{\n" + body + "\n}\n";
    }
    unit.defines = defines_for(bodies);
    unit.text += bodies;
    return unit;
}

std::vector<std::string> define_bounds(const CudaUnit& unit, const std::vector<std::size_t>& unbounded) {
    std::vector<std::string> defines;
    for (const CudaUnit::Bound& bound : unit.bounds) {
        const bool kept = std::find(unbounded.begin(), unbounded.end(), bound.kernel) == unbounded.end();
        defines.push_back(bound_name(bound.kernel) + "=" + std::to_string(bound.threads) +
                          (kept ? "," + std::to_string(bound.resident_groups) : ""));
    }
    return defines;
}

std::vector<std::size_t> spilling_kernels(const CudaUnit& unit, std::string_view log) {
    constexpr int few_bytes = 32;
    std::vector<std::size_t> spilling;
    for (const CudaUnit::Bound& bound : unit.bounds) {
        const std::string title = "Function properties for " + unit.entry_points[bound.kernel] + "\n";
        const std::size_t at = log.find(title);
        if (at == std::string_view::npos) continue;
        // "32 bytes stack frame, 108 bytes spill stores, 76 bytes spill loads"
        const std::string_view line =
            log.substr(at + title.size()).substr(0, log.find('\n', at + title.size()));
        const std::size_t comma = line.find(", ");
        int bytes = 0;
        if (comma == std::string_view::npos) continue;
        std::from_chars(line.data() + comma + 2, line.data() + line.size(), bytes);
        if (bytes > few_bytes) spilling.push_back(bound.kernel);
    }
    return spilling;
}

std::optional<std::size_t> kernel_of_log_line(const CudaUnit& unit, std::string_view line) {
    if (line.starts_with(file_start)) {
        std::size_t index = 0;
        const char* end = line.data() + line.size();
        const auto [after, failed] = std::from_chars(line.data() + file_start.size(), end, index);
        if (failed == std::errc() && after != end && *after == '(' && index < unit.entry_points.size())
            return index;
    }
    // ptxas has no lines, but quotes the entry point.
    for (std::size_t i = 0; i < unit.entry_points.size(); ++i) {
        if (line.find("'" + unit.entry_points[i] + "'") != std::string_view::npos) return i;
    }
    return std::nullopt;
}

std::string cap_ptx_version(std::string ptx, int major, int minor) {
    const std::string directive = ".version ";
    const std::size_t at = ptx.find(directive);
    if (at == std::string::npos) return ptx;
    const char* begin = ptx.data() + at + directive.size();
    const char* end = ptx.data() + ptx.size();
    int found_major = 0;
    int found_minor = 0;
    const auto [dot, first] = std::from_chars(begin, end, found_major);
    if (first != std::errc() || dot == end || *dot != '.') return ptx;
    const auto [last, second] = std::from_chars(dot + 1, end, found_minor);
    if (second != std::errc()) return ptx;
    if (std::pair(found_major, found_minor) <= std::pair(major, minor)) return ptx;
    ptx.replace(at + directive.size(), static_cast<std::size_t>(last - begin),
                std::to_string(major) + "." + std::to_string(minor));
    return ptx;
}

}  // namespace kf::gen
