// NVRTC in a child process, within limits.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "cuda/nvrtc.h"

namespace kf::gen {

struct CudaLimits {
    std::chrono::milliseconds time{120'000};  ///< for one program; more becomes "nvrtc-timeout"
    std::uint64_t memory = 0;  ///< bytes of the child's process; more becomes "nvrtc-memory"; 0: none
};

/// Compiles in a child that is forked here, so that neither a hang nor a crash ("nvrtc-internal") is kfgen's;
/// the next call starts another child. Not thread-safe: one per worker thread. Make it before other threads
/// start. `many`: it will compile several programs, which is worth compiling their prelude by itself first.
std::unique_ptr<const CudaCompiler> make_isolated(std::shared_ptr<const CudaCompiler> compiler,
                                                  const CudaLimits& limits, bool many);

}  // namespace kf::gen
