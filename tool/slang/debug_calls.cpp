// What becomes of printf(), assert() and indices in users' modules.
#include "slang/debug_calls.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "slang/brackets.h"
#include "slang/insertions.h"
#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

constexpr std::size_t most_values = 12;  // of kf_print()

constexpr std::array<std::string_view, 21> tensors{
    "Tensor",         "WTensor",       "RWTensor",     "AtomicTensor",  "PrimalTensor", "WPrimalTensor",
    "RWPrimalTensor", "DiffTensor",    "WDiffTensor",  "RWDiffTensor",  "ITensor",      "IWTensor",
    "IRWTensor",      "IDiffTensor",   "IWDiffTensor", "IRWDiffTensor", "TensorView",   "DiffTensorView",
    "TorchTensor",    "IAtomicTensor", "GradTensor"};

constexpr std::array<std::string_view, 18> resources{
    "StructuredBuffer", "RWStructuredBuffer", "ByteAddressBuffer", "RWByteAddressBuffer", "Buffer",
    "RWBuffer",         "Texture1D",          "Texture1DArray",    "Texture2D",           "Texture2DArray",
    "Texture3D",        "RWTexture1D",        "RWTexture1DArray",  "RWTexture2D",         "RWTexture2DArray",
    "RWTexture3D",      "Sampler2D",          "Sampler3D"};

template <std::size_t size>
bool is_one_of_words(const std::array<std::string_view, size>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Part of a text that is replaced.
struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
    bool in_macro = false;
};

/// Characters of a text: [begin, end).
struct Part {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// One conversion of a format.
struct Conversion {
    char letter = 0;
    char components = 0;  ///< of "%v3f" the 3, else 0
    std::size_t at = 0;   ///< in the format
};

/// A literal's text, without quotes and with what its escapes mean.
std::string unescaped(std::string_view literal) {
    std::string text;
    literal = literal.substr(1, literal.size() - 2);
    for (std::size_t at = 0; at < literal.size(); ++at) {
        if (literal[at] != '\\' || at + 1 == literal.size()) {
            text += literal[at];
            continue;
        }
        switch (const char c = literal[++at]) {
            case 'n': text += '\n'; break;
            case 't': text += '\t'; break;
            case 'r': text += '\r'; break;
            case 'a': text += '\a'; break;
            case '0': text += '\0'; break;
            default: text += c;
        }
    }
    return text;
}

/// Where a character of unescaped() is in the literal; of one in a literal behind it, its beginning.
std::size_t place_in_literal(std::string_view literal, std::size_t character) {
    std::size_t at = 1;
    for (; character > 0 && at + 1 < literal.size(); --character) at += literal[at] == '\\' ? 2 : 1;
    return character == 0 && at + 1 < literal.size() ? at : 0;
}

/// The source's text on one line.
std::string on_one_line(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
        if (!blank) {
            result += c;
        } else if (!result.empty() && result.back() != ' ') {
            result += ' ';
        }
    }
    while (result.ends_with(' ')) result.pop_back();
    return result;
}

/// Returns the conversions of a format, or says what is wrong with it.
std::vector<Conversion> conversions_of(std::string_view format, std::string& wrong, std::size_t& wrong_at) {
    std::vector<Conversion> found;
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%') continue;
        const std::size_t begin = at++;
        const auto skip = [&](std::string_view these) {
            while (at < format.size() && these.find(format[at]) != std::string_view::npos) ++at;
        };
        if (at < format.size() && format[at] == '%') continue;
        skip("-+ #0");
        skip("0123456789");
        if (at < format.size() && format[at] == '.') {
            ++at;
            skip("0123456789");
        }
        Conversion one{0, 0, begin};
        if (at + 1 < format.size() && format[at] == 'v') {
            one.components = format[at + 1];
            at += 2;
        }
        skip("hlzjt");
        one.letter = at < format.size() ? format[at] : '\0';
        const bool known = one.letter != 0 &&
                           std::string_view("diuoxXcfFeEgGaAp").find(one.letter) != std::string_view::npos;
        const bool fits =
            one.components == 0 || (one.components >= '2' && one.components <= '4' && one.letter != 'p');
        if (!known || !fits) {
            wrong = std::string(format.substr(begin, std::min(at + 1, format.size()) - begin));
            wrong_at = begin;
            return {};
        }
        found.push_back(one);
    }
    return found;
}

