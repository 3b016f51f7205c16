// Loads, reflects and compiles; one session for each target.
#include "slang/in_process_compiler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include "slang/buffer_arrays.h"
#include "slang/checked_accesses.h"
#include "slang/cuda_calls.h"
#include "slang/cuda_elements.h"
#include "slang/cuda_integers.h"
#include "slang/cuda_tables.h"
#include "slang/declared_globals.h"
#include "slang/differentiated.h"
#include "slang/entry_points.h"
#include "slang/exact_optimiser.h"
#include "slang/gradient_texts.h"
#include "slang/layout.h"
#include "slang/library.h"
#include "slang/link_declarations.h"
#include "slang/logical_copies.h"
#include "slang/lost_gradients.h"
#include "slang/lost_tangents.h"
#include "slang/module_texts.h"
#include "slang/named_modules.h"
#include "slang/pointer_variables.h"
#include "slang/read_views.h"
#include "slang/reflect.h"
#include "slang/session.h"
#include "slang/settable_globals.h"
#include "slang/signed_remainders.h"
#include "slang/specialization_constants.h"
#include "slang/spirv.h"
#include "slang/spirv_text.h"
#include "slang/spirv_validator.h"
#include "slang/started_slang.h"
#include "slang/texture_accesses.h"
#include "slang/texture_arrays.h"
#include "slang/texture_errors.h"
#include "slang/types.h"
#include "slang/uncalled_entries.h"
#include "slang/workarounds/hidden_loops.h"
#include "slang/workarounds/loops.h"
#include "slang/workarounds/no_diff_calls.h"
#include "slang/workarounds/overwritten_gradients.h"
#include "slang/workarounds/workarounds.h"
#include "slang/workarounds/written_scalars.h"
#include "slang/workarounds/written_values.h"

namespace kf::gen {

namespace {

// A session keeps all that it compiled, so it is replaced after so many kernels, and when the modules, which
// the next one loads again, have taken only so small a part of the time.
constexpr int kernels_per_session = 64;
constexpr int times_of_loading = 20;

Diagnostic internal_error(const std::string& what) {
    return {Severity::error, "slang-internal", {}, "Slang failed: " + what, {}};
}

// Slang's own exceptions derive from nothing, but leave their text behind.
Diagnostic caught_error() {
    const char* text = slang::getLastInternalErrorMessage();
    if (text != nullptr && *text != '\0') {
        return internal_error(text);
    }
    try {
        throw;
    } catch (const std::exception& error) {
        return internal_error(error.what());
    } catch (...) {
        return internal_error("unknown exception");
    }
}

std::string_view whole_line_of(std::string_view text, std::int64_t line) {
    for (; line > 1 && text.find('\n') != std::string_view::npos; --line) {
        text.remove_prefix(text.find('\n') + 1);
    }
    return text.substr(0, text.find('\n'));
}

std::string_view line_of(std::string_view text, std::int64_t line) {
    text = whole_line_of(text, line);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text;
}

constexpr const char* needs_experimental = "slang-E00104";  // to import slang.neural, for instance
constexpr const char* not_public = "slang-E30600";
constexpr const char* no_nested_while = "The key already exists in Dictionary";  // what Slang says instead

constexpr const char* no_value = "slang-E45001";

/// Slang says "unresolved external symbol 'N'", of types with a symbol of its own.
Diagnostic missing_value(const Diagnostic& error) {
    const auto quoted = [](const std::string& text) {
        const std::size_t begin = std::min(text.find('\''), text.size() - 1) + 1;
        return text.substr(begin, text.find('\'', begin) - begin);
    };
    std::string name = quoted(error.message);
    bool is_type = false;
    for (const std::string& note : error.notes) {
        if (note.find("see declaration of '") == std::string::npos) continue;
        is_type = name.starts_with("_S");
        name = quoted(note.substr(note.find("see declaration of '")));
    }
    return {Severity::error,
            "link-missing",
            error.location,
            std::string("the link-time ") + (is_type ? "type" : "constant") + " '" + name +
                "' has no value, and a function that is called reaches it",
            {is_type ? R"(name a type in the spec's "types": {")" + name +
                           R"(": …}, or export it in a file of "link")"
                     : R"(give it one in the spec's "constants": {")" + name +
                           R"(": …}, in its declaration, or in a file of "link")"}};
}

