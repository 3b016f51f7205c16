// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/block_values.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

/// A block's type among a text's lexemes.
struct BlockType {
    std::size_t word = 0;
    std::size_t behind_value = 0;  ///< the comma or > behind the type of what is in it
    std::size_t close = 0;         ///< its >
};

/// The block whose type begins there; its `close` is 0 where none does.
BlockType block_at(const LexedText& text, std::size_t word) {
    BlockType block{word, 0, 0};
    if (!is_block(text[word]) || text[word + 1] != "<") return block;
    int depth = 0;
    for (std::size_t at = word + 1; at < text.size() && text[at] != ";" && text[at] != "{"; ++at) {
        if (text[at] == "<") ++depth;
        if (text[at] == "(" || text[at] == "[") at = std::min(text.closing(at), text.size() - 1);
        const bool ends = text[at] == ">" && --depth == 0;
        if (block.behind_value == 0 && (ends || (depth == 1 && text[at] == ","))) block.behind_value = at;
        if (ends) block.close = at;
        if (ends) break;
    }
    return block;
}

/// Follows brackets to tell where a module's globals are declared.
class Scope {
public:
    void pass(std::string_view word) {
        if (word == "namespace") {
            names_space_ = true;
        } else if (word == ";") {
            names_space_ = false;
        } else if (word == "{" || word == "(" || word == "[") {
            const bool is_space = names_space_ && word == "{";
            open_.push_back(is_space);
            if (is_space) names_space_ = false;
        } else if ((word == "}" || word == ")" || word == "]") && !open_.empty()) {
            open_.pop_back();
        }
    }
    /// Whether no bracket but those of namespaces is open.
    [[nodiscard]] bool is_global() const {
        return std::all_of(open_.begin(), open_.end(), [](bool is_space) { return is_space; });
    }

private:
    std::vector<bool> open_;  ///< for each bracket whether it is a namespace's
    bool names_space_ = false;
};

}  // namespace

bool is_block(std::string_view word) { return word == "ParameterBlock" || word == "ConstantBuffer"; }

std::string with_block_values(std::string_view text) {
    std::string changed(text);
    if (text.find("ParameterBlock") == std::string_view::npos &&
        text.find("ConstantBuffer") == std::string_view::npos) {
        return changed;
    }
    const LexedText lexed(text);
    Scope scope;
    std::size_t changed_to = 0;  // the > of a block that has been changed
    for (std::size_t at = 0; at < lexed.size(); ++at) {
        scope.pass(lexed[at]);
        const BlockType block = block_at(lexed, at);
        if (block.close == 0 || scope.is_global()) continue;
        // Handles of blocks are none: `DescriptorHandle<ConstantBuffer<Scene>>`,
        // `ConstantBuffer<Scene>.Handle`.
        const bool is_argument = at > changed_to && lexed[at - 1] == "<";
        if (is_argument || lexed[block.close + 1] == ".") continue;
        changed_to = std::max(changed_to, block.close);
        blank_text(changed, lexed.offset(at), lexed.offset(at + 2));
        blank_text(changed, lexed.offset(block.behind_value), lexed.offset(block.close) + 1);
    }
    return changed;
}

}  // namespace kf::gen
