// Files that a run would write over what it reads, or over another output.
#include "output/conflicts.h"

#include <map>
#include <set>
#include <system_error>

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

fs::path canonical_path(const fs::path& path) {
    std::error_code error;
    const fs::path result = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path.lexically_normal() : result;
}

/// The place that a rename replaces: of a link the link itself.
fs::path place_of(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error).lexically_normal();
    return canonical_path(whole.parent_path()) / whole.filename();
}

}  // namespace

Diagnostics output_conflicts(const std::vector<WrittenFile>& written, const std::vector<fs::path>& read) {
    std::set<fs::path> inputs;
    for (const fs::path& path : read) {
        inputs.insert(place_of(path));
        inputs.insert(canonical_path(path));
    }
    std::map<fs::path, std::string> outputs;
    Diagnostics errors;
    for (const WrittenFile& file : written) {
        const fs::path place = place_of(file.path);
        const auto [before, is_new] = outputs.emplace(place, file.what);
        const bool is_read = inputs.contains(place);
        if (!is_read && is_new) {
            continue;
        }
        errors.push_back({Severity::error,
                          "output-conflict",
                          {file.path.string(), 0, 0},
                          file.what + " would overwrite this file, which is " +
                              (is_read ? std::string("read to generate it") : "also " + before->second),
                          {"give it another name or folder"}});
    }
    return errors;
}

}  // namespace kf::gen
