// Makes a Spec from a checked JSON document, and checks the rules that a JSON Schema can't state.
#include "spec/parse.h"

#include <algorithm>
#include <charconv>

#include "spec/json.h"
#include "spec/names.h"
#include "spec/schema.h"
#include "spec/texture_formats.h"

namespace kf::gen {
namespace {

using manifest::Accumulate;
using manifest::Gradient;

/// Reads a document that the schema has passed: types and required keys are as it says.
class SpecReader {
public:
    Outcome<Spec> read(const JsonNode& root, const std::string& file) {
        Spec spec;
        spec.file = file;
        spec.directory = std::filesystem::path(file).parent_path();
        spec.version = integer(root, "version", 1);
        spec.name = text(root, "name");
        check_name(spec.name, *root.find("name"), "the name");
        spec.name_location = root.find("name")->location;
        spec.namespace_name = text(root, "namespace", spec.name);
        spec.namespace_location = spec.name_location;
        if (const JsonNode* node = root.find("namespace")) {
            spec.namespace_location = node->location;
            for (const std::string& part : name_parts(node->text)) {
                check_name(part, *node, "the namespace");
            }
        }
        spec.modules = paths(root, "modules");
        spec.search_paths = paths(root, "search_paths");
        spec.link = paths(root, "link");
        spec.defines = named_texts(root, "defines");
        if (const JsonNode* options = root.find("options")) {
            for (const JsonNode& node : items(*options, "capabilities"))
                spec.slang.capabilities.push_back({node.text, {}, node.location});
            spec.slang.ignores_capabilities = flag(*options, "ignore_capabilities");
        }
        read_targets(root, spec.targets);
        for (const JsonNode& node : items(root, "outputs")) spec.device_header = node.location;
        for (const JsonNode& node : items(root, "calls")) {
            spec.calls.push_back(call(node));
        }
        spec.values = link_values(root);
        for (const JsonNode& node : items(root, "structs")) {
            spec.structs.push_back(host_struct(node));
        }
        for (const JsonMember& member : members(root, "globals")) {
            spec.globals.push_back({member.key, text(member.value, "format"), member.location});
            read_format(*member.value.find("format"));
        }
        for (const JsonNode& node : items(root, "graphs")) {
            spec.graphs.push_back({text(node, "name"), {}, node.location});
        }
        for (const JsonNode& node : items(root, "pipelines")) {
            spec.pipelines.push_back({text(node, "name"), {}, node.location});
        }
        if (!errors_.empty()) {
            return std::move(errors_);
        }
        return spec;
    }

private:
    StructSpec host_struct(const JsonNode& node) {
        StructSpec result{text(node, "slang"),         text(node, "header"), text(node, "type"), {}, {},
                          node.find("slang")->location};
        result.header_location = node.find("header")->location;
        result.type_location = node.find("type")->location;
        for (const JsonMember& member : members(node, "fields"))
            result.fields.push_back({member.key, member.value.text, member.location});
        for (const JsonNode& field : items(node, "columns"))
            result.columns.push_back({field.text, {}, field.location});
        if (const JsonNode* commands = node.find("compile_commands")) {
            result.compile_commands = commands->text;
            result.compile_commands_location = commands->location;
        }
        return result;
    }

    CallSpec call(const JsonNode& node) {
        CallSpec result;
        const JsonNode& function = *node.find("function");
        result.location = node.location;
        result.function = function.text;
        result.function_location = function.location;
        const std::size_t operands = members(node, "args").size() + (node.find("this") != nullptr ? 1 : 0);
        result.name = text(node, "name", default_host_name(function.text, operands));
        const JsonNode* name = node.find("name");
        check_name(result.name, name != nullptr ? *name : function, "the call's name on the host");
        for (const JsonMember& member : members(node, "args")) {
            result.arguments.push_back({member.key, alternatives(member.value), member.location});
        }
        if (const JsonNode* kinds = node.find("result"); kinds != nullptr && kinds->text != "auto") {
            result.result = alternatives(*kinds);
        }
        if (const JsonNode* kinds = node.find("this")) {
            result.self = alternatives(*kinds);
        }
        result.threads = threads(node);
        if (const JsonNode* dispatch = node.find("dispatch"))
            result.dispatch = dispatch->text == "groups" ? Dispatch::groups : Dispatch::threads;
        if (const JsonNode* backward = node.find("backward")) {
            result.backward = read_backward(*backward);
        }
        if (flag(node, "forward_diff")) result.forward_diff = node.find("forward_diff")->location;
        result.strict_broadcasting = flag(node, "strict_broadcasting");
        result.debug_print = flag(node, "debug_print");
        result.checked = flag(node, "checked");
        for (const JsonMember& member : members(node, "variants")) {
            result.variants.push_back({member.key, threads(member.value), link_values(member.value),
                                       member.location, maps(member.value),
                                       option(member.value, "debug_print"), option(member.value, "checked")});
        }
        for (const JsonMember& member : members(node, "accumulate")) {
            result.accumulate.push_back({member.key, accumulate(member.value), member.location});
        }
        if (const JsonNode* aliases = node.find("aliases")) {
            for (const JsonNode& item : aliases->items) result.aliases.push_back({item.text, item.location});
        }
        return result;
    }

