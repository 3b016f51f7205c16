// Checks a document against a JSON Schema, with a place and a plain sentence for each error.
#include "spec/schema.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>

#include "core/join.h"
#include "diagnostic/suggest.h"
#include "schema_text.h"
#include "spec/kind.h"

namespace kf::gen {
namespace {

using json = nlohmann::ordered_json;  // messages list keys in the schema's order

constexpr std::size_t max_name_length = 1024;  // std::regex recurses over the string

/// Keywords of the schema that have a meaning of their own here.
constexpr std::string_view handled_keywords[] = {"$schema",
                                                 "$id",
                                                 "$ref",
                                                 "$defs",
                                                 "title",
                                                 "examples",
                                                 "description",
                                                 "type",
                                                 "const",
                                                 "enum",
                                                 "anyOf",
                                                 "required",
                                                 "additionalProperties",
                                                 "properties",
                                                 "propertyNames",
                                                 "minProperties",
                                                 "items",
                                                 "minItems",
                                                 "maxItems",
                                                 "uniqueItems",
                                                 "minimum",
                                                 "maximum",
                                                 "minLength",
                                                 "pattern",
                                                 "format",
                                                 "x-expected",
                                                 "x-error-id",
                                                 "x-not-yet"};

std::optional<JsonType> type_named(std::string_view name) {
    for (const auto& [text, type] :
         std::initializer_list<std::pair<std::string_view, JsonType>>{{"boolean", JsonType::boolean},
                                                                      {"integer", JsonType::integer},
                                                                      {"number", JsonType::number},
                                                                      {"string", JsonType::string},
                                                                      {"array", JsonType::array},
                                                                      {"object", JsonType::object}}) {
        if (text == name) {
            return type;
        }
    }
    return std::nullopt;
}

/// Equal exactly when two values are equal; keys in any order.
std::string canonical(const JsonNode& node) {
    std::string text = std::to_string(static_cast<int>(node.type)) + ':' + json(node.text).dump();
    for (const JsonNode& item : node.items) {
        text += '[' + canonical(item) + ']';
    }
    std::set<std::string> members;
    for (const JsonMember& member : node.members) {
        members.insert(json(member.key).dump() + '=' + canonical(member.value));
    }
    for (const std::string& member : members) {
        text += '{' + member + '}';
    }
    return text;
}

class Validator {
public:
    explicit Validator(const json& root) : root_(root) {}

    Diagnostics run(const JsonNode& document) {
        check(document, root_, "");
        return std::move(errors_);
    }

private:
    void check(const JsonNode& node, const json& schema, const std::string& path) {
        require_handled(schema);
        if (schema.contains("$ref")) {
            check(node, resolve(schema), path);
            return;
        }
        if (const std::vector<std::string> literals = literals_of(schema); !literals.empty()) {
            check_literals(node, schema, literals, path);
            return;
        }
        if (!accepts(node.type, schema)) {
            report("spec-type", node.location,
                   capitalised(path) + " must be " + expected_types(schema) + ", not " + phrase(node));
            return;
        }
        if (schema.contains("anyOf")) {
            check_any(node, schema["anyOf"], path);
            return;
        }
        check_choice(node, schema, path);
        switch (node.type) {
            case JsonType::object: check_object(node, schema, path); break;
            case JsonType::array: check_array(node, schema, path); break;
            case JsonType::string: check_string(node, schema, path); break;
            case JsonType::integer:
            case JsonType::number: check_number(node, schema, path); break;
            case JsonType::boolean:
            case JsonType::null: break;
        }
    }

    /// Returns the values where only few are allowed: true, false and words; nothing where others are, too.
    static std::vector<std::string> literals_of(const json& schema) {
        std::vector<std::string> literals;
        for (const json& branch : schema.value("anyOf", json::array())) {
            if (branch.contains("const")) {
                literals.push_back(branch["const"].dump());
            } else if (branch.value("type", "") == "boolean") {
                literals.insert(literals.end(), {"true", "false"});
            } else {
                return {};
            }
        }
        return literals;
    }

    void check_literals(const JsonNode& node, const json& schema, const std::vector<std::string>& literals,
                        const std::string& path) {
        const std::string text = node.type == JsonType::string ? json(node.text).dump() : node.text;
        if (std::find(literals.begin(), literals.end(), text) != literals.end()) {
            return;
        }
        std::string choices;
        for (const std::string& literal : literals) {
            choices += (choices.empty() ? "" : literal == literals.back() ? " or " : ", ") + literal;
        }
        Diagnostic& error = report(accepts(node.type, schema) ? "spec-value" : "spec-type", node.location,
                                   capitalised(path) + " must be " + choices + ", not " + phrase(node));
        if (const auto near = closest(text, literals)) {
            error.notes.push_back("did you mean " + *near + "?");
        }
    }

