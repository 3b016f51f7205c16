// Finds structs with bases and constructors, and gives each a member.
#include "slang/workarounds/constructed_structs.h"

#include <string>

#include "slang/brackets.h"

namespace kf::gen {

namespace {

/// The brace that opens the body of the struct whose keyword is at `at`; size() where it has no bases or no
/// body.
std::size_t body_of_based(const TokenView& token, std::size_t at) {
    std::size_t next = behind_angles(token, at + 2);
    if (token[next] != ":") return token.size();
    while (next < token.size() && token[next] != "{") {
        if (is_one_of(token[next], ";", "}", ")", "=")) return token.size();
        next = token.after_bracket(next);
    }
    return next;
}

bool has_constructor(const TokenView& token, std::size_t body) {
    for (std::size_t at = body + 1; at < token.size() && token[at] != "}"; at = token.after_bracket(at)) {
        if (token[at] == "__init") return true;
    }
    return false;
}

void add_members(ModuleText& text) {
    const TokenView token(text.tokens);
    const std::string name = added_name("member", text.original);
    for (std::size_t at = 0; at < token.size(); ++at) {
        if (token[at] != "struct") continue;
        const std::size_t body = body_of_based(token, at);
        if (body == token.size() || !has_constructor(token, body)) continue;
        text.insert({{token.offset(body) + 1, " [Differentiable] void " + name + "() {}"}});
    }
}

}  // namespace

constinit const Workaround constructed_structs{
    .name = "constructed structs",
    .fault = "takes the derivative of a struct's field for 0, where both have constructors and are imported",
    .report = "shader-slang/slang#13233",
    .record = "slang_faults.md",
    .since = {},
    .change_text = add_members,
};

}  // namespace kf::gen