// Errors inside the generated text point to the spec entry and quote the line that is wrong.
Diagnostics with_origin(Diagnostics errors, const KernelSource& source) {
    for (Diagnostic& error : errors) {
        const bool generated = error.location.file.starts_with(virtual_folder);
        if (error.id == no_value && !generated) {
            error = missing_value(error);
            continue;
        }
        if (!generated && !error.location.file.empty()) {
            error.notes.push_back("found while compiling the kernel '" + source.entry_point + "'");
            note_kept(error, source);
            continue;
        }
        if (generated && error.id == not_public) {
            // Every kernel of the call says so, of each place that names it.
            error.notes = {"mark it public: " + std::string(why_closed)};
        } else if (generated) {
            const bool in_values = error.location.file.starts_with(std::string(virtual_folder) + "values_");
            error.notes.insert(
                error.notes.begin(),
                (in_values ? "in the values linked with the kernel '" : "in the generated kernel '") +
                    source.entry_point + "', line " + std::to_string(error.location.line) + ": " +
                    std::string(line_of(in_values ? source.values : source.text, error.location.line)));
        } else {
            error.notes.push_back("in the generated kernel '" + source.entry_point + "'");
        }
        if (generated && error.message.starts_with("ambiguous call")) {
            error.notes.emplace_back(
                "modules that the kernel imports for the types it names have a function of that name: give "
                "one "
                "of these functions another name");
        }
        if (error.message.find(no_nested_while) != std::string::npos) {
            error.notes.emplace_back(
                "a differentiable 'while' that holds another loop does this: "
                "write 'for (; i < n;)' for 'while (i < n)'");
        }
        if (!source.hint.empty()) error.notes.push_back(source.hint);
        note_kept(error, source);
        error.location = source.origin;
        for (std::string& note : error.notes) {
            if (note.starts_with(virtual_folder)) {
                note = "generated line " +
                       note.substr(note.find(':', std::string_view(virtual_folder).size()) + 1);
            }
        }
    }
    Diagnostics distinct;
    for (Diagnostic& error : errors) {
        if (std::find(distinct.begin(), distinct.end(), error) == distinct.end())
            distinct.push_back(std::move(error));
    }
    return distinct;
}

/// Slang doesn't see that such a loop's gradients are wrong.
Diagnostics limit_errors(const Sources& sources) {
    Diagnostics errors;
    for (const auto& [file, text] : sources.texts()) {
        if (text.find("axIters") == std::string::npos && text.find("axiters") == std::string::npos) continue;
        for (const ExcessiveLoop& loop : excessive_loops(text, tokenise(text))) {
            const std::string count = std::to_string(loop.iterations);
            errors.push_back({Severity::error,
                              "loop-exceeds-max-iters",
                              {file.string(), static_cast<std::int64_t>(line_at(text, loop.offset)),
                               static_cast<std::int64_t>(column_at(text, loop.offset))},
                              "the loop runs " + count + " times, more than its [MaxIters(" +
                                  std::to_string(loop.limit) + ")]: its gradients would be wrong",
                              {"write [MaxIters(" + count + ")]"}});
        }
    }
    return errors;
}

/// In kernels that check buffers and textures.
constexpr std::string_view begins_checks = "kf.begin_checks();";

/// Those for the faults of the Slang at hand, or those that the options name.
Workarounds chosen_workarounds(const CompilerOptions& options) {
    if (!options.workarounds) return needed_workarounds(slang_version(spGetBuildTagString()));
    Workarounds chosen;
    for (const Workaround* workaround : workarounds()) {
        const auto& names = *options.workarounds;
        if (std::find(names.begin(), names.end(), workaround->name) != names.end())
            chosen.push_back(workaround);
    }
    return chosen;
}

using SupportModules = std::vector<SupportModule>;

class InProcessCompiler final : public Compiler {
public:
    InProcessCompiler(CompilerOptions options, SupportModules support_modules,
                      std::shared_ptr<StartedSlang> started)
        : options_(std::move(options)),
          support_modules_(std::move(support_modules)),
          workarounds_(chosen_workarounds(options_)),
          sources_(options_.sources),
          started_(std::move(started)) {}

    Outcome<Module> reflect(const std::vector<std::filesystem::path>& modules,
                            const std::string& values) override {
        options_.modules = modules;
        options_.values = values;
        needs_foreign_names_.reset();
        keeps_gradients_ = true;
        unprotected_.clear();
        drop_sessions();
        sources_.forget();
        sources_.open_declarations(Opening::everything);
        try {
            return reflect_modules();
        } catch (...) {
            drop_sessions();
            return caught_error();
        }
    }

    Outcome<CompiledKernel> compile(const KernelSource& source, CodeTarget target) override {
        Outcome<CompiledKernel> outcome = internal_error("nothing was compiled");
        try {
            outcome = compile_kernel(source, target);
        } catch (...) {
            outcome = caught_error();
        }
        if (outcome) {
            return outcome;
        }
        // A failed compile may leave a session in any state, and its error is final anyway.
        drop_sessions();
        Diagnostics errors = outcome.errors();
        if (target == CodeTarget::cuda_source) errors = with_texture_errors(std::move(errors));
        return Outcome<CompiledKernel>(with_origin(std::move(errors), source))
            .with_warnings(outcome.warnings());
    }

