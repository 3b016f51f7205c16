// The command line as a value: CLI11 parses, and cli/pages.h prints the help.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/commands.h"
#include "cli/pages.h"
#include "cli/response_file.h"
#include "core/join.h"
#include "diagnostic/suggest.h"
#include "spec/names.h"
#include "spec/python_modules.h"

namespace kf::gen {
namespace {

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

void check_name(const std::string& name) {
    if (!is_identifier(name) || is_reserved(name))
        throw CLI::ValidationError("--name", "'" + name + "' can't be the name of files and a C++ namespace");
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

void check_package(const std::string& name) {
    if (const std::optional<std::string> error = package_name_error(name))
        throw CLI::ValidationError("--python-package", "'" + name + "' can't be a package: " + *error);
}

/// Returns the user's own cache folder; empty where no home is known.
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

/// Returns whether --error-format asks for JSON, on a command line that may be wrong.
bool wants_json(const std::vector<std::string>& arguments) {
    bool json = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string option = "--error-format";
        if (arguments[i] == option && i + 1 < arguments.size()) json = arguments[i + 1] == "json";
        if (arguments[i].starts_with(option + "=")) json = arguments[i] == option + "=json";
    }
    return json;
}

/// The words of --embed, and "none" for --no-embed.
constexpr std::array<std::pair<std::string_view, Embedding>, 7> embeddings{{
    {"none", Embedding::none},
    {"incbin", Embedding::incbin},
    {"text", Embedding::text},
    {"elf-x86_64", Embedding::elf_x86_64},
    {"elf-aarch64", Embedding::elf_aarch64},
    {"coff-x86_64", Embedding::coff_x86_64},
    {"coff-arm64", Embedding::coff_arm64},
}};

Embedding embedding_named(std::string_view name) {
    const auto named = [&](const auto& entry) { return entry.first == name; };
    return std::find_if(embeddings.begin(), embeddings.end(), named)->second;
}

std::string embedding_name(Embedding embedding) {
    const auto same = [&](const auto& entry) { return entry.second == embedding; };
    return std::string(std::find_if(embeddings.begin(), embeddings.end(), same)->first);
}

/// The words of --show, by Shown.
constexpr std::array<std::string_view, 4> shown_words{"summary", "slang", "code", "ptx"};

/// CLI11's parser, filled with kfgen's commands and what they set.
class Parser {
public:
    explicit Parser(const std::string& version) : app_("", "kfgen"), version_(version) {
        app_.set_version_flag("--version", "kfgen " + version);
        // Thrown like the one for help, from where CLI11 doesn't ask for a command first.
        app_.add_flag_callback("--man", [] { throw CLI::CallForAllHelp(); });
        app_.require_subcommand(1);
        app_.fallthrough();
        add_init();
        add_generate();
        add_check();
        take_spec(command("list", Command::list));
        add_explain();
        add_inspect();
        CLI::App& completion = command("completion", Command::none);
        completion.add_option("SHELL", shell_)
            ->required()
            ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
        add_common();
    }

    CommandLine parse(std::vector<std::string> arguments) {
        CommandLine result;
        const bool in_json = wants_json(arguments);
        std::reverse(arguments.begin(), arguments.end());  // CLI11 takes the last one for the first
        try {
            app_.parse(std::vector<std::string>(arguments));
            refuse_what_has_no_meaning(arguments);
            result.options = options();
            if (!shell_.empty()) {
                result.done = true;
                result.text = completion(pages(), shell_);
            }
        } catch (const CLI::CallForHelp&) {
            result.done = true;
            result.text = help();
        } catch (const CLI::CallForAllHelp&) {
            result.done = true;
            result.text = man_page(pages());
        } catch (const CLI::CallForVersion& version) {
            result.done = true;
            result.text = std::string(version.what()) + '\n';
        } catch (const CLI::ParseError& error) {
            result.done = true;
            result.exit_code = exit_command_line;
            result.text = (in_json ? format_json(diagnostic(error)) : format_text(diagnostic(error))) + '\n';
        }
        return result;
    }

private:
    CLI::App& command(const std::string& name, Command value) {
        CLI::App* sub = app_.add_subcommand(name, "");
        sub->final_callback([this, value] { options_.command = value; });
        return *sub;
    }

