// Sets Slang up and loads modules into it.
#include "slang/session.h"

#include <algorithm>
#include <set>

#include "slang/brackets.h"
#include "slang/debug_calls.h"
#include "slang/diagnostics.h"
#include "slang/entry_points.h"
#include "slang/library.h"
#include "slang/older_names.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

bool imports(const std::string& kernel, const FileModule& module) {
    return kernel.find("import " + module.import_name + ";\n") != std::string::npos;
}

/// "geo.my_util" of "geo/my-util": each part as an identifier.
std::string dotted(const fs::path& path) {
    std::string text;
    for (const fs::path& part : path) {
        if (part == "/") continue;
        text += (text.empty() ? "" : ".") + module_identifier(part.string());
    }
    return text;
}

/// How a module was imported, without what leads out of folders: "geo/util", "../geo/util.slang".
std::string import_path(const std::string& name) {
    std::string rest = fs::path(name).is_absolute() ? fs::path(name).filename().string() : name;
    for (std::size_t at = rest.find("./"); at != std::string::npos; at = rest.find("./"))
        rest.erase(0, at + 2);
    return rest.ends_with(".slang") ? rest.substr(0, rest.size() - 6) : rest;
}

/// Where Slang keeps modules of its own, such as slang.neural, beside its library.
std::vector<fs::path> own_modules() {
    std::vector<fs::path> folders;
    std::error_code failure;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(slang_library_path().parent_path(), failure)) {
        if (entry.path().filename().string().starts_with("slang-standard-module-"))
            folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

bool has_unknown_name(const Outcome<slang::IModule*>& loaded) {
    const Diagnostics& errors = loaded.errors();
    return std::any_of(errors.begin(), errors.end(), [](const Diagnostic& error) {
        // A namespace of the kernel's own hides that of a module that it doesn't import.
        return error.id == "slang-E30015" ||
               (error.id == "slang-E30027" && error.message.find("'namespace ") != std::string::npos);
    });
}

}  // namespace

std::vector<slang::IModule*> loaded_modules(slang::ISession& session) {
    std::vector<slang::IModule*> modules;
    for (SlangInt index = 0; index < session.getLoadedModuleCount(); ++index)
        modules.push_back(session.getLoadedModule(index));
    return modules;
}

Location place_of(slang::ISession& session, slang::DeclReflection& declaration) {
    slang::SourceLocation place;
    if (SLANG_FAILED(session.getDeclSourceLocation(&declaration, &place)) || place.filePath == nullptr)
        return {};
    return {place.filePath, std::max<SlangInt>(place.line, 0), std::max<SlangInt>(place.column, 0)};
}

/// Where the function is declared among these and those of their namespaces; nothing where it isn't.
static Location place_of(slang::ISession& session, slang::DeclReflection& parent,
                         slang::FunctionReflection* function) {
    using Kind = slang::DeclReflection::Kind;
    for (unsigned index = 0; index < parent.getChildrenCount(); ++index) {
        slang::DeclReflection& child = *parent.getChild(index);
        if (child.getKind() == Kind::Func && child.asFunction() == function) return place_of(session, child);
        // The second is an included file's.
        if (child.getKind() != Kind::Namespace && child.getKind() != Kind::Unsupported) continue;
        if (Location place = place_of(session, child, function); place.line > 0) return place;
    }
    return {};
}

std::vector<MacroEntry> entry_points_of(slang::ISession& session) {
    std::vector<MacroEntry> entries;
    for (slang::IModule* module : loaded_modules(session)) {
        const char* path = module->getFilePath();
        if (path == nullptr || std::string_view(path).starts_with(virtual_folder)) continue;
        for (SlangInt32 index = 0; index < module->getDefinedEntryPointCount(); ++index) {
            ComPtr<slang::IEntryPoint> entry;
            if (SLANG_FAILED(module->getDefinedEntryPoint(index, entry.out()))) continue;
            slang::ProgramLayout* layout = entry->getLayout();
            if (layout == nullptr || layout->getEntryPointCount() == 0) continue;
            slang::EntryPointReflection& reflection = *layout->getEntryPointByIndex(0);
            std::array<SlangUInt, 3> size{};
            reflection.getComputeThreadGroupSize(size.size(), size.data());
            MacroEntry& found = entries.emplace_back();
            found.place = place_of(session, *module->getModuleReflection(), entry->getFunctionReflection());
            found.is_compute = reflection.getStage() == SLANG_STAGE_COMPUTE;
            std::copy(size.begin(), size.end(), found.group_size.begin());
        }
    }
    return entries;
}

