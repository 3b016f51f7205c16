// Names for the spec's modules in generated kernels.
#include <algorithm>
#include <cctype>

#include "slang/compiler.h"

namespace kf::gen {

std::string module_identifier(std::string name) {
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
            c = '_';
        }
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
        name.insert(0, 1, '_');
    }
    return name;
}

std::vector<std::string> module_names(const std::vector<std::filesystem::path>& modules) {
    std::vector<std::string> names;
    for (const std::filesystem::path& path : modules) {
        const std::string stem = module_identifier(path.stem().string());
        std::string name = stem;
        for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) {
            name = stem + "_" + std::to_string(number);
        }
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace kf::gen
