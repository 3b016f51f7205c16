// The Python classes of the structs that a plan's calls take.
#include "emit/python_structs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/join.h"
#include "core/python_names.h"
#include "emit/element.h"
#include "emit/field_defaults.h"
#include "emit/python_signature.h"
#include "emit/text.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

std::string class_name(const std::string& name) {
    const std::size_t arguments = std::min(name.find('<'), name.size());
    const std::size_t dot = name.substr(0, arguments).find_last_of(".:");
    return python_identifier(dot == std::string::npos ? name : name.substr(dot + 1));
}

std::string class_name(const Type& type) { return class_name(type.name); }

/// Enums have attributes of their own, and so have integers; what begins and ends with _ is for Python to
/// use.
std::string member_name(const std::string& name) {
    constexpr std::array kept{"as_integer_ratio",
                              "bit_count",
                              "bit_length",
                              "conjugate",
                              "denominator",
                              "dtype",
                              "from_bytes",
                              "imag",
                              "is_integer",
                              "mro",
                              "name",
                              "numerator",
                              "real",
                              "to_bytes",
                              "value"};
    if (name.starts_with("__")) return "m" + name;
    const bool reserved = std::ranges::binary_search(detail::python_keywords, std::string_view(name)) ||
                          std::ranges::binary_search(kept, std::string_view(name)) ||
                          (name.starts_with('_') && name.ends_with('_'));
    return reserved ? name + "_" : name;
}

/// Returns the host's element of a field: the address of a pointer.
std::optional<manifest::Element> host_element(const Type& type) {
    if (type.kind == TypeKind::pointer) return manifest::Element{ScalarType::uint64, {}};
    return element_of(type);
}

bool has_layout(const Type& type) {
    if (type.kind == TypeKind::array)
        return type.extent > 0 && type.element.size() == 1 && has_layout(type.element.front());
    if (type.kind != TypeKind::structure) return host_element(type).has_value();
    // NumPy has no arrays with gaps between their elements as a field.
    const auto has_gaps = [](const HostStruct::Place& field) { return !field.spacing.empty(); };
    if (type.host && std::ranges::any_of(type.host->fields, has_gaps)) return false;
    return !type.fields.empty() && std::all_of(type.fields.begin(), type.fields.end(),
                                               [](const Field& field) { return has_layout(field.type); });
}

/// Whether parameters take it as an object.
bool is_object(const UsedStruct& used) { return (used.whole || used.fields) && !used.type.fields.empty(); }

/// Numbers, arrays and tensors have attributes too: a checker would take them for a struct of those.
bool has_own_attributes(const Type& type) {
    const auto is_common = [](const std::string& name) {
        constexpr std::array names{"real", "imag",    "T",    "shape",  "strides", "dtype", "data",
                                   "size", "grad_in", "grad", "device", "ndim",    "flat",  "grad_out"};
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    return std::any_of(type.fields.begin(), type.fields.end(),
                       [&](const Field& field) { return !is_common(field.name); });
}

std::vector<std::string> attributes_of(const Type& type) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < type.fields.size(); ++i)
        names.push_back(detail::python_attribute(type.fields, i));
    return names;
}

/// Returns the comments on the struct and its fields, then what the class is.
View::List docstring_of(const UsedStruct& used) {
    std::vector<std::string> lines = used.doc;
    const std::vector<std::string> names = attributes_of(used.type);
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::vector<std::string>& doc = used.field_docs[i];
        if (doc.empty()) continue;
        if (!any && !lines.empty()) lines.emplace_back();
        any = true;
        lines.push_back(names[i] + ": " + doc.front());
        for (std::size_t k = 1; k < doc.size(); ++k) lines.push_back(doc[k].empty() ? "" : "    " + doc[k]);
    }
    if (!lines.empty()) lines.emplace_back();
    const std::string by_value = ", as which they are returned by value.";
    lines.push_back(
        used.type.name + ": " +
        (used.type.own == OwnStruct::optional ? "functions take a value or None, too" + by_value
         : used.type.own == OwnStruct::tuple
             ? "functions take a tuple, too" + by_value
             : "its fields are numbers, lists or arrays, or tensors where a function takes it field by "
               "field."));
    const std::vector<std::string> text = docstring(4, lines);
    return {text.begin(), text.end()};
}

