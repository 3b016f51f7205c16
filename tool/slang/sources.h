// The files that Slang reads, each of them once.
#pragma once

#include <slang.h>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/access.h"
#include "slang/debug_calls.h"
#include "slang/kernel_source.h"
#include "slang/own_types.h"
#include "slang/workarounds/workarounds.h"

namespace kf::gen {

/// What a file held when it was first asked for is what it holds from then on: all sessions of a run compile
/// the same text, whatever is edited meanwhile. Not thread-safe. Must outlive the sessions that read from it.
class Sources final : public ISlangFileSystemExt {
public:
    /// `texts`, by any of their paths, are not read from the disk.
    explicit Sources(const std::map<std::string, std::string>& texts);
    ~Sources() = default;
    Sources(const Sources&) = delete;
    Sources& operator=(const Sources&) = delete;

    /// All is read anew, but for what the constructor was given.
    void forget() {
        texts_ = given_;
        unchanged_.clear();
    }

    /// Slang is given what these make of a text.
    void use(Workarounds workarounds) { workarounds_ = std::move(workarounds); }
    /// Slang is given texts in which declarations are public: see access.h.
    void open_declarations(Opening opening) {
        opening_ = opening;
        has_opened_ = false;
        opens_more_ = false;
    }
    [[nodiscard]] Opening opening() const { return opening_; }
    /// Returns whether open_declarations() has changed any text since it was called.
    [[nodiscard]] bool has_opened() const { return has_opened_; }
    void set_access(FileAccesses accesses) {
        accesses_ = std::move(accesses);
        met_unknown_ = false;
    }
    /// Returns whether Slang was given a file that set_access() knows nothing of.
    [[nodiscard]] bool met_unknown() const { return met_unknown_; }
    /// Returns whether users' code may name more by it: see OpenedText::opens_more.
    [[nodiscard]] bool opens_more() const { return opens_more_; }
    /// What became of the declarations of a file, or would have.
    [[nodiscard]] OpenedText opened(std::string_view text, const std::filesystem::path& path) const;
    /// Slang is given texts in which these global parameters are what kernels set: see global_parameters.h.
    void set_globals(std::vector<GlobalForm> globals) { globals_ = std::move(globals); }
    /// Slang is given texts in which these stay specialization constants: see specialization_constants.h.
    void keep_constants(std::vector<KeptConstant> kept);
    /// What becomes of printf(), assert() and indices: see debug_calls.h.
    void debug(DebugUse use) { debug_ = std::move(use); }
    /// No text imports these for the names of types: see own_types.h.
    void leave_modules(ModuleNames shadowed) { shadowed_ = std::move(shadowed); }
    /// Slang is given entry points as such, which no kernel can call: see entry_points.h.
    void keep_entry_points(bool keep) { keeps_entry_points_ = keep; }
    [[nodiscard]] bool keeps_entry_points() const { return keeps_entry_points_; }
    /// Slang is given texts in which textures are kf's own, as on CUDA.
    void own_textures(bool own) { owns_textures_ = own; }
    /// Returns what Slang is given for a text.
    [[nodiscard]] std::string as_compiled(const std::string& text) const;
    /// The same for a file's, whose entry points become functions and whose parameters take what blocks hold:
    /// see entry_points.h and block_values.h. Declarations are made public.
    [[nodiscard]] std::string as_module(const std::string& text, const std::filesystem::path& path);

    /// Returns the files read so far whose texts workarounds change.
    [[nodiscard]] std::set<std::filesystem::path> changed() const;
    /// From now on workarounds leave the files alone that the errors are in. Returns whether that may help:
    /// there are such files, and others that stay changed.
    [[nodiscard]] bool leave_refused(const Diagnostics& errors);

    /// All that has been read, by canonical paths.
    [[nodiscard]] const std::map<std::filesystem::path, std::string>& texts() const { return texts_; }

    /// Nothing when it is no file that can be read, or one that is too large; a pipe isn't opened.
    const std::string* find(const std::filesystem::path& path);

    /// Why files that Slang asked for were kept from it.
    [[nodiscard]] const Diagnostics& refused() const { return refused_; }

    SlangResult queryInterface(const SlangUUID& uuid, void** object) override;
    std::uint32_t addRef() override { return 1; }
    std::uint32_t release() override { return 1; }
    void* castAs(const SlangUUID& uuid) override;
    SlangResult loadFile(const char* path, ISlangBlob** blob) override;
    SlangResult getFileUniqueIdentity(const char* path, ISlangBlob** identity) override;
    SlangResult calcCombinedPath(SlangPathType from_type, const char* from, const char* path,
                                 ISlangBlob** combined) override;
    SlangResult getPathType(const char* path, SlangPathType* type) override;
    SlangResult getPath(PathKind kind, const char* path, ISlangBlob** result) override;
    void clearCache() override {}
    SlangResult enumeratePathContents(const char*, FileSystemContentsCallBack, void*) override {
        return SLANG_E_NOT_IMPLEMENTED;
    }
    OSPathKind getOSPathKind() override { return OSPathKind::Direct; }

private:
    std::map<std::filesystem::path, std::string> texts_;  ///< by canonical paths
    std::map<std::filesystem::path, std::string> given_;  ///< by canonical paths
    Workarounds workarounds_;
    std::set<std::filesystem::path> unchanged_;  ///< files that these leave alone
    bool keeps_entry_points_ = false;
    FileAccesses accesses_;
    bool met_unknown_ = false;
    Opening opening_ = Opening::everything;
    std::vector<GlobalForm> globals_;
    std::vector<KeptConstant> kept_;
    [[nodiscard]] std::string worked_around(const std::string& text, const std::filesystem::path& file) const;
    /// Those that no text imports.
    [[nodiscard]] ModuleNames left_modules() const;

    DebugUse debug_;
    ModuleNames shadowed_;
    bool owns_textures_ = false;
    bool has_opened_ = false;
    bool opens_more_ = false;
    Diagnostics refused_;
};

/// What a text must not have, as Slang would crash on it, or compute something else.
std::optional<Diagnostic> check_text(std::string_view text, const std::filesystem::path& file);

/// Returns the path without links and dots, whether it exists or not.
std::filesystem::path canonical_path(const std::filesystem::path& path);

}  // namespace kf::gen