    /// Adds an option, or an argument, that is a path.
    static CLI::Option* add_path(CLI::App& app, const std::string& name, std::filesystem::path& path) {
        return app.add_option_function<std::string>(name, [&path](const std::string& text) { path = text; });
    }

    void take_spec(CLI::App& sub) { add_path(sub, "SPEC", options_.spec)->required(); }

    /// Gives the option its words in the help. `argument`: what stands for its value there, "text|json" for
    /// one of these words; empty: a flag.
    CLI::Option* describe(CLI::Option* option, const std::string& argument, const std::string& text) {
        arguments_[option] = argument;
        if (argument.find('|') != std::string::npos) {
            OptionPage page;
            page.argument = argument;
            option->check(CLI::IsMember(page.choices()));
        }
        return option->description(text);
    }

    void add_init() {
        CLI::App& init = command("init", Command::init);
        add_path(init, "MODULE", options_.module)->required();
        describe(add_path(init, "-o,--output", options_.output), "FILE",
                 "write this spec; - prints it (default: NAME.kf.json beside the module)");
        describe(init.add_flag("--force", options_.force), "", "replace a spec that exists");
    }

    void add_generate() {
        CLI::App& generate = command("generate", Command::generate);
        take_spec(generate);
        describe(add_path(generate, "-o,--output-dir", options_.output_directory), "DIR",
                 "where the outputs go; made where it is missing")
            ->required();
        describe(add_path(generate, "--depfile", options_.depfile), "FILE",
                 "where the depfile goes instead of DIR/NAME.d");
        describe(add_path(generate, "--stamp", options_.stamp), "FILE",
                 "a file to rewrite whenever the run succeeds");
        describe(generate.add_flag("-n,--dry-run", options_.dry_run), "",
                 "say what would be written, write nothing");
    }

    void add_check() {
        CLI::App& check = command("check", Command::check);
        take_spec(check);
        GradientOptions& gradients = options_.gradients;
        auto* against = describe(add_path(check, "--against", options_.against), "FILE",
                                 "an artifact or a spec: compare the interface with it");
        auto* wanted = describe(check.add_flag("--gradients", gradients.wanted), "",
                                "run gradients and compare them with differences");
        against->excludes(wanted);
        describe(check.add_option("--device", gradients.device), "NAME",
                 "run on this: vulkan, cuda:0, vulkan:llvmpipe (default: KF_DEVICE)")
            ->needs(wanted);
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
        describe(check.add_option("--seed", gradients.seed), "N",
                 "other inputs; the same seed makes the same ones (default: 1)")
            ->needs(wanted)
            ->check(number);
        describe(
            check.add_option("--range", range_), "LOW,HIGH",
            "where floating inputs come from, if results are finite there (default: -1.5,1.5 and 0.1,0.9)")
            ->needs(wanted);
        describe(check.add_option("--shape", shapes_), "ARGUMENT=N,...",
                 "the extents of a tensor, also FUNCTION.ARGUMENT (repeatable)")
            ->allow_extra_args(false)
            ->needs(wanted);
        describe(check.add_option("--except", gradients.except), "FUNCTION",
                 "leave it out: its derivative is meant to be another (repeatable)")
            ->allow_extra_args(false)
            ->needs(wanted);
        describe(check.add_option("--format", format_), "text|json", "how the report is printed");
    }

    void add_explain() {
        CLI::App& explain = command("explain", Command::explain);
        take_spec(explain);
        explain.add_option("FUNCTION", options_.explain.function)->required();
        describe(explain.add_option("--kernel", options_.explain.kernels), "KERNEL",
                 "that one alone: its number in kfgen list, or a part of its name: backward.strided "
                 "(repeatable)")
            ->allow_extra_args(false);
        describe(explain.add_option("--show", shown_), join(shown_words, "|"),
                 "show this, by default all but ptx (repeatable)")
            ->allow_extra_args(false);
    }

    void add_inspect() {
        CLI::App& inspect = command("inspect", Command::inspect);
        add_path(inspect, "FILE", options_.artifact)->required();
        describe(add_path(inspect, "--extract", options_.extract), "DIR",
                 "write each kernel image into a file there, and manifest.json");
    }