slang::CompilerOptionEntry integer_option(slang::CompilerOptionName name, std::int32_t value) {
    slang::CompilerOptionEntry entry{};
    entry.name = name;
    entry.value.kind = slang::CompilerOptionValueKind::Int;
    entry.value.intValue0 = value;
    return entry;
}

Diagnostics slang_errors(const ComPtr<slang::IBlob>& text, const std::string& otherwise) {
    Diagnostics errors;
    if (text) {
        const auto* bytes = static_cast<const char*>(text->getBufferPointer());
        errors = parse_slang_diagnostics({bytes, text->getBufferSize()});
        for (Diagnostic& error : errors) error = with_printf_words(with_tensor_names(std::move(error)));
    }
    if (errors.empty()) {
        errors.push_back({Severity::error, "slang-internal", {}, otherwise, {}});
    }
    return errors;
}

/// Where globals are bound means nothing to kernels, which set them.
static bool is_about_bindings(std::string_view id) {
    return id == "slang-E39029" || id == "slang-E31104" || id == "slang-E39071";
}

Diagnostics slang_warnings(const ComPtr<slang::IBlob>& text) {
    if (!text) return {};
    const auto* bytes = static_cast<const char*>(text->getBufferPointer());
    Diagnostics warnings = parse_slang_warnings({bytes, text->getBufferSize()});
    const auto is_hidden = [](std::string_view place) {
        return place.starts_with(virtual_folder) || place.find(".meta.slang") != std::string_view::npos;
    };
    std::erase_if(warnings, [&](const Diagnostic& warning) {
        // That reflection may not know the extents of arrays which linking decides: kfgen asks for those of
        // the linked program.
        return warning.location.file.empty() || is_hidden(warning.location.file) ||
               warning.id == "slang-E31010" || is_about_bindings(warning.id);
    });
    for (Diagnostic& warning : warnings) {
        std::erase_if(warning.notes, is_hidden);
        // Modules may import one file by several paths.
        warning.location.file = canonical_path(warning.location.file).string();
    }
    return warnings;
}

Outcome<Session> Session::create(slang::IGlobalSession& global, const CompilerOptions& options,
                                 const CodeForm& form, Sources& sources, const Workarounds& workarounds,
                                 const std::vector<SupportModule>& support_modules) {
    slang::TargetDesc target_description;
    target_description.lineDirectiveMode =
        form.places ? SLANG_LINE_DIRECTIVE_MODE_STANDARD : SLANG_LINE_DIRECTIVE_MODE_NONE;
    if (form.target == CodeTarget::spirv) {
        target_description.format = SLANG_SPIRV;
        target_description.profile = global.findProfile("spirv_1_5");
        target_description.flags = SLANG_TARGET_FLAG_GENERATE_SPIRV_DIRECTLY;
    } else {
        target_description.format = SLANG_CUDA_SOURCE;
    }
    std::vector<slang::TargetDesc> targets{target_description};
    if (form.target == CodeTarget::spirv) {
        targets.push_back(target_description);
        targets.back().forceGLSLScalarBufferLayout = true;
    }
    std::vector<slang::CompilerOptionEntry> entries = {
        integer_option(slang::CompilerOptionName::EnableMachineReadableDiagnostics, 1),
        integer_option(slang::CompilerOptionName::VulkanUseEntryPointName, 1),
        integer_option(slang::CompilerOptionName::DebugInformation,
                       form.places ? SLANG_DEBUG_INFO_LEVEL_MINIMAL : SLANG_DEBUG_INFO_LEVEL_NONE),
    };
    if (options.experimental)
        entries.push_back(integer_option(slang::CompilerOptionName::ExperimentalFeature, 1));
    if (options.ignores_capabilities)
        entries.push_back(integer_option(slang::CompilerOptionName::IgnoreCapabilities, 1));
    for (const auto& [name, place] : options.capabilities) {
        const SlangCapabilityID capability = global.findCapability(name.c_str());
        if (capability == SLANG_CAPABILITY_UNKNOWN) {
            return Diagnostic{Severity::error,
                              "slang-capability",
                              place,
                              "Slang has no capability '" + name + "'",
                              {"its reference lists all, as 'spvShaderClockKHR' and 'cuda_sm_9_0'"}};
        }
        entries.push_back(integer_option(slang::CompilerOptionName::Capability, capability));
    }
    std::vector<std::string> paths;
    for (const fs::path& path : options.search_paths) {
        paths.push_back(path.string());
    }
    for (const fs::path& path : own_modules()) paths.push_back(path.string());
    std::vector<const char*> path_pointers;
    for (const std::string& path : paths) {
        path_pointers.push_back(path.c_str());
    }
    std::vector<std::string> values;
    for (const auto& define : options.defines)
        values.push_back(sources.keeps_entry_points() ? define.second : as_functions_macro(define.second));
    std::vector<slang::PreprocessorMacroDesc> macros;
    for (std::size_t i = 0; i < values.size(); ++i)
        macros.push_back({options.defines[i].first.c_str(), values[i].c_str()});
    slang::SessionDesc description;
    description.fileSystem = &sources;
    description.targets = targets.data();
    description.targetCount = static_cast<SlangInt>(targets.size());
    description.defaultMatrixLayoutMode = SLANG_MATRIX_LAYOUT_ROW_MAJOR;
    description.searchPaths = path_pointers.data();
    description.searchPathCount = static_cast<SlangInt>(path_pointers.size());
    description.preprocessorMacros = macros.data();
    description.preprocessorMacroCount = static_cast<SlangInt>(macros.size());
    description.compilerOptionEntries = entries.data();
    description.compilerOptionEntryCount = static_cast<std::uint32_t>(entries.size());

    Session session;
    session.sources_ = &sources;
    session.search_paths_ = options.search_paths;
    sources.use(workarounds);
    if (SLANG_FAILED(global.createSession(description, session.session_.out()))) {
        return Diagnostic{Severity::error, "slang-internal", {}, "Slang could not create a session", {}};
    }
    for (const SupportModule& module : support_modules) {
        if (const Outcome<slang::IModule*> loaded = session.load_support(module); !loaded) {
            return loaded.errors();
        }
    }
    return session;
}

