// Walks over a function's body from statement to statement.
#include "slang/statements.h"

namespace kf::gen {

namespace {

/// A macro before a brace is taken for a loop's head.
bool begins_block(const TokenView& tokens, std::size_t at) {
    return is_in_capitals(tokens[at]) &&
           tokens[tokens[at + 1] == "(" ? tokens.after_bracket(at + 1) : at + 1] == "{";
}

}  // namespace

Statements simple_statements(const TokenView& tokens, std::size_t begin, std::size_t end) {
    Statements found;
    bool bare = false;
    for (std::size_t at = begin; at < end;) {
        const std::string_view word = tokens[at];
        if (is_one_of(word, "{", "}", ";")) {
            bare = false;
            ++at;
        } else if (word == "[") {
            at = tokens.after_bracket(at);
        } else if (is_one_of(word, "if", "for", "while", "switch") && tokens[at + 1] == "(") {
            at = tokens.after_bracket(at + 1);
            bare = true;
        } else if (is_one_of(word, "else", "do")) {
            bare = true;
            ++at;
        } else if (begins_block(tokens, at)) {
            at = tokens[at + 1] == "(" ? tokens.after_bracket(at + 1) : at + 1;
        } else if (word == "case" || tokens[at + 1] == ":") {
            while (at < end && !is_one_of(tokens[at], ":", "{", "}", ";")) ++at;
            ++at;
        } else {
            const std::size_t stop = tokens.semicolon(at, end);
            if (stop >= end) return found;
            found.all.push_back({at, stop, bare});
            at = stop + 1;
            bare = false;
        }
    }
    found.complete = true;
    return found;
}

void put_around(const Statement& statement, const TokenView& tokens, const std::string& before,
                const std::string& behind, Insertions& insertions) {
    if (before.empty() && behind.empty()) return;
    insertions[tokens.offset(statement.first)] += (statement.bare ? "{ " : "") + before;
    insertions[tokens.offset(statement.stop) + 1] += behind + (statement.bare ? "} " : "");
}

}  // namespace kf::gen
