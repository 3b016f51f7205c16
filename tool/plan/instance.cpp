// Replaces generic parameters and interfaces by the types and numbers of the spec.
#include "plan/instance.h"

#include <algorithm>
#include <optional>

#include "plan/candidates.h"
#include "plan/inference.h"
#include "plan/kinds/whole_tensor.h"
#include "spec/names.h"
#include "spec/operators.h"

namespace kf::gen {

namespace {

/// "T = float, N = 3".
std::string text_of(const std::vector<GenericParameter>& generics, const Bindings& bindings) {
    std::string text;
    for (const GenericParameter& generic : generics) {
        const auto bound = bindings.find(generic.name);
        if (bound == bindings.end()) continue;
        text += (text.empty() ? "" : ", ") + generic.name + " = " + spelled(bound->second);
    }
    return text;
}

std::string declared_at(const Function& function) {
    return "declared as " + signature(function) + " at " + function.location.file + ":" +
           std::to_string(function.location.line);
}

/// Whether all extents are ones that types can have: Slang silently makes vectors of nine, and arrays of
/// none.
bool has_extents(const TypeText& type) {
    const bool is_vector = type.name == "vector" || type.name == "matrix";
    for (std::size_t i = 0; i < type.arguments.size(); ++i) {
        const std::string& text = type.arguments[i].name;
        if (i == 0 || (!is_vector && type.name != "Array") ||
            text.find_first_not_of("-0123456789") != text.npos) {
            if (!has_extents(type.arguments[i])) return false;
            continue;
        }
        const bool positive = text.front() != '-' && text.find_first_not_of('0') != text.npos;
        if (!positive || (is_vector && (text.size() > 1 || text > "4"))) return false;
    }
    return true;
}

class Settler {
public:
    Settler(const Function& function, const CallSpec& call, const std::vector<const KindSpec*>& kinds,
            std::int64_t call_rank, TypeLookup& types)
        : function_(function), call_(call), kinds_(kinds), call_rank_(call_rank), types_(types) {
        for (const GenericParameter& generic : function.generics) names_.push_back(generic.name);
    }

    Outcome<Instance> settle() {
        Outcome<Bindings> stated = bind_stated();
        if (!stated) return stated.errors();
        Outcome<Function> concrete = settle_generics(stated.value());
        if (!concrete) return concrete.errors();
        Instance instance{std::move(concrete.value()), function_.is_generic(), false};
        for (std::size_t i = 0; i < instance.function.parameters.size(); ++i) {
            Parameter& parameter = instance.function.parameters[i];
            if (parameter.type.kind != TypeKind::interface) continue;
            Outcome<Type> type = settle_interface(parameter, *kinds_[i]);
            if (!type) return type.errors();
            // A parameter whose interface promises no derivative has no gradient, whatever its type is.
            parameter.no_diff = parameter.no_diff || !parameter.type.differentiable;
            parameter.type = std::move(type.value());
            instance.is_general = true;
            instance.by_interface = true;
        }
        return instance;
    }

private:
    Diagnostic error(std::string id, const Location& place, std::string message,
                     std::vector<std::string> notes = {}) const {
        notes.push_back(declared_at(function_));
        return {Severity::error, std::move(id), place, std::move(message), std::move(notes)};
    }

    // ---- Generic parameters ----

    /// Returns the generic arguments that "foo<float, 3>" states.
    Outcome<Bindings> bind_stated() const {
        if (!function_.is_generic()) return Bindings{};
        const Outcome<std::vector<std::vector<TypeText>>> parts = stated_arguments(call_);
        if (!parts) return parts.errors();
        Bindings bindings;
        // "Box<float>" of "Box<float>.area<int>", in an extension, is but a name.
        const std::size_t last = parts.value().empty() ? 0 : parts.value().size() - 1;
        for (std::size_t part = is_specialised(function_) ? last : 0; part < parts.value().size(); ++part) {
            const std::vector<TypeText>& arguments = parts.value()[part];
            std::vector<const GenericParameter*> parameters;
            for (const GenericParameter& generic : function_.generics) {
                if (generic.part == part) parameters.push_back(&generic);
            }
            if (arguments.size() > parameters.size()) {
                return error("generic-argument", call_.function_location,
                             "'" + call_.written() + "' states " + std::to_string(arguments.size()) +
                                 " generic argument(s), but there are " + std::to_string(parameters.size()) +
                                 " generic parameter(s)");
            }
            for (std::size_t i = 0; i < arguments.size(); ++i) {
                if (auto failure = check_argument(*parameters[i], arguments[i])) return *failure;
                bindings.emplace(parameters[i]->name, arguments[i]);
            }
        }
        return bindings;
    }

