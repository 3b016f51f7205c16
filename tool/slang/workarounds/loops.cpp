// Finds loops, how they nest and how often they run, by their tokens.
#include "slang/workarounds/loops.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "slang/brackets.h"
#include "slang/enclosing_function.h"
#include "slang/lexer.h"

namespace kf::gen {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A constant expression; a number where the text says which.
struct Expression {
    std::string text;
    std::optional<std::int64_t> number;
};

/// `for (name = first; name < last; name += step)`, or downwards.
struct Count {
    std::string_view name;
    Expression first;
    Expression last;
    Expression step;
    bool inclusive = false;  ///< `<=` or `>=`
    bool down = false;
};

struct Loop {
    std::size_t start = 0;  ///< the keyword, or the first attribute before it
    std::size_t keyword = 0;
    std::size_t open = none;   ///< the parentheses of a for or while
    std::size_t close = none;  ///< likewise
    std::size_t body = 0;
    std::size_t end = 0;             ///< the token after it
    std::size_t limit_open = none;   ///< the parentheses of [MaxIters(…)]
    std::size_t limit_close = none;  ///< likewise
    bool unrolled = false;
    std::optional<Count> count;
    std::optional<Expression> limit;   ///< what Slang takes: [MaxIters(…)], otherwise the count
    std::vector<std::size_t> related;  ///< the loops around it and within it that aren't unrolled
};

/// The largest of some constants. Its text grows with each one that isn't known, and doubles as long as they
/// are few.
class Largest {
public:
    void add(const Expression& expression, std::int64_t more) {
        if (expression.number) {
            number_ = std::max(number_, *expression.number + more);
        } else {
            std::int64_t& known = texts_[expression.text];
            known = std::max(known, more);
        }
    }

    [[nodiscard]] std::string text() const {
        constexpr std::size_t few = 3;
        std::string result = number_ > 0 || texts_.empty() ? std::to_string(number_) : std::string();
        for (const auto& [text, more] : texts_) {
            const std::string next = more == 0 ? text : text + " + " + std::to_string(more);
            if (result.empty()) {
                result = next;
            } else if (texts_.size() > few) {
                result += " + (" + next + ")";
            } else {
                result.insert(0, "(");
                result += ") > (" + next + ") ? " + result + ") : (" + next + ")";
                result = "(" + result + ")";
            }
        }
        return result;
    }

private:
    std::int64_t number_ = 0;
    std::map<std::string, std::int64_t> texts_;
};

class LoopReader : TokenView {
public:
    LoopReader(std::string_view text, const Tokens& tokens) : TokenView(tokens), text_(text) {
        note_constants();
        find_loops();
        relate();
    }

    [[nodiscard]] const std::vector<Loop>& loops() const { return loops_; }

    void raise_limits(ModuleText& text) const {
        for (const Loop& loop : loops_) raise_limit(loop, text);
    }

    void assert_limits(ModuleText& text) const {
        for (const Loop& loop : loops_) assert_limit(loop, text.insertions);
    }

    void replace_whiles(ModuleText& text) const {
        for (const Loop& loop : loops_) {
            if (token(loop.keyword) != "while" || token(loop.body) == ";") continue;
            text.text.replace(offset(loop.keyword), 5, "for  ");
            text.insertions[offset(loop.open) + 1] += "; ";
            text.insertions[offset(loop.close)] += "; ";
        }
    }

    [[nodiscard]] std::vector<ExcessiveLoop> excessive() const {
        std::vector<ExcessiveLoop> found;
        for (const Loop& loop : loops_) {
            if (!runs_to_its_end(loop) || !loop.limit->number) continue;
            const std::optional<Expression> count = iterations(*loop.count);
            if (count && count->number && *count->number > *loop.limit->number) {
                found.push_back({offset(loop.keyword), *count->number, *loop.limit->number});
            }
        }
        return found;
    }

    [[nodiscard]] std::vector<LongLoop> longer_than(std::int64_t most) const {
        std::vector<LongLoop> found;
        std::size_t reported_end = 0;  // what lies within is reported
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            const Loop& loop = loops_[i];
            if (loop.unrolled || loop.keyword < reported_end) continue;
            std::int64_t iterations = times(loop);
            for (const std::size_t other : loop.related) {
                // More would be as good as endless.
                if (other < i)
                    iterations = std::min(iterations, endless) * std::min(times(loops_[other]), endless);
            }
            const EnclosingFunction function = enclosing_function(tokens_, loop.start);
            const std::int64_t passes = function.differentiated ? 2 : 1;
            if (iterations <= most / passes) continue;
            found.push_back({offset(loop.keyword), iterations, function.name, function.differentiated});
            reported_end = loop.end;
        }
        return found;
    }