slang::IModule* Session::load(const std::string& name, const std::string& path, const std::string& text,
                              ComPtr<slang::IBlob>& messages) {
    return session_->loadModuleFromSourceString(name.c_str(), path.c_str(), text.c_str(), messages.out());
}

Outcome<slang::IModule*> Session::load_text(const std::string& name, const std::string& text) {
    ComPtr<slang::IBlob> messages;
    slang::IModule* module = load(name, virtual_folder + name + ".slang", text, messages);
    if (module == nullptr) {
        return slang_errors(messages, "Slang could not load the module '" + name + "'");
    }
    return Outcome<slang::IModule*>(module).with_warnings(slang_warnings(messages));
}

Outcome<slang::IModule*> Session::load_support(const SupportModule& module) {
    const std::string head = compiled_head(session_->getGlobalSession()->getBuildTagString());
    if (module.compiled.starts_with(head)) {
        const std::string_view bytes = module.compiled.substr(head.size());
        ComPtr<ISlangBlob> blob;
        *blob.out() = slang_createBlob(bytes.data(), bytes.size());
        ComPtr<slang::IBlob> messages;
        const std::string path = virtual_folder + module.name + ".slang";
        slang::IModule* loaded =
            session_->loadModuleFromIRBlob(module.name.c_str(), path.c_str(), blob.get(), messages.out());
        if (loaded != nullptr) return loaded;
    }
    return load_text(module.name, module.text);
}

Diagnostics Session::load_imports(const std::string& kernel) {
    for (const FileModule& one : file_modules_) {
        if (one.is_listed || !imports(kernel, one)) continue;
        const Outcome<slang::IModule*> alias =
            load_text(one.import_name, "__exported import \"" + one.file.generic_string() + "\";\n");
        if (!alias) return alias.errors();
    }
    return {};
}

std::vector<std::string> Session::further_imports(const std::string& kernel) const {
    std::set<fs::path> needed;
    bool has_imported = false;
    for (const FileModule& one : file_modules_) {
        if (one.is_listed || !imports(kernel, one)) continue;
        has_imported = true;
        for (SlangInt32 index = 0; index < one.module->getDependencyFileCount(); ++index)
            needed.insert(canonical_path(one.module->getDependencyFilePath(index)));
    }
    const auto imports_of = [&](const auto& is_taken) {
        std::string text;
        for (const FileModule& one : file_modules_) {
            if (is_taken(one)) text += "import \"" + one.file.generic_string() + "\"; ";
        }
        return text;
    };
    std::vector<std::string> further;
    if (has_imported)
        further.push_back(imports_of([&](const FileModule& one) { return needed.contains(one.file); }));
    further.push_back(imports_of([&](const FileModule& one) { return has_imported || !one.is_listed; }));
    std::erase(further, std::string());
    return further;
}

