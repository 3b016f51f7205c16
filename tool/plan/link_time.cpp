// Checks the values that a spec has for link-time declarations.
#include "plan/link_time.h"

#include <algorithm>
#include <cctype>

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

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

/// Returns the prefixes that the name may have: "a.b." and "a.", then nothing, for what a.b declares.
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
    Linker(const LinkTime& base, const Module& module, TypeLookup& types, bool is_variant)
        : made_(base), module_(&module), types_(&types), is_variant_(is_variant) {}

    Outcome<LinkTime> link(const LinkSpec& spec) {
        check_given_once();
        for (const LinkDeclaration& one : module_->link)
            if (!one.gives && !one.default_value.empty()) made_.defaults[one.name] = one.default_value;
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
        LinkConstant made{spec.name, type, {}, {}, declared->location, spec.location};
        if (spec.values.empty()) {
            const LinkConstant* known = made_.constant(spec.name);
            if (known != nullptr && known->is_kept()) {
                error("constant-at-run-time", spec.location,
                      what + " is listed for run time to choose: a variant can't fix it",
                      {"listed at " + format_place(known->given),
                       ".options(constants={\"" + spec.name + "\": " + spec.value.text + "}) chooses it"});
                return;
            }
        } else if (!can_keep(spec, *declared, what)) {
            return;
        }
        const auto add_value = [&](const ConstantScalar& scalar, std::string& text) {
            const std::optional<std::string> value = kinds::constant_text(scalar, type);
            if (!value) errors_.push_back(kinds::constant_misfit(scalar, what, type));
            text = value.value_or("");
            return value.has_value();
        };
        if (!add_value(spec.value, made.value)) return;
        for (const ConstantScalar& scalar : spec.values) {
            std::string text;
            if (!add_value(scalar, text)) return;
            if (std::find(made.values.begin(), made.values.end(), text) == made.values.end())
                made.values.push_back(std::move(text));
        }
        replace(made_.constants, std::move(made));
    }

    /// Whether run time can choose the constant; adds an error where it can't.
    bool can_keep(const ConstantSpec& spec, const LinkDeclaration& declared, const std::string& what) {
        const std::string place = "declared at " + format_place(declared.location);
        if (!declared.is_specialization) {
            error("constant-at-run-time", spec.location,
                  what + " has a list of values, which are for specialization constants",
                  {place, "declare it '[SpecializationConstant] const " + declared.type.name + " " +
                              last_part(declared.name) +
                              " = …;', or give \"variants\" of the call a value each"});
        } else if (declared.type.is_enum) {
            error("constant-at-run-time", spec.location,
                  what + " has a list of values, and is an enum: run time chooses numbers and truth values",
                  {place, "give \"variants\" of the call a value each"});
        } else if (is_variant_) {
            error("constant-at-run-time", spec.location,
                  what + " has a list of values in a variant: all variants let run time choose the same",
                  {"list them in the spec's own \"constants\""});
        } else {
            return true;
        }
        return false;
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

    /// Adds conformances: those that a variant lists replace all of the spec's.
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
    bool is_variant_;
    Diagnostics errors_;
};

bool is_part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool mentions(const std::string& text, const std::string& word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_part_of_word(text[at - 1])) &&
            (end == text.size() || !is_part_of_word(text[end])))
            return true;
    }
    return false;
}

/// Whether an extent in it is made of the constant.
bool is_sized_by(const Type& type, const std::string& constant) {
    const auto is_one = [&](const Type& inner) { return is_sized_by(inner, constant); };
    return mentions(type.link_extent, constant) ||
           std::any_of(type.element.begin(), type.element.end(), is_one) ||
           std::any_of(type.fields.begin(), type.fields.end(),
                       [&](const Field& field) { return is_one(field.type); });
}

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
    return Linker(base, module, types, base != LinkTime{}).link(spec);
}

const LinkConstant* LinkTime::constant(const std::string& name) const {
    const auto found = std::find_if(constants.begin(), constants.end(),
                                    [&](const LinkConstant& one) { return one.name == name; });
    return found == constants.end() ? nullptr : &*found;
}

std::vector<const LinkConstant*> LinkTime::kept() const {
    std::vector<const LinkConstant*> found;
    for (const LinkConstant& one : constants)
        if (one.is_kept()) found.push_back(&one);
    return found;
}

std::int64_t LinkTime::number_of(const LinkConstant& kept_one) const {
    const std::vector<const LinkConstant*> all = kept();
    return std::find(all.begin(), all.end(), &kept_one) - all.begin();
}

std::vector<std::string> LinkTime::default_values() const {
    std::vector<std::string> values;
    for (const LinkConstant* one : kept()) values.push_back(one->value);
    return values;
}

std::vector<std::vector<std::string>> LinkTime::combinations() const {
    std::vector<std::vector<std::string>> all{{}};
    for (const LinkConstant* one : kept()) {
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& values : all) {
            for (const std::string& value : one->values) {
                longer.push_back(values);
                longer.back().push_back(value);
            }
        }
        all = std::move(longer);
    }
    all.erase(all.begin());
    return all;
}

LinkTime LinkTime::with(const std::vector<std::string>& chosen) const {
    LinkTime made = *this;
    std::size_t number = 0;
    for (LinkConstant& one : made.constants) {
        if (!one.is_kept()) continue;
        one.value = chosen.at(number++);
        one.values.clear();
    }
    return made;
}

Diagnostics check_kept(const Spec& spec, const LinkTime& link) {
    constexpr std::size_t most = 64;
    const std::vector<const LinkConstant*> kept = link.kept();
    if (kept.empty()) return {};
    Diagnostics errors;
    if (spec.device_header) {
        errors.push_back(link_error(
            "constant-at-run-time", *spec.device_header,
            "a device header has one value of '" + kept.front()->name +
                "', which the spec lists for run time to choose",
            {"listed at " + format_place(kept.front()->given), "write the header by a spec of its own"}));
    }
    const bool is_for_cuda =
        std::any_of(spec.targets.begin(), spec.targets.end(),
                    [](const TargetSpec& target) { return target.backend == Backend::cuda; });
    std::size_t combinations = 1;
    for (const LinkConstant* one : kept) combinations = std::min(combinations * one->values.size(), most + 1);
    if (is_for_cuda && combinations > most) {
        errors.push_back(
            link_error("constant-at-run-time", kept.front()->given,
                       "the constants listed for run time to choose have more than " + std::to_string(most) +
                           " combinations of values, for each of which CUDA's kernels would be compiled",
                       {"list fewer values: on Vulkan those that aren't listed can be chosen, too"}));
    }
    return errors;
}

Diagnostics check_kept_sizes(const CallSpec& call, const LinkTime& link,
                             const std::vector<const Function*>& candidates) {
    const std::vector<const LinkConstant*> kept = link.kept();
    if (kept.empty()) return {};
    Diagnostics errors;
    const auto check = [&](const Type& type, const Function& function, const std::string& what) {
        for (const LinkConstant* one : kept) {
            if (!is_sized_by(type, last_part(one->name))) continue;
            errors.push_back(link_error(
                "constant-at-run-time", one->given,
                "'" + one->name + "' is listed for run time to choose, and the size of " + what + " of '" +
                    call.written() + "' depends on it",
                {"declared at " + format_place(function.location),
                 "state one value, in a spec of its own: hosts pass such arrays as they were generated"}));
        }
    };
    for (const Function* function : candidates) {
        for (const Parameter& parameter : function->parameters)
            check(parameter.type, *function, "the parameter '" + parameter.name + "'");
        check(function->result, *function, "the result");
    }
    return errors;
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
