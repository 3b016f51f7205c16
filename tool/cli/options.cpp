// The command line as a value: CLI11 parses, the help is ours.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/response_file.h"
#include "core/join.h"
#include "diagnostic/suggest.h"
#include "spec/names.h"

namespace kf::gen {
namespace {

// One page for all commands. It fits a screen.
constexpr std::string_view help_text = R"(usage: kfgen COMMAND SPEC [OPTION ...] [@FILE ...]

Compiles Slang functions ahead of time into kernels with C++ and Python wrappers.
SPEC (NAME.kf.json) says which functions and how their arguments are passed.

  init NAME.slang          write a spec to start from, NAME.kf.json (-o FILE, --force)
  generate SPEC -o DIR     write NAME.h, NAME.cpp, NAME.kfa and NAME.d into DIR
    -n, --dry-run            say what would be written, write nothing
    --depfile FILE           where the depfile goes instead of DIR/NAME.d
    --stamp FILE             a file to rewrite whenever the run succeeds
  check SPEC               do all that generate does, but write nothing
    --gradients              run it, too, and compare gradients (see kfgen check --help)
  list SPEC                print the calls, their overloads and their kernels
  inspect FILE.kfa         verify an artifact and print what it holds

  --python                 also NAME.py, NAME.pyi and py.typed
  --torch-tests            those and NAME_torch_test.py, for pytest
  --embed HOW, --no-embed  NAME.kfa by incbin, text, elf-x86_64, elf-aarch64; or beside it
  --backend vulkan|cuda    compile for this, not for the spec's targets (repeatable)
  --namespace NS           the C++ namespace, instead of the spec's
  -I DIR                   look for Slang imports here too (--include-directory)
  -D NAME[=TEXT]           define a macro for Slang (--define)
  --cxx-option OPTION      compile the C++ headers of "structs" with it (repeatable)
  --compile-commands FILE  compile them as the compile_commands.json FILE says
  --cache-dir DIR          keep compiled kernels here (environment: KFGEN_CACHE_DIR;
                           default: kernelfunctions in XDG_CACHE_HOME or ~/.cache)
  --cache-size SIZE        the cache's largest size, 500M or 2G (default: 1G; 0: none)
  --no-cache               compile every kernel, keep none
  --timeout SECONDS        give up a kernel that takes Slang longer (default: 120)
  --max-memory SIZE        give up a kernel that takes Slang more memory, 4G
  --no-progress            no lines that say how far a long run is
  -j, --jobs N             compile with N threads (default: one per processor)
  -v, -q                   say more (--verbose), say nothing but errors (--quiet)
  --werror                 take warnings for errors: exit with 1 and write nothing
  --error-format text|json   how errors and warnings are printed
)";

// The text of `kfgen check --help`.
constexpr std::string_view check_help_text = R"(usage: kfgen check SPEC [OPTION ...] [@FILE ...]
       kfgen check SPEC|FILE.kfa --gradients [OPTION ...]

Does all that generate does, and writes nothing. With --gradients it then runs every backward
kernel on a device, with random inputs, and compares each input's gradient with differences of
the forward kernel's results; forward derivatives likewise. It reports which inputs have
gradients and which don't, and why.

  --device NAME            run on this: vulkan, cuda:0, vulkan:llvmpipe (default: KF_DEVICE)
  --seed N                 other inputs; the same seed makes the same ones (default: 1)
  --range LOW,HIGH         floating inputs lie between (default: -1.5,1.5 and 0.1,0.9 in turn)
  --shape ARGUMENT=N,...   the extents of a tensor, also FUNCTION.ARGUMENT (repeatable)
  --except FUNCTION        leave it out: its derivative is meant to be another (repeatable)
  --format text|json       how the report is printed

The exit code is 1 when a gradient is wrong or a call could not be run.
kfgen --help lists the options that all commands have.
)";

std::pair<double, double> split_range(const std::string& text) {
    const std::size_t comma = text.find(',');
    try {
        std::size_t used = 0;
        std::size_t used_last = 0;
        const std::string last = comma == std::string::npos ? "" : text.substr(comma + 1);
        const double low = std::stod(text.substr(0, comma), &used);
        const double high = std::stod(last, &used_last);
        if (used == comma && used_last == last.size() && low < high && std::isfinite(high - low)) {
            return {low, high};
        }
    } catch (const std::logic_error&) {  // stod's
    }
    throw CLI::ValidationError("--range",
                               "'" + text + "' is not LOW,HIGH: two numbers, the smaller one first");
}

