// Calls a function that has fmod()'s derivatives in its place.
#include "slang/workarounds/remainders.h"

#include <array>
#include <vector>

#include "slang/brackets.h"

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

bool is_statement_word(std::string_view word) {
    return is_one_of(word, "return", "else", "do", "case", "in", "no_diff");
}

/// The calls of fmod() among the tokens; none where the text declares one.
std::vector<std::size_t> remainder_calls(const TokenView& token) {
    std::vector<std::size_t> calls;
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (token[at] != remainder_name || !is_one_of(token[at + 1], "(", "<")) continue;
        const std::string_view before = at == 0 ? std::string_view() : token[at - 1];
        if (at > 0 && token.is_word(at - 1) && !is_statement_word(before)) return {};
        if (before == ">" && token[at + 1] == "(" && token[token.after_bracket(at + 1)] == "{") return {};
        if (!is_one_of(before, ".", ":")) calls.push_back(at);
    }
    return calls;
}

void change_remainders(ModuleText& text) {
    const TokenView token(text.tokens);
    bool differentiates = false;
    for (std::size_t at = 0; at < token.size() && !differentiates; ++at)
        differentiates = text.tokens.marks_differentiable(token[at]);
    const std::vector<std::size_t> calls =
        differentiates ? remainder_calls(token) : std::vector<std::size_t>();
    if (calls.empty()) return;
    const std::string name = "kf_remainder_" + hash_of(text.original);
    for (const std::size_t at : calls) {
        text.text.replace(token.offset(at), remainder_name.size(), remainder_name.size(), ' ');
        text.insertions[token.offset(at)] += name;
    }
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
