// Finds tables of constants by what Slang's CUDA code declares, and writes their elements as constants.
#include "slang/cuda_tables.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "slang/brackets.h"
#include "slang/lexed_text.h"

namespace kf::gen {

namespace {

constexpr std::string_view array_type = "FixedArray";

/// Fewer scalars are picked from registers, which takes less than a load.
constexpr std::size_t fewest_scalars = 17;

constexpr std::array<std::string_view, 9> scalar_types{"int",      "uint",      "float", "double", "bool",
                                                       "longlong", "ulonglong", "short", "ushort"};

/// A constant: its type, and its value without that.
struct CudaConstant {
    std::string type;
    std::string value;
};

/// Tokens of the code, [begin, end).
struct TokenRange {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] bool empty() const { return begin == end; }
};

/// What a statement `TYPE NAME = VALUE;` says.
struct CudaDeclaration {
    std::size_t begin = 0;
    TokenRange type;
    std::string_view name;
    TokenRange value;
};

class SharedTables {
public:
    explicit SharedTables(std::string_view code) : code_(code), token_(code) {}

    std::string text() {
        for (std::size_t at = 0; at < token_.size(); ++at) {
            if (token_[at] == "struct" && token_[at + 2] == "{") {
                add_struct(at);
                at = token_.closing(at + 2);
            } else if (token_[at] == "{" && at > 0 && token_[at - 1] == ")") {
                const std::size_t end = std::min(token_.closing(at), token_.size());
                if (!add_constructor(at, end)) share_in({at + 1, end});
                at = end;
            } else if (const std::optional<CudaDeclaration> global = declaration_at(at)) {
                add_constant(*global, globals_);
                at = global->value.end;
            }
        }
        std::string result;
        std::size_t done = 0;
        for (const auto& [range, replacement] : replacements_) {
            result.append(code_.substr(done, token_.offset(range.begin) - done)).append(replacement);
            done = token_.offset(range.end);
        }
        return result.append(code_.substr(done));
    }

private:
    using CudaConstants = std::map<std::string_view, CudaConstant>;

    [[nodiscard]] std::string_view slice(TokenRange range) const {
        if (range.empty()) return {};
        const std::size_t end = token_.offset(range.end - 1) + token_[range.end - 1].size();
        return code_.substr(token_.offset(range.begin), end - token_.offset(range.begin));
    }

    void add_struct(std::size_t at) {
        std::vector<std::string_view>& fields = fields_[token_[at + 1]];
        const std::size_t end = std::min(token_.closing(at + 2), token_.size());
        for (std::size_t i = at + 3; i < end; ++i)
            if (token_[i] == ";") fields.push_back(token_[i - 1]);
    }

    /// Notes a function that gives each field of a struct, in order, one of its parameters: Slang writes one
    /// for each struct that modules list values of.
    bool add_constructor(std::size_t open, std::size_t end) {
        std::size_t at = open + 1;
        const auto fields = fields_.find(token_[at]);
        if (fields == fields_.end() || token_[at + 2] != ";") return false;
        const std::string_view made = token_[at + 1];
        at += 3;
        for (const std::string_view field : fields->second) {
            const std::array<std::string_view, 8> expected{"(", "&", made, ")", "-", ">", field, "="};
            for (const std::string_view word : expected)
                if (token_[at++] != word) return false;
            if (token_[at] == "*") ++at;
            if (!token_.is_word(at) || token_[at + 1] != ";") return false;
            at += 2;
        }
        if (token_[at] != "return" || token_[at + 1] != made || at + 3 != end) return false;
        const std::size_t parameters = opening_bracket(token_, open - 1);
        if (parameters == 0) return false;
        std::vector<std::string_view> given;
        for (std::size_t i = parameters + 1; i < open; ++i) {
            i = behind_angles(token_, i);
            if (is_one_of(token_[i + 1], ",", ")") && token_.is_word(i)) given.push_back(token_[i]);
        }
        std::vector<std::string_view> taken;
        for (std::size_t i = open; i < end; ++i)
            if (token_[i] == "=") taken.push_back(token_[i + 1] == "*" ? token_[i + 2] : token_[i + 1]);
        if (given != taken) return false;
        constructors_[token_[parameters - 1]] = fields->first;
        return true;
    }

