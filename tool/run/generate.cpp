// All stages but the last: from a spec to the bytes of every output.
#include "run/generate.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "artifact/assemble.h"
#include "artifact/coff_object.h"
#include "artifact/elf_object.h"
#include "cache/hash.h"
#include "cache/kernel_store.h"
#include "core/artifact.h"
#include "core/sha256.h"
#include "cuda/cubins.h"
#include "cuda/isolated_compiler.h"
#include "emit/cpp.h"
#include "emit/python.h"
#include "emit/torch_test.h"
#include "kernels/compile.h"
#include "kernels/reach.h"
#include "output/progress.h"
#include "process/job_server.h"
#include "run/device_header.h"
#include "run/session.h"
#include "run/size_note.h"
#include "slang/library.h"
#include "support/support_modules.h"

namespace kf::gen {

std::vector<std::filesystem::path> programs() {
    std::error_code ignored;
    return {std::filesystem::read_symlink("/proc/self/exe", ignored), slang_library_path()};
}

std::string run_key(std::vector<std::string> options, const std::vector<std::filesystem::path>& programs) {
    for (const std::filesystem::path& program : programs) options.push_back(program.string());
    return hash_parts({options.begin(), options.end()});
}

namespace {

ArtifactPlace artifact_place(Embedding embedding) {
    switch (embedding) {
        case Embedding::none: return ArtifactPlace::file;
        case Embedding::incbin: return ArtifactPlace::assembler;
        case Embedding::text: return ArtifactPlace::text;
        case Embedding::elf_x86_64:
        case Embedding::elf_aarch64: return ArtifactPlace::object;
        case Embedding::coff_x86_64:
        case Embedding::coff_arm64: return ArtifactPlace::coff_object;
    }
    return ArtifactPlace::file;
}

/// The end of the object file's name; empty where there is none.
std::string object_ending(Embedding embedding) {
    switch (artifact_place(embedding)) {
        case ArtifactPlace::object: return ".kfa.o";
        case ArtifactPlace::coff_object: return ".kfa.obj";
        case ArtifactPlace::file:
        case ArtifactPlace::text:
        case ArtifactPlace::assembler: break;
    }
    return "";
}

std::string object_file(Embedding embedding, const std::string& symbol, std::span<const std::byte> bytes) {
    switch (embedding) {
        case Embedding::elf_x86_64: return elf_object(ElfMachine::x86_64, symbol, bytes);
        case Embedding::elf_aarch64: return elf_object(ElfMachine::aarch64, symbol, bytes);
        case Embedding::coff_x86_64: return coff_object(CoffMachine::x86_64, symbol, bytes);
        case Embedding::coff_arm64: return coff_object(CoffMachine::arm64, symbol, bytes);
        case Embedding::none:
        case Embedding::incbin:
        case Embedding::text: break;
    }
    return "";
}

}  // namespace

OutputPaths output_paths(const Spec& spec, const Options& options) {
    const auto in = [&](const std::string& name) { return options.output_directory / name; };
    const std::string object = object_ending(options.embedding);
    return {in(spec.name + ".h"),
            in(spec.name + ".cpp"),
            in(spec.name + ".kfa"),
            in(spec.name + ".py"),
            in(spec.name + ".pyi"),
            in("py.typed"),
            options.depfile.empty() ? in(spec.name + ".d") : options.depfile,
            in("." + spec.name + ".kfgen-state"),
            options.stamp,
            in("." + spec.name + ".kfgen-journal"),
            spec.device_header ? in(spec.name + ".cuh") : std::filesystem::path(),
            in(spec.name + "_torch_test.py"),
            object.empty() ? std::filesystem::path() : in(spec.name + object)};
}

std::vector<std::filesystem::path> OutputPaths::outputs(const Options& options) const {
    std::vector<std::filesystem::path> paths{header, source, artifact};
    if (options.python) paths.insert(paths.end(), {python, stub, py_typed});
    if (options.torch_tests) paths.push_back(torch_test);
    if (!device_header.empty()) paths.push_back(device_header);
    if (!object.empty()) paths.push_back(object);
    return paths;
}

std::vector<std::filesystem::path> OutputPaths::all() const {
    Options everything;
    everything.python = everything.torch_tests = true;
    std::vector<std::filesystem::path> paths = outputs(everything);
    paths.insert(paths.end(), {depfile, state});
    if (!stamp.empty()) paths.push_back(stamp);
    return paths;
}

namespace {

std::string make_flags() {
    const char* flags = std::getenv("MAKEFLAGS");
    return flags != nullptr ? flags : "";
}

/// Counts the changes to what kfgen makes of Slang's code, which caches of kernels must not outlive.
constexpr int code_revision = 7;

void drop_backward_passes(Plan& plan) {
    for (PlannedFunction& function : plan.functions) {
        for (PlannedCall& call : function.calls) {
            call.has_backward = false;
            call.has_fused = false;
        }
    }
}

Outcome<std::vector<OutputFile>> emit_files(const Plan& plan, const manifest::Manifest& manifest,
                                            const OutputPaths& paths, const Options& options) {
    const std::vector<std::byte> bytes = artifact::write(manifest);
    CppOptions cpp_options;
    cpp_options.place = artifact_place(options.embedding);
    cpp_options.artifact = bytes;
    cpp_options.sha256 = hex(sha256(bytes));
    std::set<std::string> backends;
    for (const manifest::Kernel& kernel : manifest.kernels) {
        for (const auto& [backend, layout] : kernel.layouts) backends.insert(backend);
    }
    cpp_options.backends = {backends.begin(), backends.end()};
    Outcome<CppFiles> cpp = emit_cpp(plan, cpp_options);
    if (!cpp) return cpp.errors();
    std::vector<OutputFile> files{
        {paths.header, std::move(cpp.value().header), false},
        {paths.source, std::move(cpp.value().source), false},
        {paths.artifact, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), false}};
    if (cpp_options.place == ArtifactPlace::coff_object && bytes.size() > max_coff_bytes) {
        return Diagnostics{{Severity::error,
                            "artifact-size",
                            {},
                            "the artifact has " + std::to_string(bytes.size()) +
                                " bytes, and programs for Windows have fewer than 2^31",
                            {"ship it as a file: --no-embed"}}};
    }
    if (!paths.object.empty()) {
        const std::string symbol = artifact_symbol(plan.name, cpp_options.sha256);
        files.push_back({paths.object, object_file(options.embedding, symbol, bytes), false});
    }
    if (options.python) {
        Outcome<PythonFiles> python = emit_python(plan);
        if (!python) return python.errors();
        files.push_back({paths.python, std::move(python.value().module), false});
        files.push_back({paths.stub, std::move(python.value().stub), false});
        files.push_back({paths.py_typed, "", false});
        if (options.torch_tests) {
            Outcome<std::string> tests = emit_torch_test(plan, python.value().functions);
            if (!tests) return tests.errors();
            files.push_back({paths.torch_test, std::move(tests.value()), false});
        }
    }
    return files;
}

const TargetSpec* cuda_target(const Spec& spec) {
    for (const TargetSpec& target : spec.targets) {
        if (target.backend == Backend::cuda) return &target;
    }
    return nullptr;
}

class Generator {
public:
    Generator(const Spec& spec, const Options& options, const OpenCuda& open_cuda,
              const std::map<std::string, std::string>& sources)
        : spec_(spec),
          options_(options),
          open_cuda_(open_cuda),
          settings_(compiler_options(spec, options)),
          workers_(job_count(options)),
          cache_(options.cache),
          store_(cache_),
          slots_(options.jobs != 0 ? nullptr : process::JobServer::of(make_flags())),
          speaks_(options.verbosity != Verbosity::quiet && options.error_format == ErrorFormat::text),
          progress_(speaks_, !options.no_progress || options.verbosity == Verbosity::verbose),
          tell_([this](std::size_t done, std::size_t total, const std::string& name) {
              progress_.tell(done, total, name);
          }) {
        settings_.sources = sources;
    }

