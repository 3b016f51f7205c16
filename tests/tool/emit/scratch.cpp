// Temporary folders and processes for tests.
#include "tool/emit/scratch.h"

#include <stdlib.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace kf::gen::testing {

ScratchFolder::ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kf_emit_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("can't make " + pattern);
    path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void ScratchFolder::write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
}

std::string ScratchFolder::read(const std::string& name) const {
    std::ifstream stream(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string ScratchFolder::complaints(const std::string& command) const {
    const std::string log = (path_ / "log").string();
    const int status =
        std::system(("cd '" + path_.string() + "' && { " + command + "; } >'" + log + "' 2>&1").c_str());
    if (status == 0) return {};
    std::ifstream stream(log);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    return text.empty() ? "status " + std::to_string(status) : text;
}

}  // namespace kf::gen::testing
