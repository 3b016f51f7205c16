// Follows braces outwards to one behind a parameter list.
#include "slang/enclosing_function.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "slang/brackets.h"

namespace kf::gen {

namespace {

class BodyFinder {
public:
    explicit BodyFinder(const Tokens& tokens) : tokens_(tokens) {}

    [[nodiscard]] EnclosingFunction around(std::size_t at) const {
        int closed = 0;
        while (at-- > 0) {
            if (text(at) == "}") ++closed;
            if (text(at) != "{") continue;
            if (closed-- > 0) continue;
            closed = 0;
            if (const auto name = name_before(at))
                return {std::string(text(*name)), is_differentiated(*name)};
        }
        return {};
    }

private:
    [[nodiscard]] std::string_view text(std::size_t at) const { return tokens_.all[at].text; }

    /// The function's name, where a body opens at `brace`.
    [[nodiscard]] std::optional<std::size_t> name_before(std::size_t brace) const {
        std::size_t at = brace;
        // What generic parameters must be, a result's type, or a semantic stands between.
        while (at > 0 && !is_one_of(text(at - 1), ")", ";", "{", "}", "=")) --at;
        if (at == 0 || text(at - 1) != ")") return std::nullopt;
        const TokenView view(tokens_);
        at = view.opening_bracket(at - 1);
        if (at > 0 && text(at - 1) == ">") at = view.opening_angle(at - 1);
        if (at < 1 || !tokens_.all[at - 1].word) return std::nullopt;
        const std::string_view name = text(at - 1);
        if (is_one_of(name, "if", "for", "while", "switch", "catch")) return std::nullopt;
        if (name.starts_with("__")) return at - 1;  // a constructor or a subscript
        const bool typed = at >= 2 &&
                           (tokens_.all[at - 2].word || is_one_of(text(at - 2), ">", "]", "*", ":")) &&
                           !is_one_of(text(at - 2), "case", "return", "else", "do");
        return typed ? std::optional(at - 1) : std::nullopt;
    }

    [[nodiscard]] bool is_differentiated(std::size_t name) const {
        bool marked = false;
        for (std::size_t at = name; at-- > 0 && !is_one_of(text(at), ";", "{", "}");) {
            if (text(at) == "BackwardDerivative") return false;
            marked = marked || tokens_.marks_differentiable(text(at));
        }
        return marked;
    }

    const Tokens& tokens_;
};

}  // namespace

EnclosingFunction enclosing_function(const Tokens& tokens, std::size_t at) {
    return BodyFinder(tokens).around(at);
}

}  // namespace kf::gen