    Outcome<std::vector<Reached>> reach(const KernelSource& source, const CodeForm& form) override {
        Outcome<std::vector<Reached>> outcome = internal_error("nothing was compiled");
        try {
            outcome = read_probe(source, form);
        } catch (...) {
            outcome = caught_error();
        }
        if (outcome) {
            return outcome;
        }
        drop_sessions();
        return with_origin(outcome.errors(), source);
    }

    Outcome<std::optional<Type>> type_named(const std::string& name) override {
        return guarded<std::optional<Type>>(
            [&](Session& session) { return find_type(session.files(), name, session.sizes()); });
    }

    Outcome<bool> conforms(const std::string& type, const std::string& interface_name) override {
        return guarded<bool>(
            [&](Session& session) { return conform(session.files(), type, interface_name); });
    }

    std::unique_ptr<TypeLookup> within(const std::string& import_name) override {
        return std::make_unique<LookupWithin>(*this, import_name);
    }

    std::string version() const override { return spGetBuildTagString(); }

private:
    class LookupWithin final : public TypeLookup {
    public:
        LookupWithin(InProcessCompiler& compiler, std::string module)
            : compiler_(compiler), module_(std::move(module)) {}

        Outcome<std::optional<Type>> type_named(const std::string& name) override {
            return compiler_.guarded<std::optional<Type>>(
                [&](Session& session) { return find_type(searched(session), name, session.sizes()); });
        }
        Outcome<bool> conforms(const std::string& type, const std::string& interface_name) override {
            return compiler_.guarded<bool>(
                [&](Session& session) { return conform(searched(session), type, interface_name); });
        }

    private:
        [[nodiscard]] std::vector<slang::IModule*> searched(const Session& session) const {
            std::vector<slang::IModule*> modules = session.files();
            for (const FileModule& one : session.file_modules()) {
                if (one.import_name == module_) modules.insert(modules.begin(), one.module);
            }
            return modules;
        }

        InProcessCompiler& compiler_;
        std::string module_;
    };

    template <class T, class Ask>
    Outcome<T> guarded(const Ask& ask) {
        try {
            const Outcome<Session*> session = session_for({CodeTarget::spirv});
            if (!session) {
                return session.errors();
            }
            return ask(*session.value());
        } catch (...) {
            return caught_error();
        }
    }

    using Clock = std::chrono::steady_clock;

    struct Entry {
        std::optional<Session> session;
        int kernels = 0;
        Clock::duration loading{};
        Clock::time_point loaded{};

        [[nodiscard]] bool is_fresh() const {
            return session &&
                   (kernels < kernels_per_session || Clock::now() - loaded < times_of_loading * loading);
        }
    };

    void drop_sessions() {
        for (Entry& entry : entries_) {
            entry = {};
        }
    }

    Entry& entry(const CodeForm& form) {
        return entries_.at(8 * static_cast<std::size_t>(form.target) + (form.places ? 4 : 0) +
                           (form.sets_globals ? 2 : 0) + (form.keeps_constants ? 1 : 0));
    }

    // The session with all modules loaded.
    Outcome<Session*> session_for(const CodeForm& form) {
        if (!started_) started_ = start_slang();
        sources_.set_globals(form.sets_globals ? globals_ : std::vector<GlobalForm>());
        sources_.own_textures(form.target == CodeTarget::cuda_source);
        sources_.keep_constants(form.keeps_constants ? kept_ : std::vector<KeptConstant>());
        Entry& kept = entry(form);
        if (kept.is_fresh()) {
            return &*kept.session;
        }
        kept = {};
        const Clock::time_point start = Clock::now();
        if (!needs_foreign_names_) {
            const std::vector<ModuleFile> files = module_files(options_.modules, options_.search_paths);
            const auto texts = texts_of(files);
            sources_.set_access(accesses(files));
            needs_foreign_names_ = name_foreign_types(texts);
            needs_textures_ = name_textures(texts);
            sources_.leave_modules(shadowed_modules(texts));
            sources_.debug({options_.prints, options_.checks, own_debug_functions(texts)});
        }
        Outcome<Session> session = load_modules(form, needed_support(form.target), keeps_gradients_);
        if (!session && !*needs_foreign_names_) {
            // Names may come from where nobody looked for them.
            needs_foreign_names_ = true;
            needs_textures_ = true;
            session = load_modules(form, needed_support(form.target), keeps_gradients_);
        }
        for (const Opening less : {Opening::fields, Opening::nothing}) {
            // A file that wasn't looked into may mention what was opened.
            const bool is_uncertain = sources_.met_unknown() && sources_.opening() == Opening::everything;
            if (!sources_.has_opened() || (session && !is_uncertain)) break;
            sources_.open_declarations(less);
            session = load_modules(form, needed_support(form.target), keeps_gradients_);
        }
        Diagnostics refused;
        while (!session && keeps_gradients_) {
            // The change may be at fault. If not, the errors are better those of the texts as they are.
            refused.push_back(session.errors().front());
            keeps_gradients_ = sources_.leave_refused(session.errors());
            session = load_modules(form, needed_support(form.target), keeps_gradients_);
        }
        if (session && !refused.empty()) unprotected_ = unprotected_warnings(refused);
        if (!session) {
            return Outcome<Session*>(session.errors()).with_warnings(session.warnings());
        }
        kept.session = std::move(session.value());
        kept.loaded = Clock::now();
        kept.loading = kept.loaded - start;
        return &*kept.session;
    }