    void check_any(const JsonNode& node, const json& branches, const std::string& path) {
        // The branch to report is the last one of the right type: in our schema the most general.
        Diagnostics before = std::move(errors_);
        Diagnostics found;
        for (const json& branch : branches) {
            if (accepts(node.type, branch)) {
                errors_.clear();
                check(node, branch, path);
                found = std::move(errors_);
                if (found.empty()) {
                    break;
                }
            }
        }
        errors_ = std::move(before);
        errors_.insert(errors_.end(), found.begin(), found.end());
    }

    void check_choice(const JsonNode& node, const json& schema, const std::string& path) {
        std::vector<std::string> choices;
        const json listed = schema.contains("enum")    ? schema["enum"]
                            : schema.contains("const") ? json::array({schema["const"]})
                                                       : json::array();
        for (const json& choice : listed) {
            choices.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
        }
        if (choices.empty() || std::find(choices.begin(), choices.end(), node.text) != choices.end()) {
            return;
        }
        Diagnostic& error =
            report(error_id(schema, "spec-value"), node.location,
                   capitalised(path) + (choices.size() == 1 ? " must be " : " must be one of ") +
                       join(choices) + ", not " + phrase(node));
        if (const auto near = closest(node.text, choices)) {
            error.notes.push_back("did you mean '" + *near + "'?");
        }
    }

    void check_object(const JsonNode& node, const json& schema, const std::string& path) {
        const json none = json::object();
        const json& properties = schema.contains("properties") ? schema["properties"] : none;
        for (const JsonMember& member : node.members) {
            const std::string inner = path.empty() ? member.key : path + '.' + member.key;
            if (schema.contains("propertyNames")) {
                const JsonNode name{JsonType::string, member.key, {}, {}, member.location};
                check(name, schema["propertyNames"], "the name '" + member.key + "' in " + named(path));
            }
            if (properties.contains(member.key)) {
                check(member.value, properties[member.key], inner);
            } else if (schema.contains("additionalProperties")) {
                const json& others = schema["additionalProperties"];
                if (others.is_object()) {
                    check(member.value, others, inner);
                } else if (!others.get<bool>()) {
                    unknown_key(member, properties, path);
                }
            }
        }
        if (schema.contains("required")) {
            for (const json& key : schema["required"]) {
                if (node.find(key.get<std::string>()) == nullptr) {
                    report("spec-missing-key", node.location,
                           capitalised(path) + " needs the key '" + key.get<std::string>() + "'");
                }
            }
        }
        if (schema.contains("minProperties") &&
            node.members.size() < schema["minProperties"].get<std::size_t>()) {
            report("spec-value", node.location, capitalised(path) + " must not be empty");
        }
    }

    void unknown_key(const JsonMember& member, const json& properties, const std::string& path) {
        std::vector<std::string> known;
        for (const auto& item : properties.items()) {
            if (item.key().front() != '$') {
                known.push_back(item.key());
            }
        }
        const bool of_backward =
            member.key == "fused" || member.key == "deterministic" || member.key == "inputs";
        std::vector<std::string> notes = suggestion_notes(member.key, "known keys", known);
        if (of_backward && properties.contains("backward"))
            notes = {"it is a key of \"backward\": \"backward\": {\"" + member.key + "\": …}"};
        report("spec-unknown-key", member.location, "unknown key '" + member.key + "' in " + named(path))
            .notes = std::move(notes);
    }

    void check_array(const JsonNode& node, const json& schema, const std::string& path) {
        const std::size_t count = node.items.size();
        if (schema.contains("minItems") && count < schema["minItems"].get<std::size_t>()) {
            report("spec-value", node.location, capitalised(path) + " must not be empty");
        }
        if (schema.contains("maxItems") && count > schema["maxItems"].get<std::size_t>()) {
            report("spec-value", node.location,
                   capitalised(path) + " has " + std::to_string(count) + " entries; at most " +
                       schema["maxItems"].dump() + " are allowed");
        }
        std::set<std::string> seen;
        for (std::size_t i = 0; i < count; ++i) {
            const std::string inner = path + '[' + std::to_string(i) + ']';
            if (schema.contains("items")) {
                check(node.items[i], schema["items"], inner);
            }
            if (schema.value("uniqueItems", false) && !seen.insert(canonical(node.items[i])).second) {
                report("spec-value", node.items[i].location, inner + " is listed twice");
            }
        }
    }