    std::optional<Diagnostic> check_argument(const GenericParameter& parameter,
                                             const TypeText& argument) const {
        if (parameter.value_type.empty()) {
            if (!is_value(argument)) return std::nullopt;
            return error("generic-argument", call_.function_location,
                         "'" + spelled(argument) + "' is no type, but '" + parameter.name + "' of '" +
                             function_.name + "' is a type parameter");
        }
        const bool truth = argument.name == "true" || argument.name == "false";
        if (is_value(argument) && truth == (parameter.value_type == "bool")) return std::nullopt;
        // A member of an enum, of which Slang says whether there is such a one.
        if (spelled(argument).starts_with(parameter.value_type + ".")) return std::nullopt;
        return error("generic-argument", call_.function_location,
                     "'" + spelled(argument) + "' is no " + parameter.value_type + ", but '" +
                         parameter.name + "' of '" + function_.name + "' is declared as let " +
                         parameter.name + " : " + parameter.value_type);
    }

    Outcome<Function> settle_generics(const Bindings& stated) const {
        if (!function_.is_generic()) return function_;
        std::vector<Reading> readings = read_kinds(stated);
        if (readings.empty()) return contradiction(stated);
        std::stable_sort(readings.begin(), readings.end(),
                         [](const Reading& a, const Reading& b) { return a.cost < b.cost; });
        std::optional<Diagnostics> first_failure;
        std::optional<std::pair<Reading, Function>> found;
        for (Reading& reading : readings) {
            if (found && reading.cost > found->first.cost) break;
            if (found && reading.bindings == found->first.bindings) continue;
            Outcome<Function> concrete = specialise(reading.bindings);
            if (!concrete) {
                if (!first_failure) first_failure = concrete.errors();
                continue;
            }
            if (found) {
                return error("generic-inference", call_.function_location,
                             "the kinds leave open what '" + function_.name +
                                 "' is for: " + text_of(function_.generics, found->first.bindings) + " or " +
                                 text_of(function_.generics, reading.bindings),
                             {"state it in \"function\", as in \"" + stated_example() + "\""});
            }
            found.emplace(std::move(reading), std::move(concrete.value()));
        }
        if (!found) return *first_failure;
        return std::move(found->second);
    }

    /// The parameter's type where generic parameters are still open in it, and the kind says what they are.
    std::optional<TypeText> open_pattern(std::size_t i, const Bindings& stated) const {
        const std::optional<TypeText> pattern = parse_type(function_.parameters[i].type.name);
        if (!pattern || !says_type(*kinds_[i], *pattern)) return std::nullopt;
        TypeText open = substituted(*pattern, stated);
        if (!mentioned(open, names_)) return std::nullopt;
        return open;
    }

    /// All ways to match the kinds with the parameters' types.
    std::vector<Reading> read_kinds(const Bindings& stated) const {
        std::vector<Reading> readings{{0, stated}};
        for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
            const auto open = open_pattern(i, stated);
            if (!open) continue;
            std::vector<Reading> longer;
            for (const Reading& reading : readings) {
                read_kind(*open, *kinds_[i], names_, call_rank_, reading, longer);
            }
            readings = std::move(longer);
        }
        return readings;
    }

