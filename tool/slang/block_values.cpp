// Looks at lexemes alone: no macro is replaced, and branches that are left out count.
#include "slang/block_values.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
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
    const std::size_t behind = behind_angles(text, word + 1);
    if (behind == word + 1) return block;
    block.close = behind - 1;
    block.behind_value = find_outside(text, word + 2, block.close, ",");
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

/// The text with cbuffers for tbuffers and ConstantBuffer for TextureBuffer, which hold the same: Slang
/// writes no code for these.
std::string with_constant_buffers(std::string text) {
    if (text.find("TextureBuffer") == std::string::npos && text.find("tbuffer") == std::string::npos)
        return text;
    std::string changed = text;
    const LexedText lexed(text);
    for (std::size_t at = lexed.size(); at-- > 0;) {
        const bool is_group = lexed[at] == "tbuffer" && lexed.is_word(at + 1);
        const std::size_t type_end = lexed[at] == "TextureBuffer" ? block_at(lexed, at).close : 0;
        if (!is_group && type_end == 0) continue;
        // Its register is one of textures, which a constant buffer has not.
        for (std::size_t next = at + 1; next < lexed.size() && lexed[next] != ";" && lexed[next] != "{";
             ++next) {
            if (lexed[next] != "register" || lexed[next - 1] != ":") continue;
            const std::size_t close = std::min(lexed.closing(next + 1), lexed.size() - 1);
            blank_text(changed, lexed.offset(next - 1), lexed.offset(close) + lexed[close].size());
        }
        if (!is_group) {
            // A blank pays for the longer word, so that what is declared stays where it was.
            const std::size_t behind = lexed.offset(type_end) + 1;
            if (behind < changed.size() && changed[behind] == ' ') changed.erase(behind, 1);
        }
        changed.replace(lexed.offset(at), lexed[at].size(), is_group ? "cbuffer" : "ConstantBuffer");
    }
    return changed;
}

}  // namespace

bool is_block(std::string_view word) {
    return word == "ParameterBlock" || word == "ConstantBuffer" || word == "TextureBuffer";
}

std::string with_block_values(std::string_view text) {
    std::string changed(text);
    constexpr std::array<std::string_view, 4> words{"ParameterBlock", "ConstantBuffer", "TextureBuffer",
                                                    "tbuffer"};
    if (std::none_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; }))
        return changed;
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
    return with_constant_buffers(std::move(changed));
}

}  // namespace kf::gen
