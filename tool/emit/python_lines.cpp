// Lines of a stub, as wide as formatters make them.
#include "emit/python_lines.h"

#include "core/join.h"
#include "emit/text.h"

namespace kf::gen {

std::string method_line(const std::string& name, const std::vector<std::string>& parameters,
                        const std::string& result) {
    const std::string head = "    def " + name + "(";
    const std::string tail = ") -> " + result + ": ...";
    const std::string list = join(parameters);
    if (head.size() + list.size() + tail.size() <= columns) return head + list + tail;
    if (8 + list.size() <= columns) return head + "\n        " + list + "\n    " + tail;
    std::string text = head;
    for (const std::string& parameter : parameters) text += "\n        " + parameter + ",";
    return text + "\n    " + tail;
}

std::string import_line(const std::string& head, const std::set<std::string>& names, char open, char close) {
    const std::string brackets = open == '(' ? "" : std::string(1, open);
    std::string line = head + brackets + join(names) + (open == '(' ? "" : std::string(1, close));
    if (line.size() <= columns) return line;
    line = head + open;
    for (const std::string& name : names) line += "\n    " + name + ",";
    return line + "\n" + close;
}

}  // namespace kf::gen
