// Looks for macros with loops in the bodies of functions, and for what is around and within them.
#include "slang/workarounds/hidden_loops.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "slang/lexed_text.h"
#include "slang/source_functions.h"
#include "slang/tokens.h"
#include "slang/workarounds/nested_loops.h"
#include "slang/workarounds/while_loops.h"

namespace kf::gen {

namespace {

/// What some lexemes hold, with the macros among them.
struct Contents {
    int loops = 0;
    bool has_while = false;  ///< with a condition in front
    bool leaves = false;     ///< by break, continue or return
    bool open = false;       ///< a brace that closes elsewhere
    int limited = 0;         ///< loops with [MaxIters(4)], a number
    std::set<std::string_view> limits = {};

    /// Tells whether all of the loops have one limit.
    [[nodiscard]] bool is_even() const { return limits.size() == 1 && limited == loops; }

    void add(const Contents& other) {
        loops += other.loops;
        has_while = has_while || other.has_while;
        leaves = leaves || other.leaves;
        open = open || other.open;
        limited += other.limited;
        limits.insert(other.limits.begin(), other.limits.end());
    }
};

struct Macro {
    std::unique_ptr<LexedText> text;  ///< what it stands for
    bool takes_arguments = false;
    Contents contents;
};

class HiddenLoopFinder {
public:
    HiddenLoopFinder(const std::map<std::string, std::string>& sources, const Workarounds& needed)
        : functions_(sources),
          finds_nests_(contains(needed, nested_loops)),
          finds_whiles_(contains(needed, while_loops)) {
        for (const auto& [file, text] : sources) read_macros(text);
        // Macros in macros: each turn sees one level more.
        for (std::size_t turn = 0; turn < most_levels; ++turn) {
            for (auto& [name, macro] : macros_) macro.contents = contents(*macro.text, 0, macro.text->size());
        }
    }

    Diagnostics warnings() const {
        Diagnostics found;
        for (const SourceFunction& function : functions_.all()) {
            if (function.differentiable) add_warnings(function, found);
        }
        return found;
    }

private:
    static constexpr std::size_t most_levels = 4;

    static bool is_loop(std::string_view word) { return is_one_of(word, "for", "while", "do"); }

    void read_macros(std::string_view source) {
        const LexedText text(source);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (text.kind(index) != Lexeme::Kind::directive) continue;
            const LexedText directive(text[index].substr(1));
            if (directive[0] != "define" || !directive.is_word(1)) continue;
            const std::size_t behind = directive.offset(1) + directive[1].size();
            const bool takes = directive[2] == "(" && directive.offset(2) == behind;
            const std::size_t first = takes ? directive.closing(2) + 1 : 2;
            const std::string_view rest = first < directive.size()
                                              ? text[index].substr(1 + directive.offset(first))
                                              : std::string_view();
            macros_[text[index].substr(1 + directive.offset(1), directive[1].size())] = {
                std::make_unique<LexedText>(rest), takes, {}};
        }
    }

    const Macro* macro_at(const LexedText& text, std::size_t index) const {
        if (!text.is_word(index)) return nullptr;
        const auto found = macros_.find(text[index]);
        if (found == macros_.end() || (found->second.takes_arguments && text[index + 1] != "("))
            return nullptr;
        return &found->second;
    }

    Contents contents(const LexedText& text, std::size_t begin, std::size_t end) const {
        Contents found;
        int dos = 0;
        int whiles = 0;
        int depth = 0;
        for (std::size_t index = begin; index < end; ++index) {
            const std::string_view word = text[index];
            // No loop any more once Slang has unrolled it.
            if (is_one_of(word, "ForceUnroll", "unroll")) return {};
            dos += word == "do" ? 1 : 0;
            whiles += word == "while" ? 1 : 0;
            found.loops += word == "for" ? 1 : 0;
            found.leaves = found.leaves || is_one_of(word, "break", "continue", "return");
            if (word == "MaxIters" && is_number(text[index + 2]) && text[index + 3] == ")") {
                ++found.limited;
                found.limits.insert(text[index + 2]);
            }
            depth += word == "{" ? 1 : word == "}" ? -1 : 0;
            found.open = found.open || depth < 0;
            if (const Macro* macro = macro_at(text, index)) found.add(macro->contents);
        }
        found.loops += std::max(dos, whiles);
        found.has_while = found.has_while || whiles > dos;
        found.open = found.open || depth != 0;
        return found;
    }