    static std::optional<bool> option(const JsonNode& node, const char* key) {
        if (node.find(key) == nullptr) return std::nullopt;
        return flag(node, key);
    }

    static std::vector<MapSpec> maps(const JsonNode& node) {
        std::vector<MapSpec> result;
        for (const JsonMember& member : members(node, "map")) {
            MapSpec& added = result.emplace_back(MapSpec{member.key, {}, member.location});
            for (const JsonNode& dimension : member.value.items) added.map.push_back(to_integer(dimension));
        }
        return result;
    }

    std::vector<KindSpec> alternatives(const JsonNode& node) {
        std::vector<KindSpec> kinds;
        if (node.type != JsonType::array) {
            kinds.push_back(kind(node));
            return kinds;
        }
        for (const JsonNode& item : node.items) {
            KindSpec next = kind(item);
            // The schema saw two equal texts; " value" and "value" only meet here.
            if (item.type == JsonType::string &&
                std::any_of(kinds.begin(), kinds.end(), [&](const KindSpec& other) {
                    return other.spelling == next.spelling && other.kind != Kind::fields && !other.map &&
                           !other.grad && !other.contiguous_only && other.format.empty() &&
                           other.accumulate.empty();
                })) {
                error("spec-value", item.location, "the kind '" + next.spelling + "' is listed twice");
            }
            kinds.push_back(std::move(next));
        }
        return kinds;
    }

    KindSpec kind(const JsonNode& node) {
        if (node.type == JsonType::string) {
            KindSpec result = parsed_kind(node);
            check_value(result);
            return result;
        }
        const JsonNode* name = node.find("kind");
        const JsonNode* fields = node.find("fields");
        KindSpec result;
        if ((name != nullptr) == (fields != nullptr)) {
            error("spec-kind", node.location,
                  name != nullptr ? "a kind has either 'kind' or 'fields', not both"
                                  : "a kind needs the key 'kind' or 'fields'");
            return result;
        }
        if (name != nullptr) {
            result = parsed_kind(*name);
        } else {
            result.kind = Kind::fields;
            result.spelling = "{fields}";
            for (const JsonMember& field : fields->members) {
                result.fields.push_back({field.key, alternatives(field.value), field.location});
            }
        }
        result.location = node.location;
        read_options(node, result);
        check_value(result);
        return result;
    }

    KindSpec parsed_kind(const JsonNode& node) {
        Location inside = node.location;
        ++inside.column;
        Outcome<KindSpec> kind = parse_kind(node.text, inside);
        KindSpec result = kind ? std::move(kind.value()) : KindSpec{};  // the schema has reported errors
        result.location = node.location;
        return result;
    }

    void read_options(const JsonNode& node, KindSpec& kind) {
        const KindOptions allowed = options_of(kind);
        for (const JsonMember& member : node.members) {
            const JsonNode& value = member.value;
            bool fits = true;
            if (member.key == "map") {
                fits = allowed.map;
                kind.map.emplace();
                for (const JsonNode& item : value.items) {
                    kind.map->push_back(to_integer(item));
                }
            } else if (member.key == "as") {
                fits = allowed.element;
                if (fits && !kind.element.empty()) {
                    error("spec-kind-option", member.location,
                          "the element type is given twice: '" + kind.spelling + "' and 'as'");
                }
                kind.element = value.text;
            } else if (member.key == "grad") {
                fits = allowed.grad;
                kind.grad = value.type == JsonType::string ? Gradient::automatic
                            : value.is_true()              ? Gradient::required
                                                           : Gradient::never;
            } else if (member.key == "layout") {
                fits = allowed.layout;
                kind.contiguous_only = value.text == "contiguous";
            } else if (member.key == "format") {
                fits = allowed.format;
                kind.format = value.text;
                if (fits) read_format(value);
            } else if (member.key == "value") {
                fits = allowed.value;
                kind.value.emplace();
                read_constant(value, 0, *kind.value);
            } else if (member.key == "accumulate") {
                fits = allowed.accumulate;
                kind.accumulate = accumulate(value);
            }
            if (!fits) {
                error("spec-kind-option", member.location,
                      "the kind '" + kind.spelling + "' has no option '" + member.key + "'");
            }
        }
    }

