// The help of each command, as people read it in a terminal.
#include "cli/pages.h"

#include <algorithm>
#include <cstddef>

#include "core/join.h"

namespace kf::gen {
namespace {

constexpr std::size_t width = 90;
constexpr std::size_t column = 27;  ///< where the options' texts begin

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// The words in lines of at most `width` characters, all but the first indented.
std::string wrapped(const std::string& text, std::size_t indentation) {
    std::string lines;
    std::size_t used = indentation;
    for (const std::string& word : parts_of(text, ' ')) {
        if (used > indentation && used + 1 + word.size() > width) {
            lines += '\n' + std::string(indentation, ' ');
            used = indentation;
        } else if (used > indentation) {
            lines += ' ';
            ++used;
        }
        lines += word;
        used += word.size();
    }
    return lines;
}

std::string row(const std::string& head, const std::string& text) {
    std::string line = "  " + head;
    if (line.size() + 2 > column) {
        line += '\n' + std::string(column, ' ');
    } else {
        line.resize(column, ' ');
    }
    return line + wrapped(text, column) + '\n';
}

std::string group_text(const OptionGroup& group) {
    std::string text = '\n' + group.title + ":\n";
    for (const OptionPage& option : group.options) text += row(option.head(), option.text);
    return text;
}

}  // namespace

std::vector<std::string> OptionPage::choices() const {
    if (argument.find('|') == std::string::npos) return {};
    return parts_of(argument, '|');
}

std::string OptionPage::head() const { return join(names, ", ") + (argument.empty() ? "" : " " + argument); }

std::string help_text(const Pages& pages) {
    std::string text =
        "usage: kfgen COMMAND ... [OPTION ...] [@FILE ...]\n\n"
        "Compiles Slang functions ahead of time into kernels with C++ and Python wrappers.\n"
        "A spec, NAME.kf.json, says which functions and how their arguments are passed.\n\nCommands:\n";
    for (const CommandPage& page : pages.commands) text += row(page.name, page.summary);
    text += '\n';
    text += row("COMMAND --help", "describe a command and its options");
    text += row("--man", "print the man page");
    text += row("--version", "print the version");
    text += row("@FILE", "take arguments from a file, separated by white space, quoted with '…' or \"…\"");
    return text +
           "\nExit codes: 0 done, 1 the input is wrong, 2 the command line is wrong, 3 kfgen or a\n"
           "compiler failed.\n";
}

std::string help_text(const CommandPage& page) {
    std::string text;
    for (const std::string& usage : page.usage)
        text += (text.empty() ? "usage: kfgen " : "       kfgen ") + usage + '\n';
    for (const std::string& paragraph : parts_of(page.text, '\n'))
        text += '\n' + wrapped(paragraph, 0) + '\n';
    for (const OptionGroup& group : page.groups) text += group_text(group);
    return text;
}

}  // namespace kf::gen
