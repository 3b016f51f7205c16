// Finds in CUDA source what functions reach beside their parameters.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "slang/lexer.h"
#include "slang/reached.h"

namespace kf::gen {

namespace {

/// What a word of CUDA's, or the start of one, stands for.
struct Named {
    std::string_view start;
    Reach what;
    std::string_view name;  ///< empty: the word itself
};

constexpr std::array<Named, 26> named_words{{
    {"__syncthreads", Reach::barrier, "a barrier"},
    {"__syncwarp", Reach::barrier, "a barrier"},
    {"__threadfence", Reach::barrier, "a memory barrier"},
    {"threadIdx", Reach::builtin, "SV_GroupThreadID"},
    {"blockIdx", Reach::builtin, "SV_GroupID"},
    {"blockDim", Reach::builtin, "WorkgroupSize"},
    {"gridDim", Reach::builtin, "the number of thread groups"},
    {"warpSize", Reach::builtin, "WaveGetLaneCount"},
    {"laneid", Reach::builtin, "WaveGetLaneIndex"},
    {"warpid", Reach::builtin, "the wave's number in its group"},
    {"ctaid", Reach::builtin, "SV_GroupID"},
    {"smid", Reach::builtin, "a processor's number"},
    {"lanemask", Reach::builtin, "a mask of lanes"},
    {"_getLaneId", Reach::builtin, "WaveGetLaneIndex"},
    {"_getActiveMask", Reach::lanes, "a mask of lanes"},
    {"_wave", Reach::lanes, {}},
    {"__shfl", Reach::lanes, {}},
    {"__ballot", Reach::lanes, {}},
    {"__any_sync", Reach::lanes, "WaveActiveAnyTrue"},
    {"__all_sync", Reach::lanes, "WaveActiveAllTrue"},
    {"__activemask", Reach::lanes, "a mask of lanes"},
    {"__match_", Reach::lanes, "WaveMatch"},
    {"__reduce_", Reach::lanes, {}},
    {"Slang_CUDA_WMMA", Reach::lanes, "CoopMat"},
    {"clock", Reach::clock, "the clock"},
    {"globaltimer", Reach::clock, "the clock"},
}};

/// "calls" of "calls_0": Slang numbers what it writes, words of CUDA's it doesn't.
std::string_view plain(std::string_view word) {
    const std::size_t end = word.rfind('_');
    return end != std::string_view::npos && end > 0 && is_number(word.substr(end + 1)) ? word.substr(0, end)
                                                                                       : word;
}

struct Token {
    std::string_view text;
    Location place;
    std::string_view function;  ///< that it is in; empty outside of all
    bool entry = false;         ///< which is the entry point
    std::size_t block = 0;
    bool word = false;
};

class CudaReader {
public:
    explicit CudaReader(std::string_view text) : text_(text) {}

    std::vector<Reached> read() {
        for (const Lexeme& lexeme : lex(text_)) add_lexeme(lexeme);
        for (std::size_t i = 2; i < tokens_.size(); ++i) {
            if (is_guard(at(i)) && is_declared(i)) declared_.insert(at(i));
        }
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
            if (tokens_[i].word) look_at(i);
        }
        return std::move(reached_);
    }

private:
    // ---- Tokens ----

    void add_lexeme(const Lexeme& lexeme) {
        const std::string_view text = text_.substr(lexeme.begin, lexeme.end - lexeme.begin);
        switch (lexeme.kind) {
            case Lexeme::Kind::comment: return;
            case Lexeme::Kind::directive: return read_directive(text);
            case Lexeme::Kind::literal:
                // Assembly names registers in its text.
                for (const Lexeme& inner :
                     lex(text.substr(1, text.size() - std::min<std::size_t>(2, text.size())))) {
                    if (inner.kind == Lexeme::Kind::word)
                        add_token(text.substr(1 + inner.begin, inner.end - inner.begin), true);
                }
                return;
            case Lexeme::Kind::word: return add_token(text, true);
            case Lexeme::Kind::symbol: return add_token(text, false);
        }
    }