std::pair<std::string, std::vector<std::int64_t>> split_shape(const std::string& text) {
    constexpr std::int64_t largest = 1 << 20;
    const std::size_t equals = text.find('=');
    std::vector<std::int64_t> extents;
    bool good = equals != std::string::npos && equals > 0;
    for (std::size_t at = equals; good && at != std::string::npos;) {
        const std::size_t end = text.find(',', at + 1);
        const std::string word = text.substr(at + 1, end == std::string::npos ? end : end - at - 1);
        std::int64_t extent = 0;
        const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), extent);
        good = error == std::errc() && stop == word.data() + word.size() && extent > 0 && extent <= largest;
        extents.push_back(extent);
        at = end;
    }
    if (!good) {
        throw CLI::ValidationError("--shape", "'" + text + "' is not ARGUMENT=N,...: extents from 1 on");
    }
    return {text.substr(0, equals), extents};
}

std::pair<std::string, std::string> split_define(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    if (!is_identifier(name)) {
        throw CLI::ValidationError("--define", "'" + text + "' is not NAME or NAME=TEXT");
    }
    return {name, equals == std::string::npos ? "1" : text.substr(equals + 1)};
}

void check_namespace(const std::string& name) {
    const std::vector<std::string> parts = name_parts(name);
    const bool good = std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
        return is_identifier(part) && !is_reserved(part);
    });
    if (!good || join(parts, "::") != name) {
        throw CLI::ValidationError("--namespace", "'" + name + "' can't be a C++ namespace");
    }
}

/// The user's own; empty where no home is known.
std::filesystem::path default_cache() {
    const auto folder = [](const char* variable) {
        const char* text = std::getenv(variable);
        const std::filesystem::path path = text != nullptr ? text : "";
        return path.is_absolute() ? path : std::filesystem::path();  // as the XDG specification says
    };
    if (const std::filesystem::path cache = folder("XDG_CACHE_HOME"); !cache.empty())
        return cache / "kernelfunctions";
    const std::filesystem::path home = folder("HOME");
    return home.empty() ? home : home / ".cache" / "kernelfunctions";
}

/// CLI11's parser, filled with kfgen's commands and what they set.
constexpr std::array<std::pair<std::string_view, Embedding>, 5> embeddings{{
    {"none", Embedding::none},
    {"incbin", Embedding::incbin},
    {"text", Embedding::text},
    {"elf-x86_64", Embedding::elf_x86_64},
    {"elf-aarch64", Embedding::elf_aarch64},
}};

Embedding embedding_named(std::string_view name) {
    const auto named = [&](const auto& entry) { return entry.first == name; };
    return std::find_if(embeddings.begin(), embeddings.end(), named)->second;
}

std::string embedding_name(Embedding embedding) {
    const auto same = [&](const auto& entry) { return entry.second == embedding; };
    return std::string(std::find_if(embeddings.begin(), embeddings.end(), same)->first);
}

