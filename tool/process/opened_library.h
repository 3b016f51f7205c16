// Finds functions of a library that is opened at run time.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace kf::gen {

/// Looks a function up in an opened library. Returns whether the library has it.
template <class F>
bool find_function(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
}

/// Returns the file that a function was loaded from; empty where the system doesn't say.
template <class F>
std::filesystem::path file_of(F* function) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(function), &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code failed;
    return std::filesystem::canonical(info.dli_fname, failed);
}

}  // namespace kf::gen