    Outcome<Generated> run(const OutputPaths& paths) { return finished(run_stages(paths)); }

    Outcome<MadeKernels> run_chosen(KernelStage stage, const ChooseKernels& choose) {
        kernels_only_ = true;
        return finished(make_chosen(stage, choose));
    }

    Outcome<std::vector<std::byte>> run_forward_passes() {
        forward_only_ = kernels_only_ = true;
        const Outcome<Assembled> made = assemble_kernels();
        if (!made) return made.errors();
        return artifact::write(made.value().manifest);
    }

private:
    /// The results of the stages before anything is compiled.
    struct Collected {
        Plan plan;
        Plan whole;  ///< with the globals that its calls reach
        KernelSet kernels;
        Diagnostics failures;  ///< why some functions could not be looked at
        std::unique_ptr<Compiler> compiler;
    };

    struct Assembled {
        Plan plan;
        manifest::Manifest manifest;
    };

    using CudaImages = std::vector<std::vector<manifest::Image>>;

    template <class T>
    Outcome<T> finished(Outcome<T> outcome) {
        if (store() != nullptr && options_.cache_size != 0) cache_.bound(options_.cache_size);
        return std::move(outcome).with_warnings(std::move(warnings_));
    }

    /// Returns the stage's result, whose warnings are kept.
    template <class T>
    Outcome<T> noted(Outcome<T> outcome) {
        add_distinct(warnings_, outcome.warnings());
        return outcome;
    }