/// The function that takes what the conversion prints.
std::string taker(const Conversion& conversion) {
    if (conversion.letter == 'p') return "kf_print_pointer";
    const bool is_float = std::string_view("fFeEgGaA").find(conversion.letter) != std::string_view::npos;
    std::string name = is_float ? "kf_print_float" : "kf_print_integer";
    if (conversion.components != 0) name += std::string("_") + conversion.components;
    return name;
}

/// Finds the calls and indices of one text.
class Scanner {
public:
    Scanner(std::string_view text, const std::string& path, const DebugUse& use)
        : text_(text), path_(path), use_(use) {}

    void run() {
        const LexedText lexed(text_);
        if (use_.checks) find_indexed(lexed);
        scan(lexed, 0, false);
    }

    std::vector<Edit> edits;
    DebugCalls found;

private:
    void find_indexed(const LexedText& lexed) {
        std::set<std::string, std::less<>> arrays;
        for (std::size_t i = 0; i + 1 < lexed.size(); ++i) {
            const bool is_tensor = is_one_of_words(tensors, lexed[i]);
            const bool has_types = lexed[i + 1] == "<";
            if (is_tensor ? !has_types : !is_one_of_words(resources, lexed[i])) continue;
            const std::size_t end = has_types ? behind_group(lexed, i + 1) : i + 1;
            if (!lexed.is_word(end)) continue;
            (is_tensor ? tensors_ : resources_).insert(std::string(lexed[end]));
            if (!is_tensor && lexed[end + 1] == "[") arrays.emplace(lexed[end]);
        }
        // An array's first index tells which resource it is.
        for (const std::string& name : arrays) resources_.erase(name);
    }

    /// `offset`: of the lexed text in the whole one.
    void scan(const LexedText& lexed, std::size_t offset, bool in_macro) {
        for (std::size_t i = 0; i < lexed.size(); ++i) {
            if (lexed.kind(i) == Lexeme::Kind::directive) {
                // Behind its #, a macro's text is lexed as others are.
                scan(LexedText(lexed[i].substr(1)), offset + lexed.offset(i) + 1, true);
                continue;
            }
            if (!lexed.is_word(i)) continue;
            const bool is_call =
                lexed[i + 1] == "(" && (i == 0 || (lexed[i - 1] != "." && lexed[i - 1] != ":"));
            if (is_call && (lexed[i] == "printf" || lexed[i] == "assert") && !use_.own.contains(lexed[i])) {
                const std::size_t close = lexed.closing(i + 1);
                if (close >= lexed.size()) return;
                const bool prints = lexed[i] == "printf";
                const std::size_t errors = found.errors.size();
                if (use_.prints && prints) add_print(lexed, offset, i, close, in_macro);
                if (use_.prints && !prints) add_assert(lexed, offset, i, close, in_macro);
                if (use_.prints && found.errors.size() == errors) continue;
                drop(lexed, offset, i, close, in_macro);
                i = close;
            } else if (use_.checks && i > 0 && lexed[i - 1] == "." && lexed[i + 1] == "(" &&
                       (lexed[i] == "data_ptr" || lexed[i] == "data_ptr_at")) {
                fail(
                    "checked-argument", offset + lexed.offset(i),
                    "what '" + std::string(lexed[i]) + "' gives is a pointer, whose indices can't be checked",
                    {"\"checked\" is for load(), store() and [] of tensors: use those, or leave \"checked\" "
                     "out"});
            } else if (tensors_.contains(std::string(lexed[i]))) {
                add_index(lexed, offset, i, in_macro);
            } else if (resources_.contains(std::string(lexed[i]))) {
                add_access(lexed, offset, i, in_macro);
            }
        }
    }

    [[nodiscard]] Location place(std::size_t offset) const {
        return {path_, static_cast<std::int64_t>(line_at(text_, offset)),
                static_cast<std::int64_t>(column_at(text_, offset))};
    }

    void fail(const char* id, std::size_t offset, std::string message, std::vector<std::string> notes = {}) {
        found.errors.push_back({Severity::error, id, place(offset), std::move(message), std::move(notes)});
    }

    std::string add_message(std::size_t offset, std::string text) {
        const std::string name = std::filesystem::path(path_).filename().generic_string();
        const std::string line = name + ":" + std::to_string(line_at(text_, offset));
        const std::string key = line + ":" + std::to_string(column_at(text_, offset)) + ":" + text;
        const manifest::Message message{static_cast<std::uint32_t>(hash_of(key)), std::move(text), line};
        if (std::find(found.messages.begin(), found.messages.end(), message) == found.messages.end())
            found.messages.push_back(message);
        return std::to_string(message.number) + "u";
    }