    /// What may be opened in all files that a session reads: `files` of its modules, and those that it links.
    [[nodiscard]] FileAccesses accesses(const std::vector<ModuleFile>& files) const {
        std::vector<std::filesystem::path> modules = options_.modules;
        modules.insert(modules.end(), options_.linked.begin(), options_.linked.end());
        std::vector<std::string> listed;
        for (const std::filesystem::path& module : modules) listed.push_back(canonical_path(module).string());
        return file_accesses(options_.linked.empty() ? files : module_files(modules, options_.search_paths),
                             listed, options_.defines);
    }

    /// The support modules but for those with names that few of the user's modules have, and those of
    /// textures where there are none.
    [[nodiscard]] SupportModules needed_support(CodeTarget target = CodeTarget::spirv) const {
        const bool foreign_names = needs_foreign_names_.value_or(false);
        const bool textures = needs_textures_ && target == CodeTarget::cuda_source;
        SupportModules modules = support_modules_;
        std::erase_if(modules, [&](const SupportModule& module) {
            const bool of_textures = module.name == texture_module || module.name == texel_module;
            return (of_textures && !textures) || (has_foreign_names(module.name) && !foreign_names);
        });
        return modules;
    }

    Outcome<Session> load_modules(const CodeForm& form, const SupportModules& support_modules,
                                  bool keeps_gradients) {
        Outcome<Session> session = load_modules_once(form, support_modules, keeps_gradients);
        if (session || options_.experimental) return session;
        const Diagnostics& errors = session.errors();
        options_.experimental = std::any_of(errors.begin(), errors.end(), [](const Diagnostic& error) {
            return error.id == needs_experimental;
        });
        return options_.experimental ? load_modules_once(form, support_modules, keeps_gradients)
                                     : std::move(session);
    }

    Outcome<Session> load_modules_once(const CodeForm& form, const SupportModules& support_modules,
                                       bool keeps_gradients) {
        Outcome<Session> created =
            Session::create(started_->global(), options_, form, sources_,
                            keeps_gradients ? workarounds_ : Workarounds(), support_modules);
        if (!created) {
            return created.errors();
        }
        if (Diagnostics errors = created.value().load_files(options_.modules); !errors.empty()) {
            return Outcome<Session>(std::move(errors)).with_warnings(created.value().warnings());
        }
        if (Diagnostics errors = created.value().load_linked(options_.linked); !errors.empty()) {
            return Outcome<Session>(std::move(errors)).with_warnings(created.value().warnings());
        }
        return created;
    }

    /// A kernel may import support modules that the user's modules do without, and those may import others.
    Diagnostics load_imports(Session& session, const std::string& importer) const {
        for (const SupportModule& module : support_modules_) {
            if (importer.find("import " + module.name + ";\n") == std::string::npos) {
                continue;
            }
            if (Diagnostics errors = load_imports(session, module.text); !errors.empty()) {
                return errors;
            }
            if (const Outcome<slang::IModule*> loaded = session.load_support(module); !loaded) {
                return loaded.errors();
            }
        }
        return {};
    }

