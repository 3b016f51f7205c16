// Checks the values that a spec has for link-time declarations.
#include "plan/link_time.h"

#include <algorithm>

#include "diagnostic/suggest.h"
#include "plan/kinds/constant.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

Diagnostic link_error(std::string id, const Location& location, std::string message,
                      std::vector<std::string> notes = {}) {
    return {Severity::error, std::move(id), location, std::move(message), std::move(notes)};
}

/// "IVal" and "ns.IOther" of "IVal, ns.IOther".
std::vector<std::string> names_in(const std::string& interfaces) {
    std::vector<std::string> names(1);
    int nested = 0;
    for (const char c : interfaces) {
        nested += c == '<' ? 1 : c == '>' ? -1 : 0;
        if (c == ',' && nested == 0) {
            names.emplace_back();
        } else if (c != ' ' || nested != 0) {
            names.back() += c;
        }
    }
    std::erase(names, std::string());
    return names;
}

/// What may stand in front of the name: "a.b." and "a.", then nothing, for what a.b declares.
std::vector<std::string> prefixes_of(std::string name) {
    std::vector<std::string> prefixes;
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos; dot = name.rfind('.')) {
        name.resize(dot);
        prefixes.push_back(name + ".");
    }
    prefixes.emplace_back();
    return prefixes;
}

template <class One>
void replace(std::vector<One>& all, One one) {
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const One& other) { return other.name == one.name; });
    if (known == all.end()) {
        all.push_back(std::move(one));
    } else {
        *known = std::move(one);
    }
}

class Linker {
public:
    Linker(const LinkTime& base, const Module& module, TypeLookup& types)
        : made_(base), module_(&module), types_(&types) {}

    Outcome<LinkTime> link(const LinkSpec& spec) {
        check_given_once();
        for (const ConstantSpec& constant : spec.constants) add(constant);
        for (const NamedText& type : spec.types) add(type);
        add(spec.conformances);
        if (!errors_.empty()) return std::move(errors_);
        return std::move(made_);
    }

private:
    void error(std::string id, const Location& location, std::string message,
               std::vector<std::string> notes = {}) {
        errors_.push_back(link_error(std::move(id), location, std::move(message), std::move(notes)));
    }

    /// Slang would take one of them.
    void check_given_once() {
        const std::vector<LinkDeclaration>& all = module_->link;
        for (auto one = all.begin(); one != all.end(); ++one) {
            const auto first = std::find_if(all.begin(), one, [&](const LinkDeclaration& other) {
                return one->gives && other.gives && other.name == one->name;
            });
            if (first == one) continue;
            error("link-twice", one->location,
                  "the link-time " + std::string(one->is_constant() ? "constant" : "type") + " '" +
                      one->name + "' is given twice",
                  {"'export' at " + format_place(first->location)});
        }
    }

    /// The declaration that `name` gives a value to; null, with an error, where there is none.
    const LinkDeclaration* find(const std::string& name, const Location& location, bool is_constant) {
        const LinkDeclaration* left = nullptr;
        const LinkDeclaration* given = nullptr;
        std::vector<std::string> names;
        for (const LinkDeclaration& one : module_->link) {
            if (one.is_constant() != is_constant) continue;
            if (!one.gives) names.push_back(one.name);
            if (one.name != name) continue;
            (one.gives ? given : left) = &one;
        }
        const std::string what = is_constant ? "constant" : "type";
        if (left == nullptr) {
            const std::string form = is_constant ? "extern static const" : "extern struct";
            error("link-unknown", location, "no module declares a link-time " + what + " '" + name + "'",
                  names.empty() ? std::vector<std::string>{"it would be declared '" + form + " " +
                                                           (is_constant ? "int " : "") + name + ";'"}
                                : suggestion_notes(name, "link-time " + what + "s", names));
        } else if (given != nullptr) {
            error("link-twice", location,
                  "the link-time " + what + " '" + name + "' is given by a module, too",
                  {"'export' at " + format_place(given->location)});
            return nullptr;
        }
        return left;
    }

    void add(const ConstantSpec& spec) {
        const LinkDeclaration* declared = find(spec.name, spec.location, true);
        if (declared == nullptr) return;
        const Type& type = declared->type;
        const std::string what = "the link-time constant '" + spec.name + "'";
        if (type.kind != TypeKind::scalar) {
            error("link-type", spec.location,
                  what + " is a '" + type.name + "': specs give values to numbers, truth values and enums",
                  {"declared at " + format_place(declared->location),
                   "a file that \"link\" names can export it"});
            return;
        }
        if (!spec.type.empty() && !is_same_scalar(spec.type, type)) {
            error("link-type", spec.location,
                  what + " is declared as '" + type.name + "', not as '" + spec.type + "'",
                  {"declared at " + format_place(declared->location)});
            return;
        }
        const std::optional<std::string> value = kinds::constant_text(spec.value, type);
        if (!value) {
            errors_.push_back(kinds::constant_misfit(spec.value, what, type));
            return;
        }
        replace(made_.constants, {spec.name, type, *value});
    }

    static bool is_same_scalar(const std::string& name, const Type& type) {
        if (name == type.name) return true;
        const std::optional<manifest::Element> element = parse_element(name);
        return element && element->extents.empty() && !type.is_enum && element->scalar == type.scalar;
    }