    [[nodiscard]] std::vector<LimitedLoop> limited() const {
        std::vector<LimitedLoop> found;
        for (const Loop& loop : loops_) {
            if (loop.limit_open == none || loop.unrolled || !loop.limit || stays_below_limit(loop)) continue;
            const std::size_t body_end = after_statement(loop.body);
            if (loop.end > size() || body_end > size()) continue;
            // Another branch's head may have the same body.
            if (tokens_.all[loop.start].directives != tokens_.all[loop.body].directives) continue;
            const EnclosingFunction function = enclosing_function(tokens_, loop.start);
            if (!function.differentiated) continue;
            found.push_back({offset(loop.start), offset(loop.keyword), offset(loop.body),
                             end_of(body_end - 1), end_of(loop.end - 1), function.name, loop.limit->text,
                             limit_for_slang(loop)});
        }
        return found;
    }

private:
    static constexpr std::int64_t endless = std::int64_t{1} << 31;

    /// How often it runs, or may run at most; 1 where the text doesn't say.
    [[nodiscard]] std::int64_t times(const Loop& loop) const {
        const std::optional<Expression> count = loop.count ? iterations(*loop.count) : std::nullopt;
        if (count && count->number) return std::max<std::int64_t>(1, *count->number);
        return loop.limit && loop.limit->number ? std::max<std::int64_t>(1, *loop.limit->number) : 1;
    }

    [[nodiscard]] std::size_t end_of(std::size_t at) const { return offset(at) + token(at).size(); }

    [[nodiscard]] std::size_t after_statement(std::size_t at) const {
        while (token(at) == "[") at = after_bracket(at);
        if (token(at) == "{") return after_bracket(at);
        if (is_one_of(token(at), "if", "for", "while", "switch") && token(at + 1) == "(") {
            const std::size_t next = after_statement(after_bracket(at + 1));
            return token(at) == "if" && token(next) == "else" ? after_statement(next + 1) : next;
        }
        if (token(at) == "do") at = after_statement(at + 1);  // to its `while`, which ends like any statement
        while (at < size() && token(at) != ";" && token(at) != "}") {
            at = opens(at) ? after_bracket(at) : at + 1;
        }
        return token(at) == ";" ? at + 1 : at;
    }

    [[nodiscard]] static std::optional<std::int64_t> number(std::string_view word) {
        while (!word.empty() && is_one_of(word.back(), 'u', 'U', 'l', 'L')) word.remove_suffix(1);
        std::int64_t value = 0;
        const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
        const bool whole = !word.empty() && failure == std::errc() && end == word.data() + word.size();
        const bool octal = word.size() > 1 && word.front() == '0';
        return whole && !octal ? std::optional(value) : std::nullopt;
    }

    /// `static const int N = 4;`, generic `let N : int`, and what hides them.
    void note_constants() {
        Names hidden_numbers;
        for (std::size_t at = 1; at + 1 < size(); ++at) {
            if (!is_word(at) || !is_word(at - 1)) continue;
            const std::string_view before = token(at - 1);
            if (before == "let" && token(at + 1) == ":") {
                constants_.insert(token(at));
            } else if (at > 2 && token(at - 2) == "const" && is_one_of(token(at - 3), "static") &&
                       token(at + 1) == "=") {
                const bool known = !constants_.insert(token(at)).second;
                const bool plain =
                    token(at + 3) == ";" && !tokens_.all[at].conditional && number(token(at + 2));
                const bool replaced = at > 3 && token(at - 4) == "extern";
                if (known || replaced || !plain) {
                    hidden_numbers.insert(token(at));
                } else {
                    numbers_[token(at)] = *number(token(at + 2));
                }
            } else if (!is_one_of(before, "return", "else", "case", "in", "const", "static") &&
                       is_one_of(token(at + 1), "=", ",", ";", ")", ":", "[")) {
                variables_.insert(token(at));
            }
        }
        for (const std::string_view name : variables_) {
            constants_.erase(name);
            hidden_numbers.insert(name);
        }
        for (const std::string_view name : hidden_numbers) numbers_.erase(name);
    }

