// Refuses functions that ask for the values that a GPU gives to entry points alone.
#include "run/system_values.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "slang/lexer.h"

namespace kf::gen {

namespace {

/// Where a line and column, from 1, are in the text; its end when they aren't.
std::size_t offset_of(std::string_view text, const Location& place) {
    std::size_t offset = 0;
    for (std::int64_t line = 1; line < place.line; ++line) {
        offset = text.find('\n', offset);
        if (offset == std::string_view::npos) return text.size();
        ++offset;
    }
    return std::min(text.size(),
                    offset + static_cast<std::size_t>(std::max<std::int64_t>(place.column, 1) - 1));
}

Location place_of(std::string_view text, std::size_t offset, const std::string& file) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {file, std::count(before.begin(), before.end(), '\n') + 1,
            static_cast<std::int64_t>(offset - line_start) + 1};
}

/// Semantics are written in either case.
bool is_system_value(std::string_view word) {
    return word.size() > 3 && std::toupper(static_cast<unsigned char>(word[0])) == 'S' &&
           std::toupper(static_cast<unsigned char>(word[1])) == 'V' && word[2] == '_';
}

/// Refuses each parameter with such a semantic of the function whose name starts the text.
Diagnostics look_at(const Function& function, std::string_view whole, std::size_t start) {
    const std::string_view text = whole.substr(start);
    // A declaration's head is short, and what follows it is not looked at.
    constexpr std::size_t longest = 16384;
    const std::vector<Lexeme> lexemes = lex(text.substr(0, longest));
    const auto word = [&](std::size_t i) {
        return text.substr(lexemes[i].begin, lexemes[i].end - lexemes[i].begin);
    };
    Diagnostics errors;
    int depth = 0;
    for (std::size_t i = 0; i < lexemes.size(); ++i) {
        if (word(i) == "(") ++depth;
        if (word(i) == "{" || word(i) == ";") break;
        if (word(i) == ")" && --depth == 0) break;
        if (depth != 1 || i < 2 || word(i - 1) != ":" || !is_system_value(word(i))) continue;
        const std::string name(word(i - 2));
        errors.push_back(
            {Severity::error,
             "system-value",
             place_of(whole, start + lexemes[i - 2].begin, function.location.file),
             "parameter '" + name + "' of '" + function.name + "' is declared as " + std::string(word(i)) +
                 ", which only entry points are given",
             {"leave the semantic out; a call learns its own index from an argument of the kind call_id or "
              "thread_id"}});
    }
    return errors;
}

/// `module`: what kernels import for the function; empty: the spec's modules.
bool calls(const PlannedCall& call, const Function& function, const std::string& module) {
    if (call.module != module || call.function.substr(0, call.function.find('<')) != function.name)
        return false;
    std::vector<std::string> names;
    for (const PlannedParameter& parameter : call.parameters) {
        if (parameter.tangent_of < 0 && parameter.role != manifest::Role::result)
            names.push_back(parameter.host.name);
    }
    return std::equal(
        names.begin(), names.end(), function.parameters.begin(), function.parameters.end(),
        [](const std::string& name, const Parameter& parameter) { return name == parameter.name; });
}

Diagnostics look_at_called(const Plan& plan, const std::vector<Function>& functions,
                           const std::string& module, const std::map<std::string, std::string>& sources) {
    Diagnostics errors;
    for (const Function& function : functions) {
        const auto text = sources.find(function.location.file);
        const bool called =
            std::any_of(plan.functions.begin(), plan.functions.end(), [&](const PlannedFunction& planned) {
                return std::any_of(planned.calls.begin(), planned.calls.end(),
                                   [&](const PlannedCall& call) { return calls(call, function, module); });
            });
        if (!called || text == sources.end()) continue;
        const Diagnostics found = look_at(function, text->second, offset_of(text->second, function.location));
        errors.insert(errors.end(), found.begin(), found.end());
    }
    return errors;
}

}  // namespace

Diagnostics check_system_values(const Plan& plan, const Module& module) {
    Diagnostics errors = look_at_called(plan, module.functions, {}, module.sources);
    for (const NamedModule& named : module.modules) {
        const Diagnostics found = look_at_called(plan, named.functions, named.import_name, module.sources);
        errors.insert(errors.end(), found.begin(), found.end());
    }
    return errors;
}

}  // namespace kf::gen