    /// The declaration with a value that begins there.
    [[nodiscard]] std::optional<CudaDeclaration> declaration_at(std::size_t at) const {
        CudaDeclaration found;
        found.begin = at;
        while (is_one_of(token_[at], "__device__", "static", "const")) ++at;
        if (!token_.is_word(at)) return std::nullopt;
        found.type.begin = at++;
        at = behind_angles(token_, at);
        found.type.end = at;
        if (!token_.is_word(at) || token_[at + 1] != "=" || token_[at + 2] == "=") return std::nullopt;
        found.name = token_[at];
        found.value.begin = at += 2;
        while (at < token_.size() && token_[at] != ";")
            at = is_one_of(token_[at], "(", "[", "{") ? token_.closing(at) + 1 : at + 1;
        if (at >= token_.size()) return std::nullopt;
        found.value.end = at;
        return found;
    }

    void add_constant(const CudaDeclaration& declared, CudaConstants& known) {
        if (const std::optional<std::string> value = constant(declared.value, known, false))
            known[declared.name] = {std::string(slice(declared.type)), *value};
    }

    /// Shares the tables of a function's body.
    void share_in(TokenRange body) {
        CudaConstants known = globals_;
        for (std::size_t at = body.begin; at < body.end; ++at) {
            if (!is_one_of(token_[at - 1], ";", "{", "}")) continue;
            const std::optional<CudaDeclaration> declared = declaration_at(at);
            if (!declared || declared->value.end > body.end) continue;
            at = declared->value.end;
            if (!only_reads_elements(declared->name, {at, body.end})) {
                // Constructors take arrays by address.
                if (is_only_given(declared->name, {at, body.end})) add_constant(*declared, known);
                continue;
            }
            add_constant(*declared, known);
            const auto found = known.find(declared->name);
            if (found == known.end() || token_[declared->type.begin] != array_type ||
                token_[declared->begin] == "static" || scalars_in(found->second.value) < fewest_scalars)
                continue;
            replacements_.emplace_back(TokenRange{declared->begin, declared->value.end},
                                       "static const " + found->second.type + "  " +
                                           std::string(declared->name) + " = " + found->second.value);
        }
    }

    [[nodiscard]] static std::size_t scalars_in(const std::string& value) {
        return static_cast<std::size_t>(std::count(value.begin(), value.end(), ',')) + 1;
    }

    /// Whether what follows uses the variable only by what it has at an index, and only reads that.
    [[nodiscard]] bool only_reads_elements(std::string_view name, TokenRange range) const {
        for (std::size_t at = range.begin; at < range.end; ++at) {
            if (token_[at] != name) continue;
            std::size_t end = at + 1;
            while (is_one_of(token_[end], "[", "."))
                end = token_[end] == "." ? end + 2 : token_.closing(end) + 1;
            if (end == at + 1 || token_[at + 1] != "[" || token_[at - 1] == "&" || is_changed(end))
                return false;
        }
        return true;
    }

    /// Whether what follows gives the variable's value to constructors alone, to lists or to variables.
    [[nodiscard]] bool is_only_given(std::string_view name, TokenRange range) const {
        for (std::size_t at = range.begin; at < range.end; ++at) {
            if (token_[at] != name) continue;
            const std::size_t before = token_[at - 1] == "&" ? at - 2 : at - 1;
            if (token_[before] == "=" && token_[at + 1] == ";") continue;
            if (!is_one_of(token_[before], "(", ",", "{") || !is_one_of(token_[at + 1], ")", ",", "}"))
                return false;
            std::size_t open = before;
            while (open > range.begin && !(is_one_of(token_[open], "(", "{") && token_.closing(open) > at))
                --open;
            if (token_[open] == "(" && !constructors_.contains(token_[open - 1])) return false;
        }
        return true;
    }