    Outcome<Module> reflect_modules() {
        const Outcome<Session*> session = session_for({CodeTarget::spirv});
        if (!session) {
            return Outcome<Module>(session.errors()).with_warnings(session.warnings());
        }
        session.value()->add_layout_warnings();
        Diagnostics warnings = warnings_of(*session.value());
        add_distinct(warnings, std::exchange(unprotected_, {}));
        if (Diagnostics errors = limit_errors(sources_); !errors.empty()) {
            return Outcome<Module>(std::move(errors)).with_warnings(std::move(warnings));
        }
        const std::vector<std::string> codes = session.value()->code_of_files();
        add_distinct(warnings, lost_gradient_warnings(*session.value(), codes));
        std::vector<LinkDeclaration> link = link_declarations(session.value()->slang(), sources_);
        if (!link.empty()) session.value()->find_sizes(options_.values);
        const std::set<std::string> macros = entry_macros(sources_.texts(), options_.defines);
        const std::vector<MacroEntry> entries =
            macros.empty() ? std::vector<MacroEntry>() : entries_by_macros();
        Module module = describe_modules(session.value()->slang(), session.value()->files(), sources_,
                                         session.value()->sizes(), entries);
        module.link = std::move(link);
        module.globals = settable_globals(*session.value(), sources_);
        add_sources(session.value()->linked(), sources_, module.sources);
        module.module_names = module_names(options_.modules);
        add_named_modules(*session.value(), options_.functions, sources_, entries, module);
        std::map<std::string, OpenedText> opened;
        for (const auto& [path, text] : module.sources) {
            const OpenedText& one = opened[path] = sources_.opened(text, path);
            for (const ClosedField& field : one.closed_fields)
                module.closed_fields.push_back({field.type, field.name, {path, field.line, field.column}});
        }
        for (const bool own_textures : {false, true}) {
            sources_.own_textures(own_textures);
            for (const auto& [path, text] : module.sources)
                module.compiled[path].at(own_textures ? 1 : 0) = sources_.as_module(text, path);
        }
        sources_.own_textures(false);
        mark_closed(opened, module);
        mark_closed_types(opened, module.globals);
        note_lost_tangents(module, lost_tangents(codes));
        note_read_views(module, codes);
        add_distinct(warnings, hidden_loop_warnings(module.sources, workarounds_));
        drop_uncalled_entries(sources_.texts(), macros, options_.functions, warnings);
        Diagnostics errors = check_closed();
        add_distinct(errors, lost_tangent_uses(module, slang_version(spGetBuildTagString())));
        Outcome<Module> outcome =
            errors.empty() ? Outcome<Module>(std::move(module)) : Outcome<Module>(std::move(errors));
        return std::move(outcome).with_warnings(std::move(warnings));
    }

    /// Asks Slang, which is given the texts with their entry points for that. Nothing where it refuses them.
    std::vector<MacroEntry> entries_by_macros() {
        sources_.keep_entry_points(true);
        const Outcome<Session> session =
            load_modules({CodeTarget::spirv}, needed_support(), keeps_gradients_);
        sources_.keep_entry_points(false);
        return session ? entry_points_of(session.value().slang()) : std::vector<MacroEntry>();
    }

    /// Those of the modules as users wrote them: the change of the texts has statements of its own.
    Diagnostics warnings_of(const Session& session) {
        if (session.warnings().empty() || !keeps_gradients_ || sources_.changed().empty()) {
            return session.warnings();
        }
        const Outcome<Session> unchanged = load_modules({CodeTarget::spirv}, needed_support(), false);
        sources_.use(workarounds_);
        return unchanged ? unchanged.value().warnings() : session.warnings();
    }

    /// What a module may not do with fields that are closed to it is an error as ever.
    Diagnostics check_closed() {
        if (!sources_.opens_more()) {
            return {};
        }
        const Opening opening = sources_.opening();
        sources_.open_declarations(Opening::nothing);
        const Outcome<Session> session =
            load_modules({CodeTarget::spirv}, needed_support(), keeps_gradients_);
        sources_.open_declarations(opening);
        return session ? Diagnostics() : session.errors();
    }

    /// Lines cost a session of its own, which only code that loses a gradient is worth.
    Diagnostics lost_gradient_warnings(const Session& session, const std::vector<std::string>& plain) {
        const bool overwrites =
            contains(workarounds_, written_values) || contains(workarounds_, written_scalars);
        const auto& texts = sources_.texts();
        const bool statements = std::any_of(
            texts.begin(), texts.end(), [](const auto& text) { return has_no_diff_statements(text.second); });
        const auto is_clean = [&](const std::string& code) {
            return lost_gradients(code, statements).empty() &&
                   (!overwrites || overwritten_gradients(code).empty());
        };
        if (std::all_of(plain.begin(), plain.end(), is_clean)) return {};
        const std::optional<DifferentiatedFunctions> differentiated =
            differentiated_functions(sources_.texts(), options_);
        const auto concerns_calls = [&](const auto& found) {
            return !differentiated || differentiated->has(found.function);
        };
        const Outcome<Session> with_lines =
            load_modules({CodeTarget::spirv, true}, needed_support(), keeps_gradients_);
        Diagnostics warnings;
        const auto line_of = [&](const auto& found) {
            const std::string* text = sources_.find(found.file);
            return text == nullptr ? std::string() : std::string(whole_line_of(*text, found.line));
        };
        for (const std::string& code : (with_lines ? with_lines.value() : session).code_of_files()) {
            for (const LostGradient& lost : lost_gradients(code, statements)) {
                if (concerns_calls(lost)) add_distinct(warnings, warning_of(lost, line_of(lost)));
            }
            if (!overwrites) continue;
            for (const OverwrittenGradient& overwritten : overwritten_gradients(code)) {
                if (concerns_calls(overwritten))
                    add_distinct(warnings, {warning_of(overwritten, line_of(overwritten))});
            }
        }
        return warnings;
    }