class Parser {
public:
    explicit Parser(const std::string& version) : app_("", "kfgen") {
        app_.set_version_flag("--version", "kfgen " + version);
        app_.require_subcommand(1);
        app_.fallthrough();
        CLI::App& generate = command("generate", Command::generate);
        generate.add_option("-o,--output-dir", output_directory_)->required();
        generate.add_option("--depfile", depfile_);
        generate.add_option("--stamp", stamp_);
        generate.add_flag("-n,--dry-run", options_.dry_run);
        CLI::App& init = *app_.add_subcommand("init", "");
        init.final_callback([this] { options_.command = Command::init; });
        init.add_option("MODULE", module_)->required();
        init.add_option("-o,--output", output_);
        init.add_flag("--force", options_.force);
        add_check();
        command("list", Command::list);
        CLI::App& inspect = *app_.add_subcommand("inspect", "");
        inspect.final_callback([this] { options_.command = Command::inspect; });
        inspect.add_option("FILE", artifact_)->required();

        app_.add_flag("--python", options_.python);
        app_.add_flag("--torch-tests", options_.torch_tests);
        auto* embed = app_.add_option("--embed", embedding_);
        embed->check(CLI::IsMember(std::vector<std::string>{"incbin", "text", "elf-x86_64", "elf-aarch64"}));
        app_.add_flag("--no-embed", no_embed_)->excludes(embed);
        app_.add_option("--backend", backends_)
            ->allow_extra_args(false)
            ->check(CLI::IsMember(std::vector<std::string>{"vulkan", "cuda"}));
        app_.add_option("--namespace", options_.namespace_name);
        app_.add_option("-I,--include-directory", include_directories_)->allow_extra_args(false);
        app_.add_option("-D,--define", defines_)->allow_extra_args(false);
        app_.add_option("--cxx-option", options_.cpp.options)->allow_extra_args(false);
        app_.add_option("--compile-commands", compile_commands_);
        app_.add_option("--cache-dir", cache_)->envname("KFGEN_CACHE_DIR");
        app_.add_option("--cache-size", options_.cache_size)
            ->envname("KFGEN_CACHE_SIZE")
            ->transform(CLI::AsSizeValue(false));
        app_.add_flag("--no-cache", no_cache_);
        app_.add_option("--timeout", options_.timeout)->check(CLI::Range(0.001, 1e6));
        app_.add_option("--max-memory", options_.max_memory)->transform(CLI::AsSizeValue(false));
        app_.add_flag("--no-progress", options_.no_progress);
        app_.add_option("-j,--jobs", options_.jobs)->check(CLI::Range(1U, 1024U));
        app_.add_flag("--werror", options_.werror);
        auto* verbose = app_.add_flag("-v,--verbose");
        auto* quiet = app_.add_flag("-q,--quiet");
        verbose->excludes(quiet);
        app_.add_option("--error-format", error_format_)
            ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}));
    }

    CommandLine parse(std::vector<std::string> arguments) {
        CommandLine result;
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last one for the first
        try {
            app_.parse(std::move(arguments));
            result.options = options();
        } catch (const CLI::CallForHelp&) {
            result.done = true;
            result.text = app_.got_subcommand("check") ? check_help_text : help_text;
        } catch (const CLI::CallForVersion& version) {
            result.done = true;
            result.text = std::string(version.what()) + '\n';
        } catch (const CLI::ParseError& error) {
            result.done = true;
            result.exit_code = exit_command_line;
            result.text = format_text(diagnostic(error)) + '\n';
        }
        return result;
    }

