// The compiler in a child process, so that neither Slang's hangs nor its crashes are kfgen's.
#include "slang/compiler.h"

#include <slang.h>

#include <algorithm>
#include <exception>
#include <variant>

#include "process/worker_process.h"
#include "slang/crash_search.h"
#include "slang/failure_reasons.h"
#include "slang/in_process_compiler.h"
#include "slang/method_derivatives.h"
#include "slang/module_texts.h"
#include "slang/tensor_constraints.h"
#include "slang/wire.h"

namespace kf::gen {

namespace {

using process::WorkerProcess;

/// What errors say was going on. They name no kernel, so that one of several kernels' is shown.
constexpr const char* compiling = "compiling this call";

/// The module's own where it is named.
std::shared_ptr<TypeLookup> lookup_of(Compiler& compiler, const std::string& module) {
    std::shared_ptr<TypeLookup> whole(&compiler, [](TypeLookup*) {});
    return module.empty() ? whole : compiler.within(module);
}

std::string answer(Compiler& compiler, const std::string& bytes) {
    const CompilerRequest request = decode_request(bytes);
    if (const auto* reflect = std::get_if<ReflectRequest>(&request)) {
        return encode(compiler.reflect(reflect->modules, reflect->values));
    }
    if (const auto* type = std::get_if<TypeRequest>(&request)) {
        return encode(lookup_of(compiler, type->module)->type_named(type->name));
    }
    if (const auto* conforms = std::get_if<ConformsRequest>(&request)) {
        return encode(
            lookup_of(compiler, conforms->module)->conforms(conforms->type, conforms->interface_name));
    }
    if (const auto* probe = std::get_if<ReachRequest>(&request)) {
        return encode(compiler.reach(probe->source, probe->form));
    }
    const auto& compile = std::get<CompileRequest>(request);
    return encode(compiler.compile(compile.source, compile.target));
}

class IsolatedCompiler final : public Compiler {
public:
    IsolatedCompiler(CompilerOptions options, std::vector<SupportModule> support_modules,
                     std::shared_ptr<StartedSlang> started)
        : options_(std::move(options)),
          support_modules_(std::move(support_modules)),
          started_(std::move(started)),
          worker_([this, compiler = std::shared_ptr<Compiler>()](const std::string& request) mutable {
              // In the child: Slang starts with its first request. A child that replaces another has
              // the modules and texts of the last reflect(), which the parent wrote into options_.
              if (!compiler) {
                  compiler = make_in_process_compiler(options_, support_modules_, started_);
              }
              return answer(*compiler, request);
          }) {}

    [[nodiscard]] bool running() const { return worker_.running(); }

    Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules,
                            const std::string& values) override {
        options_.modules = modules;
        options_.values = values;
        std::string what = "reading";
        for (const std::filesystem::path& path : modules) {
            what += " " + path.filename().string();
        }
        const Location place{modules.empty() ? std::string() : modules.front().string(), 0, 0};
        Outcome<Module> module = call(ReflectRequest{modules, values}, decode_module, what, place);
        if (module) {
            options_.sources = module.value().sources;
        } else if (Diagnostics reasons = reasons_of(module.errors().front()); !reasons.empty()) {
            return reasons;
        } else if (const Diagnostic& error = module.errors().front(); error.id == "slang-internal") {
            return located(error);
        }
        return module;
    }

    Outcome<CompiledKernel> compile(const KernelSource& source, CodeTarget target) override {
        Outcome<CompiledKernel> kernel =
            call(CompileRequest{source, target}, decode_kernel, compiling, source.origin);
        if (kernel) return kernel;
        return Outcome<CompiledKernel>(with_reasons(sized(kernel.errors(), source), source, options_.sources))
            .with_warnings(kernel.warnings());
    }

    Outcome<std::vector<Reached>> reach(const KernelSource& source, const CodeForm& form) override {
        Outcome<std::vector<Reached>> reached =
            call(ReachRequest{source, form}, decode_reached, compiling, source.origin);
        if (reached) return reached;
        return with_reasons(sized(reached.errors(), source), source, options_.sources);
    }

    Outcome<std::optional<Type>> type_named(const std::string& name) override { return type_named(name, {}); }

    Outcome<bool> conforms(const std::string& type, const std::string& interface_name) override {
        return conforms(type, interface_name, {});
    }

    std::unique_ptr<TypeLookup> within(const std::string& import_name) override {
        return std::make_unique<LookupWithin>(*this, import_name);
    }

    std::string version() const override { return spGetBuildTagString(); }

private:
    class LookupWithin final : public TypeLookup {
    public:
        LookupWithin(IsolatedCompiler& compiler, std::string module)
            : compiler_(compiler), module_(std::move(module)) {}

