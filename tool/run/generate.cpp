// All stages but the last: from a spec to the bytes of every output.
#include "run/generate.h"

#include <algorithm>
#include <thread>

#include "artifact/assemble.h"
#include "cache/kernel_store.h"
#include "core/artifact.h"
#include "core/sha256.h"
#include "emit/cpp.h"
#include "emit/python.h"
#include "kernels/compile.h"
#include "run/session.h"
#include "run/support.h"
#include "slang/library.h"

namespace kf::gen {

namespace {

std::vector<std::filesystem::path> programs() {
    std::error_code ignored;
    return {std::filesystem::read_symlink("/proc/self/exe", ignored), slang_library_path()};
}

}  // namespace

OutputPaths output_paths(const Spec& spec, const Options& options) {
    const auto in = [&](const std::string& name) { return options.output_directory / name; };
    return {in(spec.name + ".h"),
            in(spec.name + ".cpp"),
            in(spec.name + ".kfa"),
            in(spec.name + ".py"),
            in(spec.name + ".pyi"),
            options.depfile.empty() ? in(spec.name + ".d") : options.depfile,
            in("." + spec.name + ".kfgen-state")};
}

namespace {

Outcome<std::vector<OutputFile>> emit_files(const Plan& plan, const manifest::Manifest& manifest,
                                            const OutputPaths& paths, const Options& options) {
    const std::vector<std::byte> bytes = artifact::write(manifest);
    CppOptions cpp_options;
    if (!options.no_embed) cpp_options.artifact = bytes;
    cpp_options.sha256 = hex(sha256(bytes));
    Outcome<CppFiles> cpp = emit_cpp(plan, cpp_options);
    if (!cpp) return cpp.errors();
    std::vector<OutputFile> files{
        {paths.header, std::move(cpp.value().header), false},
        {paths.source, std::move(cpp.value().source), false},
        {paths.artifact, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), false}};
    if (options.python) {
        Outcome<PythonFiles> python = emit_python(plan);
        if (!python) return python.errors();
        files.push_back({paths.python, std::move(python.value().module), false});
        files.push_back({paths.stub, std::move(python.value().stub), false});
        files.push_back({options.output_directory / "py.typed", "", false});
    }
    return files;
}

}  // namespace

Outcome<Generated> generate_files(const Spec& spec, const Options& options, const OutputPaths& paths,
                                  FileSystem& disk) {
    const CompilerOptions settings = compiler_options(spec, options);
    const auto make_compiler = [&] { return make_slang_compiler(settings, support_modules()); };
    auto compiler = make_compiler();
    if (!compiler) return compiler.errors();
    const std::string slang_version = compiler.value()->version();
    Outcome<std::vector<CodeTarget>> targets = code_targets(spec);
    if (!targets) return targets.errors();
    Outcome<Planned> planned = plan_spec(spec, *compiler.value());
    if (!planned) return planned.errors();
    Outcome<KernelSet> kernels = collect_kernels(planned.value().plan, targets.value());
    if (!kernels) return kernels.errors();
    Outcome<std::string> environment = environment_hash(
        settings, planned.value().dependencies, slang_version + support_modules().front().second, disk);
    if (!environment) return environment.errors();

    ContentCache cache(disk, options.cache);
    CachedKernelStore store(cache);
    CompileJob job;
    job.environment_hash = environment.value();
    job.workers = options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
    if (!options.cache.empty()) job.store = &store;
    // The compiler that reflected is the first worker's.
    job.make_compiler = [&]() -> Outcome<std::unique_ptr<Compiler>> {
        if (compiler.value()) return std::move(compiler.value());
        return make_compiler();
    };
    const Outcome<std::vector<CompiledUnit>> compiled = compile_kernels(kernels.value(), job);
    if (!compiled) return compiled.errors();
    Outcome<manifest::Manifest> manifest = assemble(planned.value().plan, kernels.value(), compiled.value(),
                                                    {{"kfgen", KFGEN_VERSION}, {"slang", slang_version}});
    if (!manifest) return manifest.errors();
    Outcome<std::vector<OutputFile>> files =
        emit_files(planned.value().plan, manifest.value(), paths, options);
    if (!files) return files.errors();
    Generated generated{std::move(files.value()), {{options.spec}, programs()}};
    for (const std::string& path : planned.value().dependencies) generated.inputs.files.emplace_back(path);
    return generated;
}

}  // namespace kf::gen