bool is_made(const UsedStruct& used, const Field& field) {
    return std::find(used.made.begin(), used.made.end(), field.name) != used.made.end();
}

/// Returns the type as a protocol's field has it: protocols are covariant in their fields.
std::string covariant(std::string type) {
    const std::string_view from = "[_Tensor]";
    for (auto at = type.find(from); at != std::string::npos; at = type.find(from, at + 1))
        type.replace(at, from.size(), "[_Tensor_co]");
    return type;
}

}  // namespace

std::string returned_number(const manifest::Element& element) {
    if (!element.extents.empty()) return "npt.NDArray[np." + numpy_name(element.scalar) + "]";
    if (is_floating(element.scalar)) return "float";
    return element.scalar == ScalarType::boolean ? "bool" : "int";
}

PythonStructs::PythonStructs(const Plan& plan, UniqueNames& names, UniqueNames& classes)
    : enums_(used_enums(plan, true)) {
    for (const UsedStruct& used : used_structs(plan)) {
        if (used.type.kind != TypeKind::structure) continue;
        used_.push_back(used);
        names_[used.type.name] = names.claim(class_name(used.type));
        const std::string base = "_" + class_name(used.type);
        objects_[used.type.name] = {
            classes.claim(base + "Value"), classes.claim(base + "Like"), classes.claim(base + "Dict"), {}};
    }
    for (const UsedEnum& used : enums_) {
        names_[used.name] = names.claim(class_name(used.name));
        enum_words_[used.name] = classes.claim("_" + class_name(used.name) + "Name");
    }
    if (!enums_.empty()) typing_.insert({"Literal", "TypeAlias"});
    for (const UsedStruct& used : used_) {
        ObjectNames& object = objects_.at(used.type.name);
        object.field = object.value;
        if (!is_object(used)) continue;
        const std::vector<std::string> attributes = attributes_of(used.type);
        bool renamed = false;
        bool held = false;
        for (std::size_t i = 0; i < attributes.size(); ++i) {
            renamed = renamed || attributes[i] != used.type.fields[i].name;
            const std::string type = field_type(used.type.fields[i].type, used.fields);
            held =
                held || (!is_made(used, used.type.fields[i]) && type.find("[_Tensor]") != std::string::npos);
        }
        // A dict whose keys are no names can't be generic.
        if (held && (has_own_attributes(used.type) || !renamed)) following_.insert(used.type.name);
        // A protocol can't be covariant in what is held by a dict of its.
        if (following_.contains(used.type.name)) {
            object.field =
                has_own_attributes(used.type) ? object.like + "[_Tensor]" : names_.at(used.type.name);
            object.field += " | " + object.dict;
            if (used.whole && has_layout(used.type)) object.field += " | np.void";
            object.field += own_values(used);
        }
    }
    if (follow_torch()) typing_.insert("Generic");
    // Variables are claimed behind all structs' own names: fields may be called "like" or "dict", too.
    for (const UsedStruct& used : used_) claim_variables(used, classes);
    if (has_variables()) typing_.insert({"Generic", "TypeAlias"});
    for (const UsedStruct& used : used_)
        if (first_by_name(used) < used.type.fields.size()) typing_.insert("overload");
    for (const UsedStruct& used : used_) {
        if (!is_object(used) && !variables_.contains(used.type.name)) continue;
        typing_.insert({"TypeAlias", "TypedDict"});
        if (has_own_attributes(used.type)) typing_.insert("Protocol");
        for (std::size_t i = 0; i < used.type.fields.size(); ++i)
            has_optional_ = has_optional_ ||
                            (is_object(used) && !is_made(used, used.type.fields[i]) && has_default(used, i));
        for (const Field& field : used.type.fields) {
            const std::string type = taken_in_form(field_type(field.type, used.fields), TorchForm::any);
            for (const char* word :
                 {"BoolValue", "IntValue", "FloatValue", "VectorValue", "ComponentsValue", "FieldValue"}) {
                if (type == word || type.starts_with(std::string(word) + " ") ||
                    type.find(" " + std::string(word)) != std::string::npos)
                    words_.insert(word);
            }
        }
    }
}

