// Looks at lexemes alone: types and their methods are known by their names.
#include "slang/method_derivatives.h"

#include <map>
#include <set>
#include <string>

#include "slang/lexed_text.h"
#include "slang/module_texts.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

template <class... Words>
bool is_among(std::string_view word, const Words&... words) {
    return ((word == words) || ...);
}

/// A type's name and its lexemes from brace to brace.
struct Body {
    std::string type;
    bool is_nameable =
        false;  ///< Slang takes "type.method" as the function whose first argument is the object
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// The types that have methods of one name, and whether each is_nameable.
using Owners = std::map<std::string, bool>;

class DerivativeSearch {
public:
    void note_declarations(const LexedText& text) {
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (is_among(text[index], "namespace", "typealias", "typedef", "associatedtype", "enum")) {
                types_.insert(std::string(text[index + 1]));
            }
            // Generic parameters.
            if (text[index] == "<" && text.is_word(index + 1) && is_among(text[index + 2], ":", ">", ",")) {
                types_.insert(std::string(text[index + 1]));
            }
        }
        for (const Body& body : bodies(text)) {
            types_.insert(body.type);
            for (std::size_t index = body.begin + 1; index < body.end; ++index) {
                if (text[index] == "{") index = text.closing(index);
                if (!is_method(text, body, index)) continue;
                const auto owner = methods_[std::string(text[index])].emplace(body.type, body.is_nameable);
                owner.first->second = owner.first->second && body.is_nameable;
            }
        }
    }

    void look_for_derivatives(const std::string& file, const LexedText& text) {
        const std::vector<Body> all = bodies(text);
        for (std::size_t index = 0; index < text.size(); ++index) {
            if (!is_among(text[index], "bwd_diff", "fwd_diff", "__bwd_diff", "__fwd_diff") ||
                text[index + 1] != "(") {
                continue;
            }
            const std::size_t last = text.closing(index + 1) - 1;
            const auto method = last < text.size() ? methods_.find(std::string(text[last])) : methods_.end();
            if (method == methods_.end()) continue;
            const bool alone = last == index + 2;
            const Owners owners = alone ? owners_around(all, index, method->second) : method->second;
            const bool found =
                alone ? !owners.empty() : text[last - 1] == "." && !is_type(text, index + 2, last - 2);
            if (found) add(file, text, index, last, owners);
        }
    }

    [[nodiscard]] Diagnostics take() { return std::move(errors_); }

private:
    static std::vector<Body> bodies(const LexedText& text) {
        std::vector<Body> found;
        for (std::size_t index = 0; index + 1 < text.size(); ++index) {
            if (!is_among(text[index], "struct", "class", "extension", "interface") ||
                !text.is_word(index + 1)) {
                continue;
            }
            std::size_t open = index + 2;
            while (open < text.size() && !is_among(text[open], "{", ";")) ++open;
            const bool nameable = text[index] != "interface" && text[index + 2] != "<";
            if (text[open] == "{")
                found.push_back({std::string(text[index + 1]), nameable, open, text.closing(open)});
        }
        return found;
    }

    /// A name before a parenthesis and behind a type, in a declaration that isn't static.
    static bool is_method(const LexedText& text, const Body& body, std::size_t index) {
        const bool declares = text.is_word(index) && text[index + 1] == "(" && index > body.begin + 1 &&
                              (text.is_word(index - 1) || is_among(text[index - 1], ">", "]"));
        if (!declares || is_among(text[index - 1], "new", "return", "operator")) return false;
        for (std::size_t before = index; before-- > body.begin;) {
            if (is_among(text[before], ";", "{", "}")) break;
            if (text[before] == "static") return false;
        }
        return true;
    }

    static Owners owners_around(const std::vector<Body>& all, std::size_t index, const Owners& owners) {
        Owners around;
        for (const Body& body : all) {
            const auto owner = owners.find(body.type);
            if (owner != owners.end() && index > body.begin && index < body.end) around.insert(*owner);
        }
        return around;
    }

    /// Names joined by dots or colons, whose last one is a type's.
    [[nodiscard]] bool is_type(const LexedText& text, std::size_t first, std::size_t last) const {
        std::size_t end = last;
        if (text[last] == ">") end = std::max(opening_angle(text, last), first + 1) - 1;
        const std::string name(text[end]);
        return name == "This" || types_.count(name) != 0;
    }

    void add(const std::string& file, const LexedText& text, std::size_t index, std::size_t last,
             const Owners& owners) {
        std::string expression;
        for (std::size_t at = index + 2; at <= last; ++at) expression += text[at];
        const std::string derivative(text[index]);
        const std::string method(text[last]);
        const std::string object = last == index + 2 ? "this" : expression.substr(0, expression.rfind('.'));
        // Objects of interfaces and generic types aren't taken so, and of several types that have the method
        // its lexemes don't tell which one this is.
        const std::string& type = owners.begin()->first;
        const bool is_named = owners.size() == 1 && owners.begin()->second;
        errors_.push_back(
            {Severity::error,
             "slang-method-derivative",
             text.place(file, index),
             "Slang can't read '" + derivative + "(" + expression +
                 ")', the derivative of an object's method",
             {is_named
                  ? "name the method by its type and pass the object first: '" + derivative + "(" + type +
                        "." + method + ")(" + object + ", …)', or 'diffPair(" + object + ")' for it where '" +
                        type + "' is differentiable"
                  : "differentiate a function that takes the object, of its type T, and calls the method: "
                    "'[Differentiable] float f(no_diff T object, float x) { return object." +
                        method + "(x); }' and '" + derivative + "(f)(" + object + ", …)'"}});
    }

    std::set<std::string> types_;
    std::map<std::string, Owners> methods_;
    Diagnostics errors_;
};

}  // namespace

Diagnostics find_method_derivatives(const std::vector<fs::path>& modules,
                                    const std::vector<fs::path>& search_paths) {
    const auto texts = module_texts(modules, search_paths);
    DerivativeSearch search;
    for (const auto& [file, text] : texts) search.note_declarations(LexedText(text));
    for (const auto& [file, text] : texts) search.look_for_derivatives(file, LexedText(text));
    return search.take();
}

}  // namespace kf::gen
