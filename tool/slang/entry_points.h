// Entry points of a module, made into functions that kernels can call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// Whether one of a function's attributes, without blanks, makes it an entry point of a compute pipeline or a
/// CUDA kernel: `shader("compute")`, `numthreads(8,8,1)`, `CUDAKernel`.
[[nodiscard]] bool is_compute_entry(const std::vector<std::string>& attributes);

/// Whether one of them makes it a stage of another pipeline, or a function of the host.
[[nodiscard]] bool is_other_entry(const std::vector<std::string>& attributes);

/// What `numthreads(…)` among them has in its brackets, without blanks: "taps*2", "1", "1"; empty where it
/// isn't there.
[[nodiscard]] std::vector<std::string> written_group_size(const std::vector<std::string>& attributes);

/// The group size that `numthreads(…)` among them states in numbers; nothing where it doesn't.
[[nodiscard]] std::optional<std::array<std::int64_t, 3>> stated_group_size(
    const std::vector<std::string>& attributes);

/// The struct in the text of as_functions() whose fields are arrays as long as the function's groups are
/// wide.
[[nodiscard]] std::string group_size_struct(std::string_view function);

/// Slang crashes where a kernel calls a function that is an entry point by itself, ends a module whose stages
/// don't fit their pipeline, and doesn't know CUDA's own names (cudaThreadIdx() and its kin) for SPIR-V.
/// Returns the text with entry points as plain functions, whose attributes macros may write, and with the
/// module kf_launch's functions for those names; lines and columns stay.
[[nodiscard]] std::string as_functions(std::string_view text);

/// The same of the text that a macro of the command line stands for.
[[nodiscard]] std::string as_functions_macro(std::string_view value);

/// The macros that make what they stand before an entry point.
[[nodiscard]] std::set<std::string> entry_macros(std::string_view text);

/// The lines of an entry point, whatever its pipeline.
struct EntryRange {
    std::string name;
    std::int64_t first = 0;
    std::int64_t last = 0;

    bool operator==(const EntryRange&) const = default;
};

/// Those of a text, also behind `macros`, which make them entry points.
[[nodiscard]] std::vector<EntryRange> entry_ranges(std::string_view text,
                                                   const std::set<std::string>& macros);

/// What Slang says of an entry point whose attributes a macro writes.
struct MacroEntry {
    Location place;  ///< where it is declared
    bool is_compute = false;
    std::array<std::int64_t, 3> group_size{};

    bool operator==(const MacroEntry&) const = default;
};

/// What as_functions() leaves to be put behind all else of the text: imports and group_size_struct()s.
/// Nothing for most texts. `text`: the original one.
[[nodiscard]] std::string behind_functions(std::string_view text);

}  // namespace kf::gen