/// Returns the types that a field of an object may have.
std::string PythonStructs::field_type(const Type& type, bool by_field) const {
    std::string text;
    if (type.kind == TypeKind::structure) {
        text = objects_.contains(type.name) ? objects_.at(type.name).field : "Any";
    } else if (holds_structs(type)) {
        text = "VectorValue";
    } else if (const std::optional<manifest::Element> element = host_element(type)) {
        const bool vector = type.kind == TypeKind::vector;
        if (element->extents.empty() || vector) {
            text = is_floating(element->scalar)             ? "FloatValue"
                   : element->scalar == ScalarType::boolean ? "BoolValue"
                                                            : "IntValue";
        }
        if (const std::string words = enum_names_of(type); !words.empty() && !text.empty())
            text += " | " + words;
        if (vector) text += " | ComponentsValue | ";
        if (!element->extents.empty()) text += "VectorValue";
    }
    if (by_field && type.kind != TypeKind::structure)
        text += text.empty() ? "FieldValue[_Tensor]" : " | FieldValue[_Tensor]";
    return text.empty() ? "Any" : text;
}

/// " | float | None": what an object's place takes, too, where it is a struct of Slang's own.
std::string PythonStructs::own_values(const UsedStruct& used) const {
    const auto taken = [&](const Field& field) {
        // A tensor alone is no optional field by field: that has two.
        std::string type = field_type(field.type, used.fields && used.type.own == OwnStruct::tuple);
        return following_.contains(used.type.name) ? type : taken_in_form(std::move(type), TorchForm::any);
    };
    if (used.type.own == OwnStruct::optional) return " | " + taken(used.type.fields.front()) + " | None";
    if (used.type.own != OwnStruct::tuple) return {};
    return " | tuple[" + join(used.type.fields, taken) + "]";
}

void PythonStructs::claim_variables(const UsedStruct& used, UniqueNames& classes) {
    std::vector<std::string> variables;
    bool any = false;
    for (const Field& field : used.type.fields) {
        const bool always_alike = field.type.kind == TypeKind::scalar && !used.fields;
        const bool varies = !always_alike && !is_made(used, field);
        variables.push_back(varies ? classes.claim("_" + class_name(used.type) + pascal_case(field.name))
                                   : std::string());
        any = any || varies;
    }
    if (!any) return;
    variables_[used.type.name] = std::move(variables);
    const bool returns_object = used.type.own == OwnStruct::none || used.type.own == OwnStruct::pair;
    if (used.whole && has_layout(used.type) && returns_object)
        returned_[used.type.name] = classes.claim("_" + class_name(used.type) + "Returned");
}

std::string PythonStructs::fields_of(const PlannedCall& call, const manifest::ParameterTree& parameter,
                                     const Type& type) const {
    if (parameter.form == manifest::Form::tensor) return "kf.Tensor";
    if (parameter.form == manifest::Form::value) return value_of(type);
    if (parameter.form == manifest::Form::leaf) {
        const manifest::Argument& leaf = call.arguments[static_cast<std::size_t>(parameter.leaf)].host;
        return passes_value(leaf) ? number_of(type, leaf.element) : "_Tensor";
    }
    if (type.kind == TypeKind::array)
        return "list[" + fields_of(call, parameter.fields.front(), type.element.front()) + "]";
    if (type.kind != TypeKind::structure) return "dict[str, Any]";
    std::string held;
    for (std::size_t i = 0; i < parameter.fields.size(); ++i) {
        if (!variables_.contains(type.name) || variables_.at(type.name)[i].empty()) continue;
        held += (held.empty() ? "" : ", ") + fields_of(call, parameter.fields[i], type.fields[i].type);
    }
    return names_.at(type.name) + (held.empty() ? "" : "[" + held + "]");
}