    [[nodiscard]] Expression expression(std::size_t from, std::size_t end) const {
        Expression result;
        std::size_t joint = 0;  // `<=` stays one
        const std::string_view source = text_.substr(offset(from), offset(end) - offset(from));
        for (const Lexeme& lexeme : lex(source)) {
            if (lexeme.kind == Lexeme::Kind::comment) continue;
            const std::string_view part = source.substr(lexeme.begin, lexeme.end - lexeme.begin);
            const bool joined = lexeme.begin == joint;
            if (!result.text.empty() && !joined) result.text += " ";
            result.text += part;
            joint = lexeme.end;
        }
        if (end == from + 1) {
            const auto known = numbers_.find(token(from));
            result.number = known != numbers_.end() ? std::optional(known->second) : number(token(from));
        }
        return result;
    }

    /// Made of numbers and of names for which `accepts` holds.
    template <class Accepts>
    [[nodiscard]] static bool consists_of(std::string_view expression, const Accepts& accepts) {
        bool calls = false;  // where a parenthesis follows
        for (const Lexeme& lexeme : lex(expression)) {
            const std::string_view part = expression.substr(lexeme.begin, lexeme.end - lexeme.begin);
            const bool word = lexeme.kind == Lexeme::Kind::word;
            const bool operation = is_one_of(part, ")", "+", "-", "*", "/", "%") || (part == "(" && !calls);
            if (word ? !number(part) && !accepts(part) : !operation) return false;
            calls = word;
        }
        return true;
    }

    /// Constant as far as this text shows.
    [[nodiscard]] bool is_constant(const Expression& expression) const {
        return consists_of(expression.text, [&](std::string_view name) { return constants_.contains(name); });
    }

    /// Nothing in it is a variable of this text: other names may be macros, or another module's constants.
    [[nodiscard]] bool may_be_constant(const Count& count) const {
        const auto accepts = [&](std::string_view name) { return !variables_.contains(name); };
        return consists_of(count.first.text, accepts) && consists_of(count.last.text, accepts) &&
               consists_of(count.step.text, accepts);
    }

    void find_loops() {
        std::set<std::size_t> ends_of_do;
        for (std::size_t at = 1; at < size(); ++at) {
            if (!is_one_of(token(at), "for", "while", "do") || ends_of_do.contains(at)) continue;
            Loop loop;
            loop.keyword = at;
            std::size_t start = at;
            while (token(start - 1) == "]" && opening_bracket(start - 1) > 0) {
                start = opening_bracket(start - 1);
                read_attributes(start, loop);
            }
            loop.start = start;
            if (!is_one_of(token(start - 1), "{", "}", ";", ")", "else", "do", ":")) continue;
            if (token(at) == "do") {
                loop.body = at + 1;
                ends_of_do.insert(after_statement(at + 1));
            } else if (token(at + 1) == "(") {
                loop.open = at + 1;
                loop.body = after_bracket(at + 1);
                loop.close = loop.body - 1;
            } else {
                continue;
            }
            loop.end = after_statement(at);
            if (token(at) == "for") loop.count = read_count(loop);
            if (!loop.limit && loop.count && may_be_constant(*loop.count))
                loop.limit = iterations(*loop.count);
            loops_.push_back(std::move(loop));
        }
    }

    /// Those in the brackets at `at`.
    void read_attributes(std::size_t at, Loop& loop) const {
        for (const std::size_t end = after_bracket(at); at < end; ++at) {
            loop.unrolled = loop.unrolled || token(at) == "ForceUnroll";
            if (is_one_of(token(at), "MaxIters", "maxiters") && token(at + 1) == "(") {
                loop.limit_open = at + 1;
                loop.limit_close = after_bracket(at + 1) - 1;
                if (loop.limit_close > loop.limit_open + 1 && loop.limit_close < size()) {
                    loop.limit = expression(loop.limit_open + 1, loop.limit_close);
                }
            }
        }
    }

    [[nodiscard]] std::size_t semicolon(std::size_t at, std::size_t end) const {
        while (at < end && token(at) != ";") at = opens(at) ? after_bracket(at) : at + 1;
        return at;
    }

