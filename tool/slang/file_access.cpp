// Looks for who keeps what to itself, by words alone.
#include "slang/file_access.h"

#include <algorithm>
#include <array>

#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

/// What kernels name of Slang's own.
constexpr std::array<std::string_view, 3> words_of_kernels{"fwd_diff", "bwd_diff", "DifferentialPair"};

bool keeps_to_itself(const Tokens& tokens) {
    if (tokens.states_language) return true;
    for (std::size_t i = 0; i < tokens.all.size(); ++i) {
        const Token& token = tokens.all[i];
        if (token.conditional || !token.word) continue;
        // Slang takes these for names, too: "float internal".
        const bool modifies =
            i + 1 < tokens.all.size() && (tokens.all[i + 1].word || tokens.all[i + 1].text == "[") &&
            !(i > 0 && is_one_of(tokens.all[i - 1].text, ":", ","));  // C++ bases, in a branch left out
        if ((says_access(token.text) && modifies) || token.text == "__include") return true;
        if (i == 0 && is_one_of(token.text, "module", "implementing")) return true;
    }
    return false;
}

/// The modules that files belong to, each by the file that it begins with.
class ModuleGraph {
public:
    ModuleGraph(const std::vector<ModuleFile>& files, const std::vector<std::string>& listed)
        : listed_(listed) {
        for (const ModuleFile& file : files) files_.emplace(file.path, &file);
        std::set<std::string> roots(listed.begin(), listed.end());
        for (const ModuleFile& file : files) roots.insert(file.imports.begin(), file.imports.end());
        for (const std::string& root : roots) {
            collect(root, parts_[root]);
            for (const std::string& part : parts_[root]) owners_[part].insert(root);
        }
        for (const auto& [root, parts] : parts_) {
            for (const std::string& part : parts) {
                for (const std::string& import : files_.at(part)->imports) importers_[import].insert(root);
            }
        }
    }

    /// Returns the files of modules that keep to themselves what isn't public and have no macro that may
    /// write it. A file that another module includes, too, is left out: `public` in it would close that one.
    [[nodiscard]] std::set<std::string> closed_files() const {
        std::set<std::string> closed;
        std::set<std::string> open;
        for (const auto& module : parts_) {
            const std::set<std::string>& parts = module.second;
            bool keeps = false;
            bool hides = false;
            for (const std::string& part : parts) {
                const Tokens tokens = tokenise(without_byte_order_mark(files_.at(part)->text));
                keeps = keeps || keeps_to_itself(tokens);
                hides = hides || tokens.defines_public;
            }
            (keeps && !hides ? closed : open).insert(parts.begin(), parts.end());
        }
        for (const std::string& path : open) closed.erase(path);
        return closed;
    }

    /// The files of other modules that may see what is declared in the file.
    [[nodiscard]] std::set<std::string> seen_by(const std::string& path) const {
        std::set<std::string> modules;
        const auto owners = owners_.find(path);
        if (owners == owners_.end()) return modules;
        for (const std::string& owner : owners->second) {
            add_importers(owner, modules);
            if (std::find(listed_.begin(), listed_.end(), owner) != listed_.end())
                modules.insert(listed_.begin(), listed_.end());
        }
        if (owners->second.size() == 1) modules.erase(*owners->second.begin());
        std::set<std::string> files;
        for (const std::string& module : modules) {
            const auto parts = parts_.find(module);
            if (parts != parts_.end()) files.insert(parts->second.begin(), parts->second.end());
        }
        return files;
    }

private:
    void collect(const std::string& path, std::set<std::string>& parts) const {
        const auto file = files_.find(path);
        if (file == files_.end() || !parts.insert(path).second) return;
        for (const std::string& include : file->second->includes) collect(include, parts);
    }

    void add_importers(const std::string& module, std::set<std::string>& all) const {
        const auto direct = importers_.find(module);
        if (direct == importers_.end()) return;
        for (const std::string& importer : direct->second) {
            if (all.insert(importer).second) add_importers(importer, all);
        }
    }

    std::vector<std::string> listed_;
    std::map<std::string, const ModuleFile*> files_;
    std::map<std::string, std::set<std::string>> parts_;
    std::map<std::string, std::set<std::string>> owners_;
    std::map<std::string, std::set<std::string>> importers_;
};

}  // namespace

FileAccesses file_accesses(const std::vector<ModuleFile>& files, const std::vector<std::string>& listed,
                           const std::vector<std::pair<std::string, std::string>>& defines) {
    std::set<std::string, std::less<>> everywhere(words_of_kernels.begin(), words_of_kernels.end());
    bool hides = false;
    for (const auto& [name, value] : defines) {
        const LexedText text(value);
        for (std::size_t index = 0; index < text.size(); ++index) everywhere.emplace(text[index]);
        hides = hides || everywhere.contains("public");
    }
    const ModuleGraph modules(files, listed);
    const std::set<std::string> closed = modules.closed_files();
    std::map<std::string, std::set<std::string, std::less<>>> words;
    for (const ModuleFile& file : files) {
        const LexedText text(file.text);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text.is_word(index)) words[file.path].emplace(text[index]);
        }
    }
    FileAccesses accesses;
    for (const ModuleFile& file : files) {
        FileAccess& access = accesses[file.path];
        access.keeps_to_itself = !hides && closed.contains(file.path);
        access.elsewhere = everywhere;
        for (const std::string& other : modules.seen_by(file.path))
            access.elsewhere.insert(words[other].begin(), words[other].end());
    }
    return accesses;
}

std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace kf::gen
