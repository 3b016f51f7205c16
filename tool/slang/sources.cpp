// The disk as Slang sees it.
#include "slang/sources.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "slang/block_values.h"
#include "slang/entry_points.h"
#include "slang/global_parameters.h"
#include "slang/glsl_text.h"
#include "slang/gradient_texts.h"
#include "slang/nesting.h"
#include "slang/own_types.h"
#include "slang/pack_counts.h"
#include "slang/specialization_constants.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

template <class... Interfaces>
bool is_listed(const SlangUUID& uuid) {
    const auto is = [&](const SlangUUID& other) { return std::memcmp(&uuid, &other, sizeof(uuid)) == 0; };
    return (is(Interfaces::getTypeGuid()) || ...);
}

class TextBlob final : public ISlangBlob {
public:
    explicit TextBlob(std::string text) : text_(std::move(text)) {}
    ~TextBlob() = default;
    TextBlob(const TextBlob&) = delete;
    TextBlob& operator=(const TextBlob&) = delete;

    SlangResult queryInterface(const SlangUUID& uuid, void** object) override {
        if (!is_listed<ISlangUnknown, ISlangBlob>(uuid)) return SLANG_E_NO_INTERFACE;
        addRef();
        *object = static_cast<ISlangBlob*>(this);
        return SLANG_OK;
    }
    std::uint32_t addRef() override { return ++references_; }
    std::uint32_t release() override {
        const std::uint32_t left = --references_;
        if (left == 0) delete this;
        return left;
    }
    const void* getBufferPointer() override { return text_.c_str(); }
    std::size_t getBufferSize() override { return text_.size(); }

private:
    std::string text_;
    std::atomic<std::uint32_t> references_{1};
};

SlangResult give(std::string text, ISlangBlob** blob) {
    *blob = new TextBlob(std::move(text));
    return SLANG_OK;
}

std::optional<std::string> read_file(const fs::path& file) {
    std::error_code failure;
    constexpr std::uintmax_t largest = std::uintmax_t{1} << 28;  // bytes
    if (!fs::is_regular_file(file, failure) || fs::file_size(file, failure) > largest) return std::nullopt;
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream content;
    content << stream.rdbuf();
    if (!stream.good() && !stream.eof()) return std::nullopt;
    return std::move(content).str();
}

}  // namespace

fs::path canonical_path(const fs::path& path) {
    std::error_code failure;
    fs::path result = fs::weakly_canonical(path, failure);
    return failure ? path.lexically_normal() : result;
}

Sources::Sources(const std::map<std::string, std::string>& texts) {
    for (const auto& [path, text] : texts) given_.emplace(canonical_path(path), text);
    texts_ = given_;
}

void Sources::keep_constants(std::vector<KeptConstant> kept) {
    kept_ = std::move(kept);
    for (KeptConstant& one : kept_) one.file = canonical_path(one.file).string();
}

ModuleNames Sources::left_modules() const {
    ModuleNames left = shadowed_;
    if (!owns_textures_) left.insert(texture_module);
    return left;
}

std::set<fs::path> Sources::changed() const {
    std::set<fs::path> files;
    for (const auto& [file, text] : texts_)
        if (worked_around(text, file) != text) files.insert(file);
    return files;
}

bool Sources::leave_refused(const Diagnostics& errors) {
    const std::set<fs::path> may_be_at_fault = changed();
    std::size_t left = 0;
    for (const Diagnostic& error : errors) {
        const fs::path file = canonical_path(error.location.file);
        if (may_be_at_fault.contains(file) && unchanged_.insert(file).second) ++left;
    }
    return left > 0 && left < may_be_at_fault.size();
}

std::string Sources::worked_around(const std::string& text, const fs::path& file) const {
    return workarounds_.empty() || unchanged_.contains(file) ? text : keep_gradients(text, workarounds_);
}

std::string Sources::as_compiled(const std::string& text) const {
    return with_own_types(worked_around(text, {}), left_modules());
}

OpenedText Sources::opened(std::string_view text, const fs::path& path) const {
    const auto access = accesses_.find(canonical_path(path).string());
    return gen::open_declarations(text, access != accesses_.end() ? access->second : FileAccess(), opening_);
}

