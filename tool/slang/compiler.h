// The Slang compiler behind one narrow interface, so that the other stages can be tested without it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/module.h"

namespace kf::gen {

enum class CodeTarget : std::uint8_t { spirv, cuda_source };

/// What a session of the compiler is set up with; from the spec and the command line.
struct CompilerOptions {
    std::vector<std::filesystem::path> search_paths;        ///< absolute, in order
    std::vector<std::pair<std::string, std::string>> defines;
    std::chrono::seconds time_limit{120};                   ///< for one compile; a hang becomes an error
};

/// Where one field of an entry point's parameter struct lies on one target.
struct FieldLayout {
    std::string name;
    std::int64_t offset = 0;  ///< bytes from the start of the block
    std::int64_t size = 0;    ///< bytes
};

/// One compiled entry point.
struct CompiledKernel {
    std::string code;                    ///< SPIR-V words as bytes (OpSource patched to Unknown), or CUDA source
    std::int64_t block_size = 0;         ///< bytes of the parameter struct
    std::vector<FieldLayout> block;      ///< its fields, in order
    std::vector<std::string> features;   ///< what the device must offer: see docs/runtime.md, "features"
};

struct KernelSource {
    std::string entry_point;
    std::string text;         ///< a whole Slang module that imports the user's
    Location origin;          ///< the spec entry it was made for; errors in it point here
};

/// Not thread-safe: one per worker thread.
class Compiler {
public:
    virtual ~Compiler() = default;
    /// Loads the modules (absolute paths) and describes their functions. Slang's own errors come
    /// back as diagnostics with Slang's file, line and column.
    virtual Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules) = 0;
    virtual Outcome<CompiledKernel> compile(const KernelSource& source, CodeTarget target) = 0;
    /// "2026.12" and the like; goes into artifacts and cache keys.
    [[nodiscard]] virtual std::string version() const = 0;
};

/// Opens libslang-compiler. `support_modules` are built-in modules (name, text) such as kf.slang.
Outcome<std::unique_ptr<Compiler>> make_slang_compiler(
    const CompilerOptions& options, const std::vector<std::pair<std::string, std::string>>& support_modules);

}  // namespace kf::gen