    void replace(const Part& part, std::string with, bool in_macro) {
        edits.push_back({part.begin, part.end, std::move(with), in_macro});
    }
    void insert(std::size_t at, std::string text, bool in_macro) {
        replace({at, at}, std::move(text), in_macro);
    }

    /// Leaves a call out.
    void drop(const LexedText& lexed, std::size_t offset, std::size_t word, std::size_t close,
              bool in_macro) {
        const std::size_t begin = offset + lexed.offset(word);
        // Whatever was put into it isn't.
        std::erase_if(edits, [&](const Edit& edit) { return edit.begin >= begin; });
        const std::string_view before = word > 0 ? lexed[word - 1] : std::string_view();
        if ((before == ";" || before == "{" || before == "}") && lexed[close + 1] == ";") {
            replace({begin, offset + lexed.offset(close + 1) + 1}, "", in_macro);
            return;
        }
        replace({begin, begin + lexed[word].size()}, "kf_nop", in_macro);
        replace({offset + lexed.offset(word + 1) + 1, offset + lexed.offset(close)}, "", in_macro);
    }

    /// What stands between the commas of a pair of brackets.
    static std::vector<Part> arguments_of(const LexedText& lexed, std::size_t offset, std::size_t open,
                                          std::size_t close) {
        std::vector<Part> parts;
        std::size_t first = open + 1;
        const auto add = [&](std::size_t end) {
            if (end > first)
                parts.push_back(
                    {offset + lexed.offset(first), offset + lexed.offset(end - 1) + lexed[end - 1].size()});
            first = end + 1;
        };
        for (std::size_t i = open + 1; i < close; ++i) {
            const std::string_view one = lexed[i];
            if (one == "(" || one == "[" || one == "{") {
                i = lexed.closing(i);
            } else if (one == "<" && lexed.is_word(i - 1)) {
                const std::size_t after = behind_group(lexed, i);
                if (after > i + 1 && after < close && lexed[after] == "(") i = after - 1;  // f<a, b>(…)
            } else if (one == ",") {
                add(i);
            }
        }
        add(close);
        return parts;
    }

