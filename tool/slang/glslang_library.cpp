// Finds the library by its name.
#include "slang/glslang_library.h"

#include <dlfcn.h>

#include <string>

namespace kf::gen {

void* open_glslang(const std::filesystem::path& slang) {
    std::error_code failed;
    for (std::filesystem::directory_iterator file(slang.parent_path(), failed), end; !failed && file != end;
         file.increment(failed)) {
        const std::string name = file->path().filename().string();
        if (name.starts_with("libslang-glslang") && name.find(".so") != std::string::npos)
            return ::dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    return nullptr;
}

}  // namespace kf::gen