    /// Options of several commands; their group says of which.
    CLI::Option* common(CLI::Option* option, const std::string& group, const std::string& argument,
                        const std::string& text) {
        return describe(option, argument, text)->group(group);
    }

    void add_common() {
        common(app_.add_flag("--python", options_.python), outputs, "",
               "also NAME.py, NAME.pyi and py.typed");
        common(app_.add_option("--python-package", options_.python_package), outputs, "PACKAGE",
               "those, as a module of this package (default: of none)");
        common(app_.add_flag("--torch-tests", options_.torch_tests), outputs, "",
               "those and NAME_torch_test.py, for pytest");
        auto* embed =
            common(app_.add_option("--embed", embedding_), outputs,
                   "incbin|text|elf-x86_64|elf-aarch64|coff-x86_64|coff-arm64",
                   "how NAME.kfa gets into the program (default: incbin); the last four are object files, "
                   "NAME.kfa.o, for Windows NAME.kfa.obj");
        common(app_.add_flag("--no-embed", no_embed_), outputs, "",
               "load NAME.kfa at run time, not from inside NAME.cpp")
            ->excludes(embed);
        common(app_.add_option("--name", options_.name), outputs, "NAME",
               "NAME of all these, and the C++ namespace, instead of the spec's");
        common(app_.add_option("--namespace", options_.namespace_name), outputs, "NS",
               "the C++ namespace, instead of the spec's or --name's");
        common(app_.add_option("--backend", backends_), targets, "vulkan|cuda",
               "compile for this, not for the spec's targets (repeatable)")
            ->allow_extra_args(false);
        common(app_.add_option("-I,--include-directory", include_directories_), slang, "DIR",
               "look for Slang imports here too (repeatable)")
            ->allow_extra_args(false);
        common(app_.add_option("-D,--define", defines_), slang, "NAME[=TEXT]",
               "define a macro for Slang (repeatable)")
            ->allow_extra_args(false);
        common(app_.add_option("--cxx-option", options_.cpp.options), cxx, "OPTION",
               "compile the C++ headers of \"structs\" with it (repeatable)")
            ->allow_extra_args(false);
        common(add_path(app_, "--compile-commands", options_.cpp.compile_commands), cxx, "FILE",
               "compile them as this compile_commands.json says");
        common(app_.add_option("--cache-dir", cache_), compiling, "DIR",
               "keep compiled kernels here (environment: KFGEN_CACHE_DIR; default: kernelfunctions in "
               "XDG_CACHE_HOME or "
               "~/.cache)")
            ->envname("KFGEN_CACHE_DIR");
        common(
            app_.add_option("--cache-size", options_.cache_size), compiling, "SIZE",
            "the cache's largest size, 500M or 2G (environment: KFGEN_CACHE_SIZE; default: 1G; 0: no limit)")
            ->envname("KFGEN_CACHE_SIZE")
            ->transform(CLI::AsSizeValue(false));
        common(app_.add_flag("--debug-print", options_.debug_print), compiling, "",
               "kernels print by printf, and tell of each assert that doesn't hold");
        common(app_.add_flag("--checked", options_.checked), compiling, "",
               "kernels compare indices with extents, and tell of those beyond");
        common(app_.add_flag("--no-cache", no_cache_), compiling, "", "compile every kernel, keep none");
        common(app_.add_option("--timeout", options_.timeout), limits, "SECONDS",
               "give up a kernel that takes Slang or NVRTC more processor time (default: 120)")
            ->check(CLI::Range(0.001, 1e6));
        common(app_.add_option("--max-memory", options_.max_memory), limits, "SIZE",
               "give up a kernel that takes Slang or NVRTC more memory: 4G (default: three quarters of the "
               "machine's, divided by the jobs, but at least 2G; 0: no limit)")
            ->transform(CLI::AsSizeValue(false));
        common(app_.add_option("-j,--jobs", options_.jobs), compiling, "N",
               "compile with N threads (default: one per processor)")
            ->check(CLI::Range(1U, 1024U));
        auto* verbose = common(app_.add_flag("-v,--verbose"), messages, "", "say more");
        auto* quiet = common(app_.add_flag("-q,--quiet"), messages, "", "say nothing but errors");
        verbose->excludes(quiet);
        common(app_.add_flag("--no-progress", options_.no_progress), messages, "",
               "no lines that say how far a long run is");
        common(app_.add_flag("--werror", options_.werror), messages, "",
               "take warnings for errors: exit with 1 and write nothing");
        common(app_.add_option("--error-format", error_format_), messages, "text|json",
               "how errors and warnings are printed");
    }

