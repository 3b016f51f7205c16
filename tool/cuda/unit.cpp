// Gives an entry point its name, and bounds its registers.
#include "cuda/unit.h"

#include <cctype>
#include <charconv>

#include "slang/compiler.h"
#include "slang/cuda_checks.h"

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

/// Slang writes no bounds, so they go before the entry point's name.
std::string bounded(const std::string& text, const std::string& entry_point, const std::string& bounds) {
    const std::string declared = "__global__ void ";
    const std::size_t at = text.find(declared + entry_point + "(");
    if (at == std::string::npos) return text;
    std::string result = text;
    return result.insert(at + declared.size(), "__launch_bounds__(" + bounds + ") ");
}

/// The prelude turns these parts on when a kernel uses the type, or checks buffers.
std::string defines_for(const std::string& text) {
    std::string defines;
    if (text.find("__half") != std::string::npos) defines += "#define SLANG_CUDA_ENABLE_HALF 1\n";
    if (text.find("__nv_bfloat16") != std::string::npos) defines += "#define SLANG_CUDA_ENABLE_BF16 1\n";
    if (text.find(buffer_checks_user) != std::string::npos)
        defines += "#define " + std::string(buffer_checks_macro) + " 1\n";
    return defines;
}

}  // namespace

Outcome<CudaUnit> cuda_unit(const CudaKernelSource& kernel) {
    const std::size_t end = kernel.text.find(cuda_prelude_end);
    if (end == std::string::npos || kernel.text.find(kernel.entry_point, end) == std::string::npos) {
        return Diagnostic{Severity::error,
                          "internal-cuda-source",
                          kernel.origin,
                          "CUDA source of '" + kernel.entry_point + "' does not have the expected form",
                          {}};
    }
    CudaUnit unit;
    unit.prelude = std::string_view(kernel.text).substr(0, end);
    unit.entry_point = kernel.entry_point + (kernel.interface.empty() ? "" : "_" + kernel.interface);
    unit.bounded =
        replace_word(kernel.text.substr(end + cuda_prelude_end.size()), kernel.entry_point, unit.entry_point);
    unit.defines = defines_for(unit.bounded);
    if (kernel.resident_groups == 0) return unit;
    const std::string threads = std::to_string(kernel.threads);
    unit.unbounded = bounded(unit.bounded, unit.entry_point, threads);
    unit.bounded =
        bounded(unit.bounded, unit.entry_point, threads + ", " + std::to_string(kernel.resident_groups));
    return unit;
}

bool is_about_kernel(const CudaUnit& unit, std::string_view line) {
    // ptxas has no lines, but quotes the entry point.
    return line.starts_with("kernel.cu(") ||
           line.find("'" + unit.entry_point + "'") != std::string_view::npos;
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