std::string PythonStructs::value_of(const Type& type) const {
    if (type.own == OwnStruct::optional && !type.fields.empty())
        return value_of(type.fields.front().type) + " | None";
    if (type.own == OwnStruct::tuple)
        return "tuple[" + join(type.fields, [&](const Field& field) { return value_of(field.type); }) + "]";
    if (type.kind == TypeKind::structure) {
        if (returned_.contains(type.name)) return returned_.at(type.name);
        return names_.contains(type.name) ? names_.at(type.name) : "Any";
    }
    if (holds_structs(type)) return "list[" + value_of(type.element.front()) + "]";
    const std::optional<manifest::Element> element = host_element(type);
    return element ? number_of(type, *element) : "Any";
}

std::string PythonStructs::number_of(const Type& type, const manifest::Element& element) const {
    const auto known = names_.find(host_enum(type));
    return element.extents.empty() && known != names_.end() ? known->second : returned_number(element);
}

std::string PythonStructs::enum_names_of(const Type& type) const {
    const auto known = enum_words_.find(host_enum(type));
    return known == enum_words_.end() ? std::string() : known->second;
}

View::List PythonStructs::enums_view(bool stub) const {
    View::List list;
    for (const UsedEnum& used : enums_) {
        View::List members;
        std::vector<std::string> words;
        UniqueNames names;
        for (const auto& [member, value] : used.members) {
            members.emplace_back(
                View::Object{{"name", names.claim(member_name(member))}, {"value", value_text(used, value)}});
            words.push_back("\"" + member + "\"");
        }
        const std::string& alias = enum_words_.at(used.name);
        list.emplace_back(View::Object{
            {"class", names_.at(used.name)},
            {"base", used.flags ? "IntFlag" : "IntEnum"},
            {"slang", used.name},
            {"members", std::move(members)},
            {stub ? "names" : "scalar",
             stub ? wrap_list(0, alias + ": TypeAlias = Literal[", words, "]") : numpy_name(used.scalar)}});
    }
    return list;
}

std::string PythonStructs::class_named(const std::string& slang) const {
    const auto known = names_.find(slang);
    return known == names_.end() ? std::string() : known->second;
}

bool PythonStructs::has_field(const std::string& slang, const std::string& attribute) const {
    return std::any_of(used_.begin(), used_.end(), [&](const UsedStruct& used) {
        const std::vector<std::string> names = attributes_of(used.type);
        return used.type.name == slang && std::find(names.begin(), names.end(), attribute) != names.end();
    });
}

std::vector<std::string> PythonStructs::names() const {
    std::vector<std::string> list;
    for (const auto& [slang, name] : names_) list.push_back(name);
    return list;
}

bool PythonStructs::has_dtypes() const {
    return std::any_of(used_.begin(), used_.end(),
                       [](const UsedStruct& used) { return used.whole && has_layout(used.type); });
}

bool PythonStructs::is_optional(const UsedStruct& used, std::size_t field) const {
    return is_made(used, used.type.fields[field]) || has_default(used, field);
}

std::size_t PythonStructs::first_by_name(const UsedStruct& used) const {
    std::size_t field = 0;
    while (field < used.type.fields.size() && !is_optional(used, field)) ++field;
    while (field < used.type.fields.size() && is_optional(used, field)) ++field;
    return field;
}

bool PythonStructs::has_default(const UsedStruct& used, std::size_t field) const {
    const Type& inner = innermost_of(used.type.fields[field].type);
    return !used.defaults[field].empty() &&
           (inner.kind != TypeKind::structure || names_.contains(inner.name));
}

std::string PythonStructs::default_text(const UsedStruct& used, std::size_t field) const {
    return python_literal(used.type.fields[field].type, used.defaults[field],
                          [&](const Type& type) { return names_.at(type.name); });
}

