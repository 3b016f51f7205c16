// The pages of the help as a man page, and as scripts that complete what is typed in a shell.
#include <set>
#include <string>
#include <vector>

#include "cli/pages.h"
#include "cli_templates.h"
#include "core/join.h"
#include "emit/render.h"

namespace kf::gen {
namespace {

/// The text with each character that is special replaced.
std::string replaced(const std::string& text, char special, const std::string& by) {
    std::string result;
    for (const char c : text) {
        if (c == special) {
            result += by;
        } else {
            result += c;
        }
    }
    return result;
}

/// Returns the text for troff, which reads a line that begins with . or ' as a command, and a plain - as a
/// hyphen.
std::string troff(const std::string& text) {
    std::string result = replaced(replaced(text, '\\', "\\e"), '-', "\\-");
    std::string lines;
    bool begins = true;
    for (const char c : result) {
        if (begins && (c == '.' || c == '\'')) lines += "\\&";
        lines += c;
        begins = c == '\n';
    }
    return lines;
}

View::List troff_options(const OptionGroup& group) {
    View::List options;
    for (const OptionPage& option : group.options) {
        std::vector<std::string> names;
        for (const std::string& name : option.names) names.push_back("\\fB" + troff(name) + "\\fR");
        const std::string argument = option.argument.empty() ? "" : " \\fI" + troff(option.argument) + "\\fR";
        options.emplace_back(
            View::Object{{"head", join(names, ", ") + argument}, {"text", troff(option.text)}});
    }
    return options;
}

/// The options of all of the command's groups, in order.
std::vector<OptionPage> options_of(const CommandPage& page) {
    std::vector<OptionPage> options;
    for (const OptionGroup& group : page.groups)
        options.insert(options.end(), group.options.begin(), group.options.end());
    return options;
}

/// The options of all commands, each once.
std::vector<OptionPage> all_options(const Pages& pages) {
    std::vector<OptionPage> all;
    std::set<std::vector<std::string>> known;
    for (const CommandPage& page : pages.commands) {
        for (const OptionPage& option : options_of(page))
            if (known.insert(option.names).second) all.push_back(option);
    }
    return all;
}

std::vector<std::string> option_names(const CommandPage& page) {
    std::vector<std::string> names;
    for (const OptionPage& option : options_of(page))
        names.insert(names.end(), option.names.begin(), option.names.end());
    return names;
}

/// The files that the command takes, as shells match them: "*.kf.json".
std::vector<std::string> file_patterns(const CommandPage& page) {
    std::vector<std::string> patterns;
    for (const std::string& ending : page.endings) patterns.push_back("*" + ending);
    return patterns;
}

bool takes_folder(const OptionPage& option) { return option.argument == "DIR"; }
bool takes_file(const OptionPage& option) { return option.argument.starts_with("FILE"); }

std::vector<std::string> command_names(const Pages& pages) {
    std::vector<std::string> names;
    for (const CommandPage& page : pages.commands) names.push_back(page.name);
    return names;
}

std::string rendered(const Outcome<std::string>& text) { return text.value(); }

std::string bash(const Pages& pages) {
    View::List choices;
    std::vector<std::string> folders;
    std::vector<std::string> files;
    std::vector<std::string> others;
    for (const OptionPage& option : all_options(pages)) {
        if (option.argument.empty()) continue;
        if (const std::vector<std::string> words = option.choices(); !words.empty()) {
            choices.emplace_back(
                View::Object{{"names", join(option.names, "|")}, {"words", join(words, " ")}});
            continue;
        }
        std::vector<std::string>& names = takes_folder(option) ? folders
                                          : takes_file(option) ? files
                                                               : others;
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    View::List commands;
    for (const CommandPage& page : pages.commands) {
        commands.emplace_back(View::Object{{"name", page.name},
                                           {"options", join(option_names(page), " ")},
                                           {"words", join(page.words, " ")},
                                           {"pattern", join(file_patterns(page), "|")}});
    }
    return rendered(render("completion.bash.mustache", templates::completion_bash_mustache,
                           View::Object{{"names", join(command_names(pages), " ")},
                                        {"cases", join(command_names(pages), "|")},
                                        {"choices", std::move(choices)},
                                        {"folders", join(folders, "|")},
                                        {"files", join(files, "|")},
                                        {"others", join(others, "|")},
                                        {"commands", std::move(commands)}}));
}

/// Returns the text as it stands inside '…' in zsh and fish.
std::string quoted(const std::string& text) { return replaced(text, '\'', "'\\''"); }

/// Returns the text as it stands inside the [] of a description for zsh's _arguments.
std::string described(const std::string& text) {
    return quoted(replaced(replaced(replaced(text, '[', "\\["), ']', "\\]"), ':', "\\:"));
}

std::string zsh_option(const OptionPage& option) {
    std::string action;
    if (!option.argument.empty()) {
        action = ":" + replaced(option.argument, '|', " or ") + ":";
        if (const std::vector<std::string> words = option.choices(); !words.empty()) {
            action += "(" + join(words, " ") + ")";
        } else if (takes_folder(option)) {
            action += "_files -/";
        } else if (takes_file(option)) {
            action += "_files";
        } else {
            action += " ";
        }
    }
    const std::string end = "'[" + described(option.text) + "]" + action + "'";
    const std::string names =
        option.names.size() > 1 ? "{" + join(option.names, ",") + "}" : option.names.front();
    if (option.is_repeatable) return "'*'" + names + end;
    return (option.names.size() > 1 ? "'(" + join(option.names, " ") + ")'" : "") + names + end;
}

std::string zsh(const Pages& pages) {
    View::List commands;
    for (const CommandPage& page : pages.commands) {
        View::List options;
        for (const OptionPage& option : options_of(page)) options.emplace_back(zsh_option(option));
        commands.emplace_back(View::Object{
            {"name", page.name},
            {"summary", quoted(replaced(page.summary, ':', "\\:"))},
            {"options", std::move(options)},
            {"argument", page.words.empty() ? "file:_files -g \"" + join(file_patterns(page), " ") + "\""
                                            : "word:(" + join(page.words, " ") + ")"}});
    }
    return rendered(
        render("completion.zsh.mustache", templates::completion_zsh_mustache,
               View::Object{{"names", join(command_names(pages), "|")}, {"commands", std::move(commands)}}));
}

std::string fish_option(const OptionPage& option) {
    std::string text;
    for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (const std::vector<std::string> words = option.choices(); !words.empty()) {
        text += " -xa '" + join(words, " ") + "'";
    } else if (takes_folder(option)) {
        text += " -xa '(__fish_complete_directories)'";
    } else if (!option.argument.empty()) {
        text += takes_file(option) ? " -rF" : " -x";
    }
    return text + " -d '" + quoted(option.text) + "'";
}

std::string fish(const Pages& pages) {
    View::List commands;
    for (const CommandPage& page : pages.commands) {
        View::List options;
        for (const OptionPage& option : options_of(page)) options.emplace_back(fish_option(option));
        View::List arguments;
        if (!page.words.empty()) arguments.emplace_back(" -a '" + join(page.words, " ") + "'");
        for (const std::string& ending : page.endings)
            arguments.emplace_back(" -ka '(__fish_complete_suffix " + ending + ")'");
        commands.emplace_back(View::Object{{"name", page.name},
                                           {"summary", quoted(page.summary)},
                                           {"arguments", std::move(arguments)},
                                           {"options", std::move(options)}});
    }
    return rendered(
        render("completion.fish.mustache", templates::completion_fish_mustache,
               View::Object{{"names", join(command_names(pages), " ")}, {"commands", std::move(commands)}}));
}

}  // namespace

std::string man_page(const Pages& pages) {
    View::List commands;
    for (const CommandPage& page : pages.commands) {
        View::List usage;
        for (const std::string& line : page.usage) usage.emplace_back(troff(line));
        View::List groups;
        for (const OptionGroup& group : page.groups)
            groups.emplace_back(
                View::Object{{"title", troff(group.title)}, {"options", troff_options(group)}});
        commands.emplace_back(View::Object{{"name", troff(page.name)},
                                           {"usage", std::move(usage)},
                                           {"text", replaced(troff(page.text), '\n', "\n.PP\n")},
                                           {"groups", std::move(groups)}});
    }
    return rendered(
        render("man_page.mustache", templates::man_page_mustache,
               View::Object{{"version", troff(pages.version)}, {"commands", std::move(commands)}}));
}

std::string completion(const Pages& pages, const std::string& shell) {
    if (shell == "zsh") return zsh(pages);
    return shell == "fish" ? fish(pages) : bash(pages);
}

}  // namespace kf::gen