    Outcome<Generated> run_stages(const OutputPaths& paths) {
        Outcome<Assembled> made = assemble_kernels();
        if (!made) return made.errors();
        Plan& plan = made.value().plan;
        Outcome<std::vector<OutputFile>> files =
            noted(emit_files(plan, made.value().manifest, paths, options_));
        if (!files) return files.errors();
        if (spec_.device_header) files.value().push_back({paths.device_header, device_header_, false});

        Generated generated{std::move(files.value()),
                            {{{options_.spec, spec_.text}}, programs()},
                            std::move(plan),
                            std::move(kernels_)};
        for (const auto& [path, text] : settings_.sources) generated.inputs.files.emplace_back(path, text);
        auto& read = generated.inputs.programs;
        read.insert(read.end(), cuda_files_.begin(), cuda_files_.end());
        read.insert(read.end(), cpp_files_.begin(), cpp_files_.end());
        return generated;
    }

    Outcome<MadeKernels> make_chosen(KernelStage stage, const ChooseKernels& choose) {
        Outcome<Collected> collected = collect();
        if (!collected) return collected.errors();
        Collected& all = collected.value();
        std::erase_if(all.kernels.units, [](const KernelUnit& unit) { return unit.chosen_of >= 0; });
        const Outcome<std::vector<std::int64_t>> chosen = choose(all.whole, all.kernels);
        if (!chosen) return chosen.errors();
        KernelSet kernels{{}, all.kernels.calls};
        MadeKernels made{all.whole, all.kernels.calls, {}};
        for (const std::int64_t number : chosen.value()) {
            kernels.units.push_back(all.kernels.units.at(static_cast<std::size_t>(number)));
            made.kernels.push_back({number, kernels.units.back()});
        }
        if (stage == KernelStage::source) return made;
        auto compiled = noted(compile(all.plan, kernels, std::move(all.compiler)));
        if (!compiled) return compiled.errors();
        Outcome<CudaImages> images = CudaImages();
        if (stage == KernelStage::images) {
            const auto tell = [&](std::size_t kernel, const std::string& architecture, const CudaCode& code) {
                made.kernels[kernel].cuda.emplace_back(architecture, code);
            };
            images = noted(compile_for_cuda(kernels, compiled.value(), tell));
            if (!images) return images.errors();
        }
        for (std::size_t i = 0; i < kernels.units.size(); ++i) {
            auto kernel =
                assemble_kernel(kernels.units[i], compiled.value()[i],
                                images.value().empty() ? CudaImages::value_type() : images.value()[i]);
            if (!kernel) return kernel.errors();
            made.kernels[i].kernel = std::move(kernel.value());
            made.kernels[i].compiled = std::move(compiled.value()[i]);
        }
        return made;
    }

    Outcome<Collected> collect() {
        auto compiler = make_slang_compiler(settings_, support_modules());
        if (!compiler) return compiler.errors();
        producers_ = {{"kfgen", KFGEN_VERSION}, {"slang", compiler.value()->version()}};
        Outcome<Planned> planned = noted(plan_spec(spec_, *compiler.value()));
        if (!planned) return planned.errors();
        Plan& plan = planned.value().plan;
        if (forward_only_) drop_backward_passes(plan);
        settings_.sources = planned.value().sources;
        cpp_files_ = planned.value().cpp_files;
        const std::vector<GlobalParameter>& globals = planned.value().globals;
        if (store() != nullptr) keys_.emplace(code_keys(settings_, planned.value(), compilers()));
        const ReachReport reach =
            check_reach(plan, {code_targets(spec_), store(), keys(), globals}, *compiler.value());
        if (!reach.errors.empty()) return reach.errors;
        const Diagnostics unset = add_globals(plan, reach.globals, globals);
        if (!unset.empty()) return unset;
        if (Diagnostics errors = add_device_header(plan, *compiler.value()); !errors.empty()) return errors;
        Plan whole = with_globals(plan);
        Outcome<KernelSet> kernels = noted(collect_kernels(whole, code_targets(spec_)));
        if (!kernels) return kernels.errors();
        return Collected{std::move(plan), std::move(whole), std::move(kernels.value()), reach.failures,
                         std::move(compiler.value())};
    }

