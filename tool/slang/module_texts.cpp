// Follows imports and includes by name alone: no macro is replaced, and branches that are left out count.
#include "slang/module_texts.h"

#include <algorithm>
#include <set>

#include "slang/lexed_text.h"
#include "slang/sources.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

std::string_view unquoted(std::string_view literal) {
    return literal.size() < 2 ? std::string_view() : literal.substr(1, literal.size() - 2);
}

/// The file that `import image.io_tools;` means.
std::string file_of_module(std::string_view name) {
    std::string file(name);
    std::replace(file.begin(), file.end(), '.', '/');
    std::replace(file.begin(), file.end(), '_', '-');
    return file + ".slang";
}

class ImportReader {
public:
    explicit ImportReader(const std::vector<fs::path>& search_paths) : search_paths_(&search_paths) {}

    void read(const fs::path& given) {
        const std::string file = canonical_path(given).string();
        const std::string* found = seen_.insert(file).second ? sources_.find(file) : nullptr;
        if (found == nullptr) return;
        const std::size_t number = files_.size();
        files_.push_back({file, *found, {}, {}});
        std::vector<std::string> includes;
        std::vector<std::string> imports;
        const LexedText text(*found);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text.kind(index) == Lexeme::Kind::directive) {
                read_directive(text[index], file, includes);
            } else if (text[index] == "import" || text[index] == "__include") {
                read_import(text, index + 1, file, text[index] == "import" ? imports : includes);
            }
        }
        files_[number].includes = std::move(includes);
        files_[number].imports = std::move(imports);
    }

    [[nodiscard]] std::vector<ModuleFile> take() { return std::move(files_); }

private:
    void read_directive(std::string_view directive, const fs::path& from, std::vector<std::string>& named) {
        const std::size_t open = directive.find_first_of("\"<");
        if (directive.find("include") >= open || open == std::string_view::npos) return;
        const char close = directive[open] == '<' ? '>' : '"';
        directive.remove_prefix(open + 1);
        read_found(directive.substr(0, directive.find(close)), from, named);
    }

    void read_import(const LexedText& text, std::size_t index, const fs::path& from,
                     std::vector<std::string>& named) {
        if (index < text.size() && text.kind(index) == Lexeme::Kind::literal) {
            const std::string name(unquoted(text[index]));
            read_found(name, from, named);
            read_found(name + ".slang", from, named);
            return;
        }
        const std::string name = imported_name(text, index);
        std::string as_written = name;
        std::replace(as_written.begin(), as_written.end(), '.', '/');
        read_found(file_of_module(name), from, named);
        read_found(as_written + ".slang", from, named);
    }

    void read_found(const fs::path& name, const fs::path& from, std::vector<std::string>& named) {
        std::vector<fs::path> folders = *search_paths_;
        folders.insert(folders.begin(), from.parent_path());
        for (const fs::path& folder : folders) {
            std::error_code failure;
            if (!fs::is_regular_file(folder / name, failure)) continue;
            named.push_back(canonical_path(folder / name).string());
            return read(folder / name);
        }
    }

    const std::vector<fs::path>* search_paths_;
    Sources sources_{{}};
    std::set<std::string> seen_;
    std::vector<ModuleFile> files_;
};

}  // namespace

std::string imported_name(const LexedText& text, std::size_t index) {
    std::string name;
    for (; index < text.size() && text[index] != ";"; ++index) name += text[index];
    return name;
}

std::vector<ModuleFile> module_files(const std::vector<fs::path>& modules,
                                     const std::vector<fs::path>& search_paths) {
    ImportReader reader(search_paths);
    for (const fs::path& module : modules) reader.read(module);
    return reader.take();
}

std::vector<std::pair<std::string, std::string>> texts_of(const std::vector<ModuleFile>& files) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const ModuleFile& file : files) texts.emplace_back(file.path, file.text);
    return texts;
}

std::vector<std::pair<std::string, std::string>> module_texts(const std::vector<fs::path>& modules,
                                                              const std::vector<fs::path>& search_paths) {
    return texts_of(module_files(modules, search_paths));
}

}  // namespace kf::gen