    /// Loads the kernel and what it imports, and puts it together with its entry point.
    Outcome<ComPtr<slang::IComponentType>> compose(const KernelSource& source, const CodeForm& form) {
        const Outcome<Session*> found = session_for(form);
        if (!found) {
            return found.errors();
        }
        Session& session = *found.value();
        ++entry(form).kernels;
        if (Diagnostics errors = load_imports(session, source.text); !errors.empty()) {
            return errors;
        }
        if (Diagnostics errors = session.load_imports(source.text); !errors.empty()) {
            return errors;
        }
        const Outcome<slang::IModule*> module = session.load_generated("kernel", source.text);
        if (!module) {
            return module.errors();
        }
        ComPtr<slang::IEntryPoint> entry_point;
        if (SLANG_FAILED(
                module.value()->findEntryPointByName(source.entry_point.c_str(), entry_point.out()))) {
            return Diagnostic{Severity::error,
                              "slang-no-entry-point",
                              {},
                              "the generated source has no entry point '" + source.entry_point + "'",
                              {}};
        }
        const Outcome<ComPtr<slang::IComponentType>> values = session.compose_values(source);
        if (!values) {
            return values.errors();
        }
        std::vector<slang::IComponentType*> parts = {module.value(), entry_point.get()};
        if (values.value()) parts.push_back(values.value().get());
        std::vector<ComPtr<slang::IComponentType>> conformances;
        for (const Conformance& one : source.conformances) {
            Outcome<ComPtr<slang::IComponentType>> made = session.make_conformance(*module.value(), one);
            if (!made) return made.errors();
            conformances.push_back(std::move(made.value()));
            parts.push_back(conformances.back().get());
        }
        Outcome<ComPtr<slang::IComponentType>> composed = session.compose(parts, could_not_compile(source));
        return std::move(composed).with_warnings(module.warnings());
    }

    static std::string could_not_compile(const KernelSource& source) {
        return "the kernel '" + source.entry_point + "' could not be compiled";
    }

    static std::string text_of(slang::IBlob& code) {
        return {static_cast<const char*>(code.getBufferPointer()), code.getBufferSize()};
    }

    /// Optimisers would hide variables, and calls of functions.
    Outcome<std::vector<Reached>> read_probe(const KernelSource& source, const CodeForm& form) {
        const Outcome<ComPtr<slang::IComponentType>> composed = compose(source, form);
        if (!composed) {
            return composed.errors();
        }
        const slang::CompilerOptionEntry plain =
            integer_option(slang::CompilerOptionName::Optimization, SLANG_OPTIMIZATION_LEVEL_NONE);
        ComPtr<slang::IComponentType> linked;
        ComPtr<slang::IBlob> code;
        ComPtr<slang::IBlob> messages;
        if (SLANG_FAILED(composed.value()->linkWithOptions(linked.out(), 1, &plain, messages.out())) ||
            SLANG_FAILED(linked->getEntryPointCode(0, 0, code.out(), messages.out())) || !code) {
            return slang_errors(messages, could_not_compile(source));
        }
        const std::string text = text_of(*code.get());
        std::vector<Reached> reached;
        if (form.target == CodeTarget::spirv) {
            reached = reached_in_spirv(text);
        } else {
            reached = reached_in_cuda(without_prelude(text));
        }
        place_reached(entry(form).session->slang(), sources_, reached);
        return reached;
    }

    /// Calls that reach globals are refused before their kernels are compiled: see kernels/reach.h.
    static Diagnostics check_globals(const KernelSource& source, CodeTarget target, std::string& code) {
        std::vector<std::string> names;
        if (target == CodeTarget::spirv) {
            names = bind_block(code);
        } else {
            const std::size_t end = code.find(cuda_prelude_end);
            if (end != std::string::npos && code.find("SLANG_globalParams", end) != std::string::npos)
                names.emplace_back("SLANG_globalParams");
        }
        Diagnostics errors;
        for (const std::string& name : names) {
            errors.push_back({Severity::error,
                              "slang-kernel-parameters",
                              source.origin,
                              "'" + source.entry_point + "' reads the global parameter '" + name + "'",
                              {}});
        }
        return errors;
    }