    void add_print(const LexedText& lexed, std::size_t offset, std::size_t word, std::size_t close,
                   bool in_macro) {
        const std::size_t begin = offset + lexed.offset(word);
        std::string format;
        std::size_t end = word + 2;
        for (; lexed.kind(end) == Lexeme::Kind::literal && lexed[end].starts_with('"'); ++end)
            format += unescaped(lexed[end]);
        if (end == word + 2 || (lexed[end] != "," && end != close)) {
            return fail("printf-format", offset + lexed.offset(word + 2),
                        "printf: the format is not a string literal",
                        {R"(write it at the call: printf("%d\n", i))"});
        }
        const std::size_t literal = offset + lexed.offset(word + 2);
        std::string wrong;
        std::size_t wrong_at = 0;
        const std::vector<Conversion> conversions = conversions_of(format, wrong, wrong_at);
        if (!wrong.empty()) {
            return fail("printf-format", literal + place_in_literal(lexed[word + 2], wrong_at),
                        "printf: there is no conversion '" + wrong + "'",
                        {"kernels print numbers: %d %i %u %o %x %c of integers, %f %e %g %a of floating "
                         "ones, %v3f of "
                         "vectors, %p of pointers, with flags, width and precision"});
        }
        std::vector<Part> arguments = arguments_of(lexed, offset, word + 1, close);
        arguments.erase(arguments.begin());
        if (arguments.size() != conversions.size() || arguments.size() > most_values) {
            const std::string found_text = std::to_string(arguments.size());
            return fail(
                "printf-format", begin,
                arguments.size() > most_values && arguments.size() == conversions.size()
                    ? "printf: " + found_text + " values; at most " + std::to_string(most_values) + " fit"
                    : "printf: the format has " + std::to_string(conversions.size()) +
                          (conversions.size() == 1 ? " conversion" : " conversions") + ", and " + found_text +
                          (arguments.size() == 1 ? " value follows" : " values follow"));
        }
        replace({begin, begin + lexed[word].size()}, "kf_print", in_macro);
        const std::size_t last = offset + lexed.offset(end - 1) + lexed[end - 1].size();
        replace({literal, last}, add_message(begin, format), in_macro);
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            insert(arguments[i].begin, taker(conversions[i]) + "(", in_macro);
            insert(arguments[i].end, ")", in_macro);
        }
    }

    void add_assert(const LexedText& lexed, std::size_t offset, std::size_t word, std::size_t close,
                    bool in_macro) {
        const std::size_t begin = offset + lexed.offset(word);
        const std::vector<Part> arguments = arguments_of(lexed, offset, word + 1, close);
        const auto text_of = [&](const Part& part) {
            return text_.substr(part.begin, part.end - part.begin);
        };
        const bool has_text = arguments.size() == 2 && text_of(arguments[1]).starts_with('"') &&
                              lexed.kind(close - 1) == Lexeme::Kind::literal;
        if (arguments.empty() || arguments.size() > 2 || (arguments.size() == 2 && !has_text)) {
            return fail("assert-arguments", begin,
                        "assert: a condition is needed, and perhaps a string literal",
                        {R"(write assert(x > 0) or assert(x > 0, "x is a length"))"});
        }
        std::string said = "assertion '" + on_one_line(text_of(arguments[0])) + "'";
        if (has_text) said += " (" + unescaped(text_of(arguments[1])) + ")";
        replace({begin, begin + lexed[word].size()}, "kf_assert", in_macro);
        const std::string number = add_message(begin, said);
        if (has_text) {
            replace(arguments[1], number, in_macro);
        } else {
            insert(arguments[0].end, ", " + number, in_macro);
        }
    }

    /// Says where the index of a tensor stands, whose type checks it.
    void add_index(const LexedText& lexed, std::size_t offset, std::size_t name, bool in_macro) {
        constexpr std::array<std::string_view, 6> loads{"load",     "load_once",   "load_uniform",
                                                        "loadOnce", "loadUniform", "load_present"};
        constexpr std::array<std::string_view, 5> stores{"store", "storeOnce", "add", "add_once",
                                                         "add_uniform"};
        if (name > 0 && lexed[name - 1] == ">") return;  // an array of them is declared
        std::size_t open = name + 1;
        std::size_t from_end = 1;
        if (lexed[open] == "." && lexed[open + 2] == "(") {
            if (is_one_of_words(stores, lexed[open + 1])) {
                from_end = 2;
            } else if (!is_one_of_words(loads, lexed[open + 1])) {
                return;
            }
            open += 2;
        } else if (lexed[open] != "[") {
            return;
        }
        const std::size_t close = lexed.closing(open);
        if (close >= lexed.size()) return;
        const std::vector<Part> arguments = arguments_of(lexed, offset, open, close);
        if (arguments.size() < from_end) return;
        const Part& index = arguments[arguments.size() - from_end];
        insert(index.begin, "kf_at(", in_macro);
        insert(index.end, ", " + add_message(offset + lexed.offset(name), std::string(lexed[name])) + ")",
               in_macro);
    }

    /// Says where the index of a buffer or texture stands: see tool/slang/checked_accesses.h.
    void add_access(const LexedText& lexed, std::size_t offset, std::size_t name, bool in_macro) {
        std::size_t open = name + 1;
        if (lexed[open] == "." && lexed[open + 2] == "(") {
            const std::string_view method = lexed[open + 1];
            if (!method.starts_with("Load") && !method.starts_with("Store") &&
                !method.starts_with("Interlocked"))
                return;
            open += 2;
        } else if (lexed[open] != "[") {
            return;
        }
        const std::size_t close = lexed.closing(open);
        if (close >= lexed.size()) return;
        const std::vector<Part> arguments = arguments_of(lexed, offset, open, close);
        // A list in braces has no type by itself.
        if (arguments.empty() || text_[arguments.front().begin] == '{') return;
        insert(arguments.front().begin, "kf_site(", in_macro);
        insert(arguments.front().end,
               ", " + add_message(offset + lexed.offset(name), std::string(lexed[name])) + ")", in_macro);
    }

    std::string_view text_;
    const std::string& path_;
    const DebugUse& use_;
    std::set<std::string, std::less<>> tensors_;  ///< what is declared with such a type
    std::set<std::string, std::less<>> resources_;
};

bool may_say(std::string_view text, const DebugUse& use) {
    return use.checks || text.find("printf") != std::string_view::npos ||
           text.find("assert") != std::string_view::npos;
}

/// Whether the text may call macros with arguments.
bool has_macros(std::string_view text) {
    const LexedText lexed(text);
    for (std::size_t i = 0; i < lexed.size(); ++i) {
        if (lexed.kind(i) != Lexeme::Kind::directive) continue;
        const LexedText directive(lexed[i].substr(1));
        const bool is_function = directive[0] == "define" && directive[2] == "(" &&
                                 directive.offset(2) == directive.offset(1) + directive[1].size();
        if (is_function || directive[0] == "include") return true;
    }
    return false;
}