    void add_token(std::string_view text, bool word) {
        if (text == "{") {
            if (depth_++ == 0 && !called_.empty()) {
                function_ = called_;
                entry_ = global_;
            }
            blocks_.push_back(++count_);
        }
        tokens_.push_back({text, place_, function_, entry_, blocks_.empty() ? 0 : blocks_.back(), word});
        if (text == "}" && depth_ > 0) {
            blocks_.pop_back();
            if (--depth_ == 0) leave();
        }
        if (depth_ > 0) return;
        if (text == ";") leave();
        if (text == "__global__") global_ = true;
        if (text == "(" && called_.empty() && tokens_.size() > 1) called_ = tokens_[tokens_.size() - 2].text;
    }

    void leave() {
        function_ = called_ = {};
        entry_ = global_ = false;
    }

    /// `#line 17 "a.slang"`, of the same file `#line 18`; and what Slang calls the block of globals.
    void read_directive(std::string_view text) {
        constexpr std::string_view line = "#line ";
        constexpr std::string_view define = "#define ";
        if (text.starts_with(define) && text.find("(&SLANG_globalParams)") != std::string_view::npos) {
            globals_ = text.substr(define.size(), text.find(' ', define.size()) - define.size());
        }
        if (!text.starts_with(line)) return;
        text.remove_prefix(line.size());
        std::from_chars(text.data(), text.data() + text.size(), place_.line);
        const std::size_t quote = text.find('"');
        if (quote != std::string_view::npos)
            place_.file = text.substr(quote + 1, text.rfind('"') - quote - 1);
    }

    // ---- What tokens say ----

    [[nodiscard]] std::string_view at(std::size_t index) const {
        return index < tokens_.size() ? tokens_[index].text : std::string_view();
    }
    [[nodiscard]] bool is_arrow(std::size_t index) const { return at(index) == "-" && at(index + 1) == ">"; }

    void look_at(std::size_t index) {
        const Token& token = tokens_[index];
        if (token.text.find("SLANG_ParameterGroup_") != std::string_view::npos && at(index + 1) == "*") {
            groups_.insert(at(index + 2));
            return;
        }
        if (token.text == "__shared__") {
            std::size_t end = index;
            while (end < tokens_.size() && at(end) != ";" && at(end) != "=") ++end;
            return add(Reach::group_memory, plain(at(end - 1)), use_of(at(end - 1)));
        }
        if (!globals_.empty() && token.text == globals_ && is_arrow(index + 1)) {
            // A cbuffer's members are globals of their own.
            const bool grouped = groups_.contains(at(index + 3)) && is_arrow(index + 4);
            const std::string_view name = plain(at(index + (grouped ? 6 : 3)));
            if (name.starts_with(probe_buffer)) return;
            return name == probe_group_size ? add(Reach::builtin, "WorkgroupSize", &token)
                                            : add(Reach::parameter, name, &token);
        }
        if (token.text.starts_with("kernelContext_") && is_arrow(index + 1) && !token.entry) {
            if (writes(index) && !sets_first_value(index)) {
                add(Reach::static_variable, plain(at(index + 3)), &token);
            }
            return;
        }
        // Slang declares all that it makes up but the group's size, which probes don't say, and what is lost
        // of a loop: its iterations are counted in `_dc_0`, from 0.
        if (is_guard(token.text) && !token.function.empty() && !declared_.contains(token.text)) {
            const bool counts = index > 1 && at(index - 1) == "+" && at(index - 2).starts_with("_dc_");
            return counts ? add(Reach::loop_start, "the start of a loop", &token)
                          : add(Reach::builtin, "WorkgroupSize", &token);
        }
        // Slang's own functions are numbered, and a user's may be called as those of CUDA's are.
        if (plain(token.text) != token.text || token.function.empty()) return;
        // Where functions ask for lanes, the entry point says which there are.
        if (token.entry && token.text == "__ballot_sync") return;
        for (const Named& named : named_words) {
            if (!token.text.starts_with(named.start)) continue;
            return add(named.what, named.name.empty() ? token.text : named.name, user_of(token));
        }
    }

    /// Whether a type may stand before the name, or what it is a member of.
    [[nodiscard]] bool is_declared(std::size_t index) const {
        if (tokens_[index - 1].word) return at(index - 1) != "return";
        const std::string_view before = at(index - 1);
        return before == ">" || before == "." || before == "*" || before == "&";
    }