    /// Gives the lexeme behind the statement that begins there; a loop's without its head.
    static std::size_t after_statement(const LexedText& text, std::size_t index) {
        while (index < text.size() && !is_one_of(text[index], ";", "{", "}")) {
            index = is_one_of(text[index], "(", "[") ? text.closing(index) + 1 : index + 1;
        }
        return text[index] == "{" ? text.closing(index) + 1 : index + 1;
    }

    /// Gives the lexeme behind the loop, or behind what a macro and what it is followed by may make of one.
    static std::size_t after_loop(const LexedText& text, std::size_t index) {
        ++index;
        if (text[index] == "(") index = text.closing(index) + 1;
        return std::min(after_statement(text, index), text.size());
    }

    /// Tells whether a loop that the text shows, or another macro's, is around that place of the function.
    bool is_within_loop(const SourceFunction& function, std::size_t place) const {
        const LexedText& text = *function.text;
        for (std::size_t index = function.body; index < place; ++index) {
            const Macro* macro = macro_at(text, index);
            const bool loops = is_loop(text[index]) || (macro != nullptr && macro->contents.loops > 0);
            if (!loops || is_unrolled(text, index)) continue;
            if (after_loop(text, index) > place || (macro != nullptr && macro->contents.open)) return true;
        }
        return false;
    }

    static bool is_unrolled(const LexedText& text, std::size_t loop) {
        for (std::size_t index = loop; index > 0 && text[index - 1] == "]";) {
            for (index -= 2; index > 0 && text[index] != "["; --index) {
                if (is_one_of(text[index], "ForceUnroll", "unroll")) return true;
            }
        }
        return false;
    }

    void add_warnings(const SourceFunction& function, Diagnostics& found) const {
        const LexedText& text = *function.text;
        const std::size_t end = std::min(function.end, text.size());
        for (std::size_t index = function.body; index < end; ++index) {
            const Macro* macro = macro_at(text, index);
            const bool own = function.macro && is_loop(text[index]) && !is_unrolled(text, index);
            if (macro == nullptr && !own) continue;
            const std::size_t begin = own ? index : index + 1;
            const std::size_t behind = std::min(after_loop(text, index), end);
            Contents all = contents(text, begin, behind);
            Contents hidden = own ? all : macro->contents;
            if (!own && text[begin] == "(") hidden.add(contents(text, begin, text.closing(begin)));
            if (hidden.loops == 0) continue;
            if (!own) all.add(macro->contents);
            const bool nests = finds_nests_ && (all.loops > 1 || is_within_loop(function, index)) &&
                               !contents(text, function.begin, end).is_even();
            if (!nests && !(finds_whiles_ && hidden.has_while && all.leaves)) continue;
            found.push_back(warning(function, own ? std::string() : std::string(text[index]),
                                    function.place(index), nests));
            return;  // one of a function's is enough to look at it
        }
    }

    static Diagnostic warning(const SourceFunction& function, const std::string& macro, const Location& place,
                              bool nests) {
        const std::string what = nests ? "a loop of a nest" : "a 'while' that is left from within";
        const std::string where = macro.empty()
                                      ? "'" + function.name + "', which a macro defines, has " + what
                                      : "'" + macro + "' writes " + what + " into '" + function.name + "'";
        return {Severity::warning,
                "gradient-unprotected",
                place,
                where + ": Slang may give it a wrong gradient, and kfgen doesn't change what macros hold",
                {nests ? "write the loops without a macro, or give all of the nest the same [MaxIters]"
                       : "write 'for (; i < n;)' for 'while (i < n)'",
                 "'kfgen check --gradients' compares the gradients with differences"}};
    }

    SourceFunctions functions_;
    bool finds_nests_;
    bool finds_whiles_;
    std::map<std::string_view, Macro, std::less<>> macros_;
};

}  // namespace

Diagnostics hidden_loop_warnings(const std::map<std::string, std::string>& sources,
                                 const Workarounds& needed) {
    const auto writes_loops = [](const auto& source) {
        return source.second.find("#define") != std::string::npos ||
               source.second.find("# define") != std::string::npos;
    };
    if (std::none_of(sources.begin(), sources.end(), writes_loops)) return {};
    return HiddenLoopFinder(sources, needed).warnings();
}

}  // namespace kf::gen
