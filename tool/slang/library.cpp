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
    // Not where a link leads: what Slang opens lies beside the link.
    std::error_code failed;
    const std::filesystem::path path = std::filesystem::absolute(info.dli_fname, failed).lexically_normal();
    return !failed && std::filesystem::exists(path, failed) ? path : std::filesystem::path();
}

}  // namespace kf::gen