std::string Sources::as_module(const std::string& text, const fs::path& path) {
    // Globals are known by the text as it is.
    const std::string debugged =
        with_debug_calls(with_settable_globals(text, globals_), path.string(), debug_);
    const fs::path file = canonical_path(path);
    const std::string linked = with_link_constants(debugged, file.string(), kept_);
    std::string changed =
        worked_around(with_block_values(keeps_entry_points_ ? linked : as_functions(linked)), file);
    met_unknown_ = met_unknown_ || !accesses_.contains(file.string());
    if (opening_ != Opening::nothing) {
        OpenedText with_public = opened(changed, path);
        has_opened_ = has_opened_ || with_public.text != changed;
        opens_more_ = opens_more_ || with_public.opens_more;
        changed = std::move(with_public.text);
    }
    return with_own_types(changed, left_modules()) + behind_functions(text);
}

const std::string* Sources::find(const fs::path& path) {
    const fs::path file = canonical_path(path);
    if (const auto known = texts_.find(file); known != texts_.end()) return &known->second;
    std::optional<std::string> text = read_file(file);
    return text ? &texts_.emplace(file, std::move(*text)).first->second : nullptr;
}

void* Sources::castAs(const SlangUUID& uuid) {
    const bool known = is_listed<ISlangUnknown, ISlangCastable, ISlangFileSystem, ISlangFileSystemExt>(uuid);
    return known ? static_cast<ISlangFileSystemExt*>(this) : nullptr;
}

SlangResult Sources::queryInterface(const SlangUUID& uuid, void** object) {
    *object = castAs(uuid);
    return *object != nullptr ? SLANG_OK : SLANG_E_NO_INTERFACE;
}

/// A module that Slang compiled before, which stands beside its text: what it was made of can't be seen in
/// it.
static bool is_compiled_beside_text(const fs::path& path) {
    std::error_code failure;
    return path.extension() == ".slang-module" &&
           fs::is_regular_file(fs::path(path).replace_extension(".slang"), failure);
}

std::optional<Diagnostic> check_text(std::string_view text, const fs::path& file) {
    for (const auto check : {check_nesting, check_glsl, check_pack_counts}) {
        if (auto error = check(text, file)) return error;
    }
    return std::nullopt;
}

SlangResult Sources::loadFile(const char* path, ISlangBlob** blob) {
    if (is_compiled_beside_text(path)) return SLANG_E_NOT_FOUND;
    const std::string* text = find(path);
    if (text == nullptr) return SLANG_E_NOT_FOUND;
    if (const auto error = check_text(*text, canonical_path(path))) {
        refused_.push_back(*error);
        return SLANG_E_CANNOT_OPEN;
    }
    return give(as_module(*text, path), blob);
}

SlangResult Sources::getFileUniqueIdentity(const char* path, ISlangBlob** identity) {
    SlangPathType type{};
    if (SLANG_FAILED(getPathType(path, &type))) return SLANG_E_NOT_FOUND;
    return give(canonical_path(path).string(), identity);
}

SlangResult Sources::calcCombinedPath(SlangPathType from_type, const char* from, const char* path,
                                      ISlangBlob** combined) {
    const fs::path folder = from_type == SLANG_PATH_TYPE_FILE ? fs::path(from).parent_path() : fs::path(from);
    return give((folder / path).string(), combined);
}

SlangResult Sources::getPathType(const char* path, SlangPathType* type) {
    std::error_code failure;
    const fs::path file = canonical_path(path);
    if (is_compiled_beside_text(file)) return SLANG_E_NOT_FOUND;
    if (texts_.count(file) != 0 || fs::is_regular_file(file, failure)) {
        *type = SLANG_PATH_TYPE_FILE;
        return SLANG_OK;
    }
    if (!fs::is_directory(file, failure)) return SLANG_E_NOT_FOUND;
    *type = SLANG_PATH_TYPE_DIRECTORY;
    return SLANG_OK;
}

SlangResult Sources::getPath(PathKind kind, const char* path, ISlangBlob** result) {
    switch (kind) {
        case PathKind::Simplified: return give(fs::path(path).lexically_normal().string(), result);
        case PathKind::Canonical: return give(canonical_path(path).string(), result);
        default: return give(path, result);
    }
}

}  // namespace kf::gen