    /// Drivers make of such code what they can.
    static Diagnostic invalid_code(const KernelSource& source, const std::string& wrong) {
        return {Severity::error,
                "slang-invalid-code",
                source.origin,
                "Slang makes invalid SPIR-V of this",
                {"SPIR-V's validator: " + wrong,
                 "write what the functions do in another way: docs/slang_faults.md lists what is known to do "
                 "this"}};
    }

    static Diagnostic unsettled_arrays(const KernelSource& source) {
        return {
            Severity::error,
            "slang-buffer-array",
            source.origin,
            "'" + source.entry_point +
                "' takes a buffer out of an array by an index that isn't known when it is compiled, and "
                "keeps it, passes it on, or reads and writes vectors and structs in it: SPIR-V has no such "
                "thing, or drivers get it wrong",
            {"read and write numbers where they are indexed, as in layers[i].weights[j], or unroll the "
             "loop by [ForceUnroll]",
             "or make the elements pointers, float*, or tensors: those may be kept anywhere"}};
    }

    /// What is wrong with how a kernel uses textures; nothing where they are as drivers take them now.
    static std::optional<Diagnostic> settle_textures(const KernelSource& source, std::string& code) {
        const auto error = [&](const char* id, const std::string& what, const std::string& cure) {
            return Diagnostic{
                Severity::error, id, source.origin, "'" + source.entry_point + "' " + what, {cure}};
        };
        switch (settle_texture_accesses(code, source.padded_textures)) {
            case TextureAccesses::take_derivatives:
                return error(
                    "texture-access",
                    "samples a texture by derivatives, which kernels don't have: SampleBias, "
                    "CalculateLevelOfDetail, or a sample with a smallest level",
                    "say the level, SampleLevel(sampler, at, level), or the derivatives, SampleGrad");
            case TextureAccesses::sample_integers:
                return error("texture-access", "samples a texture of integers, which no sampler filters",
                             "read its texels: texture[at], or texture.Load(…)");
            case TextureAccesses::no_spirv:
                return internal_error("what it gave for '" + source.entry_point + "' is no SPIR-V");
            case TextureAccesses::settled: break;
        }
        if (settle_texture_arrays(code) == TextureArrays::settled) return std::nullopt;
        return error(
            "slang-texture-array",
            "takes a texture or sampler out of an array by an index that isn't known when it is compiled, "
            "and keeps it or passes it on, or there are more than 256 ways to pick what it samples",
            "sample and write it where it is indexed, as in textures[i].Load(at), or unroll the loop by "
            "[ForceUnroll]");
    }

    /// What keeps a kernel's accesses from being checked; nothing where they are now.
    static std::optional<Diagnostic> put_checks(const KernelSource& source, std::string& code) {
        switch (check_accesses(code)) {
            case CheckedAccesses::no_spirv:
                return internal_error("what it gave for '" + source.entry_point +
                                      "' has nothing that checks");
            case CheckedAccesses::unchecked:
                return Diagnostic{
                    Severity::error,
                    "checked-access",
                    source.origin,
                    "'" + source.entry_point +
                        "' passes an element of a buffer on, or picks a buffer or texture in a "
                        "way that isn't known when it is compiled: such indices can't be checked",
                    {"read and write elements where they are indexed, or leave \"checked\" out"}};
            case CheckedAccesses::checked: break;
        }
        return std::nullopt;
    }