    void read_format(const JsonNode& node) {
        if (std::optional<Diagnostic> failure = check_format(node.text, node.location))
            errors_.push_back(std::move(*failure));
    }

    void check_value(const KindSpec& kind) {
        if (kind.kind != Kind::constant || kind.value) return;
        error("spec-kind-option", kind.location, "the kind 'constant' needs the option 'value'",
              {R"(for example {"kind": "constant", "value": 3})"});
    }

    /// `depth`: how many lists are around the node.
    void read_constant(const JsonNode& node, std::size_t depth, ConstantValue& value) {
        if (node.type == JsonType::array) {
            const auto count = static_cast<std::int64_t>(node.items.size());
            // The first of the lists at this depth says how long they are.
            if (value.scalars.empty() && value.extents.size() == depth) value.extents.push_back(count);
            if (value.extents.size() <= depth || value.extents[depth] != count) {
                error("spec-value", node.location, "the lists of a constant differ in length or depth");
                return;
            }
            for (const JsonNode& item : node.items) read_constant(item, depth + 1, value);
            return;
        }
        if (value.extents.size() != depth) {
            error("spec-value", node.location, "the lists of a constant differ in length or depth");
            return;
        }
        value.scalars.push_back(scalar(node));
    }

    static std::vector<AccumulateWay> accumulate(const JsonNode& node) {
        const auto choice = [](const JsonNode& item) {
            // The schema lets no other word through.
            if (item.text == "overwrite") return AccumulateWay{Accumulate::sum, true};
            const auto& words = manifest::accumulate_words;
            const auto found = std::find(words.begin(), words.end(), item.text);
            return AccumulateWay{static_cast<Accumulate>(found - words.begin())};
        };
        if (node.type == JsonType::string) {
            return {choice(node)};
        }
        std::vector<AccumulateWay> choices(node.items.size());
        std::transform(node.items.begin(), node.items.end(), choices.begin(), choice);
        return choices;
    }

    std::optional<ThreadsSpec> threads(const JsonNode& parent) {
        const JsonNode* node = parent.find("threads");
        if (node == nullptr) {
            return std::nullopt;
        }
        ThreadsSpec result;
        result.dimensions = static_cast<int>(node->items.size());
        result.location = node->location;
        int total = 1;
        for (std::size_t i = 0; i < node->items.size(); ++i) {
            result.size.at(i) = to_integer(node->items[i]);
            total *= result.size.at(i);  // at most 1024^3: fits
        }
        if (total > 1024) {
            error("spec-value", node->location,
                  "a group of " + std::to_string(total) + " threads is too large; at most 1024 are allowed");
        }
        return result;
    }

    static BackwardSpec read_backward(const JsonNode& node) {
        BackwardSpec result;
        result.location = node.location;
        result.enabled = node.type == JsonType::object || node.is_true();
        if (const JsonNode* inputs = node.find("inputs")) {
            result.inputs.emplace();
            for (const JsonNode& item : inputs->items) {
                result.inputs->push_back(item.text);
            }
        }
        if (const JsonNode* wish = node.find("deterministic")) {
            result.deterministic_too = wish->text == "auto";
            result.deterministic = wish->is_true() || result.deterministic_too;
        }
        result.fused = flag(node, "fused");
        return result;
    }

    void read_targets(const JsonNode& root, std::vector<TargetSpec>& targets) {
        for (const JsonNode& node : items(root, "targets")) {
            TargetSpec target;
            target.location = node.location;
            if (const JsonNode* cuda = node.find("cuda")) {
                target.backend = Backend::cuda;
                target.ptx = cuda->find("ptx") == nullptr || flag(*cuda, "ptx");
                if (const JsonNode* version = cuda->find("ptx_isa_max")) {
                    const std::size_t dot = version->text.find('.');
                    target.ptx_isa_max = {std::stoi(version->text.substr(0, dot)),
                                          std::stoi(version->text.substr(dot + 1))};
                }
                for (const JsonNode& architecture : items(*cuda, "arch")) {
                    target.architectures.push_back(architecture.text);
                }
            } else {
                target.backend = node.text == "cuda" ? Backend::cuda : Backend::vulkan;
            }
            const auto same = [&](const TargetSpec& other) { return other.backend == target.backend; };
            if (std::any_of(targets.begin(), targets.end(), same)) {
                error("spec-value", node.location,
                      std::string("the target '") + (target.backend == Backend::cuda ? "cuda" : "vulkan") +
                          "' is listed twice");
            }
            targets.push_back(std::move(target));
        }
        if (targets.empty()) {
            targets.push_back({Backend::vulkan, {}, true, std::nullopt, root.location});
        }
    }

