// The reference of the call spec, written from the schema so that the two can't disagree.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "spec/schema.h"

namespace kf::gen {
namespace {

using nlohmann::ordered_json;

class MarkdownWriter {
public:
    explicit MarkdownWriter(const ordered_json& root) : root_(root) {}

    std::string run() {
        text_ = "# " + root_["title"].get<std::string>() + "\n\n";
        text_ += "<!-- Written from tool/spec/kernelfunctions.schema.json: change that file. -->\n\n";
        text_ += root_["description"].get<std::string>() + "\n";
        text_ +=
            "The JSON Schema, for editors, is `kernelfunctions.schema.json`; "
            "kfgen checks every spec against the same file. Unknown keys are errors.\n";
        for (const ordered_json& example : root_.value("examples", ordered_json::array())) {
            text_ += "\n```json\n" + spaced(example, 0) + "\n```\n";
        }
        text_ +=
            "\nEntries marked *not yet* are part of the language, but this version of kfgen refuses them.\n";
        properties(root_);
        for (const auto& item : root_["$defs"].items()) {
            if (item.value().contains("title")) {
                section(item.value());
            }
        }
        return text_;
    }

private:
    void section(const ordered_json& schema) {
        text_ += "\n## " + schema["title"].get<std::string>() + "\n\n" +
                 schema["description"].get<std::string>() + "\n";
        properties(schema);
        for (const ordered_json& branch : schema.value("anyOf", ordered_json::array())) {
            properties(branch);
        }
    }

    void properties(const ordered_json& schema) {
        if (!schema.contains("properties")) {
            return;
        }
        text_ += "\n| key | value | meaning |\n|---|---|---|\n";
        const ordered_json required = schema.value("required", ordered_json::array());
        for (const auto& item : schema["properties"].items()) {
            const bool needed = std::find(required.begin(), required.end(), item.key()) != required.end();
            text_ += "| `" + item.key() + "`" + (needed ? " (required)" : "") + " | " + value(item.value()) +
                     " | " + escaped(description(item.value())) +
                     (item.value().contains("x-not-yet") ? " *Not yet.*" : "") + " |\n";
        }
    }

    /// Returns the values that the schema allows, in few words; a $def with a title is a link to its section.
    std::string value(const ordered_json& schema) {
        if (schema.contains("$ref")) {
            const std::string name = schema["$ref"].get<std::string>().substr(std::string("#/$defs/").size());
            const ordered_json& target = root_["$defs"][name];
            if (target.contains("title")) {
                const auto title = target["title"].get<std::string>();
                return '[' + lowered(title) + "](#" + anchor(title) + ')';
            }
            if (name == "identifier") {
                return "name";
            }
            if (name == "type_name") {
                return "type";
            }
            return name == "path" ? "path" : value(target);
        }
        if (schema.contains("anyOf")) {
            return joined(schema["anyOf"], [this](const ordered_json& branch) { return value(branch); });
        }
        if (schema.contains("const")) {
            return '`' + schema["const"].dump() + '`';
        }
        if (schema.contains("enum")) {
            return joined(schema["enum"],
                          [](const ordered_json& choice) { return '`' + choice.dump() + '`'; });
        }
        if (schema["type"].is_array()) {
            return joined(schema["type"], [](const ordered_json& type) { return type.get<std::string>(); });
        }
        if (schema["type"] == "array") {
            return "list of " + value(schema["items"]);
        }
        if (schema["type"] == "object" && schema.contains("additionalProperties") &&
            schema["additionalProperties"].is_object()) {
            return "object: name → " + value(schema["additionalProperties"]);
        }
        return schema["type"].get<std::string>();
    }

    template <class Function>
    static std::string joined(const ordered_json& list, Function&& words) {
        std::string text;
        for (const ordered_json& item : list) {
            text += text.empty() ? "" : " or ";
            text += words(item);
        }
        return text;
    }

    std::string description(const ordered_json& schema) {
        if (schema.contains("description")) {
            return schema["description"].get<std::string>();
        }
        if (schema.contains("$ref")) {
            return description(
                root_.at(ordered_json::json_pointer(schema["$ref"].get<std::string>().substr(1))));
        }
        return "";
    }

    static std::string escaped(std::string text) {
        for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
            text.insert(at, "\\");
        }
        return text;
    }

    /// Lays JSON out as a person does: objects over several lines when they hold objects, else on one.
    static std::string spaced(const ordered_json& value, std::size_t indent) {
        if (!value.is_structured() || value.empty()) {
            return value.dump();
        }
        std::vector<std::string> parts;
        bool breaks = indent == 0;
        for (const auto& item : value.items()) {
            parts.push_back((value.is_object() ? '"' + item.key() + "\": " : "") +
                            spaced(item.value(), indent + 2));
            breaks = breaks || (value.is_array() && item.value().is_object());
            breaks = breaks || (value.is_object() && item.value().is_object());
        }
        const std::string margin(indent + 2, ' ');
        std::string text(1, value.is_object() ? '{' : '[');
        for (std::size_t i = 0; i < parts.size(); ++i) {
            text += breaks ? (i == 0 ? "\n" : ",\n") + margin : (i == 0 ? "" : ", ");
            text += parts[i];
        }
        text += breaks ? '\n' + std::string(indent, ' ') : "";
        return text + (value.is_object() ? '}' : ']');
    }

    static std::string lowered(std::string title) {
        if (title.substr(0, 4) != "CUDA") {
            title[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[0])));
        }
        return title;
    }

    /// Returns a heading's anchor, as GitHub makes it.
    static std::string anchor(const std::string& title) {
        std::string result;
        for (const char c : title) {
            if (c != '\'')
                result += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        return result;
    }

    const ordered_json& root_;
    std::string text_;
};

}  // namespace

std::string schema_markdown(std::string_view schema) {
    const ordered_json parsed = ordered_json::parse(schema);
    return MarkdownWriter(parsed).run();
}

}  // namespace kf::gen
