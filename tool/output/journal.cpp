// The files that a run is about to rename, so that the next one can finish it when it is killed in between.
#include "output/journal.h"

#include "core/sha256.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view header = "kfgen-journal 1\n";

/// Whole lines of lengths and texts: paths may hold any character.
void add_text(std::string& journal, const std::string& text) {
    journal += std::to_string(text.size()) + ' ' + text + '\n';
}

bool take_text(std::string_view& journal, std::string& text) {
    std::size_t size = 0;
    std::size_t at = 0;
    for (; at < journal.size() && at < 9 && journal[at] >= '0' && journal[at] <= '9'; ++at) {
        size = size * 10 + static_cast<std::size_t>(journal[at] - '0');
    }
    if (at == 0 || journal.size() < at + size + 2) {
        return false;
    }
    text = journal.substr(at + 1, size);
    journal.remove_prefix(at + size + 2);
    return true;
}

void finish(FileSystem& file_system, const std::vector<PlannedRename>& renames) {
    for (const PlannedRename& rename : renames) {
        const Outcome<std::string> content = file_system.read(rename.temporary);
        if (content && hex_digest(content.value()) == rename.sha256) {
            (void)file_system.rename(rename.temporary, rename.path);
        }
    }
}

}  // namespace

std::string journal_text(const std::vector<PlannedRename>& renames) {
    std::string text(header);
    for (const PlannedRename& rename : renames) {
        add_text(text, rename.temporary.string());
        add_text(text, rename.path.string());
        add_text(text, rename.sha256);
    }
    return text + hex_digest(text) + '\n';
}

std::vector<PlannedRename> parse_journal(std::string_view text) {
    constexpr std::size_t seal = 65;  // a digest and a line break
    if (text.size() < header.size() + seal || !text.starts_with(header)) {
        return {};
    }
    const std::string_view body = text.substr(0, text.size() - seal);
    if (text.substr(body.size()) != hex_digest(body) + '\n') {
        return {};
    }
    std::vector<PlannedRename> renames;
    for (std::string_view rest = body.substr(header.size()); !rest.empty();) {
        std::string temporary;
        std::string path;
        std::string sha256;
        if (!take_text(rest, temporary) || !take_text(rest, path) || !take_text(rest, sha256)) {
            return {};
        }
        renames.push_back({temporary, path, sha256});
    }
    return renames;
}

void finish_interrupted(FileSystem& file_system, const fs::path& journal,
                        const std::vector<fs::path>& outputs) {
    for (const fs::path& left : file_system.abandoned_beside(journal)) {
        if (const Outcome<std::string> text = file_system.read(left)) {
            finish(file_system, parse_journal(text.value()));
        }
        file_system.remove(left);
    }
    for (const fs::path& output : outputs) {
        for (const fs::path& left : file_system.abandoned_beside(output)) {
            file_system.remove(left);
        }
    }
}

}  // namespace kf::gen