std::string apply(const std::string& text, std::vector<Edit> edits) {
    std::stable_sort(edits.begin(), edits.end(),
                     [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    // Macros are one line to Slang: their text is changed as it stands, the last first.
    std::string changed = text;
    Insertions insertions;
    std::ptrdiff_t shift = 0;
    for (const Edit& edit : edits) {
        const auto begin = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(edit.begin) + shift);
        const std::size_t size = edit.end - edit.begin;
        if (edit.in_macro) {
            std::string with = edit.text;
            // What ends lines in a macro stays.
            for (std::size_t i = begin; i < begin + size; ++i)
                if (changed[i] == '\n') with += "\\\n";
            changed.replace(begin, size, with);
            shift += static_cast<std::ptrdiff_t>(with.size()) - static_cast<std::ptrdiff_t>(size);
        } else {
            blank_text(changed, begin, begin + size);
            if (!edit.text.empty()) insertions[begin] += edit.text;
        }
    }
    if (insertions.empty()) return changed;
    Tokens tokens = tokenise(changed);
    // Arguments of macros can't have a #line among them.
    tokens.counts_lines = tokens.counts_lines && !has_macros(changed);
    if (tokens.counts_lines) {
        // What is wrong with an insertion is told at its place.
        for (auto& [offset, inserted] : insertions)
            inserted = "#line " + std::to_string(line_at(changed, offset)) + "\n" +
                       std::string(column_at(changed, offset) - 1, ' ') + inserted;
    }
    return with_insertions(changed, tokens, std::move(insertions));
}

}  // namespace

std::set<std::string, std::less<>> own_debug_functions(
    const std::vector<std::pair<std::string, std::string>>& texts) {
    std::set<std::string, std::less<>> own;
    for (const auto& [path, text] : texts) {
        if (!may_say(text, {})) continue;
        const LexedText lexed(text);
        for (std::size_t i = 0; i < lexed.size(); ++i) {
            if (lexed.kind(i) == Lexeme::Kind::directive) {
                const LexedText directive(lexed[i].substr(1));
                const std::string_view name = directive[1];
                if (directive[0] == "define" && (name == "printf" || name == "assert")) own.emplace(name);
            } else if (i > 0 && (lexed[i] == "printf" || lexed[i] == "assert") && lexed.is_word(i - 1) &&
                       lexed[i - 1] != "return" && lexed[i - 1] != "else" && lexed[i - 1] != "do") {
                own.emplace(lexed[i]);
            }
        }
    }
    return own;
}

Diagnostic with_printf_words(Diagnostic error) {
    const std::size_t name = error.message.find("'kf_print_");
    if (name == std::string::npos) return error;
    const bool integer = error.message.find("kf_print_integer") != std::string::npos;
    const bool pointer = error.message.find("kf_print_pointer") != std::string::npos;
    // Slang tells of a call at its parenthesis; the value is where the name was put.
    const auto size = static_cast<std::int64_t>(error.message.find('\'', name + 1) - name - 1);
    error.location.column = std::max<std::int64_t>(error.location.column - size, 1);
    const std::size_t types = error.message.find("of type ");
    error.id = "printf-format";
    error.message = std::string("printf: the conversion prints ") +
                    (integer   ? "an integer, or a vector of them"
                     : pointer ? "a pointer"
                               : "a floating number, or a vector of them") +
                    (types == std::string::npos ? "" : ", not " + error.message.substr(types + 8));
    error.notes.clear();
    return error;
}

std::string with_debug_calls(const std::string& text, const std::string& path, const DebugUse& use) {
    if (!may_say(text, use)) return text;
    Scanner scanner(text, path, use);
    scanner.run();
    if (scanner.edits.empty()) return text;
    const bool calls = std::any_of(scanner.edits.begin(), scanner.edits.end(),
                                   [](const Edit& edit) { return !edit.text.empty(); });
    return apply(text, std::move(scanner.edits)) + (calls ? "\nimport kf_reports;\n" : "");
}

DebugCalls read_debug_calls(const std::string& text, const std::string& path, const DebugUse& use) {
    if (!may_say(text, use)) return {};
    Scanner scanner(text, path, use);
    scanner.run();
    return std::move(scanner.found);
}

}  // namespace kf::gen
