// The command line as a value.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "output/file_system.h"
#include "spec/spec.h"

namespace kf::gen {

/// 1 is for input that is wrong, 3 for kfgen or a compiler that failed; main picks those.
enum ExitCode : int { exit_done = 0, exit_input = 1, exit_command_line = 2, exit_failed = 3 };

enum class Command : std::uint8_t { none, init, generate, check, list, explain, inspect };
enum class ErrorFormat : std::uint8_t { text, json };
enum class Verbosity : std::uint8_t { quiet, normal, verbose };

/// The options of `check --gradients`; see check/settings.h.
struct GradientOptions {
    bool wanted = false;
    std::string device;  ///< empty: the runtime's choice
    std::uint64_t seed = 1;
    std::optional<std::pair<double, double>> range;                         ///< of floating inputs
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> shapes;  ///< by argument
    std::vector<std::string> except;                                        ///< functions
    bool json = false;                                                      ///< of --against too

    bool operator==(const GradientOptions&) const = default;
};

/// The part of a kernel that `explain` shows.
enum class Shown : std::uint8_t {
    summary,  ///< threads, registers, memory, the block, features
    slang,    ///< as kfgen wrote it
    code,     ///< what Slang made of that: SPIR-V, CUDA source
    ptx       ///< what NVRTC made of CUDA source
};

struct ExplainOptions {
    std::string function;
    std::vector<std::string> kernels;  ///< numbers, or parts of names; empty: all of the function's
    std::vector<Shown> shown;          ///< empty: all but PTX

    [[nodiscard]] bool shows(Shown what) const {
        return shown.empty() ? what != Shown::ptx
                             : std::find(shown.begin(), shown.end(), what) != shown.end();
    }

    bool operator==(const ExplainOptions&) const = default;
};

/// How a program gets at NAME.kfa.
enum class Embedding : std::uint8_t {
    none,        ///< as a file at run time
    incbin,      ///< NAME.cpp has the assembler read it
    text,        ///< it is in NAME.cpp, as numbers
    elf_x86_64,  ///< it is in an object file for such machines, NAME.kfa.o
    elf_aarch64,
    coff_x86_64,  ///< the same for Windows, NAME.kfa.obj
    coff_arm64
};

/// Paths are as written: relative ones start at the working directory.
struct Options {
    Command command = Command::none;
    std::filesystem::path spec;      ///< of all commands but inspect
    std::filesystem::path artifact;  ///< of inspect; of check --gradients and --against instead of the spec
    std::filesystem::path against;   ///< of check: an artifact or a spec; empty: nothing is compared
    std::filesystem::path extract;   ///< of inspect: folder for kernel images; empty: none
    std::filesystem::path module;    ///< of init
    std::filesystem::path output;    ///< of init: the spec to write; empty: beside the module; "-": print it
    bool force = false;              ///< of init: replace the spec
    std::filesystem::path output_directory;
    std::filesystem::path depfile;                             ///< empty: NAME.d in the output directory
    std::filesystem::path stamp;                               ///< empty: none
    std::filesystem::path cache;                               ///< folder for compiled kernels; empty: none
    bool compiles_always = false;                              ///< every kernel, even if nothing changed
    std::uint64_t cache_size = std::uint64_t{1} << 30;         ///< bytes that it may take; 0: any number
    std::vector<Backend> backends;                             ///< empty: the spec's targets
    std::string name;                                          ///< empty: the spec's
    std::string namespace_name;                                ///< empty: `name`, or the spec's
    std::vector<std::filesystem::path> include_directories;    ///< after the spec's search_paths
    std::vector<std::pair<std::string, std::string>> defines;  ///< override the spec's; no value means "1"
    CppSettings cpp;                                           ///< for the headers of "structs"
    Embedding embedding = Embedding::incbin;
    bool python = false;
    std::string python_package;  ///< of NAME.py, with `python`; empty: none
    bool torch_tests = false;    ///< with `python`
    bool dry_run = false;
    bool werror = false;       ///< warnings end a run as errors do
    bool debug_print = false;  ///< for all calls, whatever the spec says
    bool checked = false;
    unsigned jobs = 0;     ///< 0: one per processor
    double timeout = 120;  ///< seconds of processor time that Slang or NVRTC may take for one kernel
    std::optional<std::uint64_t> max_memory;  ///< bytes that they may take for one; 0: any number
    bool no_progress = false;                 ///< no lines where none can be written over
    Verbosity verbosity = Verbosity::normal;
    ErrorFormat error_format = ErrorFormat::text;
    GradientOptions gradients;
    ExplainOptions explain;

    bool operator==(const Options&) const = default;
};

/// The result of parsing: either options to run with, or text to print and the code to exit with.
struct CommandLine {
    Options options;
    bool done = false;  ///< --help, --version or an error: print `text` and exit
    ExitCode exit_code = exit_done;
    std::string text;  ///< for stderr when exit_code is not 0, else for stdout; ends with a line break
};

/// `arguments` without the program's name; `version` is what --version prints. "@FILE" stands for the
/// arguments in FILE: separated by white space, quoted with '…' or "…", \ before any character; files
/// may name further files.
CommandLine parse_command_line(const std::vector<std::string>& arguments, const FileSystem& file_system,
                               const std::string& version);

/// Returns the options that shape the outputs, as text: for the key of a run (cache/run_state.h).
std::vector<std::string> output_options(const Options& options);

}  // namespace kf::gen