    Outcome<CompiledKernel> compile_kernel(const KernelSource& source, CodeTarget target) {
        const CodeForm form{target, false, !source.globals.empty(), !source.kept.empty()};
        if (form.sets_globals && globals_ != source.globals) {
            for (const CodeTarget one : {CodeTarget::spirv, CodeTarget::cuda_source})
                for (const bool keeps : {false, true}) entry({one, false, true, keeps}) = {};
            globals_ = source.globals;
        }
        if (form.keeps_constants && kept_ != source.kept) {
            for (const bool sets : {false, true}) entry({target, false, sets, true}) = {};
            kept_ = source.kept;
        }
        const Outcome<Session*> found = session_for(form);
        if (!found) {
            return found.errors();
        }
        // Without it Slang gives unoptimised code and says nothing; drivers refuse some of that.
        if (target == CodeTarget::spirv &&
            SLANG_FAILED(started_->global().checkPassThroughSupport(SLANG_PASS_THROUGH_SPIRV_OPT))) {
            return Diagnostic{Severity::error,
                              "slang-optimiser-missing",
                              {},
                              "Slang found no SPIR-V optimiser: libslang-glslang could not be loaded",
                              {"it belongs beside " + slang_library_path().string()}};
        }
        const Outcome<ComPtr<slang::IComponentType>> composed = compose(source, form);
        if (!composed) {
            return composed.errors();
        }
        ComPtr<slang::IComponentType> linked;
        ComPtr<slang::IBlob> code;
        ComPtr<slang::IBlob> messages;
        Diagnostics warnings = composed.warnings();
        add_distinct(warnings, unprotected_);
        // Each step's warnings go where the next one's messages come.
        const auto has_failed = [&](SlangResult result) {
            add_distinct(warnings, slang_warnings(messages));
            return SLANG_FAILED(result);
        };
        if (has_failed(composed.value()->link(linked.out(), messages.out())) ||
            has_failed(
                linked->getEntryPointCode(0, target_index(source, target), code.out(), messages.out())) ||
            !code) {
            return Outcome<CompiledKernel>(slang_errors(messages, could_not_compile(source)))
                .with_warnings(std::move(warnings));
        }
        CompiledKernel kernel;
        kernel.code = text_of(*code.get());
        if (target == CodeTarget::spirv) {
            if (!patch_source_language(kernel.code) || !mark_aliased_pointers(kernel.code) ||
                !expand_logical_copies(kernel.code) || !expand_signed_remainders(kernel.code)) {
                return internal_error("what it gave for '" + source.entry_point + "' is no SPIR-V");
            }
            if (source.has_aliases) mark_aliased_buffers(kernel.code);
            if (std::optional<Diagnostic> failure = settle_textures(source, kernel.code)) return *failure;
            const BufferArrays arrays = settle_buffer_arrays(kernel.code);
            if (!settle_pointer_variables(kernel.code)) {
                return internal_error("what it gave for '" + source.entry_point + "' is no SPIR-V");
            }
            if (source.text.find(begins_checks) != std::string::npos) {
                if (std::optional<Diagnostic> failure = put_checks(source, kernel.code)) return *failure;
            }
            for (const Workaround* workaround : workarounds_) {
                if (workaround->repair_code == nullptr || workaround->repair_code(kernel.code)) continue;
                return internal_error("its optimiser made a constant vector for '" + source.entry_point +
                                      "' that isn't valid in SPIR-V");
            }
            if (!validator_) {
                validator_.emplace(slang_library_path());
            }
            if (const std::string wrong = validator_->first_error(kernel.code); !wrong.empty()) {
                return arrays == BufferArrays::unsettled ? unsettled_arrays(source)
                                                         : invalid_code(source, wrong);
            }
            if (Diagnostics errors = note_constants(source, kernel); !errors.empty()) return errors;
            if (names_precise(sources_.texts())) kernel.code = without_contraction(kernel.code);
            for (const std::string& feature : required_features(kernel.code))
                kernel.features.push_back(named_capability(feature, slang_library_path()));
        } else if (const std::size_t end = kernel.code.find(cuda_prelude_end); end != std::string::npos) {
            std::string text = share_tables(settle_precise(kernel.code.substr(end)));
            if (!source.for_header) text = wrap_small_integers(text);
            kernel.code.replace(end, std::string::npos, call_sums(name_stored_elements(text)));
        }
        if (Diagnostics errors = check_globals(source, target, kernel.code); !errors.empty()) {
            return errors;
        }
        if (Diagnostics errors =
                describe_block(found.value()->slang(), *linked.get(), source, target, kernel);
            !errors.empty()) {
            return errors;
        }
        return Outcome<CompiledKernel>(std::move(kernel)).with_warnings(std::move(warnings));
    }

    CompilerOptions options_;
    SupportModules support_modules_;
    Workarounds workarounds_;
    Sources sources_;                          // before the sessions, which must go first
    std::vector<GlobalForm> globals_;          ///< of sessions for kernels that set some
    std::vector<KeptConstant> kept_;           ///< of sessions for kernels that keep some
    std::optional<bool> needs_foreign_names_;  ///< nothing until a session is made
    bool needs_textures_ = false;              ///< likewise
    bool keeps_gradients_ = true;              ///< unless modules load only without that
    Diagnostics unprotected_;                  ///< that they do, until it is said
    std::shared_ptr<StartedSlang> started_;    // likewise
    std::optional<SpirvValidator> validator_;  ///< once there is code for it
    std::array<Entry, 16> entries_;            ///< by entry()
};

}  // namespace

std::unique_ptr<Compiler> make_in_process_compiler(const CompilerOptions& options,
                                                   const std::vector<SupportModule>& support_modules,
                                                   std::shared_ptr<StartedSlang> started) {
    return std::make_unique<InProcessCompiler>(options, support_modules, std::move(started));
}

}  // namespace kf::gen