    /// Whether the member that a pointer at `index` names, or a part of it, is written there.
    [[nodiscard]] bool writes(std::size_t index) const {
        const bool address =
            index > 1 && at(index - 1) == "&" && !tokens_[index - 2].word && at(index - 2) != ")";
        if (address) return true;
        std::size_t end = index + 4;
        for (;;) {
            if (at(end) == ".") {
                end += 2;
            } else if (is_arrow(end)) {
                end += 3;
            } else if (at(end) == "[") {
                for (int open = 0; end < tokens_.size(); ++end) {
                    open += at(end) == "[" ? 1 : at(end) == "]" ? -1 : 0;
                    if (open == 0) break;
                }
                ++end;
            } else {
                break;
            }
        }
        const std::string_view next = at(end);
        if (next == "=") return at(end + 1) != "=";
        constexpr std::string_view operators = "+-*/%&|^";
        return next.size() == 1 && operators.find(next.front()) != std::string_view::npos &&
               (at(end + 1) == "=" || (at(end + 1) == next && (next == "+" || next == "-")));
    }

    /// Where a function sets its own static variable when it is first called, it notes that in a bool.
    [[nodiscard]] bool sets_first_value(std::size_t index) const {
        if (is_guard(at(index + 3))) return true;
        const std::size_t block = tokens_[index].block;
        bool guarded = false;
        for (std::size_t i = index; i < tokens_.size() && tokens_[i].function == tokens_[index].function;
             ++i) {
            guarded = guarded || (tokens_[i].block == block &&
                                  tokens_[i].text.starts_with("kernelContext_") && is_guard(at(i + 3)));
        }
        std::size_t value = index;
        while (value < tokens_.size() && at(value) != "=") ++value;
        for (++value; guarded && value < tokens_.size() && at(value) != ";"; ++value) {
            if (tokens_[value].word && !is_literal(at(value))) return false;
        }
        return guarded;
    }

    static bool is_guard(std::string_view name) {
        return name.starts_with("_S") && is_number(name.substr(2));
    }

    /// A number, a type that it is made, or one of the functions that make vectors of them.
    static bool is_literal(std::string_view word) {
        static constexpr std::array<std::string_view, 12> names = {
            "true",   "false", "bool",  "int",    "uint",     "float",
            "double", "half",  "short", "ushort", "longlong", "ulonglong"};
        return std::isdigit(static_cast<unsigned char>(word.front())) != 0 || word.starts_with("make_") ||
               std::find(names.begin(), names.end(), word) != names.end();
    }

    // ---- Places ----

    /// The first function that names it.
    [[nodiscard]] const Token* use_of(std::string_view word) const {
        const auto used = std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& token) {
            return token.text == word && !token.function.empty();
        });
        return used == tokens_.end() ? nullptr : &*used;
    }

    static bool is_slangs(const std::string& file) { return file == "core" || file.ends_with(".meta.slang"); }

    /// The token, or what calls the function of Slang's own that it is in.
    [[nodiscard]] const Token* user_of(const Token& token) const {
        const Token* user = &token;
        for (int depth = 0; depth < 16 && is_slangs(user->place.file); ++depth) {
            const std::string_view callee = user->function;
            const auto caller = std::find_if(tokens_.begin(), tokens_.end(), [&](const Token& other) {
                return other.text == callee && !other.function.empty() && other.function != callee;
            });
            if (caller == tokens_.end()) break;
            user = &*caller;
        }
        return user;
    }

    void add(Reach what, std::string_view name, const Token* use) {
        Reached one;
        one.what = what;
        one.name = name;
        if (use != nullptr && !is_slangs(use->place.file)) one.used = use->place;
        if (is_known(reached_, one)) return;
        if (use != nullptr) one.function = plain(use->function);
        reached_.push_back(std::move(one));
    }

    std::string_view text_;
    std::vector<Token> tokens_;
    std::vector<std::size_t> blocks_;
    std::size_t count_ = 0;
    int depth_ = 0;
    std::string_view called_;    ///< what a declaration names before its first parenthesis
    std::string_view function_;  ///< that tokens are in
    std::string_view globals_;
    std::set<std::string_view> declared_;  ///< of the names that Slang makes up
    std::set<std::string_view> groups_;    ///< cbuffers, as members of those
    bool global_ = false;
    bool entry_ = false;
    Location place_;
    std::vector<Reached> reached_;
};

}  // namespace

std::vector<Reached> reached_in_cuda(std::string_view text) { return CudaReader(text).read(); }

}  // namespace kf::gen
