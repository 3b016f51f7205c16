// Slang asks for paths and texts; all but the change is what its own file system would answer.
#include "slang/source_files.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

SlangResult give(const std::string& text, ISlangBlob** blob) {
    // With its null character, which Slang wants of paths, and which makes an empty file a blob.
    *blob = slang_createBlob(text.c_str(), text.size() + 1);
    return *blob != nullptr ? SLANG_OK : SLANG_E_OUT_OF_MEMORY;
}

bool same(const SlangUUID& a, const SlangUUID& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

class ChangedFiles final : public ISlangFileSystemExt {
public:
    explicit ChangedFiles(std::string (*change)(std::string_view)) : change_(change) {}
    virtual ~ChangedFiles() = default;
    ChangedFiles(const ChangedFiles&) = delete;
    ChangedFiles& operator=(const ChangedFiles&) = delete;

    SlangResult queryInterface(const SlangUUID& id, void** object) override {
        *object = castAs(id);
        if (*object == nullptr) {
            return SLANG_E_NO_INTERFACE;
        }
        addRef();
        return SLANG_OK;
    }
    std::uint32_t addRef() override { return ++references_; }
    std::uint32_t release() override {
        const std::uint32_t left = --references_;
        if (left == 0) {
            delete this;
        }
        return left;
    }
    void* castAs(const SlangUUID& id) override {
        const bool known =
            same(id, ISlangUnknown::getTypeGuid()) || same(id, ISlangCastable::getTypeGuid()) ||
            same(id, ISlangFileSystem::getTypeGuid()) || same(id, ISlangFileSystemExt::getTypeGuid());
        return known ? static_cast<ISlangFileSystemExt*>(this) : nullptr;
    }

    SlangResult loadFile(const char* path, ISlangBlob** blob) override {
        std::error_code failure;
        std::ifstream stream(path, std::ios::binary);
        if (!fs::is_regular_file(path, failure) || !stream) {
            return SLANG_E_NOT_FOUND;
        }
        std::ostringstream content;
        content << stream.rdbuf();
        const std::string text = change_(content.str());
        *blob = slang_createBlob(text.data(), text.size());
        return *blob != nullptr ? SLANG_OK : give("", blob);
    }
    SlangResult getFileUniqueIdentity(const char* path, ISlangBlob** identity) override {
        return getPath(PathKind::Canonical, path, identity);
    }
    SlangResult calcCombinedPath(SlangPathType from_type, const char* from, const char* path,
                                 ISlangBlob** combined) override {
        const fs::path base =
            from_type == SLANG_PATH_TYPE_FILE ? fs::path(from).parent_path() : fs::path(from);
        return give((base / path).string(), combined);
    }
    SlangResult getPathType(const char* path, SlangPathType* type) override {
        std::error_code failure;
        const fs::file_status status = fs::status(path, failure);
        if (failure || !fs::exists(status)) {
            return SLANG_E_NOT_FOUND;
        }
        *type = fs::is_directory(status) ? SLANG_PATH_TYPE_DIRECTORY : SLANG_PATH_TYPE_FILE;
        return SLANG_OK;
    }
    SlangResult getPath(PathKind kind, const char* path, ISlangBlob** result) override {
        if (kind != PathKind::Canonical) {
            return give(kind == PathKind::Simplified ? fs::path(path).lexically_normal().string() : path,
                        result);
        }
        std::error_code failure;
        const fs::path canonical = fs::canonical(path, failure);
        return failure ? SLANG_E_NOT_FOUND : give(canonical.string(), result);
    }
    void clearCache() override {}
    SlangResult enumeratePathContents(const char* /*path*/, FileSystemContentsCallBack /*call*/,
                                      void* /*data*/) override {
        return SLANG_E_NOT_IMPLEMENTED;
    }
    OSPathKind getOSPathKind() override { return OSPathKind::Direct; }

private:
    std::string (*change_)(std::string_view);
    std::atomic<std::uint32_t> references_{1};
};

}  // namespace

ComPtr<ISlangFileSystemExt> changed_source_files(std::string (*change)(std::string_view text)) {
    ComPtr<ISlangFileSystemExt> files;
    *files.out() = new ChangedFiles(change);
    return files;
}

}  // namespace kf::gen