Outcome<slang::IModule*> Session::load_generated(const std::string& name, const std::string& text) {
    // Named by its text, which is loaded once into a session.
    const std::string hashed = name + "_" + std::to_string(hash_of(text));
    const std::string compiled = sources_->as_compiled(text);
    Outcome<slang::IModule*> module = load_text(hashed, compiled);
    if (module || !has_unknown_name(module)) return module;
    int number = 0;
    for (const std::string& imports : further_imports(text)) {
        // What is added is on the first line, so that the others keep their numbers.
        Outcome<slang::IModule*> again =
            load_text(hashed + "_imports" + std::to_string(++number), imports + compiled);
        if (again || !has_unknown_name(again)) return again;
    }
    return module;
}

Outcome<ComPtr<slang::IComponentType>> Session::compose(const std::vector<slang::IComponentType*>& parts,
                                                        const std::string& failure) {
    ComPtr<slang::IComponentType> composed;
    ComPtr<slang::IBlob> messages;
    if (SLANG_FAILED(session_->createCompositeComponentType(parts.data(), static_cast<SlangInt>(parts.size()),
                                                            composed.out(), messages.out()))) {
        return slang_errors(messages, failure);
    }
    return Outcome<ComPtr<slang::IComponentType>>(std::move(composed))
        .with_warnings(slang_warnings(messages));
}

Outcome<ComPtr<slang::IComponentType>> Session::make_conformance(slang::IModule& module,
                                                                 const Conformance& wanted) {
    const auto find = [&](const std::string& name) {
        slang::TypeReflection* found = module.getLayout()->findTypeByName(name.c_str());
        for (const FileModule& one : file_modules_) {
            if (found == nullptr) found = one.module->getLayout()->findTypeByName(name.c_str());
        }
        return found;
    };
    slang::TypeReflection* type = find(wanted.type);
    slang::TypeReflection* interface_type = find(wanted.interface_name);
    ComPtr<slang::ITypeConformance> made;
    ComPtr<slang::IBlob> messages;
    if (type == nullptr || interface_type == nullptr ||
        SLANG_FAILED(session_->createTypeConformanceComponentType(type, interface_type, made.out(), wanted.id,
                                                                  messages.out()))) {
        return slang_errors(messages,
                            "'" + wanted.type + "' could not be linked as a '" + wanted.interface_name + "'");
    }
    ComPtr<slang::IComponentType> part;
    made->queryInterface(slang::IComponentType::getTypeGuid(), reinterpret_cast<void**>(part.out()));
    return part;
}

Outcome<ComPtr<slang::IComponentType>> Session::compose_values(const KernelSource& source) {
    std::vector<slang::IComponentType*> parts(linked_.begin(), linked_.end());
    if (!source.values.empty()) {
        const Outcome<slang::IModule*> values = load_generated("values", source.values);
        if (!values) return values.errors();
        parts.push_back(values.value());
    }
    if (parts.empty()) return ComPtr<slang::IComponentType>();
    return compose(parts, "the values of link-time declarations could not be linked");
}

void Session::find_sizes(const std::string& values) {
    KernelSource source;
    source.values = values;
    const Outcome<ComPtr<slang::IComponentType>> given = compose_values(source);
    if (!given || !given.value()) return;
    std::vector<slang::IComponentType*> parts(files_.begin(), files_.end());
    parts.push_back(given.value().get());
    const Outcome<ComPtr<slang::IComponentType>> all = compose(parts, {});
    ComPtr<slang::IBlob> messages;
    if (all && SLANG_SUCCEEDED(all.value()->link(program_.out(), messages.out())))
        sizes_ = program_->getLayout();
}

void Session::add_layout_warnings() {
    for (slang::IModule* module : loaded_modules(*session_.get())) {
        const char* path = module->getFilePath();
        if (path == nullptr || std::string_view(path).starts_with(virtual_folder)) continue;
        ComPtr<slang::IBlob> messages;
        module->getLayout(0, messages.out());
        add_distinct(warnings_, slang_warnings(messages));
    }
}

std::vector<std::string> Session::code_of_files() const {
    std::vector<std::string> texts;
    for (slang::IModule* module : loaded_modules(*session_.get())) {
        const char* path = module->getFilePath();
        if (path == nullptr || sources_->find(path) == nullptr) continue;
        ComPtr<slang::IBlob> text;
        if (SLANG_FAILED(module->disassemble(text.out())) || !text) continue;
        texts.emplace_back(static_cast<const char*>(text->getBufferPointer()), text->getBufferSize());
    }
    return texts;
}

slang::IModule* Session::find_loaded(const fs::path& file) const {
    for (slang::IModule* module : loaded_modules(*session_.get())) {
        const char* path = module->getFilePath();
        if (path != nullptr && canonical_path(path) == file) {
            return module;
        }
    }
    return nullptr;
}

