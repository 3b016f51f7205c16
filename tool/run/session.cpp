// Makes a plan from a command line.
#include "run/session.h"

#include <algorithm>
#include <thread>

#include "cache/hash.h"
#include "emit/values.h"
#include "output/file_system.h"
#include "plan/link_time.h"
#include "plan/resolve.h"
#include "plan/types.h"
#include "process/machine_memory.h"
#include "run/field_defaults.h"
#include "run/host_types.h"
#include "slang/library.h"
#include "spec/namespaces.h"
#include "spec/parse.h"
#include "spec/python_modules.h"
#include "spec/supported.h"

namespace kf::gen {

namespace {

std::vector<std::filesystem::path> absolute_paths(const Spec& spec, const std::vector<PathSpec>& named) {
    std::vector<std::filesystem::path> paths;
    for (const PathSpec& one : named) paths.push_back(absolute_from(spec.directory, one.path));
    return paths;
}

void override_targets(Spec& spec, const std::vector<Backend>& backends) {
    if (backends.empty()) return;
    std::vector<TargetSpec> targets;
    for (const Backend backend : backends) {
        const auto listed = std::find_if(spec.targets.begin(), spec.targets.end(),
                                         [&](const TargetSpec& target) { return target.backend == backend; });
        TargetSpec target;
        if (listed != spec.targets.end()) target = *listed;
        target.backend = backend;
        targets.push_back(target);
    }
    spec.targets = std::move(targets);
}

}  // namespace

Outcome<Spec> load_spec(const Options& options, const FileSystem& file_system) {
    if (options.spec.extension() == ".slang") {
        const std::string file = options.spec.string();
        return Diagnostic{Severity::error,
                          "spec-is-a-module",
                          {file, 0, 0},
                          "this is a Slang module, where a spec is expected: NAME.kf.json",
                          {"'kfgen init " + file + "' writes one that calls its functions"}};
    }
    const Outcome<std::string> text = file_system.read(options.spec);
    if (!text) return text.errors();
    Outcome<Spec> parsed = parse_spec(text.value(), options.spec.string());
    if (!parsed) return parsed;
    Spec& spec = parsed.value();
    spec.text = text.value();
    // Two programs' parts that are made of one spec share no name by this, whatever the spec says.
    if (!options.name.empty()) spec.name = spec.namespace_name = options.name;
    if (!options.namespace_name.empty()) spec.namespace_name = options.namespace_name;
    override_targets(spec, options.backends);
    spec.cpp = options.cpp;
    for (CallSpec& call : spec.calls) {
        call.debug_print = call.debug_print || options.debug_print;
        call.checked = call.checked || options.checked;
    }
    Diagnostics unsupported = check_supported(spec);
    const Diagnostics reserved = check_namespace(spec);
    unsupported.insert(unsupported.end(), reserved.begin(), reserved.end());
    if (options.python && options.python_package.empty()) {
        const Diagnostics hidden = check_module_name(spec);
        unsupported.insert(unsupported.end(), hidden.begin(), hidden.end());
    }
    if (!unsupported.empty()) return unsupported;
    return parsed;
}

unsigned job_count(const Options& options) {
    return options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::uint64_t default_memory_limit(std::uint64_t memory, unsigned jobs) {
    constexpr std::uint64_t least = std::uint64_t{2} << 30;
    const std::uint64_t usable = memory / 4 * 3;
    return std::min(usable, std::max(least, usable / jobs));
}

DebugUse debug_use(const Spec& spec) {
    DebugUse use;
    for (const CallSpec& call : spec.calls) {
        use.prints = use.prints || call.debug_print;
        use.checks = use.checks || call.checked;
        for (const VariantSpec& variant : call.variants) {
            use.prints = use.prints || variant.debug_print.value_or(false);
            use.checks = use.checks || variant.checked.value_or(false);
        }
    }
    return use;
}

CompilerOptions compiler_options(const Spec& spec, const Options& options) {
    CompilerOptions result;
    result.search_paths.push_back(absolute_from({}, spec.directory));
    for (const PathSpec& path : spec.search_paths) {
        result.search_paths.push_back(absolute_from(spec.directory, path.path));
    }
    for (const std::filesystem::path& path : options.include_directories) {
        result.search_paths.push_back(absolute_from({}, path));
    }
    for (const NamedText& define : spec.defines) {
        const bool overridden = std::any_of(options.defines.begin(), options.defines.end(),
                                            [&](const auto& given) { return given.first == define.name; });
        if (!overridden) result.defines.emplace_back(define.name, define.text);
    }
    result.defines.insert(result.defines.end(), options.defines.begin(), options.defines.end());
    for (const NamedText& one : spec.slang.capabilities)
        result.capabilities.emplace_back(one.name, one.location);
    result.ignores_capabilities = spec.slang.ignores_capabilities;
    result.modules = module_paths(spec);
    result.linked = absolute_paths(spec, spec.link);
    result.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout * 1000));
    result.memory_limit =
        options.max_memory.value_or(default_memory_limit(process::machine_memory(), job_count(options)));
    result.differentiated.emplace();
    for (const CallSpec& call : spec.calls) {
        result.functions.push_back(call.function);
        if (call.backward.enabled || call.forward_diff) result.differentiated->push_back(call.function);
    }
    const DebugUse debug = debug_use(spec);
    result.prints = debug.prints;
    result.checks = debug.checks;
    return result;
}

