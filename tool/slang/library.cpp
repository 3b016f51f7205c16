// Where the Slang library that this process uses lies.
#include "slang/library.h"

#include <dlfcn.h>
#include <slang.h>

namespace kf::gen {

std::filesystem::path slang_library_path() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&slang_createGlobalSession), &info) == 0 ||
        info.dli_fname == nullptr)
        return {};
    std::error_code failed;
    const std::filesystem::path path = std::filesystem::canonical(info.dli_fname, failed);
    return failed ? std::filesystem::path() : path;
}

}  // namespace kf::gen
