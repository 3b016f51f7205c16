// Finds counters by the form of their steps.
#include "slang/workarounds/loop_starts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "slang/tokens.h"

namespace kf::gen {

namespace {

bool is_integer(std::string_view type) {
    return is_one_of(type, "int", "uint", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",
                     "uint32_t", "uint64_t");
}

/// `x` is stepped by the lexemes from `begin` to `end`.
struct CounterStep {
    std::string_view counter;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string_view behind = {};  ///< of a step that gives the value before it
    bool in_head = false;
};

/// The parts of a loop: `for (…)`, its body.
struct SteppedLoop {
    std::size_t keyword = 0;
    std::size_t head = 0;  ///< the parenthesis; 0: none in front
    std::size_t head_end = 0;
    std::size_t body = 0;
    std::size_t body_end = 0;
};

class LoopStartFinder {
public:
    explicit LoopStartFinder(const LexedText& text) : text_(&text) {
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (is_one_of(word(index), "typealias", "using") && word(index + 2) == "=" &&
                is_integer(word(index + 3))) {
                aliases_.insert(word(index + 1));
            } else if (word(index) == "typedef" && is_integer(word(index + 1))) {
                aliases_.insert(word(index + 2));
            }
        }
    }

    /// The loop that begins there, where it has [MaxIters].
    [[nodiscard]] std::optional<SteppedLoop> loop_at(std::size_t keyword) const {
        if (!is_one_of(word(keyword), "for", "do", "while") || !has_limit(keyword)) return std::nullopt;
        SteppedLoop loop{keyword, 0, 0, keyword + 1, 0};
        if (word(keyword) != "do") {
            loop.head = keyword + 1;
            loop.head_end = text_->closing(loop.head);
            loop.body = loop.head_end + 1;
        }
        if (word(loop.body) == "{") {
            loop.body_end = text_->closing(loop.body);
        } else {
            for (loop.body_end = loop.body; loop.body_end < text_->size(); ++loop.body_end) {
                if (word(loop.body_end) == ";") break;
                if (is_one_of(word(loop.body_end), "(", "{")) {
                    loop.body_end = text_->closing(loop.body_end);
                    if (word(loop.body_end) == "}") break;
                }
            }
        }
        if (loop.body_end >= text_->size()) return std::nullopt;
        return loop;
    }

    [[nodiscard]] std::vector<CounterStep> steps(const SteppedLoop& loop) const {
        std::vector<CounterStep> found;
        if (word(loop.keyword) == "for") {
            std::size_t begin = semicolon_behind(semicolon_behind(loop.head + 1) + 1) + 1;
            while (begin < loop.head_end) {
                std::size_t end = begin;
                while (end < loop.head_end && word(end) != ",") {
                    end = is_one_of(word(end), "(", "[", "{") ? text_->closing(end) + 1 : end + 1;
                }
                if (auto step = step_of(begin, end)) {
                    step->in_head = true;
                    found.push_back(*step);
                }
                begin = end + 1;
            }
        }
        for (std::size_t begin = loop.body + 1; begin < loop.body_end; ++begin) {
            // The heads of loops within have no statements.
            if (word(begin) == "(") begin = text_->closing(begin);
            if (!is_one_of(word(begin - 1), ";", "{", "}", ")")) continue;
            std::size_t end = begin;
            while (end < loop.body_end && !is_one_of(word(end), ";", "{", "}")) ++end;
            // Nothing may come between an `if` without braces and its `else`.
            if (word(end) != ";" || word(end + 1) == "else") continue;
            if (const auto step = step_of(begin, end)) found.push_back(*step);
        }
        return found;
    }

    enum class Start : std::uint8_t { constant, computed, unknown };

    /// How the counter of the loop starts: unknown where it may not be a number that has a sign.
    [[nodiscard]] Start start_of(const SteppedLoop& loop, const CounterStep& step) const {
        bool assigned = false;
        const std::size_t first = step.in_head ? loop.head_end : loop.keyword;
        for (std::size_t index = first; index-- > 1;) {
            if (word(index) != step.counter) continue;
            const std::string_view type = word(index - 1);
            const bool in_head = index > loop.keyword;
            if (is_integer(type) || aliases_.count(type) != 0 || (in_head && type == "var")) {
                return !assigned && is_literal(index + 1) ? Start::constant : Start::computed;
            }
            if (is_scalar(type)) return Start::constant;  // Slang keeps those
            if (text_->is_word(index - 1) && !is_one_of(type, "return", "else", "do")) return Start::unknown;
            // Between two declarations, or in what steps it.
            assigned = assigned || index < loop.keyword;
        }
        return Start::unknown;
    }

private:
    [[nodiscard]] std::string_view word(std::size_t index) const { return (*text_)[index]; }

