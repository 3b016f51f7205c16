// The Slang compiler behind one narrow interface, so that the other stages can be tested without it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/kernel_source.h"
#include "slang/module.h"
#include "slang/reached.h"
#include "slang/support_module.h"
#include "slang/type_lookup.h"

namespace kf::gen {

enum class CodeTarget : std::uint8_t { spirv, cuda_source };

struct CodeForm {
    CodeTarget target = CodeTarget::spirv;
    bool places = false;           ///< the code says what lines it was made of
    bool sets_globals = false;     ///< of a kernel that sets global parameters: see KernelSource::globals
    bool keeps_constants = false;  ///< of one that leaves some to run time: see KernelSource::kept
};

/// The line after Slang's own prelude in CUDA source; what follows it is the kernel.
inline constexpr std::string_view cuda_prelude_end = "// kf: the prelude ends here\n";

/// The line of CUDA source after that where no product and sum may become one operation.
inline constexpr std::string_view cuda_exact = "// kf: nothing is contracted\n";

/// What follows that line; all of the source where it has none.
constexpr std::string_view without_prelude(std::string_view source) {
    const std::size_t found = source.find(cuda_prelude_end);
    return found == std::string_view::npos ? source : source.substr(found + cuda_prelude_end.size());
}

/// What a session of the compiler is set up with; from the spec and the command line.
struct CompilerOptions {
    std::vector<std::filesystem::path> search_paths;  ///< absolute, in order
    std::vector<std::pair<std::string, std::string>> defines;
    std::vector<std::pair<std::string, Location>> capabilities = {};  ///< by Slang's names
    bool ignores_capabilities = false;
    /// Absolute; loaded before the first kernel is compiled, so that it can import them by
    /// module_names(). What reflect() was given takes this place.
    std::vector<std::filesystem::path> modules;
    /// Absolute; linked into every kernel, which can't import them. They may import those above.
    std::vector<std::filesystem::path> linked = {};
    std::string values = {};    ///< see Compiler::reflect(), which replaces it
    bool experimental = false;  ///< modules that Slang calls so are loaded; set where one is imported
    bool prints = false;        ///< some calls print: see debug_calls.h
    bool checks = false;        ///< some check indices
    /// What calls name, as the spec spells it; it says of which imported modules reflect() tells all.
    std::vector<std::string> functions = {};
    /// Those of `functions` whose calls have a derivative: reflect() warns of gradients that are lost in what
    /// they reach. Nothing: of all that are lost.
    std::optional<std::vector<std::string>> differentiated = {};
    /// Files that are not read from the disk, by their paths: what reflect() read, for other compilers.
    std::map<std::string, std::string> sources;
    std::chrono::milliseconds time_limit{120'000};  ///< for one call; more becomes "slang-timeout"
    std::uint64_t memory_limit = 0;  ///< bytes of Slang's process; more becomes "slang-memory"; 0: none
    /// Names of those of slang/workarounds that are used; none: what this Slang needs.
    std::optional<std::vector<std::string>> workarounds = {};
};

/// Where one field of an entry point's parameter struct lies on one target.
struct FieldLayout {
    std::string name;         ///< of a field of a struct in it, "x.strides"
    std::int64_t offset = 0;  ///< bytes from the start of the block
    std::int64_t size = 0;    ///< bytes
};

/// One compiled entry point.
struct CompiledKernel {
    std::string code;                ///< SPIR-V words as bytes (OpSource patched to Unknown), or CUDA source
    std::int64_t block_size = 0;     ///< bytes of the parameter struct, padding at its end included
    std::vector<FieldLayout> block;  ///< its fields in order, and theirs behind each
    std::vector<std::string> features;  ///< what the device must offer: see docs/runtime.md, "features"
    std::vector<std::uint32_t> constants = {};  ///< the KeptConstant::id of those that it depends on
};

/// Not thread-safe: one per worker thread. Nothing throws and nothing aborts: whatever Slang does
/// comes back as diagnostics, "slang-internal" for a crash, "slang-timeout" for a hang,
/// "slang-memory" for one that grows and grows.
/// Types are looked up in what reflect() was given last.
class Compiler : public TypeLookup {
public:
    /// Loads the modules (absolute paths) and describes their functions. Slang's own errors come
    /// back as diagnostics with Slang's file, line and column. What is compiled from then on is what was
    /// read. `values`: the text of a module that gives link-time declarations their values, on which sizes
    /// may depend; may be empty.
    virtual Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules,
                                    const std::string& values) = 0;
    Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules) {
        return reflect(modules, {});
    }
    virtual Outcome<CompiledKernel> compile(const KernelSource& source, CodeTarget target) = 0;
    /// What the functions that a probe calls reach: see emit/probe.h. Without places it costs less.
    virtual Outcome<std::vector<Reached>> reach(const KernelSource& source, const CodeForm& form) = 0;
    /// "2026.12" and the like; goes into artifacts and cache keys.
    [[nodiscard]] virtual std::string version() const = 0;
};

/// What generated kernels `import` for each of `modules`: the file's stem made an identifier, and
/// numbered when taken.
std::vector<std::string> module_names(const std::vector<std::filesystem::path>& modules);

/// The name as an identifier: other characters become _.
std::string module_identifier(std::string name);

/// Slang with its core module loaded. Not thread-safe.
class StartedSlang;

/// Starts Slang in this process, for the compilers of children that are forked later: each has it from its
/// first request on, and the time that a start takes is spent once. Throws std::runtime_error where Slang
/// can't be started.
std::shared_ptr<StartedSlang> start_slang();

/// Slang in a child process, forked here: a hang in it is killed and a crash does no harm, and the next
/// call starts another. Slang itself starts with the first call (about 0.25 s). Call it before other
/// threads start. `support_modules` are built-in modules such as kf, for `import kf;`: those with other
/// projects' names are loaded where the user's modules name them alone. Children have `started`, if any, and
/// start Slang by themselves otherwise.
Outcome<std::unique_ptr<Compiler>> make_slang_compiler(const CompilerOptions& options,
                                                       const std::vector<SupportModule>& support_modules,
                                                       std::shared_ptr<StartedSlang> started = nullptr);

}  // namespace kf::gen
