// Fits patterns to the type that a call names.
#include "plan/shared_members.h"

#include <algorithm>
#include <optional>
#include <string>

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

    /// Nothing where the pattern is another type's.
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
            // Slang marks tensors so where types are open: the gradient goes through their loads.
            if (parameter.type.kind == TypeKind::tensor) parameter.no_diff = false;
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

    /// What names generic parameters of the function's own, too, stays a pattern.
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

/// Whether the pattern is a parameter alone: an interface's members, which a type's own go before.
bool is_open(const SharedMember& member) {
    return std::any_of(member.generics.begin(), member.generics.end(),
                       [&](const GenericParameter& generic) { return generic.name == member.owner; });
}

}  // namespace

Outcome<std::vector<Function>> shared_members(const CallSpec& call, const Module& module, TypeLookup& types) {
    std::vector<Function> members;
    const std::optional<TypeText> meant = parse_type(call.function);
    if (!meant || module.shared.empty()) return members;
    const std::optional<TypeText> owner = parse_type(owner_of(spelled(*meant)));
    if (!owner) return members;
    const std::string last = name_parts(call.function).back();
    const bool own = std::any_of(module.functions.begin(), module.functions.end(),
                                 [&](const Function& function) { return is_named(function, call); });
    std::optional<bool> known;
    for (const SharedMember& member : module.shared) {
        if (member.function.name != last || (own && is_open(member))) continue;
        if (!known) {
            const Outcome<std::optional<Type>> type = types.type_named(slang_text(*owner));
            if (!type) return type.errors();
            known = type.value().has_value();
        }
        if (!*known) break;
        Outcome<std::optional<Function>> fitted = Fitter(member, *owner, types).fit();
        if (!fitted) return fitted.errors();
        if (fitted.value()) members.push_back(std::move(*fitted.value()));
    }
    return members;
}

}  // namespace kf::gen
