// Names for the spec's modules in generated kernels.
#include <algorithm>
#include <cctype>

#include "slang/compiler.h"

namespace kf::gen {

std::vector<std::string> module_names(const std::vector<std::filesystem::path>& modules) {
    std::vector<std::string> names;
    for (const std::filesystem::path& path : modules) {
        std::string stem = path.stem().string();
        for (char& c : stem) {
            if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
                c = '_';
            }
        }
        if (stem.empty() || std::isdigit(static_cast<unsigned char>(stem.front())) != 0) {
            stem.insert(0, 1, '_');
        }
        std::string name = stem;
        for (int number = 2; std::find(names.begin(), names.end(), name) != names.end(); ++number) {
            name = stem + "_" + std::to_string(number);
        }
        names.push_back(std::move(name));
    }
    return names;
}

}  // namespace kf::gen
