// Statements among a text's tokens.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slang/brackets.h"
#include "slang/insertions.h"

namespace kf::gen {

/// A statement that holds no other: an assignment, a call, a declaration, a return.
struct Statement {
    std::size_t first = 0;
    std::size_t stop = 0;  ///< its semicolon
    bool bare = false;     ///< a loop's body, or a branch, without braces
};

struct Statements {
    std::vector<Statement> all;
    bool complete = false;  ///< false: behind the last one it is unclear where another ends
};

/// Lists the statements from `begin` to `end`, at every depth, in order.
[[nodiscard]] Statements simple_statements(const TokenView& tokens, std::size_t begin, std::size_t end);

/// Puts statements before one and behind it.
void put_around(const Statement& statement, const TokenView& tokens, const std::string& before,
                const std::string& behind, Insertions& insertions);

}  // namespace kf::gen