    [[nodiscard]] bool is_changed(std::size_t at) const {
        if (token_[at] == "=") return token_[at + 1] != "=";
        if (is_one_of(token_[at], "+", "-") && token_[at] == token_[at + 1]) return true;
        const bool shifts = is_one_of(token_[at], "<", ">") && token_[at] == token_[at + 1];
        return (shifts && token_[at + 2] == "=") ||
               (token_[at].size() == 1 &&
                std::string_view("+-*/%&|^").find(token_[at]) != std::string_view::npos &&
                token_[at + 1] == "=");
    }

    /// The value as one that CUDA takes for a constant, nothing where it isn't known to be one.
    [[nodiscard]] std::optional<std::string> constant(TokenRange range, const CudaConstants& known,
                                                      bool typed) const {
        if (range.empty()) return std::nullopt;
        const std::size_t begin = token_[range.begin] == "&" ? range.begin + 1 : range.begin;
        const std::string_view first = token_[begin];
        if (begin + 1 == range.end) {
            const auto found = known.find(first);
            if (found != known.end())
                return typed && found->second.value.starts_with('{')
                           ? found->second.type + " " + found->second.value
                           : found->second.value;
        }
        if (is_literal(range)) return std::string(slice(range));
        std::size_t open = range.begin;
        while (open < range.end && !is_one_of(token_[open], "(", "{")) ++open;
        if (open == range.end || token_.closing(open) + 1 != range.end) return std::nullopt;
        const std::optional<std::string> parts = list({open + 1, range.end - 1}, known);
        if (!parts) return std::nullopt;
        const std::string type(slice({range.begin, open}));
        if (token_[open] == "{") return type.empty() ? "{" + *parts + "}" : type + " {" + *parts + "}";
        if (open != range.begin + 1) return std::nullopt;
        if (std::find(scalar_types.begin(), scalar_types.end(), type) != scalar_types.end())
            return type + "(" + *parts + ")";
        if (const auto found = constructors_.find(type); found != constructors_.end())
            return std::string(found->second) + " {" + *parts + "}";
        constexpr std::string_view makes_vector = "make_";
        const bool is_vector = type.starts_with(makes_vector) && type.size() > makes_vector.size() + 1 &&
                               scalars_in(*parts) == static_cast<std::size_t>(type.back() - '0');
        return is_vector ? std::optional(type.substr(makes_vector.size()) + " {" + *parts + "}")
                         : std::nullopt;
    }

    [[nodiscard]] std::optional<std::string> list(TokenRange range, const CudaConstants& known) const {
        std::string parts;
        for (std::size_t begin = range.begin; begin < range.end;) {
            const std::size_t end = find_outside(token_, begin, range.end, ",");
            const std::optional<std::string> part = constant({begin, end}, known, true);
            if (!part) return std::nullopt;
            parts += (parts.empty() ? "" : ", ") + *part;
            begin = end + 1;
        }
        return parts;
    }

    [[nodiscard]] bool is_literal(TokenRange range) const {
        for (std::size_t at = range.begin; at < range.end; ++at) {
            const std::string_view text = token_[at];
            const bool is_number = text[0] >= '0' && text[0] <= '9';
            if (!is_number && !is_one_of(text, ".", "-", "+", "true", "false")) return false;
        }
        return true;
    }

    std::string_view code_;
    LexedText token_;
    std::map<std::string_view, std::vector<std::string_view>> fields_;
    std::map<std::string_view, std::string_view> constructors_;  ///< what each makes
    CudaConstants globals_;
    std::vector<std::pair<TokenRange, std::string>> replacements_;
};

}  // namespace

std::string share_tables(std::string_view code) {
    return code.find(array_type) == std::string_view::npos ? std::string(code) : SharedTables(code).text();
}

}  // namespace kf::gen