View::List PythonStructs::module_view() const {
    const auto format = [&](const Type& type) {
        std::string extents;
        const Type* inner = &type;
        for (; inner->kind == TypeKind::array && holds_structs(type); inner = &inner->element.front())
            extents += std::to_string(inner->extent) + ", ";
        std::string base;
        if (inner->kind == TypeKind::structure) {
            base = names_.contains(inner->name) ? names_.at(inner->name) + ".dtype" : std::string();
        } else {
            const manifest::Element element = host_element(*inner).value();
            const std::string numpy = numpy_name(element.scalar);
            base = numpy == "bool_" ? "\"bool\"" : "\"" + numpy + "\"";
            for (const std::int64_t extent : element.extents) extents += std::to_string(extent) + ", ";
        }
        if (!extents.empty() && extents.find(',') != extents.rfind(',')) extents.resize(extents.size() - 2);
        if (extents.ends_with(' ')) extents.pop_back();
        return extents.empty() ? base : "(" + base + ", (" + extents + "))";
    };
    View::List list;
    for (const UsedStruct& used : used_) {
        std::vector<std::string> attributes;
        std::vector<std::string> fields;
        std::vector<std::string> formats;
        std::vector<std::string> offsets;
        const bool laid_out = used.whole && has_layout(used.type);
        const StructLayout layout = layout_of(used.type);
        std::vector<std::string> quoted;
        for (std::size_t i = 0; i < used.type.fields.size(); ++i) {
            const Field& field = used.type.fields[i];
            const std::string attribute = "\"" + detail::python_attribute(used.type.fields, i) + "\"";
            attributes.push_back(attribute);
            if (is_made(used, field)) quoted.push_back(attribute);
            fields.push_back("\"" + field.name + "\"");
            if (laid_out) formats.push_back(format(field.type));
            offsets.push_back(std::to_string(layout.offsets[i]));
        }
        View::List dtype;
        if (laid_out)
            dtype.emplace_back(View::Object{{"names", wrap_list(12, "\"names\": [", fields, "],")},
                                            {"formats", wrap_list(12, "\"formats\": [", formats, "],")},
                                            {"offsets", wrap_list(12, "\"offsets\": [", offsets, "],")},
                                            {"size", std::to_string(layout.size)}});
        const auto tuple = [](const std::string& name, const std::vector<std::string>& items) {
            return wrap_list(4, name + " = (", items, items.size() == 1 ? ",)" : ")");
        };
        View::List made;
        if (!quoted.empty()) made.emplace_back(tuple("_made", quoted));
        std::vector<std::string> values;
        for (std::size_t i = 0; i < used.type.fields.size(); ++i) {
            if (has_default(used, i)) values.push_back(attributes[i] + ": " + default_text(used, i));
        }
        View::List defaults;
        if (!values.empty()) defaults.emplace_back(wrap_list(4, "_defaults = {", values, "}"));
        list.emplace_back(View::Object{{"class", names_.at(used.type.name)},
                                       {"slang", used.type.name},
                                       {"doc", docstring_of(used)},
                                       {"fields", tuple("_fields", attributes)},
                                       {"made", std::move(made)},
                                       {"defaults", std::move(defaults)},
                                       {"dtype", std::move(dtype)}});
    }
    return list;
}

/// The definitions of the class's type variables.
View::List PythonStructs::variables_view(const UsedStruct& used) const {
    if (!variables_.contains(used.type.name)) return {};
    std::string text;
    const std::vector<std::string>& variables = variables_.at(used.type.name);
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].empty()) continue;
        const std::string bound =
            "bound=" + taken_in_form(field_type(used.type.fields[i].type, used.fields), TorchForm::any);
        text += text.empty() ? "" : "\n";
        text += wrap_list(0, variables[i] + " = TypeVar(", {"\"" + variables[i] + "\"", bound, "default=Any"},
                          ")");
    }
    return {text};
}

/// The class with what fields hold that come back by value.
View::List PythonStructs::returned_view(const UsedStruct& used) const {
    if (!returned_.contains(used.type.name)) return {};
    const std::vector<std::string>& variables = variables_.at(used.type.name);
    std::vector<std::string> held;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (!variables[i].empty()) held.push_back(value_of(used.type.fields[i].type));
    }
    return {wrap_list(0, returned_.at(used.type.name) + ": TypeAlias = " + names_.at(used.type.name) + "[",
                      held, "]")};
}

