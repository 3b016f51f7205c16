// Finds tuples' elements by their names: _0, _1.
#include "slang/workarounds/tuple_parts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "slang/brackets.h"
#include "slang/statements.h"

namespace kf::gen {

namespace {

/// The copies' names, which are as long as the shortest element's can be: "kf_a" for "t._1".
constexpr std::string_view copies = "abcdefgh";
std::string copy_name(std::size_t number) { return std::string("kf_") + copies[number]; }

bool names_element(std::string_view word) {
    return word.size() > 1 && word[0] == '_' &&
           std::all_of(word.begin() + 1, word.end(),
                       [](unsigned char one) { return std::isdigit(one) != 0; });
}

class TupleParts {
public:
    explicit TupleParts(ModuleText& module) : module_(module), token_(module.tokens) {}

    void change() {
        for (std::size_t at = 0; at < token_.size(); ++at) {
            if (!module_.tokens.marks_differentiable(token_[at])) continue;
            const std::size_t open = token_.body_behind(at);
            if (open == token_.size()) continue;
            const std::size_t end = token_.after_bracket(open) - 1;
            for (const Statement& one : simple_statements(token_, open + 1, end).all) change(one);
            at = end;
        }
    }

private:
    /// Behind the element whose name begins at `at`, where a part of it follows; else `at`.
    [[nodiscard]] std::size_t behind_element(std::size_t at) const {
        if (!token_.is_word(at) || token_[at - 1] == ".") return at;
        for (std::size_t next = at + 1;;) {
            if (token_[next] == "." && names_element(token_[next + 1]) &&
                is_one_of(token_[next + 2], ".", "["))
                return next + 2;
            if (token_[next] == "." && token_.is_word(next + 1))
                next += 2;
            else if (token_[next] == "[")
                next = token_.after_bracket(next);
            else
                return at;
        }
    }

    /// Behind the part, and all parts of that.
    [[nodiscard]] std::size_t behind_path(std::size_t at) const {
        while (is_one_of(token_[at], ".", "[")) at = token_[at] == "." ? at + 2 : token_.after_bracket(at);
        return at;
    }

    void change(const Statement& statement) {
        const bool calls =
            token_[statement.first + 1] == "(" && token_.after_bracket(statement.first + 1) == statement.stop;
        std::map<std::string, std::string> kept;  // copies, by what they are of
        for (std::size_t at = statement.first; at < statement.stop; ++at) {
            const std::size_t end = behind_element(at);
            if (end == at) continue;
            const std::size_t last = behind_path(end);
            const bool is_argument =
                calls && is_one_of(token_[at - 1], "(", ",") && is_one_of(token_[last], ")", ",");
            if (!is_argument && !(at == statement.first && token_.is_changed(last))) continue;
            const std::size_t begin = token_.offset(at);
            const std::size_t length = token_.offset(end - 1) + token_[end - 1].size() - begin;
            const std::string element = module_.original.substr(begin, length);
            if (element.find('(') != std::string::npos || kept.size() == copies.size()) continue;
            const std::string& copy = kept.emplace(element, copy_name(kept.size())).first->second;
            module_.text.replace(begin, length, copy + std::string(length - copy.size(), ' '));
            at = last - 1;
        }
        if (kept.empty()) return;
        std::string before = "{ ";
        std::string behind = " ";
        for (const auto& [element, copy] : kept) {
            before += "var " + copy + " = " + element + "; ";
            behind += element + " = " + copy + "; ";
        }
        Insertions around;
        around[token_.offset(statement.first)] = before;
        around[token_.offset(statement.stop) + 1] = behind + "}";
        module_.insert(around);
    }

    ModuleText& module_;
    TokenView token_;
};

}  // namespace

void store_tuple_elements(ModuleText& module) { TupleParts(module).change(); }

constinit const Workaround tuple_parts{
    .name = "tuple parts",
    .fault = "loses gradients of stores to parts of a tuple's element, or crashes",
    .report = "",
    .record = "slang_faults.md",
    .since = {},
    .change_text = store_tuple_elements,
};

}  // namespace kf::gen