Outcome<slang::IModule*> Session::load_file(const fs::path& given, const std::string& name) {
    const std::string* text = sources_->find(given);
    if (text == nullptr) {
        std::error_code failure;
        const bool special = fs::exists(given, failure) && !fs::is_regular_file(given, failure);
        return Diagnostic{Severity::error,
                          "slang-module-not-found",
                          {given.string(), 0, 0},
                          "cannot read the Slang module '" + given.string() + "'" +
                              (special ? ", which is no regular file" : ""),
                          {}};
    }
    const fs::path file = canonical_path(given);
    if (const auto error = check_text(*text, file)) {
        return *error;
    }
    slang::IModule* module = find_loaded(file);
    if (module != nullptr && module->getName() == name) {
        return module;
    }
    for (slang::IModule* other : loaded_modules(*session_.get())) {
        if (other->getName() == name) {
            return Diagnostic{Severity::error,
                              "slang-module-name-taken",
                              {given.string(), 0, 0},
                              "another Slang module is already named '" + name + "'",
                              {"rename the file '" + given.filename().string() + "'"}};
        }
    }
    if (module != nullptr) {
        // A module before this one imported the file by another name: pass that on.
        const Outcome<slang::IModule*> alias =
            load_text(name, "__exported import \"" + file.generic_string() + "\";\n");
        if (!alias) {
            return alias.errors();
        }
        return module;
    }
    ComPtr<slang::IBlob> messages;
    module = load(name, file.string(), sources_->as_module(*text, file), messages);
    add_distinct(warnings_, slang_warnings(messages));
    if (module != nullptr) {
        return module;
    }
    if (!sources_->refused().empty()) {
        return sources_->refused();
    }
    Diagnostics errors = slang_errors(messages, "Slang could not load the module '" + name + "'");
    for (Diagnostic& error : errors) {
        if (error.location.file.empty()) {
            error.location.file = file.string();
        }
        if (error.id == "slang-E00001") {
            for (const fs::path& path : search_paths_) {
                error.notes.push_back("searched: " + path.string());
            }
            error.notes.emplace_back(
                "further folders are named in \"search_paths\" of the spec, or by -I DIR");
        }
    }
    return errors;
}

void Session::name_modules(const std::vector<std::string>& names) {
    std::set<std::string> taken(names.begin(), names.end());
    for (slang::IModule* module : loaded_modules(*session_.get())) {
        const char* path = module->getFilePath();
        if (path == nullptr || sources_->find(path) == nullptr) continue;
        FileModule named{module, {}, {}, {}, canonical_path(path), false};
        named.path = dotted(fs::path(named.file).replace_extension());
        const auto listed = std::find(files_.begin(), files_.end(), module);
        named.is_listed = listed != files_.end();
        if (named.is_listed) {
            named.name = module_identifier(named.file.stem().string());
            named.import_name = names[static_cast<std::size_t>(listed - files_.begin())];
        } else {
            named.name = dotted(import_path(module->getName()));
            // Not from the path, so that kernels are the same wherever the files lie.
            const std::string stem = "kf_module_" + module_identifier(import_path(module->getName()));
            named.import_name = stem;
            for (int number = 2; !taken.insert(named.import_name).second; ++number)
                named.import_name = stem + "_" + std::to_string(number);
        }
        file_modules_.push_back(std::move(named));
    }
}

Diagnostics Session::load_linked(const std::vector<fs::path>& files) {
    const std::vector<std::string> names = module_names(files);
    for (std::size_t index = 0; index < files.size(); ++index) {
        slang::IModule* imported = find_loaded(canonical_path(files[index]));
        const Outcome<slang::IModule*> loaded =
            imported != nullptr ? imported : load_file(files[index], "kf_linked_" + names[index]);
        if (!loaded) return loaded.errors();
        linked_.push_back(loaded.value());
    }
    return {};
}

Diagnostics Session::load_files(const std::vector<fs::path>& files) {
    const std::vector<std::string> names = module_names(files);
    Diagnostics errors;
    for (std::size_t index = 0; index < files.size(); ++index) {
        const Outcome<slang::IModule*> loaded = load_file(files[index], names[index]);
        if (loaded) {
            files_.push_back(loaded.value());
            continue;
        }
        for (const Diagnostic& error : loaded.errors()) {
            // Two modules that import a third repeat its errors.
            if (std::find(errors.begin(), errors.end(), error) == errors.end()) {
                errors.push_back(error);
            }
        }
    }
    if (errors.empty()) name_modules(names);
    return errors;
}

}  // namespace kf::gen