    static ConstantSpec constant(const JsonMember& member) {
        const bool typed = member.value.type == JsonType::object;
        const JsonNode& given = typed ? *member.value.find("value") : member.value;
        ConstantSpec made{
            member.key, typed ? text(member.value, "type") : std::string(), {}, member.location};
        for (const JsonNode& item : given.items) made.values.push_back(scalar(item));
        made.value = made.values.empty() ? scalar(given) : made.values.front();
        return made;
    }

    static ConstantScalar scalar(const JsonNode& node) {
        using Literal = ConstantScalar::Literal;
        const Literal literal = node.type == JsonType::boolean   ? Literal::boolean
                                : node.type == JsonType::integer ? Literal::integer
                                : node.type == JsonType::number  ? Literal::number
                                                                 : Literal::name;
        return {literal, node.text, node.location};
    }

    static LinkSpec link_values(const JsonNode& node) {
        LinkSpec link;
        for (const JsonMember& member : members(node, "constants"))
            link.constants.push_back(constant(member));
        link.types = named_texts(node, "types");
        for (const JsonNode& item : items(node, "conformances")) {
            ConformanceSpec listed{text(item, "interface"), text(item, "type"), std::nullopt, item.location};
            if (item.find("id") != nullptr) listed.id = integer(item, "id", 0);
            link.conformances.push_back(std::move(listed));
        }
        return link;
    }

    void check_name(const std::string& name, const JsonNode& place, const std::string& what) {
        if (is_reserved(name)) {
            error("spec-name", place.location, "'" + name + "' can't be " + what + ": the word is reserved",
                  {"C++ and Python keywords, kf, kernelfunctions and std are reserved; set \"name\" to "
                   "another word"});
        }
    }

    static const std::vector<JsonNode>& items(const JsonNode& parent, std::string_view key) {
        static const std::vector<JsonNode> none;
        const JsonNode* node = parent.find(key);
        return node != nullptr ? node->items : none;
    }
    static const std::vector<JsonMember>& members(const JsonNode& parent, std::string_view key) {
        static const std::vector<JsonMember> none;
        const JsonNode* node = parent.find(key);
        return node != nullptr ? node->members : none;
    }
    static std::string text(const JsonNode& parent, std::string_view key, const std::string& otherwise = {}) {
        const JsonNode* node = parent.find(key);
        return node != nullptr ? node->text : otherwise;
    }
    static bool flag(const JsonNode& parent, std::string_view key) {
        const JsonNode* node = parent.find(key);
        return node != nullptr && node->is_true();
    }
    static int to_integer(const JsonNode& node) {
        int value = 0;
        std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
        return value;
    }
    static int integer(const JsonNode& parent, std::string_view key, int otherwise) {
        const JsonNode* node = parent.find(key);
        return node != nullptr ? to_integer(*node) : otherwise;
    }
    static std::vector<PathSpec> paths(const JsonNode& root, std::string_view key) {
        std::vector<PathSpec> result;
        for (const JsonNode& node : items(root, key)) {
            result.push_back({node.text, node.location});
        }
        return result;
    }
    static std::vector<NamedText> named_texts(const JsonNode& root, std::string_view key) {
        std::vector<NamedText> result;
        for (const JsonMember& member : members(root, key)) {
            result.push_back({member.key, member.value.text, member.location});
        }
        return result;
    }

    void error(std::string id, Location place, std::string message, std::vector<std::string> notes = {}) {
        errors_.push_back(
            {Severity::error, std::move(id), std::move(place), std::move(message), std::move(notes)});
    }

    Diagnostics errors_;
};

}  // namespace

Outcome<Spec> parse_spec(std::string_view text, const std::string& file) {
    const Outcome<JsonNode> document = parse_json(text, file);
    if (!document) {
        return document.errors();
    }
    Diagnostics errors = validate(document.value(), spec_schema());
    if (!errors.empty()) {
        return errors;
    }
    return SpecReader().read(document.value(), file);
}

}  // namespace kf::gen
