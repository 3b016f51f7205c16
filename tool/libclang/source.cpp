// Writes the C++ source that asks about types.
#include "libclang/source.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

namespace kf::gen {

namespace {

/// Helpers of the questions. They must be C++11: the user's options may ask for any standard.
constexpr std::string_view helpers =
    "namespace kf_ask {\n"
    "template <class T> struct type { using is = T; };\n"
    "template <class, class, class> struct always { using is = void; };\n"
    "template <class T, class = void> struct shape { enum { rows, columns = 0, by_columns = 0 }; };\n"
    "template <class T> struct shape<T, typename always<decltype(T::RowsAtCompileTime), "
    "decltype(T::ColsAtCompileTime), decltype(T::IsRowMajor)>::is> {\n"
    "    enum { rows = T::RowsAtCompileTime, columns = T::ColsAtCompileTime, by_columns = !T::IsRowMajor };\n"
    "};\n"
    "}\n";

class Writer {
public:
    void add(const std::string& text) {
        source_.text += text + "\n";
        line_ += static_cast<unsigned>(std::ranges::count(text, '\n')) + 1;
    }

    void add(const std::string& text, const Location& location) {
        source_.lines[line_ + 1] = location;
        add(text);
    }

    void add(const std::string& text, std::size_t question) {
        source_.questions[line_ + 1] = question;
        add(text);
    }

    /// enum START { START_0 = …, START_1 = … };
    static std::string enum_text(const std::string& name, const std::vector<std::string>& values) {
        std::string text = "enum " + name + " {";
        for (std::size_t i = 0; i < values.size(); ++i)
            text += (i == 0 ? " " : ", ") + name + "_" + std::to_string(i) + " = " + values[i];
        return text + " };";
    }

    Source take() { return std::move(source_); }

private:
    Source source_;
    unsigned line_ = 0;
};

std::string numbered(std::string_view start, std::size_t number) {
    return std::string(start) + std::to_string(number);
}

/// "typename T::Base", which only a name of a template's own needs.
std::string dependent(const std::string& base) {
    int depth = 0;
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (base[i] == '<') ++depth;
        if (base[i] == '>') --depth;
        if (depth == 0 && base.compare(i, 2, "::") == 0)
            return (base.starts_with("typename ") ? "" : "typename ") + base;
    }
    return base;
}

/// Declares a function that takes what the template was made into, and returns its base class.
std::string function_text(const BaseQuestion& question, const std::string& name, const std::string& base) {
    std::string text;
    for (const std::string& space : question.scope) {
        const bool is_inline = space.starts_with("inline ");
        text += (is_inline ? "inline namespace " + space.substr(7) : "namespace " + space) + " { ";
    }
    text += "template <";
    for (std::size_t i = 0; i < question.parameters.size(); ++i)
        text += (i == 0 ? "" : ", ") + question.parameters[i];
    text += "> ::kf_ask::type<" + dependent(base) + "> " + name + "(" + question.pattern + "*);";
    return text + std::string(question.scope.size(), '}');
}

void add_question(const BaseQuestion& question, std::size_t number, Writer& writer) {
    std::string scope = "::";
    for (const std::string& space : question.scope) {
        const std::string name = space.starts_with("inline ") ? space.substr(7) : space;
        if (!name.empty()) scope += name + "::";
    }
    for (std::size_t i = 0; i < question.bases.size(); ++i) {
        const std::string end = "_" + std::to_string(i);
        const std::string base = numbered(SourceName::base, number) + end;
        const std::string place = numbered(SourceName::place, number) + end;
        std::string type = question.bases[i];
        if (!question.parameters.empty()) {
            const std::string function = numbered("kf_base_of_", number) + end;
            writer.add(function_text(question, function, type), number);
            type = "decltype(" + scope + function + "((" + question.type + "*)nullptr))::is";
        }
        writer.add("using " + base + " = " + type + ";", number);
        // A cast in the style of C reaches private base classes. Clang folds it in an operand of ?: alone.
        const std::string start = "(char*)(" + question.type + "*)4096";
        const std::string offset = "((char*)(" + base + "*)(" + question.type + "*)4096 - " + start + ")";
        writer.add(
            Writer::enum_text(place, {"__is_empty(" + base + ")", "(__builtin_constant_p(" + offset + ") ? " +
                                                                      offset + " : " + offset + ")"}),
            number);
    }
    const std::string shape = "kf_ask::shape<" + question.type + ">::";
    writer.add(Writer::enum_text(numbered(SourceName::shape, number),
                                 {shape + "rows", shape + "columns", shape + "by_columns"}),
               number);
}

}  // namespace

Source source_of(const std::vector<CppRequest>& requests, const std::vector<BaseQuestion>& questions) {
    Writer writer;
    std::set<std::string> included;
    for (const CppRequest& request : requests) {
        if (included.insert(request.header).second)
            writer.add("#include \"" + request.header + "\"", request.header_location);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::string name = numbered(SourceName::type, i);
        // Everything about a request is on one line, which is the request's.
        writer.add(
            "using " + name + " = " + requests[i].type + "; " +
                Writer::enum_text(numbered(SourceName::facts, i),
                                  {"__is_trivially_copyable(" + name + ")", "__is_polymorphic(" + name + ")",
                                   "sizeof(" + name + ") != 0 && __is_constructible(" + name + ")",
                                   "__is_constructible(" + name + ", const " + name + "&)",
                                   "__is_trivially_destructible(" + name + ")"}),
            requests[i].type_location);
    }
    if (questions.empty()) return writer.take();
    writer.add(std::string(helpers));
    for (std::size_t i = 0; i < questions.size(); ++i) add_question(questions[i], i, writer);
    return writer.take();
}

}  // namespace kf::gen
