// Where a generated library finds its artifact when that isn't part of it.
#include <kf/error.h>
#include <kf/module.h>

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace kf::detail {
namespace {

/// The program, or the library as the loader opened it: absolute unless the search path wasn't.
std::filesystem::path opened_as(const void* symbol) {
    Dl_info info{};
    link_map* map = nullptr;
    const int found = dladdr1(symbol, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
    if (found != 0 && map != nullptr && map->l_name != nullptr && *map->l_name != '\0') return map->l_name;
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error);
}

/// The file that is mapped at an address, by its whole path; empty where the system doesn't say.
std::filesystem::path mapped_at(const void* symbol) {
    const auto address = reinterpret_cast<std::uintptr_t>(symbol);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::istringstream words(line);
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        char dash = 0;
        words >> std::hex >> begin >> dash >> end;
        const std::size_t path = line.find('/');
        if (begin <= address && address < end && path != std::string::npos) return line.substr(path);
    }
    return {};
}

}  // namespace

std::string beside(const void* symbol, std::string_view file) {
    std::filesystem::path holder = opened_as(symbol);
    // The working folder may have changed since.
    if (!holder.is_absolute()) holder = mapped_at(symbol);
    return (holder.parent_path() / file).string();
}

Module load_own(const Device& device, const std::string& path, std::string_view sha256) {
    Module loaded = load_own(device, path);
    if (loaded.sha256() == sha256) return loaded;
    throw ArtifactError(ErrorCode::artifact_version,
                        path + " is not the file that this program was built with: its SHA-256 is " +
                            loaded.sha256() + ", expected " + std::string(sha256));
}

}  // namespace kf::detail