    /// The groups of common options that a command takes.
    static std::vector<std::string> groups_of(const std::string& command) {
        if (command == "completion") return {};
        if (command == "init") return {slang, messages};
        if (command == "inspect") return {messages};
        if (command == "list") return {targets, slang, cxx, limits, messages};
        if (command == "explain") return {targets, slang, cxx, compiling, limits, messages};
        return {outputs, targets, slang, cxx, compiling, limits, messages};
    }

    /// Whether a command line has the option itself, which the environment may give, too.
    static bool is_named(const CLI::Option& option, const std::vector<std::string>& arguments) {
        return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
            return option.check_name(argument.substr(0, argument.find('=')));
        });
    }

    /// Ends a run that says what its command has no use for.
    void refuse_what_has_no_meaning(const std::vector<std::string>& arguments) const {
        const std::string command = app_.get_subcommands().front()->get_name();
        const std::vector<std::string> groups = groups_of(command);
        for (const CLI::Option* option : app_.get_options()) {
            if (!arguments_.contains(option) || option->count() == 0) continue;
            const bool known = std::find(groups.begin(), groups.end(), option->get_group()) != groups.end();
            // Environment variables apply to all commands.
            if (!known && (option->get_envname().empty() || is_named(*option, arguments)))
                throw CLI::ValidationError(option->get_name(), "'kfgen " + command + "' has no use for it");
        }
        if (!format_.empty() && !options_.gradients.wanted && options_.against.empty())
            throw CLI::ValidationError("--format requires --gradients or --against");
    }

    [[nodiscard]] OptionPage page_of(const CLI::Option& option) const {
        OptionPage page;
        for (const std::string& name : option.get_snames()) page.names.push_back("-" + name);
        for (const std::string& name : option.get_lnames()) page.names.push_back("--" + name);
        page.argument = arguments_.at(&option);
        page.text = option.get_description();
        page.is_repeatable = page.text.ends_with("(repeatable)");
        return page;
    }

    [[nodiscard]] Pages pages() const {
        Pages pages{version_, command_texts()};
        for (CommandPage& page : pages.commands) {
            OptionGroup own{"Options", {}};
            for (const CLI::Option* option : app_.get_subcommand(page.name)->get_options())
                if (arguments_.contains(option)) own.options.push_back(page_of(*option));
            if (!own.options.empty()) page.groups.push_back(std::move(own));
            for (const std::string& title : groups_of(page.name)) {
                OptionGroup group{title, {}};
                for (const CLI::Option* option : app_.get_options())
                    if (option->get_group() == title) group.options.push_back(page_of(*option));
                page.groups.push_back(std::move(group));
            }
        }
        return pages;
    }

    [[nodiscard]] std::string help() const {
        const Pages all = pages();
        for (const CommandPage& page : all.commands)
            if (app_.got_subcommand(page.name)) return help_text(page);
        return help_text(all);
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
        if (!result.python_package.empty()) {
            check_package(result.python_package);
            result.python = true;
        }
        result.python = result.python || result.torch_tests;  // the tests import NAME.py
        const bool compares = result.gradients.wanted || !result.against.empty();
        if (compares && result.spec.extension() == ".kfa") {
            std::swap(result.spec, result.artifact);
        }
        result.compiles_always = no_cache_;
        if (!no_cache_) result.cache = cache_.empty() ? default_cache() : std::filesystem::path(cache_);
        result.embedding = no_embed_ ? Embedding::none : embedding_named(embedding_);
        for (const std::string& backend : backends_) {
            const Backend value = backend == "cuda" ? Backend::cuda : Backend::vulkan;
            if (std::find(result.backends.begin(), result.backends.end(), value) == result.backends.end()) {
                result.backends.push_back(value);
            }
        }
        for (const std::string& word : shown_) {
            const auto named = std::find(shown_words.begin(), shown_words.end(), word);
            result.explain.shown.push_back(static_cast<Shown>(named - shown_words.begin()));
        }
        result.include_directories.assign(include_directories_.begin(), include_directories_.end());
        for (const std::string& define : defines_) {
            result.defines.push_back(split_define(define));
        }
        if (!result.name.empty()) check_name(result.name);
        if (!result.namespace_name.empty()) {
            check_namespace(result.namespace_name);
        }
        result.verbosity = app_.count("--verbose") != 0 ? Verbosity::verbose
                           : app_.count("--quiet") != 0 ? Verbosity::quiet
                                                        : Verbosity::normal;
        result.error_format = error_format_ == "json" ? ErrorFormat::json : ErrorFormat::text;
        return result;
    }