std::vector<CodeTarget> code_targets(const Spec& spec) {
    std::vector<CodeTarget> targets;
    for (const TargetSpec& target : spec.targets) {
        targets.push_back(target.backend == Backend::cuda ? CodeTarget::cuda_source : CodeTarget::spirv);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    return targets;
}

std::vector<std::filesystem::path> module_paths(const Spec& spec) {
    return absolute_paths(spec, spec.modules);
}

std::vector<std::filesystem::path> slang_paths(const Spec& spec) {
    std::vector<std::filesystem::path> paths = module_paths(spec);
    for (std::filesystem::path& linked : absolute_paths(spec, spec.link)) paths.push_back(std::move(linked));
    return paths;
}

namespace {

/// A module that isn't there is the spec's mistake: its place is where the spec names it.
Diagnostics placed_in_spec(Diagnostics errors, const Spec& spec) {
    const std::vector<std::filesystem::path> paths = slang_paths(spec);
    for (Diagnostic& error : errors) {
        const auto named = std::find(paths.begin(), paths.end(), error.location.file);
        if (error.id != "slang-module-not-found" || named == paths.end()) continue;
        const auto index = static_cast<std::size_t>(named - paths.begin());
        const std::size_t modules = spec.modules.size();
        error.location = (index < modules ? spec.modules[index] : spec.link[index - modules]).location;
    }
    return errors;
}

bool has_link_sizes(const std::vector<Function>& functions) {
    return std::any_of(functions.begin(), functions.end(), [](const Function& function) {
        return is_link_sized(function.result) ||
               std::any_of(function.parameters.begin(), function.parameters.end(),
                           [](const Parameter& parameter) { return is_link_sized(parameter.type); });
    });
}

/// The modules once more, where the spec's constants are sizes of what functions take.
Outcome<Module> with_sizes(Outcome<Module> module, const Spec& spec, Compiler& compiler) {
    const std::vector<NamedModule>& named = module.value().modules;
    const bool has_sizes = has_link_sizes(module.value().functions) ||
                           std::any_of(named.begin(), named.end(),
                                       [](const NamedModule& one) { return has_link_sizes(one.functions); });
    if (!has_sizes || spec.values.constants.empty()) return module;
    const Outcome<LinkTime> link = link_time(spec.values, {}, module.value(), compiler);
    if (!link) return link.errors();
    const Outcome<std::string> values = emit_values(link.value(), module.value().module_names);
    if (!values) return values.errors();
    return compiler.reflect(module_paths(spec), values.value());
}

}  // namespace

static DebugCalls read_all_debug_calls(const std::map<std::string, std::string>& sources, DebugUse use) {
    DebugCalls all;
    if (!use.prints && !use.checks) return all;
    use.own = own_debug_functions({sources.begin(), sources.end()});
    for (const auto& [path, text] : sources) {
        DebugCalls calls = read_debug_calls(text, path, use);
        add_distinct(all.errors, std::move(calls.errors));
        for (manifest::Message& one : calls.messages) {
            const auto known = std::ranges::find(all.messages, one.number, &manifest::Message::number);
            if (known != all.messages.end() && *known != one) {
                all.errors.push_back({Severity::error,
                                      "message-number",
                                      {path, 0, 0},
                                      "two messages have one number: '" + known->text + "' at " +
                                          known->place + " and '" + one.text + "' at " + one.place,
                                      {"change one of them"}});
            } else if (known == all.messages.end()) {
                all.messages.push_back(std::move(one));
            }
        }
    }
    std::ranges::sort(all.messages, {}, &manifest::Message::number);
    return all;
}

Outcome<Planned> plan_spec(const Spec& spec, Compiler& compiler) {
    Outcome<Module> module = compiler.reflect(module_paths(spec));
    if (!module) {
        return Outcome<Planned>(placed_in_spec(module.errors(), spec)).with_warnings(module.warnings());
    }
    module = with_sizes(std::move(module), spec, compiler);
    if (!module) return Outcome<Planned>(module.errors()).with_warnings(module.warnings());
    Outcome<HostTypes> hosts = read_host_types(spec, compiler);
    if (!hosts) return Outcome<Planned>(hosts.errors()).with_warnings(module.warnings());
    for (GlobalParameter& global : module.value().globals)
        global.type = with_host_structs(std::move(global.type), hosts.value().structs);
    Outcome<Plan> plan = resolve(spec, module.value(), &compiler, hosts.value().structs);
    Diagnostics warnings = plan.warnings();
    if (plan) {
        DebugCalls debug = read_all_debug_calls(module.value().sources, debug_use(spec));
        if (!debug.errors.empty()) return Outcome<Planned>(debug.errors).with_warnings(module.warnings());
        plan.value().messages = std::move(debug.messages);
    }
    if (plan) add_distinct(warnings, add_field_defaults(plan.value(), module.value(), compiler));
    Outcome<Planned> planned =
        plan ? Outcome<Planned>(Planned{std::move(plan.value()), std::move(module.value().sources),
                                        std::move(module.value().globals), std::move(hosts.value().files),
                                        std::move(module.value().compiled)})
             : Outcome<Planned>(plan.errors());
    return std::move(planned).with_warnings(module.warnings()).with_warnings(std::move(warnings));
}

/// The site packages that a file of a wheel lies in, or leads to, where NVIDIA's wheels are there, too; else
/// nothing.
std::filesystem::path wheels_around(const std::filesystem::path& file) {
    std::error_code failure;
    std::filesystem::path folder = std::filesystem::canonical(file, failure).parent_path();
    while (folder.has_relative_path() && !std::filesystem::is_directory(folder / "nvidia", failure))
        folder = folder.parent_path();
    return folder.has_relative_path() ? folder : std::filesystem::path();
}

Outcome<std::shared_ptr<const CudaCompiler>> open_installed_cuda(
    const std::vector<std::filesystem::path>& folders) {
    CudaSearch search = default_cuda_search(wheels_around(slang_library_path()));
    search.source_folders = folders;
    return open_nvrtc(search);
}

namespace {

/// A file's name, or its way from the first search path where another file has the same: what all that build
/// the same sources call it.
std::map<std::string, std::string> labels_of(const Planned& planned, const std::filesystem::path& folder) {
    std::map<std::string, int> files;
    const auto name_of = [](const std::string& path) {
        return std::filesystem::path(path).filename().generic_string();
    };
    for (const auto& [path, text] : planned.sources) ++files[name_of(path)];
    std::map<std::string, std::string> labels;
    for (const auto& [path, text] : planned.sources) {
        const std::string name = name_of(path);
        labels[path] =
            files[name] == 1 ? name : std::filesystem::path(path).lexically_relative(folder).generic_string();
    }
    return labels;
}

}  // namespace

CodeKeys code_keys(const CompilerOptions& options, const Planned& planned,
                   const std::string& compiler_version) {
    std::vector<std::string> environment{compiler_version};
    for (const auto& [name, value] : options.defines) environment.push_back(name + "=" + value);
    for (const auto& [name, place] : options.capabilities) environment.push_back("capability " + name);
    if (options.ignores_capabilities) environment.emplace_back("ignores capabilities");
    const auto add_files = [&](const char* what, const std::vector<std::filesystem::path>& files) {
        environment.emplace_back(what);
        for (const std::filesystem::path& file : files) environment.push_back(file.filename().string());
    };
    add_files("modules", options.modules);
    add_files("linked", options.linked);
    const std::filesystem::path folder =
        options.search_paths.empty() ? std::filesystem::path() : options.search_paths.front();
    std::vector<std::pair<std::string, std::string>> by_label;  // and path
    for (const auto& [path, label] : labels_of(planned, folder)) by_label.emplace_back(label, path);
    std::sort(by_label.begin(), by_label.end());
    std::map<CodeTarget, std::vector<SourceFile>> sources;
    for (const auto& [label, path] : by_label) {
        const auto compiled = planned.compiled.find(path);
        for (const CodeTarget target : {CodeTarget::spirv, CodeTarget::cuda_source}) {
            const std::string& text = compiled == planned.compiled.end()
                                          ? planned.sources.at(path)
                                          : compiled->second.at(static_cast<std::size_t>(target));
            sources[target].push_back({label, text});
        }
    }
    return {hash_parts({environment.begin(), environment.end()}), sources, options.defines};
}

}  // namespace kf::gen