    void check_string(const JsonNode& node, const json& schema, const std::string& path) {
        const std::string& text = node.text;
        const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
        if (std::any_of(text.begin(), text.end(), is_control)) {
            report("spec-value", node.location, capitalised(path) + " holds a control character");
        } else if (schema.value("format", "") == "kf-kind") {
            // The pattern beside it is for editors: parse_kind knows what is wrong and where.
            Location inside = node.location;
            ++inside.column;
            if (const auto kind = parse_kind(text, inside); !kind) {
                errors_.insert(errors_.end(), kind.errors().begin(), kind.errors().end());
            }
        } else if (schema.contains("minLength") && text.empty()) {
            report("spec-value", node.location, capitalised(path) + " must not be empty");
        } else if (schema.contains("pattern")) {
            if (text.size() > max_name_length) {
                report(
                    "spec-value", node.location,
                    capitalised(path) + " is longer than " + std::to_string(max_name_length) + " characters");
            } else if (!std::regex_match(text, pattern(schema["pattern"].get<std::string>()))) {
                report(error_id(schema, "spec-value"), node.location,
                       capitalised(path) + " must be " + schema["x-expected"].get<std::string>() + ", not '" +
                           text + "'");
            }
        }
    }

    /// Returns the pattern, which is kept: making one takes longer than using it for a name.
    const std::regex& pattern(const std::string& text) {
        const auto known = patterns_.find(text);
        return known != patterns_.end() ? known->second
                                        : patterns_.emplace(text, std::regex(text)).first->second;
    }

    void check_number(const JsonNode& node, const json& schema, const std::string& path) {
        const double value = std::strtod(node.text.c_str(), nullptr);
        for (const auto& [limit, sign, words] : {std::tuple{"minimum", 1, " must be at least "},
                                                 std::tuple{"maximum", -1, " must be at most "}}) {
            if (schema.contains(limit) && sign * value < sign * schema[limit].get<double>()) {
                report("spec-value", node.location,
                       capitalised(path) + words + schema[limit].dump() + ", not " + node.text);
            }
        }
    }

    [[nodiscard]] const json& resolve(const json& schema) const {
        if (!schema.contains("$ref")) {
            return schema;
        }
        const auto reference = schema["$ref"].get<std::string>();
        return resolve(root_.at(json::json_pointer(reference.substr(1))));  // "#/$defs/x"
    }

    /// Every type that the schema allows; empty when it allows any.
    [[nodiscard]] std::set<JsonType> types(const json& schema_or_reference) const {
        const json& schema = resolve(schema_or_reference);
        std::set<JsonType> result;
        if (schema.contains("type")) {
            for (const json& name :
                 schema["type"].is_array() ? schema["type"] : json::array({schema["type"]})) {
                result.insert(type_named(name.get<std::string>()).value());
            }
        } else if (schema.contains("anyOf")) {
            for (const json& branch : schema["anyOf"]) {
                result.merge(types(branch));
            }
        }
        return result;
    }

    [[nodiscard]] bool accepts(JsonType type, const json& schema) const {
        const std::set<JsonType> allowed = types(schema);
        return allowed.empty() || allowed.count(type) != 0 ||
               (type == JsonType::integer && allowed.count(JsonType::number) != 0);
    }

    [[nodiscard]] std::string expected_types(const json& schema) const {
        std::string text;
        const std::set<JsonType> allowed = types(schema);
        for (const JsonType type : allowed) {
            text += text.empty() ? "" : type == *allowed.rbegin() ? " or " : ", ";
            text += json_type_phrase(type);
        }
        return text;
    }

    static std::string phrase(const JsonNode& node) {
        switch (node.type) {
            case JsonType::string: return "the string \"" + node.text.substr(0, 60) + '"';
            case JsonType::boolean: return node.text;
            case JsonType::integer:
            case JsonType::number: return "the number " + node.text.substr(0, 60);
            default: return std::string(json_type_phrase(node.type));
        }
    }

    static std::string named(const std::string& path) { return path.empty() ? "the spec" : path; }
    static std::string capitalised(const std::string& path) { return path.empty() ? "The spec" : path; }
    static std::string error_id(const json& schema, const char* otherwise) {
        return schema.value("x-error-id", otherwise);
    }

    static void require_handled(const json& schema) {
        for (const auto& item : schema.items()) {
            if (std::find(std::begin(handled_keywords), std::end(handled_keywords), item.key()) ==
                std::end(handled_keywords)) {
                throw std::logic_error("the spec's schema uses a keyword that is not checked: " + item.key());
            }
        }
    }

    Diagnostic& report(std::string id, Location location, std::string message) {
        errors_.push_back({Severity::error, std::move(id), std::move(location), std::move(message), {}});
        return errors_.back();
    }

    const json& root_;
    Diagnostics errors_;
    std::map<std::string, std::regex> patterns_;
};

}  // namespace

std::string_view spec_schema() { return embedded::spec_schema; }

Diagnostics validate(const JsonNode& document, std::string_view schema) {
    const json parsed = json::parse(schema);
    return Validator(parsed).run(document);
}

}  // namespace kf::gen