    Outcome<Assembled> assemble_kernels() {
        // A missing NVRTC is reported before Slang's work is waited for.
        if (const TargetSpec* target = cuda_target(spec_)) {
            if (const auto nvrtc = cuda_compiler(target->location); !nvrtc) return nvrtc.errors();
        }
        Outcome<Collected> collected = collect();
        if (!collected) return collected.errors();
        auto& [plan, whole, kernels, failures, compiler] = collected.value();
        auto compiled = noted(compile(plan, kernels, std::move(compiler)));
        if (!compiled) return compiled.errors();
        if (!failures.empty()) return failures;
        drop_alike(kernels, compiled.value());
        auto cuda_images = noted(compile_for_cuda(kernels, compiled.value()));
        if (!cuda_images) return cuda_images.errors();
        auto manifest = noted(assemble(whole, kernels, compiled.value(), cuda_images.value(), producers_));
        if (!manifest) return manifest.errors();
        return Assembled{std::move(plan), std::move(manifest.value())};
    }

    /// Drops kernels whose code is the same whatever run time chooses: one is enough.
    static void drop_alike(KernelSet& kernels, std::vector<CompiledUnit>& compiled) {
        const auto code = [&](std::size_t unit) -> const std::string& {
            return compiled[unit].at(CodeTarget::cuda_source).code;
        };
        std::set<std::int64_t> differ;
        for (std::size_t i = 0; i < kernels.units.size(); ++i) {
            const std::int64_t of = kernels.units[i].chosen_of;
            if (of >= 0 && code(i) != code(static_cast<std::size_t>(of))) differ.insert(of);
        }
        for (std::size_t i = kernels.units.size(); i-- > 0;) {
            if (kernels.units[i].chosen_of < 0 || differ.contains(kernels.units[i].chosen_of)) continue;
            kernels.units.erase(kernels.units.begin() + static_cast<std::ptrdiff_t>(i));
            compiled.erase(compiled.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    Outcome<std::vector<CompiledUnit>> compile(const Plan& plan, const KernelSet& kernels,
                                               std::unique_ptr<Compiler> first) {
        CompileJob job;
        job.workers = workers_;
        job.store = store();
        job.keys = keys();
        // The compiler that reflected is the first worker's.
        job.make_compiler = [&]() -> Outcome<std::unique_ptr<Compiler>> {
            if (first) return std::move(first);
            return make_slang_compiler(settings_, support_modules());
        };
        job.tell = tell_;
        job.slots = slots_.get();
        job.found = [this](const KernelUnit& kernel, CodeTarget target, bool is_kept) {
            kernels_.push_back((is_kept ? "cached: " : "compiled: ") + kernel.name +
                               (target == CodeTarget::spirv ? " (spirv)" : " (cuda)"));
        };
        job.start = [&](std::size_t missing) {
            if (speaks_) std::cerr << size_note(spec_, plan, kernels, missing);
        };
        return compile_kernels(kernels, job);
    }

    /// Adds the device header; does nothing where the spec asks for none.
    Diagnostics add_device_header(const Plan& plan, Compiler& compiler) {
        if (!spec_.device_header || kernels_only_) return {};
        const auto nvrtc = cuda_compiler(*spec_.device_header);
        if (!nvrtc) return nvrtc.errors();
        const auto isolated = make_isolated(nvrtc.value(), cuda_limits(), false);
        auto header = noted(make_device_header(plan, compiler, *isolated));
        if (!header) return header.errors();
        device_header_ = std::move(header.value());
        return {};
    }

    /// NVRTC, opened once. `asked`: for what.
    Outcome<std::shared_ptr<const CudaCompiler>> cuda_compiler(const Location& asked) {
        if (!cuda_) {
            auto nvrtc = open_cuda_(header_folders());
            if (!nvrtc) {
                Diagnostic error = nvrtc.errors().front();
                error.location = asked;
                return error;
            }
            cuda_ = std::move(nvrtc.value());
            cuda_files_ = cuda_->files();
        }
        return cuda_;
    }

    /// Where headers are that modules include in their CUDA code: beside modules, and where these are looked
    /// for.
    [[nodiscard]] std::vector<std::filesystem::path> header_folders() const {
        std::vector<std::filesystem::path> folders;
        for (const std::filesystem::path& path : settings_.modules) folders.push_back(path.parent_path());
        folders.insert(folders.end(), settings_.search_paths.begin(), settings_.search_paths.end());
        return folders;
    }

    [[nodiscard]] CudaLimits cuda_limits() const { return {settings_.time_limit, settings_.memory_limit}; }

    static std::uint32_t threads_of(const KernelUnit& unit) {
        return unit.group_size[0] * unit.group_size[1] * unit.group_size[2];
    }

    /// Returns no images when CUDA is no target: NVRTC is then not even looked for. `made`: see CudaJob.
    Outcome<CudaImages> compile_for_cuda(const KernelSet& kernels, const std::vector<CompiledUnit>& compiled,
                                         const decltype(CudaJob::made)& made = {}) {
        const TargetSpec* target = cuda_target(spec_);
        if (target == nullptr) return CudaImages();
        const auto nvrtc = cuda_compiler(target->location);
        if (!nvrtc) return nvrtc.errors();
        producers_["nvrtc"] = nvrtc.value()->version();
        std::vector<CudaKernelSource> sources;
        for (std::size_t i = 0; i < kernels.units.size(); ++i) {
            const EmittedKernel& kernel = kernels.units[i].sources.at(CodeTarget::cuda_source);
            sources.push_back({kernel.source.entry_point, compiled[i].at(CodeTarget::cuda_source).code,
                               kernel.source.origin, threads_of(kernels.units[i]), kernel.resident_groups,
                               kernels.units[i].interface, kernels.units[i].name});
        }
        const auto headers = cuda_headers(sources, *nvrtc.value());
        cuda_files_.insert(cuda_files_.end(), headers.begin(), headers.end());
        CudaJob job{*target, *nvrtc.value(), workers_, store(), headers};
        job.make_worker = [&](std::size_t programs) {
            // Precompiling a prelude takes as long as reading it twice.
            return make_isolated(nvrtc.value(), cuda_limits(), programs > 2);
        };
        job.tell = tell_;
        job.found = [this](const CudaKernelSource& kernel, const std::string& architecture, bool is_kept) {
            kernels_.push_back((is_kept ? "cached: " : "compiled: ") + kernel.name + " (" + architecture +
                               ")");
        };
        job.slots = slots_.get();
        job.made = made;
        return compile_cuda(sources, job);
    }

    /// All that makes a kernel of its source.
    std::string compilers() const {
        std::string all =
            producers_.at("slang") + " kfgen " KFGEN_VERSION "." + std::to_string(code_revision);
        for (const SupportModule& module : support_modules()) all += module.text;
        return all;
    }

    KernelStore* store() { return options_.cache.empty() ? nullptr : &store_; }
    const CodeKeys* keys() const { return keys_ ? &*keys_ : nullptr; }

    const Spec& spec_;
    const Options& options_;
    const OpenCuda& open_cuda_;
    CompilerOptions settings_;
    bool forward_only_ = false;
    bool kernels_only_ = false;  ///< nothing else that the spec asks for
    unsigned workers_;
    ContentCache cache_;
    CachedKernelStore store_;
    std::unique_ptr<process::JobServer> slots_;  ///< of the Make that runs this; null: of none
    bool speaks_;
    std::vector<std::string> kernels_;
    std::optional<CodeKeys> keys_;  ///< where there is a store
    Progress progress_;
    TellProgress tell_;
    Diagnostics warnings_;
    std::map<std::string, std::string> producers_;
    std::shared_ptr<const CudaCompiler> cuda_;
    std::vector<std::filesystem::path> cuda_files_;
    std::vector<std::filesystem::path> cpp_files_;
    std::string device_header_;
};

}  // namespace

Outcome<Generated> generate_files(const Spec& spec, const Options& options, const OutputPaths& paths,
                                  const OpenCuda& open_cuda,
                                  const std::map<std::string, std::string>& sources) {
    return Generator(spec, options, open_cuda, sources).run(paths);
}

Outcome<MadeKernels> make_kernels(const Spec& spec, const Options& options, KernelStage stage,
                                  const ChooseKernels& choose, const OpenCuda& open_cuda) {
    return Generator(spec, options, open_cuda, {}).run_chosen(stage, choose);
}

Outcome<std::vector<std::byte>> generate_forward_passes(const Spec& spec, const Options& options,
                                                        const std::map<std::string, std::string>& sources) {
    return Generator(spec, options, open_installed_cuda, sources).run_forward_passes();
}

}  // namespace kf::gen