    static std::vector<std::string> command_names() {
        std::vector<std::string> names;
        for (const CommandPage& page : command_texts()) names.push_back(page.name);
        return names;
    }

    [[nodiscard]] Diagnostic diagnostic(const CLI::ParseError& error) const {
        Diagnostic result{Severity::error, "command-line", {}, error.what(), {}};
        const std::vector<std::string> unexpected = app_.remaining(true);
        if (!unexpected.empty()) {
            const std::string word = unexpected.front().substr(0, unexpected.front().find('='));
            result.message = "unknown argument '" + word + "'";
            std::vector<std::string> known = command_names();
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
        } else if (result.message == "SPEC is required") {
            const std::string command = app_.get_subcommands().front()->get_name();
            result.message = "'kfgen " + command + "' takes a spec, NAME.kf.json, and none is given";
            result.notes.emplace_back("'kfgen init NAME.slang' writes one");
        } else if (result.message == "FUNCTION is required") {
            result.message = "'kfgen explain' takes a function of the spec, and none is given";
            result.notes.push_back("'kfgen list " + options_.spec.string() + "' prints them");
        } else if (result.message.ends_with(" missing")) {
            // CLI11's words for it: "--against: 1 required TEXT missing".
            for (const auto& [option, argument] : arguments_) {
                const std::string name = option->get_name();
                if (!result.message.starts_with(name + ": ")) continue;
                result.message = name + " takes " + argument + ", and none is given";
                break;
            }
        } else if (app_.get_subcommands().empty()) {
            result.message = "no command is given: " + join(command_names());
        }
        result.notes.emplace_back("kfgen --help lists commands and options");
        return result;
    }

    // Titles of groups in the help.
    static constexpr const char* outputs = "Outputs";
    static constexpr const char* slang = "Slang";
    static constexpr const char* cxx = "C++ structs";
    static constexpr const char* targets = "Targets";
    static constexpr const char* compiling = "Compiling";
    static constexpr const char* limits = "Limits";
    static constexpr const char* messages = "Messages";

    CLI::App app_;
    std::string version_;
    std::map<const CLI::Option*, std::string> arguments_;  ///< of the options that have words in the help
    Options options_;
    std::string cache_;
    std::string embedding_ = "incbin";
    bool no_embed_ = false;
    bool no_cache_ = false;
    std::string error_format_ = "text";
    std::string format_;
    std::string shell_;
    std::string range_;
    std::vector<std::string> shapes_;
    std::vector<std::string> shown_;
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
        const bool in_json = wants_json(arguments);
        for (const Diagnostic& error : expanded.errors()) {
            result.text += (in_json ? format_json(error) : format_text(error)) + '\n';
        }
        return result;
    }
    return Parser(version).parse(std::move(expanded.value()));
}

std::vector<std::string> output_options(const Options& options) {
    const auto absolute = [](const std::filesystem::path& path) {
        return path.empty() ? std::string() : std::filesystem::absolute(path).lexically_normal().string();
    };
    std::vector<std::string> parts{absolute(options.spec),
                                   absolute(options.output_directory),
                                   absolute(options.depfile),
                                   absolute(options.stamp),
                                   options.name,
                                   options.namespace_name,
                                   embedding_name(options.embedding),
                                   options.python ? "python" : "",
                                   options.torch_tests ? "torch-tests" : ""};
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