    void add(const NamedText& spec) {
        const LinkDeclaration* declared = find(spec.name, spec.location, false);
        if (declared == nullptr) return;
        const std::string what = "the link-time type '" + spec.name + "'";
        if (!find_type(spec.text, spec.location, "link-type", what)) return;
        for (const std::string& written : names_in(declared->interfaces)) {
            if (!conforms(spec.text, written, declared->name, spec.location)) {
                error("link-type", spec.location,
                      what + ": '" + spec.text + "' doesn't conform to '" + written + "'",
                      {"declared at " + format_place(declared->location)});
                return;
            }
        }
        replace(made_.types, {spec.name, declared->interfaces, spec.text});
    }

    std::optional<Type> find_type(const std::string& name, const Location& location, const std::string& id,
                                  const std::string& what) {
        Outcome<std::optional<Type>> found = types_->type_named(name);
        if (!found) {
            for (Diagnostic failure : found.errors()) {
                failure.location = location;
                errors_.push_back(std::move(failure));
            }
            return std::nullopt;
        }
        if (!found.value()) error(id, location, what + ": no module has a type '" + name + "'");
        return found.value();
    }

    /// `declared` is in the namespaces that the interface may be named without.
    bool conforms(const std::string& type, const std::string& interface_name, const std::string& declared,
                  const Location& location) {
        for (const std::string& prefix : prefixes_of(declared)) {
            const Outcome<bool> found = types_->conforms(type, prefix + interface_name);
            if (!found) {
                for (Diagnostic failure : found.errors()) {
                    failure.location = location;
                    errors_.push_back(std::move(failure));
                }
                return true;
            }
            if (found.value()) return true;
        }
        return false;
    }

    /// What a variant lists stands for all that the spec does.
    void add(const std::vector<ConformanceSpec>& specs) {
        if (!specs.empty()) made_.conformances.clear();
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const ConformanceSpec& spec = specs[i];
            const std::string what =
                "the conformance of '" + spec.type + "' to '" + spec.interface_name + "'";
            const std::optional<Type> type = find_type(spec.type, spec.location, "conformance-type", what);
            const std::optional<Type> interface_type =
                find_type(spec.interface_name, spec.location, "conformance-type", what);
            if (!type || !interface_type) continue;
            if (interface_type->kind != TypeKind::interface) {
                error("conformance-type", spec.location,
                      what + ": '" + spec.interface_name + "' is no interface");
                continue;
            }
            if (!conforms(spec.type, spec.interface_name, {}, spec.location)) {
                error("conformance-type", spec.location,
                      "'" + spec.type + "' doesn't conform to '" + spec.interface_name + "'");
                continue;
            }
            add({spec.interface_name, spec.type, spec.id.value_or(static_cast<int>(i))}, spec.location);
        }
    }

    void add(const Conformance& one, const Location& location) {
        for (const Conformance& other : made_.conformances) {
            if (other.interface_name != one.interface_name) continue;
            if (other.id != one.id && other.type != one.type) continue;
            error("conformance-type", location,
                  other.type == one.type ? "the conformance of '" + one.type + "' to '" + one.interface_name +
                                               "' is listed twice"
                                         : "the id " + std::to_string(one.id) + " of '" + one.interface_name +
                                               "' stands for '" + other.type + "' and for '" + one.type + "'",
                  {"give each type an \"id\" of its own; by default it is its place in the list"});
            return;
        }
        made_.conformances.push_back(one);
    }

    LinkTime made_;
    const Module* module_;
    TypeLookup* types_;
    Diagnostics errors_;
};

const Type* without_size(const Type& type) {
    if (type.kind == TypeKind::array && !type.link_extent.empty() && type.extent == 0) return &type;
    for (const Type& element : type.element)
        if (const Type* found = without_size(element)) return found;
    for (const Field& field : type.fields)
        if (const Type* found = without_size(field.type)) return found;
    return nullptr;
}

}  // namespace

Outcome<LinkTime> link_time(const LinkSpec& spec, const LinkTime& base, const Module& module,
                            TypeLookup& types) {
    return Linker(base, module, types).link(spec);
}

Diagnostics check_link_sizes(const CallSpec& call, const std::vector<const Function*>& candidates) {
    for (const Function* function : candidates) {
        const auto missing = [&](const Type& type, const std::string& what) -> Diagnostics {
            const Type* found = without_size(type);
            if (found == nullptr) return {};
            const std::string subject =
                what + " of '" + call.written() + "' has an array whose extent is decided by linking, and '";
            // Slang knows the values of names alone.
            if (found->link_extent.find_first_of("+-*/%() ") != std::string::npos) {
                return {link_error("type-not-supported", call.function_location,
                                   subject + found->link_extent + "' is computed",
                                   {"declare the extent as a link-time constant by itself"})};
            }
            return {link_error("link-missing", call.function_location,
                               subject + found->link_extent + "' has no value",
                               {"give one in the spec's \"constants\", or in its declaration"})};
        };
        for (const Parameter& parameter : function->parameters) {
            if (Diagnostics errors = missing(parameter.type, "the parameter '" + parameter.name + "'");
                !errors.empty())
                return errors;
        }
        if (Diagnostics errors = missing(function->result, "the result"); !errors.empty()) return errors;
    }
    return {};
}

}  // namespace kf::gen
