// Calls a function that has fmod()'s derivatives in its place.
#include "slang/workarounds/remainders.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "slang/brackets.h"
#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

constexpr std::string_view remainder_name = "fmod";

struct Form {
    std::string_view generics;
    std::string_view type;
};

/// Those that Slang's own has.
constexpr std::array<Form, 3> forms{
    {{"<T : __BuiltinFloatingPointType>", "T"},
     {"<T : __BuiltinFloatingPointType, let N : int>", "vector<T, N>"},
     {"<T : __BuiltinFloatingPointType, let N : int, let M : int>", "matrix<T, N, M>"}}};

/// fmod(x, y) is x - y * n, where n is as a constant to its derivative.
constexpr std::string_view own_remainder = R"(
[Differentiable] TYPE NAME_lineGENERICS(TYPE x, TYPE y, no_diff TYPE n) { return x - y * n; }
[ForwardDerivative(NAME_forward)] [BackwardDerivative(NAME_backward)]
TYPE NAMEGENERICS(TYPE x, TYPE y) { return fmod(x, y); }
DifferentialPair<TYPE> NAME_forwardGENERICS(DifferentialPair<TYPE> x, DifferentialPair<TYPE> y)
{
    let kf_rest = fmod(x.p, y.p);
    return diffPair(kf_rest, fwd_diff(NAME_line)(x, y, round((x.p - kf_rest) / y.p)).d);
}
void NAME_backwardGENERICS(inout DifferentialPair<TYPE> x, inout DifferentialPair<TYPE> y, TYPE.Differential kf_d)
{
    bwd_diff(NAME_line)(x, y, round((x.p - fmod(x.p, y.p)) / y.p), kf_d);
})";

std::string replaced(std::string text, std::string_view word, std::string_view by) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
        text.replace(at, word.size(), by);
    return text;
}

/// Stands for fmod() in a module's text, as long as it: no directive, nor macro's argument, changes its
/// place.
constexpr std::string_view remainder_stand_in = "kfm_";
static_assert(remainder_stand_in.size() == remainder_name.size());

bool is_statement_word(std::string_view word) {
    return is_one_of(word, "return", "else", "do", "case", "in", "no_diff");
}

/// Whether a name is another's member, or in a scope that is named.
template <class Words>
bool is_qualified(const Words& words, std::size_t at) {
    return at > 0 && (words[at - 1] == "." || (at > 1 && words[at - 1] == ":" && words[at - 2] == ":"));
}

/// Whether a variable of the text has the name, so that it isn't the function's everywhere.
bool declares_variable(const TokenView& token) {
    for (std::size_t at = 1; at < token.size(); ++at) {
        if (token[at] != remainder_name || is_one_of(token[at + 1], "(", "<")) continue;
        const bool is_typed = token.is_word(at - 1) || is_one_of(token[at - 1], ">", "]");
        if (is_typed && !is_statement_word(token[at - 1])) return true;
    }
    return false;
}

/// Where the text calls fmod(), or gives it to a macro; nothing where the text declares one.
std::optional<std::vector<std::size_t>> remainder_calls(const TokenView& token) {
    std::vector<std::size_t> calls;
    const bool may_be_variable = declares_variable(token);
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (token[at] != remainder_name) continue;
        const std::string_view before = at == 0 ? std::string_view() : token[at - 1];
        const bool is_argument =
            !may_be_variable && is_one_of(before, "(", ",") && is_one_of(token[at + 1], ",", ")");
        if (!is_argument && !is_one_of(token[at + 1], "(", "<")) continue;
        if (at > 0 && token.is_word(at - 1) && !is_statement_word(before)) return std::nullopt;
        if (before == ">" && token[at + 1] == "(" && token[token.after_bracket(at + 1)] == "{")
            return std::nullopt;
        if (!is_qualified(token, at)) calls.push_back(token.offset(at));
    }
    return calls;
}

/// Where macros name fmod(); nothing where one has that name.
std::optional<std::vector<std::size_t>> remainders_in_macros(std::string_view text) {
    std::vector<std::size_t> found;
    for (const Lexeme& directive : lex(text)) {
        if (directive.kind != Lexeme::Kind::directive) continue;
        const std::size_t begin = directive.begin + 1;  // behind the #
        const LexedText words(text.substr(begin, directive.end - begin));
        if (words[0] != "define") continue;
        if (words[1] == remainder_name) return std::nullopt;
        const bool has_parameters = words[2] == "(" && words.offset(2) == words.offset(1) + words[1].size();
        for (std::size_t at = 2; at < words.size(); ++at) {
            if (words[at] != remainder_name) continue;
            if (has_parameters && at < words.closing(2)) break;                   // a parameter
            const bool is_pasted = words[at - 1] == "#" || words[at + 1] == "#";  // to a part of another name
            if (!is_pasted && !is_qualified(words, at)) found.push_back(begin + words.offset(at));
        }
    }
    return found;
}

/// Whether a function of the text may be differentiated: a file that is included may say so in a macro.
bool may_differentiate(const ModuleText& text) {
    const TokenView token(text.tokens);
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (text.tokens.marks_differentiable(token[at])) return true;
    }
    const std::vector<Lexeme> lexemes = lex(text.original);
    return std::any_of(lexemes.begin(), lexemes.end(), [&](const Lexeme& one) {
        return one.kind == Lexeme::Kind::directive &&
               LexedText(std::string_view(text.original).substr(one.begin + 1, one.end - one.begin - 1))[0] ==
                   "include";
    });
}

void change_remainders(ModuleText& text) {
    if (text.original.find(remainder_name) == std::string::npos) return;
    const auto calls = remainder_calls(TokenView(text.tokens));
    const auto in_macros = remainders_in_macros(text.original);
    if (!calls || !in_macros) return;
    std::vector<std::size_t> all = *in_macros;
    // Any function may use a macro.
    if (may_differentiate(text)) all.insert(all.end(), calls->begin(), calls->end());
    if (all.empty()) return;
    for (const std::size_t offset : all)
        text.text.replace(offset, remainder_stand_in.size(), remainder_stand_in);
    const std::string name = added_name("remainder", text.original);
    const std::string meaning =
        std::string(remainder_stand_in) + "\n#define " + std::string(remainder_stand_in) + " " + name;
    text.insert_once(0, "#undef " + meaning + "\n");
    std::string own = "\n#ifndef " + name + "\n#define " + name + " " + name;
    for (const Form& form : forms) {
        std::string one = replaced(std::string(own_remainder), "GENERICS", form.generics);
        own += replaced(replaced(std::move(one), "TYPE", form.type), "NAME", name);
    }
    text.insert_once(text.original.size(), own + "\n#endif\n");
}

}  // namespace

constinit const Workaround remainders{
    .name = "remainders",
    .fault = "gives the second argument of fmod() the gradient 0",
    .report = "shader-slang/slang#10071",
    .record = "slang_faults.md",
    .since = {},
    .change_text = change_remainders,
};

}  // namespace kf::gen
