// How much memory there is for this process and its children.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kf::process {

/// Bytes of memory that this machine has, or fewer where a control group under `groups` allows fewer; 0 where
/// nothing says.
std::uint64_t machine_memory(const std::filesystem::path& groups = "/sys/fs/cgroup");

}  // namespace kf::process