    Diagnostic contradiction(const Bindings& stated) const {
        std::vector<std::string> notes;
        if (!stated.empty()) {
            notes.push_back("\"" + call_.written() + "\" states " + text_of(function_.generics, stated));
        }
        for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
            const Parameter& parameter = function_.parameters[i];
            if (!open_pattern(i, stated)) continue;
            const KindSpec& kind = *kinds_[i];
            notes.push_back("argument '" + parameter.name + "' of type '" + parameter.type.name + "' gets " +
                            (kind.element.empty() ? "'" + kind.spelling + "'"
                                                  : "elements of " + spelled(*parse_type(kind.element))));
        }
        return error("generic-inference", call_.function_location,
                     "the kinds can't all feed '" + function_.name + "': its generic parameters would differ",
                     std::move(notes));
    }

    /// "scale<float>", as an example of how to state generic arguments.
    std::string stated_example() const {
        std::string text;
        for (const GenericParameter& generic : function_.generics) {
            text += (text.empty() ? "" : ", ") + std::string(generic.value_type.empty() ? "float" : "3");
        }
        return function_.name + "<" + text + ">";
    }

    Outcome<Function> specialise(const Bindings& bindings) const {
        for (const GenericParameter& generic : function_.generics) {
            if (bindings.contains(generic.name)) continue;
            return error("generic-inference", call_.function_location,
                         "the kinds don't say what '" + generic.name + "' of '" + function_.name + "' is",
                         {"state it in \"function\", as in \"" + stated_example() +
                          "\", or as the element of a kind, as in tensor<float3>[1]"});
        }
        if (auto failure = check_constraints(bindings)) return *failure;
        Function concrete = function_;
        concrete.name = concrete_name(bindings);
        concrete.generics.clear();
        for (Parameter& parameter : concrete.parameters) {
            Outcome<Type> type = fill_in(parameter.type, bindings);
            if (!type) return type.errors();
            parameter.type = std::move(type.value());
        }
        Outcome<Type> result = fill_in(function_.result, bindings);
        if (!result) return result.errors();
        concrete.result = std::move(result.value());
        return concrete;
    }

    std::optional<Diagnostic> check_constraints(const Bindings& bindings) const {
        for (const GenericParameter& generic : function_.generics) {
            const TypeText& type = bindings.at(generic.name);
            if (!generic.value_type.empty()) {
                if (auto failure = check_argument(generic, type)) return failure;
                continue;
            }
            if (auto failure = check_argument(generic, type)) return failure;
            Outcome<std::optional<Type>> known = types_.type_named(slang_text(type));
            if (!known) return known.errors().front();
            if (!known.value()) {
                return error("generic-argument", call_.function_location,
                             "'" + spelled(type) + "' for '" + generic.name + "' of '" + function_.name +
                                 "' is no type of the spec's modules");
            }
            for (const std::string& constraint : generic.constraints) {
                const std::optional<TypeText> wanted = parse_type(constraint);
                const std::string interface_name =
                    wanted ? slang_text(substituted(*wanted, bindings)) : constraint;
                Outcome<bool> conforms = types_.conforms(slang_text(type), interface_name);
                if (!conforms) return conforms.errors().front();
                if (conforms.value()) continue;
                return error("generic-constraint", call_.function_location,
                             "'" + spelled(type) + "' for '" + generic.name + "' of '" + function_.name +
                                 "' does not conform to " + interface_name);
            }
        }
        return std::nullopt;
    }

    Outcome<Type> fill_in(const Type& type, const Bindings& bindings) const {
        const std::optional<TypeText> pattern = parse_type(type.name);
        if (!pattern || !mentioned(*pattern, names_)) return type;
        const TypeText filled = substituted(*pattern, bindings);
        Outcome<std::optional<Type>> found =
            has_extents(filled) ? types_.type_named(slang_text(filled)) : std::optional<Type>();
        if (!found) return found.errors();
        if (found.value()) {
            Type settled = std::move(*found.value());
            if (settled.kind == TypeKind::texture) settled.texture.format = type.texture.format;
            return settled;
        }
        if (type.kind == TypeKind::array && type.extent == 0) {
            const std::string element = type.element.front().name;
            return error(
                "type-not-supported", call_.function_location,
                "an array without a size, '" + element + "[]', can't be passed to a generic function",
                {unsized_array_advice(element)});
        }
        return error("generic-argument", call_.function_location,
                     "'" + type.name + "' is no type with " + text_of(function_.generics, bindings));
    }

