// The pages of the help, for those who print them: as help, as a man page, as shell completion.
#pragma once

#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

struct OptionPage {
    std::vector<std::string> names;  ///< "-o", "--output-dir"
    std::string argument;            ///< "DIR", or the words to choose from: "text|json"; empty: a flag
    std::string text;
    bool is_repeatable = false;

    /// The words that it takes; none where it takes others.
    [[nodiscard]] std::vector<std::string> choices() const;
    /// "-o, --output-dir DIR".
    [[nodiscard]] std::string head() const;
};

struct OptionGroup {
    std::string title;
    std::vector<OptionPage> options;
};

struct CommandPage {
    std::string name;
    std::vector<std::string> usage;    ///< without "kfgen"
    std::string summary;               ///< half a line
    std::string text;                  ///< paragraphs, a line each
    std::vector<std::string> endings;  ///< of the files that it takes: ".slang"
    std::vector<std::string> words;    ///< instead of files
    std::vector<OptionGroup> groups;
};

/// All commands.
struct Pages {
    std::string version;
    std::vector<CommandPage> commands;
};

/// The page of `kfgen --help`.
std::string help_text(const Pages& pages);
/// The page of `kfgen COMMAND --help`.
std::string help_text(const CommandPage& page);

/// The man page, in troff.
std::string man_page(const Pages& pages);

/// A script for "bash", "zsh" or "fish".
std::string completion(const Pages& pages, const std::string& shell);

}  // namespace kf::gen