    /// Returns a loop's count where Slang can know it, too.
    [[nodiscard]] std::optional<Count> read_count(const Loop& loop) const {
        const std::size_t first = semicolon(loop.open + 1, loop.close);
        const std::size_t second = semicolon(first + 1, loop.close);
        if (second >= loop.close) return std::nullopt;
        Count count;
        std::size_t equals = loop.open + 1;
        while (equals < first && token(equals) != "=") {
            if (!is_word(equals)) return std::nullopt;
            ++equals;
        }
        if (equals + 1 >= first || equals == loop.open + 1) return std::nullopt;
        count.name = token(equals - 1);
        count.first = expression(equals + 1, first);
        if (!read_step(second + 1, loop.close, count)) return std::nullopt;
        return read_bound(first + 1, second, count) ? std::optional(count) : std::nullopt;
    }

    /// `i < n`, `n > i`, and their likes.
    [[nodiscard]] bool read_bound(std::size_t from, std::size_t end, Count& count) const {
        std::size_t compare = none;
        for (std::size_t at = from; at < end; ++at) {
            if (is_one_of(token(at), "&", "|", "?", ",", "!")) return false;
            if (is_one_of(token(at), "<", ">")) {
                if (compare != none) return false;
                compare = at;
            }
        }
        if (compare == none || compare == from) return false;
        count.inclusive = token(compare + 1) == "=";
        const std::size_t right = compare + (count.inclusive ? 2 : 1);
        if (right >= end) return false;
        const bool swapped = token(from) != count.name;
        if (swapped ? right + 1 != end || token(right) != count.name : from + 1 != compare) return false;
        const bool falls = (token(compare) == ">") != swapped;
        count.last = swapped ? expression(from, compare) : expression(right, end);
        return falls == count.down;
    }

    /// `i++`, `--i`, `i += 2`.
    [[nodiscard]] bool read_step(std::size_t from, std::size_t end, Count& count) const {
        const bool prefix =
            end == from + 3 && token(from + 2) == count.name && token(from) == token(from + 1);
        const bool behind = end >= from + 3 && token(from) == count.name;
        const std::string_view sign = token(prefix ? from : from + 1);
        if (!(prefix || behind) || !is_one_of(sign, "+", "-")) return false;
        count.down = sign == "-";
        count.step = {"1", 1};
        if (prefix || (end == from + 3 && token(from + 2) == sign)) return true;
        if (token(from + 2) != "=" || end <= from + 3) return false;
        count.step = expression(from + 3, end);
        return true;
    }

    /// Never too few.
    [[nodiscard]] static std::optional<Expression> iterations(const Count& count) {
        const Expression& low = count.down ? count.last : count.first;
        const Expression& high = count.down ? count.first : count.last;
        const std::int64_t one = count.inclusive ? 1 : 0;
        if (low.number && high.number && count.step.number && *count.step.number > 0) {
            const std::int64_t range = std::max<std::int64_t>(0, *high.number - *low.number + one);
            const std::int64_t result = (range + *count.step.number - 1) / *count.step.number;
            return Expression{std::to_string(result), result};
        }
        return Expression{"((" + high.text + ") - (" + low.text + ") + " + std::to_string(one) + ")",
                          std::nullopt};
    }

    /// Loops are in the order of their keywords.
    void relate() {
        for (std::size_t outer = 0; outer < loops_.size(); ++outer) {
            for (std::size_t inner = outer + 1; inner < loops_.size(); ++inner) {
                if (loops_[inner].keyword >= loops_[outer].end) break;
                if (loops_[outer].unrolled || loops_[inner].unrolled) continue;
                loops_[outer].related.push_back(inner);
                loops_[inner].related.push_back(outer);
            }
        }
    }

    /// The largest of its nest; of a loop that has one.
    [[nodiscard]] std::string limit_for_slang(const Loop& loop) const {
        Largest largest;
        largest.add(*loop.limit, 0);
        for (const std::size_t other : loop.related) {
            // Slang adds one to the limits of some loops, but not of all.
            if (loops_[other].limit) largest.add(*loops_[other].limit, 1);
        }
        return largest.text();
    }

    void raise_limit(const Loop& loop, ModuleText& changes) const {
        if (loop.unrolled || loop.related.empty() || !loop.limit) return;
        Largest own;
        own.add(*loop.limit, 0);
        const std::string limit = limit_for_slang(loop);
        if (limit == own.text()) return;
        if (loop.limit_open == none) {
            changes.insertions[offset(loop.keyword)] += "[MaxIters(" + limit + ")] ";
        } else {
            const std::size_t from = offset(loop.limit_open + 1);
            for (std::size_t at = from; at < offset(loop.limit_close); ++at) {
                if (changes.text[at] != '\n') changes.text[at] = ' ';
            }
            changes.insertions[from] += limit;
        }
        if (loop.count) {
            // Slang would warn that the loop ends before its limit.
            const std::size_t first = semicolon(loop.open + 1, loop.close);
            changes.insertions[offset(first) + 1] += "(";
            changes.insertions[offset(semicolon(first + 1, loop.close))] += ")";
        }
    }

