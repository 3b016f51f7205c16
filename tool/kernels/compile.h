// Compiles a set of kernels, several at a time, keeping what a cache already has.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/code_keys.h"
#include "kernels/collect.h"
#include "process/job_server.h"
#include "slang/compiler.h"

namespace kf::gen {

using CompiledUnit = std::map<CodeTarget, CompiledKernel>;

/// Where compiled kernels are kept between runs. Called from several threads at once.
class KernelStore {
public:
    virtual ~KernelStore() = default;
    virtual std::optional<CompiledKernel> find(const std::string& key) = 0;
    virtual void keep(const std::string& key, const CompiledKernel& kernel) = 0;
};

struct CompileJob {
    /// Makes a compiler for one worker thread. Called on the caller's thread.
    std::function<Outcome<std::unique_ptr<Compiler>>()> make_compiler;
    unsigned workers = 1;
    KernelStore* store = nullptr;    ///< not owned; may be null
    const CodeKeys* keys = nullptr;  ///< of the store; not owned, and there where a store is
    /// Called for each compiled kernel: with how many are, of how many, and its name. From any thread.
    std::function<void(std::size_t, std::size_t, const std::string&)> tell = {};
    /// Called for each kernel before the first one is compiled: with whether the store has it.
    std::function<void(const KernelUnit&, CodeTarget, bool)> found = {};
    /// Called with how many kernels are about to be compiled, if any are.
    std::function<void(std::size_t)> start = {};
    process::JobServer* slots =
        nullptr;  ///< that further workers need, each for a kernel; not owned; may be null
};

/// One entry a unit, in order. All kernels are tried; all errors and warnings come back. A kernel with
/// warnings is not kept.
Outcome<std::vector<CompiledUnit>> compile_kernels(const KernelSet& kernels, const CompileJob& job);

}  // namespace kf::gen