    [[nodiscard]] bool has_limit(std::size_t keyword) const {
        bool limit = false;
        for (std::size_t index = keyword; index > 1 && word(index - 1) == "]";) {
            for (index -= 2; index > 0 && word(index) != "["; --index) {
                limit = limit || word(index) == "MaxIters";
            }
        }
        return limit;
    }

    [[nodiscard]] std::size_t semicolon_behind(std::size_t index) const {
        while (index < text_->size() && word(index) != ";") {
            index = is_one_of(word(index), "(", "[", "{") ? text_->closing(index) + 1 : index + 1;
        }
        return index;
    }

    [[nodiscard]] std::optional<CounterStep> step_of(std::size_t begin, std::size_t end) const {
        const auto doubled = [&](std::size_t index) {
            return is_one_of(word(index), "+", "-") && word(index + 1) == word(index);
        };
        if (end == begin + 3 && doubled(begin) && text_->is_word(begin + 2)) {
            return CounterStep{word(begin + 2), begin, end};
        }
        if (!text_->is_word(begin)) return std::nullopt;
        if (end == begin + 3 && doubled(begin + 1)) {
            return CounterStep{word(begin), begin, end, word(begin + 1) == "+" ? " + 1" : " - 1"};
        }
        const bool compound = is_one_of(word(begin + 1), "+", "-") && word(begin + 2) == "=";
        const bool whole =
            word(begin + 1) == "=" && word(begin + 2) == word(begin) && is_one_of(word(begin + 3), "+", "-");
        if (compound || whole) return CounterStep{word(begin), begin, end};
        return std::nullopt;
    }

    /// `= 3` and nothing more.
    [[nodiscard]] bool is_literal(std::size_t index) const {
        if (word(index) != "=") return false;
        index += word(index + 1) == "-" ? 2 : 1;
        const std::string_view value = word(index);
        return !value.empty() && value[0] >= '0' && value[0] <= '9' && is_one_of(word(index + 1), ";", ",");
    }

    const LexedText* text_;
    std::set<std::string_view> aliases_;
};

}  // namespace

std::string keep_loop_starts(std::string_view text) {
    const LexedText lexed(text);
    const LoopStartFinder finder(lexed);
    std::map<std::size_t, std::string> insertions;  // by the offset in the text
    for (std::size_t index = 0; index < lexed.size(); ++index) {
        const std::optional<SteppedLoop> loop = finder.loop_at(index);
        if (!loop) continue;
        for (const CounterStep& step : finder.steps(*loop)) {
            if (finder.start_of(*loop, step) != LoopStartFinder::Start::computed) continue;
            const std::string counter(step.counter);
            if (step.in_head) {
                insertions[lexed.offset(step.begin)] = counter + " = -(-(";
                insertions[lexed.offset(step.end)] = std::string(step.behind) + "))";
            } else {
                insertions[lexed.offset(step.end) + 1] = " " + counter + " = -(-" + counter + ");";
            }
        }
    }
    std::string result;
    std::size_t copied = 0;
    for (const auto& [offset, insertion] : insertions) {
        result.append(text.substr(copied, offset - copied)).append(insertion);
        copied = offset;
    }
    return result.append(text.substr(copied));
}

constinit const Workaround loop_starts{
    .name = "loop starts",
    .fault = "counts anew, from 0, where a loop whose counter starts at a computed value goes backward",
    .report = "shader-slang/slang#12070",
    .record = "slang_faults.md",
    .since = {2026, 7},
    .fixed = SlangVersion{2026, 16},
    .change_text = [](ModuleText& text) { text.restart(keep_loop_starts(text.original)); },
};

bool starts_computed(const LexedText& text, std::size_t index) {
    if (!is_one_of(text[index], "for", "do", "while")) return false;
    const LoopStartFinder finder(text);
    const std::optional<SteppedLoop> loop = finder.loop_at(index);
    if (!loop) return false;
    const std::vector<CounterStep> steps = finder.steps(*loop);
    return std::any_of(steps.begin(), steps.end(), [&](const CounterStep& step) {
        return finder.start_of(*loop, step) == LoopStartFinder::Start::unknown;
    });
}

}  // namespace kf::gen
