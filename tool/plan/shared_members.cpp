// Fits patterns to the type that a call names.
#include "plan/shared_members.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "plan/candidates.h"
#include "plan/type_text.h"
#include "spec/names.h"

namespace kf::gen {

namespace {

class Fitter {
public:
    Fitter(const SharedMember& member, const TypeText& owner, TypeLookup& types)
        : member_(member), owner_(owner), types_(types) {
        for (const GenericParameter& generic : member.generics) names_.push_back(generic.name);
    }

    /// Returns nothing where the pattern is another type's.
    Outcome<std::optional<Function>> fit() {
        const std::optional<TypeText> pattern = parse_type(member_.owner);
        if (!pattern || !unify(*pattern, owner_, names_, bindings_)) return std::optional<Function>();
        Outcome<bool> fits = meets_constraints();
        if (!fits) return fits.errors();
        if (!fits.value()) return std::optional<Function>();
        Function function = member_.function;
        function.name = spelled(owner_) + "." + function.name;
        const std::size_t part = name_parts(function.name).size() - 1;
        for (GenericParameter& generic : function.generics) generic.part = part;
        for (Parameter& parameter : function.parameters) {
            if (auto failure = fill_in(parameter.type)) return *failure;
        }
        if (auto failure = fill_in(function.result)) return *failure;
        return std::optional<Function>(std::move(function));
    }

private:
    Outcome<bool> meets_constraints() {
        for (const GenericParameter& generic : member_.generics) {
            const auto bound = bindings_.find(generic.name);
            if (bound == bindings_.end() || is_value(bound->second) == generic.value_type.empty())
                return false;
            for (const std::string& constraint : generic.constraints) {
                const std::optional<TypeText> wanted = parse_type(constraint);
                Outcome<bool> conforms =
                    types_.conforms(slang_text(bound->second),
                                    wanted ? slang_text(substituted(*wanted, bindings_)) : constraint);
                if (!conforms || !conforms.value()) return conforms;
            }
        }
        return true;
    }

    /// Fills in the type, which stays a pattern where it names generic parameters of the function's own, too.
    std::optional<Diagnostics> fill_in(Type& type) {
        const std::optional<TypeText> pattern = parse_type(type.name);
        if (!pattern || !mentioned(*pattern, names_)) return std::nullopt;
        const TypeText filled = substituted(*pattern, bindings_);
        Outcome<std::optional<Type>> found = types_.type_named(slang_text(filled));
        if (!found) return found.errors();
        if (found.value()) {
            type = std::move(*found.value());
        } else {
            type.name = spelled(filled);
        }
        return std::nullopt;
    }

    const SharedMember& member_;
    const TypeText& owner_;
    TypeLookup& types_;
    std::vector<std::string> names_;
    Bindings bindings_;
};

/// Returns Slang's preference among members with the same parameters: those of extensions that name their
/// type, and a type's own (0), to those of an extension of all that conform to an interface (1), and those to
/// the interface's (2).
int distance_of(const SharedMember& member) {
    const bool open = std::any_of(member.generics.begin(), member.generics.end(),
                                  [&](const GenericParameter& one) { return one.name == member.owner; });
    if (!open) return 0;
    return member.owner == "This" ? 2 : 1;
}

/// Whether a call of `other` would be one of `nearer`, too.
bool takes_the_same(const Function& nearer, const Function& other) {
    if (nearer.member != other.member || nearer.parameters.size() != other.parameters.size()) return false;
    std::vector<std::string> names;
    for (const GenericParameter& generic : nearer.generics) names.push_back(generic.name);
    Bindings bindings;
    for (std::size_t i = 0; i < other.parameters.size(); ++i) {
        const std::optional<TypeText> pattern = parse_type(nearer.parameters[i].type.name);
        const std::optional<TypeText> type = parse_type(other.parameters[i].type.name);
        if (!pattern || !type) {
            if (nearer.parameters[i].type.name != other.parameters[i].type.name) return false;
        } else if (!unify(*pattern, *type, names, bindings)) {
            return false;
        }
    }
    return true;
}

/// The type that a call's function is a member of.
struct Owner {
    TypeText text;     ///< as the call spells it
    std::string open;  ///< "Box<T>", where that lacks the arguments; else empty
};

/// Returns nothing where there is no such type.
Outcome<std::optional<Owner>> find_owner(const CallSpec& call, TypeLookup& types) {
    const std::optional<TypeText> meant = parse_type(call.function);
    const std::optional<TypeText> text = meant ? parse_type(owner_of(spelled(*meant))) : std::nullopt;
    if (!text) return std::optional<Owner>();
    const Outcome<std::optional<Type>> type = types.type_named(slang_text(*text));
    if (!type) return type.errors();
    if (!type.value()) return std::optional<Owner>();
    // Slang finds "Box<T>" for "Box", too.
    const std::optional<TypeText> found = parse_type(type.value()->name);
    const bool open = found && found->name == text->name && found->arguments.size() != text->arguments.size();
    return std::optional<Owner>({*text, open ? spelled(*found) : std::string()});
}

}  // namespace

Outcome<std::vector<Function>> shared_members(const CallSpec& call, const Module& module, TypeLookup& types) {
    std::vector<Function> members;
    const std::string last = name_parts(call.function).back();
    std::vector<const SharedMember*> named;
    for (const SharedMember& member : module.shared) {
        if (member.function.name == last) named.push_back(&member);
    }
    if (named.empty()) return members;
    const Outcome<std::optional<Owner>> owner = find_owner(call, types);
    if (!owner) return owner.errors();
    if (!owner.value() || !owner.value()->open.empty()) return members;
    std::vector<std::pair<int, Function>> near;
    for (const Function& function : module.functions) {
        if (is_named(function, call)) near.emplace_back(0, function);
    }
    std::stable_sort(named.begin(), named.end(), [](const SharedMember* a, const SharedMember* b) {
        return distance_of(*a) < distance_of(*b);
    });
    for (const SharedMember* member : named) {
        Outcome<std::optional<Function>> fitted = Fitter(*member, owner.value()->text, types).fit();
        if (!fitted) return fitted.errors();
        if (!fitted.value()) continue;
        const int distance = distance_of(*member);
        const bool hidden = std::any_of(near.begin(), near.end(), [&](const auto& one) {
            return one.first < distance && takes_the_same(one.second, *fitted.value());
        });
        if (hidden) continue;
        near.emplace_back(distance, *fitted.value());
        members.push_back(std::move(*fitted.value()));
    }
    return members;
}

Outcome<KnownMembers> known_members(const CallSpec& call, const Module& module, TypeLookup& types) {
    KnownMembers known;
    const Outcome<std::optional<Owner>> owner = find_owner(call, types);
    if (!owner) return owner.errors();
    if (!owner.value()) return known;
    known.has_type = true;
    known.open = owner.value()->open;
    if (!known.open.empty()) return known;
    for (const SharedMember& member : module.shared) {
        const Outcome<std::optional<Function>> fitted = Fitter(member, owner.value()->text, types).fit();
        if (!fitted) return fitted.errors();
        if (fitted.value()) known.names.push_back(fitted.value()->name);
    }
    return known;
}

}  // namespace kf::gen
