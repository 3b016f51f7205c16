// One Slang session: a target, the support modules and the spec's modules.
#pragma once

#include <slang.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "slang/com_ptr.h"
#include "slang/compiler.h"
#include "slang/entry_points.h"
#include "slang/sources.h"
#include "slang/workarounds/workarounds.h"

namespace kf::gen {

/// The support modules' and kernels' paths start with this, which no file's does.
inline constexpr const char* virtual_folder = "kfgen:/";

[[nodiscard]] std::vector<slang::IModule*> loaded_modules(slang::ISession& session);

/// Returns where it stands; nowhere where Slang doesn't say.
[[nodiscard]] Location place_of(slang::ISession& session, slang::DeclReflection& declaration);

/// What Slang takes for entry points in the session's files.
[[nodiscard]] std::vector<MacroEntry> entry_points_of(slang::ISession& session);

/// A module of a file, as calls and kernels name it: see NamedModule.
struct FileModule {
    slang::IModule* module = nullptr;  ///< the session's
    std::string name;
    std::string path;
    std::string import_name;
    std::filesystem::path file;
    bool is_listed = false;  ///< one of load_files()
};

/// The session's target for a kernel. SPIR-V has two: buffers' elements lie as in C in the second one alone,
/// where parameters passed by value do, too.
[[nodiscard]] inline int target_index(const KernelSource& source, CodeTarget target) {
    return source.has_buffers && target == CodeTarget::spirv ? 1 : 0;
}

/// Not thread-safe. Slang's exceptions pass through.
class Session {
public:
    /// Makes one with all `support_modules` loaded. `global` and `sources` must outlive the session. Modules
    /// are changed by the workarounds: see gradient_texts.h.
    static Outcome<Session> create(slang::IGlobalSession& global, const CompilerOptions& options,
                                   const CodeForm& form, Sources& sources, const Workarounds& workarounds,
                                   const std::vector<SupportModule>& support_modules);

    /// Loads the files so that `import` finds each by its name of module_names(); empty when all went
    /// well. Once a session.
    [[nodiscard]] Diagnostics load_files(const std::vector<std::filesystem::path>& files);
    /// The modules of the files, in their order; owned by the session.
    [[nodiscard]] const std::vector<slang::IModule*>& files() const { return files_; }
    /// Those, and the modules that they import, in the order in which Slang loaded them.
    [[nodiscard]] const std::vector<FileModule>& file_modules() const { return file_modules_; }
    /// Loads the files that every kernel is linked with, after load_files(): kernels can't import them.
    [[nodiscard]] Diagnostics load_linked(const std::vector<std::filesystem::path>& files);
    [[nodiscard]] const std::vector<slang::IModule*>& linked() const { return linked_; }
    /// Links the files with these values, for the sizes that depend on them; without those where that fails.
    void find_sizes(const std::string& values);
    /// Null where no values were given.
    [[nodiscard]] slang::ProgramLayout* sizes() const { return sizes_; }
    /// Makes what the kernel's text imports of file_modules() known by these names; empty when all went well.
    [[nodiscard]] Diagnostics load_imports(const std::string& kernel);
    /// What else such a text may have to import for the types that it names, each on one line and more than
    /// the one before: all modules that the files import; for a kernel that imports one of these, first those
    /// that it depends on, and then all.
    [[nodiscard]] std::vector<std::string> further_imports(const std::string& kernel) const;
    /// What Slang warns of in the files and what they import, by their absolute paths; never in the support
    /// modules.
    [[nodiscard]] const Diagnostics& warnings() const { return warnings_; }
    /// Adds those about the files' globals, which Slang has only when it is asked for a module's layout
    /// first.
    void add_layout_warnings();
    /// Loads text as it is under a name of its own; loading a name again gives the first text's module. The
    /// outcome's warnings are about files only.
    Outcome<slang::IModule*> load_text(const std::string& name, const std::string& text);
    /// The same for such a module, compiled by this release of Slang or else its text.
    Outcome<slang::IModule*> load_support(const SupportModule& module);

    /// Loads a kernel, or what it is linked with, under a name of its text's. A type that it names may be
    /// declared where only the user's module imports it from; importing all of that always could make calls
    /// ambiguous that are not.
    Outcome<slang::IModule*> load_generated(const std::string& name, const std::string& text);
    /// What the kernel is linked with beside its imports; null where there is nothing.
    Outcome<ComPtr<slang::IComponentType>> compose_values(const KernelSource& source);
    /// Its names are looked up as in `module`, and else in any of file_modules().
    Outcome<ComPtr<slang::IComponentType>> make_conformance(slang::IModule& module,
                                                            const Conformance& wanted);
    Outcome<ComPtr<slang::IComponentType>> compose(const std::vector<slang::IComponentType*>& parts,
                                                   const std::string& failure);

    /// The code of the users' modules that are loaded, as Slang prints it.
    [[nodiscard]] std::vector<std::string> code_of_files() const;

    [[nodiscard]] slang::ISession& slang() const { return *session_.get(); }

private:
    void name_modules(const std::vector<std::string>& names);
    slang::IModule* find_loaded(const std::filesystem::path& file) const;
    Outcome<slang::IModule*> load_file(const std::filesystem::path& file, const std::string& name);
    slang::IModule* load(const std::string& name, const std::string& path, const std::string& text,
                         ComPtr<slang::IBlob>& messages);

    ComPtr<slang::ISession> session_;
    Sources* sources_ = nullptr;
    Diagnostics warnings_;
    std::vector<slang::IModule*> files_;
    std::vector<FileModule> file_modules_;
    std::vector<slang::IModule*> linked_;
    ComPtr<slang::IComponentType> program_;  ///< linked for its sizes
    slang::ProgramLayout* sizes_ = nullptr;
    std::vector<std::filesystem::path> search_paths_;
};

slang::CompilerOptionEntry integer_option(slang::CompilerOptionName name, std::int32_t value);

/// What Slang said in `text` as errors; never empty: when Slang failed silently, `otherwise`.
Diagnostics slang_errors(const ComPtr<slang::IBlob>& text, const std::string& otherwise);

/// What Slang warns of in `text`, in users' files alone: those in support modules, kernels and Slang's own
/// modules tell users nothing.
Diagnostics slang_warnings(const ComPtr<slang::IBlob>& text);

}  // namespace kf::gen