    /// "Acc<float>.make": each name takes its own arguments.
    std::string concrete_name(const Bindings& bindings) const {
        const std::vector<std::string> parts = name_parts(function_.name);
        const bool whole = is_specialised(function_);
        std::string name = whole ? owner_of(function_.name) : "";
        for (std::size_t part = whole ? parts.size() - 1 : 0; part < parts.size(); ++part) {
            std::string arguments;
            for (const GenericParameter& generic : function_.generics) {
                if (generic.part != part) continue;
                arguments += (arguments.empty() ? "" : ", ") + slang_text(bindings.at(generic.name));
            }
            name += (part > 0 ? "." : "") + parts[part] + (arguments.empty() ? "" : "<" + arguments + ">");
        }
        return name;
    }

    // ---- Interfaces ----

    Outcome<Type> settle_interface(const Parameter& parameter, const KindSpec& kind) const {
        const std::string subject = "argument '" + parameter.name + "'";
        const std::string& wanted = parameter.type.name;
        if (parameter.direction != Direction::in) {
            return error("interface-type", kind.location,
                         subject + ": an output can't have an interface as type, as '" + wanted + "' is");
        }
        if (kind.element.empty()) {
            return error("interface-type", kind.location,
                         subject + ": '" + wanted + "' is an interface, so its kind must name a type",
                         {R"(as in {"kind": ")" + kind.spelling + R"(", "as": "TYPE"})"});
        }
        std::optional<TypeText> type = parse_type(kind.element);
        bool known = false;
        for (; type; type = peeled(*type)) {
            Outcome<std::optional<Type>> found = types_.type_named(slang_text(*type));
            if (!found) return found.errors();
            known = known || found.value().has_value();
            if (!found.value()) continue;
            Outcome<bool> conforms = types_.conforms(slang_text(*type), wanted);
            if (!conforms) return conforms.errors();
            if (conforms.value()) return std::move(*found.value());
        }
        return error(
            "interface-type", kind.location,
            subject + ": '" + kind.element +
                (known ? "' does not conform to '" + wanted + "'" : "' is no type of the spec's modules"));
    }

    const Function& function_;
    const CallSpec& call_;
    const std::vector<const KindSpec*>& kinds_;
    std::int64_t call_rank_;
    TypeLookup& types_;
    std::vector<std::string> names_;
};

/// The parts of "Acc<float>.make<int>": nested to the left.
void flatten(const TypeText& text, std::vector<std::vector<TypeText>>& parts) {
    if (text.name == ".") {
        for (const TypeText& inner : text.arguments) flatten(inner, parts);
        return;
    }
    parts.resize(parts.size() + name_parts(text.name).size());
    parts.back() = text.arguments;
}

}  // namespace

Outcome<std::vector<std::vector<TypeText>>> stated_arguments(const CallSpec& call) {
    std::vector<std::vector<TypeText>> parts;
    const std::optional<TypeText> text = parse_type(call.function);
    if (!text) {
        return Diagnostic{Severity::error,
                          "generic-argument",
                          call.function_location,
                          "'" + call.written() + "': what stands in <> must be types and numbers",
                          {"as in foo<float, 3>"}};
    }
    // A function that is called as a type is spelled: it states nothing.
    if (has_generic_arguments(call.function)) flatten(*text, parts);
    return parts;
}

Outcome<Instance> instantiate(const Function& function, const CallSpec& call,
                              const std::vector<const KindSpec*>& kinds, std::int64_t call_rank,
                              TypeLookup& types) {
    return Settler(function, call, kinds, call_rank, types).settle();
}

}  // namespace kf::gen