/// Returns the types that stand for a struct. `renamed`: an attribute isn't called as its field.
View PythonStructs::object_view(const UsedStruct& used, View::List fields, bool renamed) const {
    const ObjectNames& object = objects_.at(used.type.name);
    const auto& [value, like, dict, field] = object;
    const bool own = has_own_attributes(used.type);
    const bool follows = following_.contains(used.type.name);
    std::string kinds = own ? like + (follows ? "[_Tensor]" : "") : names_.at(used.type.name);
    kinds += " | " + dict + (follows && !renamed ? "[_Tensor]" : "");
    if (used.whole && has_layout(used.type)) kinds += " | np.void";
    kinds += own_values(used);
    return View::Object{{"value", value},     {"has_like", own},           {"like", like},
                        {"dict", dict},       {"renamed", renamed},        {"kinds", kinds},
                        {"follows", follows}, {"given", std::move(fields)}};
}

View::List PythonStructs::stub_view(const std::map<std::string, View::List>& attributes) const {
    View::List list;
    for (const UsedStruct& used : used_) {
        const std::vector<std::string> names = attributes_of(used.type);
        const auto variables = variables_.find(used.type.name);
        View::List fields;
        View::List given;  // what the kernel doesn't make
        std::vector<std::string> parameters{"self"};
        std::vector<std::string> positional{"self"};
        const std::size_t by_name = first_by_name(used);
        std::size_t required_end = used.type.fields.size();
        while (required_end > 0 && is_optional(used, required_end - 1)) --required_end;
        bool renamed = false;
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Field& field = used.type.fields[i];
            const bool made = is_made(used, field);
            const bool optional = is_optional(used, i);
            renamed = renamed || names[i] != field.name;
            if (i == by_name) parameters.emplace_back("*");
            const std::string given_type = field_type(field.type, used.fields);
            const std::string type = taken_in_form(given_type, TorchForm::any);
            const std::string variable = variables == variables_.end() ? std::string() : variables->second[i];
            const std::string held = made ? "Any" : variable.empty() ? value_of(field.type) : variable;
            fields.emplace_back(View::Object{{"name", names[i]}, {"type", held}});
            const std::string parameter = names[i] + ": " +
                                          (made               ? "Any"
                                           : variable.empty() ? type
                                                              : variable);
            parameters.push_back(parameter + (made ? " = None" : optional ? " = ..." : ""));
            positional.push_back(i >= required_end ? parameters.back() : parameter);
            const bool may_lack = optional && !made;
            if (!made)
                given.emplace_back(
                    View::Object{{"name", names[i]},
                                 {"key", field.name},
                                 {"own_type", covariant(given_type)},
                                 {"entry", may_lack ? "NotRequired[" + type + "]" : type},
                                 {"own_entry", may_lack ? "NotRequired[" + covariant(given_type) + "]"
                                                        : covariant(given_type)}});
        }
        View::List object;
        if (is_object(used)) object.emplace_back(object_view(used, std::move(given), renamed));
        std::string generic;
        if (variables != variables_.end()) {
            for (const std::string& variable : variables->second)
                if (!variable.empty()) generic += (generic.empty() ? ", Generic[" : ", ") + variable;
            generic += "]";
        }
        std::string constructor = wrap_list(4, "def __init__(", parameters, ") -> None: ...");
        if (by_name < names.size()) {
            const std::string all = wrap_list(4, "def __init__(", positional, ") -> None: ...");
            constructor = "    @overload\n" + all + "\n    @overload\n" + constructor;
        }
        list.emplace_back(View::Object{
            {"class", names_.at(used.type.name)},
            {"doc", docstring_of(used)},
            {"variables", variables_view(used)},
            {"returned", returned_view(used)},
            {"bases", "kf.Struct" + generic},
            {"constructor", constructor},
            {"fields", std::move(fields)},
            {"object", std::move(object)},
            {"methods", attributes.contains(used.type.name) ? attributes.at(used.type.name) : View::List()},
            {"has_dtype", used.whole && has_layout(used.type)}});
    }
    return list;
}

}  // namespace kf::gen
