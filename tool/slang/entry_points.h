// Entry points of a module, made into functions that kernels can call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Slang crashes where a kernel calls a function that is an entry point by itself, and doesn't know CUDA's
/// own names (cudaThreadIdx() and its kin) for SPIR-V. Returns the text with compute entry points as plain
/// functions, and with the module kf_launch's functions for those names; lines and columns stay.
[[nodiscard]] std::string as_functions(std::string_view text);

/// What as_functions() leaves to be put behind all else of the text: imports and group_size_struct()s.
/// Nothing for most texts. `text`: the original one.
[[nodiscard]] std::string behind_functions(std::string_view text);

}  // namespace kf::gen