    /// Where constants that the text shows, but not the numbers, decide how often it runs.
    void assert_limit(const Loop& loop, Insertions& insertions) const {
        if (!runs_to_its_end(loop) || token(loop.body) != "{") return;
        const Count& count = *loop.count;
        const std::optional<Expression> runs = iterations(count);
        if (runs->number && loop.limit->number) return;
        if (!has_constants(loop)) return;
        const std::string low = "(" + (count.down ? count.last : count.first).text + ")";
        const std::string high = "(" + (count.down ? count.first : count.last).text + ")";
        std::string place;
        if (tokens_.counts_lines) {
            place = "\n#line " + std::to_string(line_at(text_, offset(loop.keyword))) + "\n" +
                    std::string(column_at(text_, offset(loop.keyword)) - 1, ' ');
        }
        insertions[offset(loop.body) + 1] += place + "static_assert(" + high +
                                             (count.inclusive ? " < " : " <= ") + low + " + (" +
                                             loop.limit->text + ") * (" + count.step.text +
                                             "), \"the loop runs more often than its [MaxIters] says\"); ";
    }

    /// Its bounds and its limit, as far as this text shows.
    [[nodiscard]] bool has_constants(const Loop& loop) const {
        const Count& count = *loop.count;
        return is_constant(count.first) && is_constant(count.last) && is_constant(count.step) &&
               is_constant(*loop.limit);
    }

    /// By its bounds, which are refused otherwise.
    [[nodiscard]] bool stays_below_limit(const Loop& loop) const {
        if (!loop.count || !keeps_counter(loop)) return false;
        const std::optional<Expression> runs = iterations(*loop.count);
        if (runs->number && loop.limit->number) return *runs->number <= *loop.limit->number;
        return runs_to_its_end(loop) && token(loop.body) == "{" && has_constants(loop);
    }

    /// Nothing in the loop ends it earlier or changes what it counts.
    [[nodiscard]] bool runs_to_its_end(const Loop& loop) const {
        if (!loop.count || loop.limit_open == none || loop.unrolled || !loop.limit) return false;
        for (std::size_t at = loop.body; at < loop.end; ++at) {
            if (is_one_of(token(at), "break", "return", "discard")) return false;
        }
        return keeps_counter(loop);
    }

    [[nodiscard]] bool keeps_counter(const Loop& loop) const {
        for (std::size_t at = loop.body; at < loop.end; ++at) {
            if (token(at) != loop.count->name) continue;
            const bool assigned = token(at + 1) == "=" && token(at + 2) != "=";
            const bool combined =
                token(at + 2) == "=" && is_one_of(token(at + 1), "+", "-", "*", "/", "%", "&", "|", "^");
            const bool stepped = is_one_of(token(at + 1), "+", "-") && token(at + 1) == token(at + 2);
            const bool before = is_one_of(token(at - 1), "+", "-") && token(at - 1) == token(at - 2);
            const bool given = is_one_of(token(at - 1), "(", ",") && is_one_of(token(at + 1), ")", ",");
            if (assigned || combined || stepped || before || given) return false;
        }
        return true;
    }

    std::string_view text_;
    Names constants_;
    Names variables_;  ///< of any function
    std::map<std::string_view, std::int64_t> numbers_;
    std::vector<Loop> loops_;
};

}  // namespace

void raise_loop_limits(ModuleText& text) { LoopReader(text.original, text.tokens).raise_limits(text); }

void assert_loop_limits(ModuleText& text) { LoopReader(text.original, text.tokens).assert_limits(text); }

void replace_whiles(ModuleText& text) { LoopReader(text.original, text.tokens).replace_whiles(text); }

std::vector<LongLoop> long_loops(std::string_view text, const Tokens& tokens, std::int64_t most) {
    return LoopReader(text, tokens).longer_than(most);
}

std::vector<LimitedLoop> limited_loops(std::string_view text, const Tokens& tokens) {
    return LoopReader(text, tokens).limited();
}

std::vector<ExcessiveLoop> excessive_loops(std::string_view text, const Tokens& tokens) {
    return LoopReader(text, tokens).excessive();
}

}  // namespace kf::gen