private:
    CLI::App& command(const std::string& name, Command value) {
        CLI::App* sub = app_.add_subcommand(name, "");
        sub->final_callback([this, value] { options_.command = value; });
        sub->add_option("SPEC", spec_)->required();
        return *sub;
    }

    void add_check() {
        CLI::App& check = command("check", Command::check);
        GradientOptions& gradients = options_.gradients;
        auto* wanted = check.add_flag("--gradients", gradients.wanted);
        check.add_option("--device", gradients.device)->needs(wanted);
        // CLI11 would name its limits as doubles, with 300 digits.
        const CLI::Validator number(
            [](const std::string& text) {
                std::uint64_t value = 0;
                const char* end = text.data() + text.size();
                const auto [stop, failed] = std::from_chars(text.data(), end, value);
                const bool good = failed == std::errc() && stop == end;
                return good ? std::string() : "'" + text + "' is not a whole number from 0 to 2^64 - 1";
            },
            "NUMBER");
        check.add_option("--seed", gradients.seed)->needs(wanted)->check(number);
        check.add_option("--range", range_)->needs(wanted);
        check.add_option("--shape", shapes_)->allow_extra_args(false)->needs(wanted);
        check.add_option("--except", gradients.except)->allow_extra_args(false)->needs(wanted);
        check.add_option("--format", format_)
            ->needs(wanted)
            ->check(CLI::IsMember(std::vector<std::string>{"text", "json"}));
    }

    void take_gradient_options(GradientOptions& gradients) const {
        if (!range_.empty()) {
            gradients.range = split_range(range_);
        }
        for (const std::string& shape : shapes_) {
            gradients.shapes.push_back(split_shape(shape));
        }
        gradients.json = format_ == "json";
    }

    Options options() {
        Options result = std::move(options_);
        take_gradient_options(result.gradients);
        result.python = result.python || result.torch_tests;  // the tests import NAME.py
        result.spec = spec_;
        result.artifact = artifact_;
        if (result.gradients.wanted && result.spec.extension() == ".kfa") {
            std::swap(result.spec, result.artifact);
        }
        result.module = module_;
        result.output = output_;
        result.output_directory = output_directory_;
        result.depfile = depfile_;
        result.stamp = stamp_;
        if (!no_cache_) result.cache = cache_.empty() ? default_cache() : std::filesystem::path(cache_);
        result.cpp.compile_commands = compile_commands_;
        result.embedding = no_embed_ ? Embedding::none : embedding_named(embedding_);
        for (const std::string& backend : backends_) {
            const Backend value = backend == "cuda" ? Backend::cuda : Backend::vulkan;
            if (std::find(result.backends.begin(), result.backends.end(), value) == result.backends.end()) {
                result.backends.push_back(value);
            }
        }
        result.include_directories.assign(include_directories_.begin(), include_directories_.end());
        for (const std::string& define : defines_) {
            result.defines.push_back(split_define(define));
        }
        if (!result.namespace_name.empty()) {
            check_namespace(result.namespace_name);
        }
        result.verbosity = app_.count("--verbose") != 0 ? Verbosity::verbose
                           : app_.count("--quiet") != 0 ? Verbosity::quiet
                                                        : Verbosity::normal;
        result.error_format = error_format_ == "json" ? ErrorFormat::json : ErrorFormat::text;
        return result;
    }

    [[nodiscard]] Diagnostic diagnostic(const CLI::ParseError& error) const {
        Diagnostic result{Severity::error, "command-line", {}, error.what(), {}};
        const std::vector<std::string> unexpected = app_.remaining(true);
        if (!unexpected.empty()) {
            const std::string word = unexpected.front().substr(0, unexpected.front().find('='));
            result.message = "unknown argument '" + word + "'";
            std::vector<std::string> known{"generate", "check", "list", "inspect"};
            std::vector<const CLI::App*> apps{&app_};
            for (const CLI::App* sub : app_.get_subcommands(nullptr)) {
                apps.push_back(sub);
            }
            for (const CLI::App* app : apps) {
                for (const CLI::Option* option : app->get_options()) {
                    for (const std::string& name : option->get_lnames()) {
                        known.push_back("--" + name);
                    }
                }
            }
            if (const auto near = closest(word, known)) {
                result.notes.push_back("did you mean '" + *near + "'?");
            }
        } else if (app_.get_subcommands().empty()) {
            result.message = "no command is given: init, generate, check, list or inspect";
        }
        result.notes.emplace_back("kfgen --help lists commands and options");
        return result;
    }

    CLI::App app_;
    Options options_;
    std::string spec_;
    std::string artifact_;
    std::string module_;
    std::string output_;
    std::string output_directory_;
    std::string depfile_;
    std::string stamp_;
    std::string cache_;
    std::string compile_commands_;
    std::string embedding_ = "incbin";
    bool no_embed_ = false;
    bool no_cache_ = false;
    std::string error_format_ = "text";
    std::string format_ = "text";
    std::string range_;
    std::vector<std::string> shapes_;
    std::vector<std::string> backends_;
    std::vector<std::string> include_directories_;
    std::vector<std::string> defines_;
};

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments, const FileSystem& file_system,
                               const std::string& version) {
    Outcome<std::vector<std::string>> expanded = expand_response_files(arguments, file_system);
    if (!expanded) {
        CommandLine result;
        result.done = true;
        result.exit_code = exit_command_line;
        for (const Diagnostic& error : expanded.errors()) {
            result.text += format_text(error) + '\n';
        }
        return result;
    }
    return Parser(version).parse(std::move(expanded.value()));
}

std::vector<std::string> output_options(const Options& options) {
    const auto absolute = [](const std::filesystem::path& path) {
        return path.empty() ? std::string() : std::filesystem::absolute(path).lexically_normal().string();
    };
    std::vector<std::string> parts{absolute(options.spec),         absolute(options.output_directory),
                                   absolute(options.depfile),      absolute(options.stamp),
                                   options.namespace_name,         embedding_name(options.embedding),
                                   options.python ? "python" : "", options.torch_tests ? "torch-tests" : ""};
    for (const Backend backend : options.backends) {
        parts.emplace_back(backend == Backend::cuda ? "backend=cuda" : "backend=vulkan");
    }
    for (const std::filesystem::path& directory : options.include_directories) {
        parts.push_back("include=" + absolute(directory));
    }
    for (const auto& [name, text] : options.defines) {
        parts.push_back("define=" + name + '=' + text);
    }
    for (const std::string& option : options.cpp.options) parts.push_back("cxx=" + option);
    parts.push_back("commands=" + absolute(options.cpp.compile_commands));
    return parts;
}

}  // namespace kf::gen