        Outcome<std::optional<Type>> type_named(const std::string& name) override {
            return compiler_.type_named(name, module_);
        }
        Outcome<bool> conforms(const std::string& type, const std::string& interface_name) override {
            return compiler_.conforms(type, interface_name, module_);
        }

    private:
        IsolatedCompiler& compiler_;
        std::string module_;
    };

    Outcome<std::optional<Type>> type_named(const std::string& name, const std::string& module) {
        return call(TypeRequest{name, module}, decode_type, "looking up the type '" + name + "'", {});
    }

    Outcome<bool> conforms(const std::string& type, const std::string& interface_name,
                           const std::string& module) {
        return call(ConformsRequest{type, interface_name, module}, decode_conforms,
                    "looking up whether '" + type + "' conforms to '" + interface_name + "'", {});
    }

    /// What Slang is known to crash on, found without it.
    [[nodiscard]] Diagnostics reasons_of(const Diagnostic& crash) const {
        if (crash.id != "slang-internal") return {};
        Diagnostics reasons = find_tensor_constraints(options_.modules, options_.search_paths);
        add_distinct(reasons, find_method_derivatives(options_.modules, options_.search_paths));
        for (Diagnostic& reason : reasons) reason.notes.push_back(crash.message);
        return reasons;
    }

    /// The crash that reading the modules ends in, at the declaration that it comes with.
    [[nodiscard]] Diagnostic located(Diagnostic crash) const {
        const auto crashes = [&](const std::map<std::string, std::string>& texts) {
            CompilerOptions options = options_;
            options.sources = texts;
            IsolatedCompiler other(options, support_modules_, started_);
            const Outcome<Module> module =
                other.call(ReflectRequest{options.modules, options.values}, decode_module, "reading", {});
            return !module && module.errors().front().id == crash.id;
        };
        if (const auto place = find_crash(module_files(options_.modules, options_.search_paths), crashes)) {
            crash.location = *place;
            crash.notes.emplace_back(
                "Slang reads the modules when this declaration and all that follow are left out");
        }
        return crash;
    }

    template <class T>
    Outcome<T> call(const CompilerRequest& request, Outcome<T> (*decode)(const std::string&),
                    const std::string& what, const Location& place) {
        const auto ask = [&] {
            return worker_.call(encode(request), options_.time_limit, options_.memory_limit);
        };
        WorkerProcess::Reply reply = ask();
        // Some crashes depend on where memory happens to lie: a new child has it elsewhere.
        if (reply.result == WorkerProcess::Result::died) reply = ask();
        if (reply.result == WorkerProcess::Result::answered) {
            try {
                return decode(reply.text);
            } catch (const std::exception& error) {
                return failure("slang-internal", place,
                               "Slang's answer when " + what + " is malformed: " + error.what());
            }
        }
        if (reply.result == WorkerProcess::Result::timed_out) {
            return failure("slang-timeout", place, "Slang was stopped: " + what + " took " + reply.text);
        }
        if (reply.result == WorkerProcess::Result::too_large) {
            return failure(
                "slang-memory", place,
                "Slang was stopped: " + what + " took " + reply.text + "; --max-memory sets the limit");
        }
        return failure("slang-internal", place, "Slang crashed when " + what + ": " + reply.text);
    }

    /// The errors, of which those about a limit say for which kernel it was too low.
    static Diagnostics sized(Diagnostics errors, const KernelSource& source) {
        for (Diagnostic& error : errors) {
            if (error.id != "slang-memory" && error.id != "slang-timeout") continue;
            const auto lines = std::count(source.text.begin(), source.text.end(), '\n');
            error.notes.push_back("in the generated kernel '" + source.entry_point +
                                  "', whose own text has " + std::to_string(lines) + " lines");
        }
        return errors;
    }

    static Diagnostic failure(std::string id, const Location& place, std::string message) {
        return {Severity::error, std::move(id), place, std::move(message), {}};
    }

    CompilerOptions options_;
    std::vector<SupportModule> support_modules_;
    std::shared_ptr<StartedSlang> started_;
    WorkerProcess worker_;
};

}  // namespace

Outcome<std::unique_ptr<Compiler>> make_slang_compiler(const CompilerOptions& options,
                                                       const std::vector<SupportModule>& support_modules,
                                                       std::shared_ptr<StartedSlang> started) {
    auto compiler = std::make_unique<IsolatedCompiler>(options, support_modules, std::move(started));
    if (!compiler->running()) {
        return Diagnostic{Severity::error, "slang-internal", {}, "no process could be started for Slang", {}};
    }
    return std::unique_ptr<Compiler>(std::move(compiler));
}

}  // namespace kf::gen
