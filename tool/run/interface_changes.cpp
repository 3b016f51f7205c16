// `kfgen check --against`: what changed in an interface, and what of that breaks callers.
#include "run/interface_changes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/items.h"
#include "core/join.h"
#include "core/roles.h"
#include "emit/overload.h"

namespace kf::gen {
namespace {

using manifest::Call;
using manifest::Manifest;
using manifest::Role;

struct HostParameter {
    std::string name;
    std::string kind;  ///< with "out" or "inout" before it
    /// The leaves of a struct: names, elements and places.
    std::string layout;
};

/// One overload as hosts see it.
struct Signature {
    const Call* call = nullptr;
    std::vector<HostParameter> parameters;
    std::string result;
    std::string text;
    bool taken = false;  ///< its counterpart was found
};

std::string layout_text(const Call& call, const manifest::ParameterTree& parameter) {
    if (parameter.leaves == 1 && parameter.form == manifest::Form::leaf) return {};
    std::string text;
    for (std::int64_t i = 0; i < parameter.leaves; ++i) {
        const manifest::Argument& leaf = call.arguments[static_cast<std::size_t>(parameter.leaf + i)];
        text += leaf.name + ":" + to_string(leaf.element.scalar) + "[" + join(leaf.element.extents) + "]@" +
                std::to_string(leaf.offset) + ";";
    }
    return text;
}

Signature signature_of(const Call& call) {
    Signature signature{&call, {}, {}, overload_text(call), false};
    for (const manifest::ParameterTree& parameter : call.parameters) {
        const Role role = manifest::role_of(call, parameter);
        const std::string kind = kind_text(call, parameter);
        const std::string layout = layout_text(call, parameter);
        if (role == Role::result) {
            signature.result = kind;
            continue;
        }
        const std::string way = role == Role::out ? "out " : role == Role::inout ? "inout " : "";
        signature.parameters.push_back({parameter.name, way + kind, layout});
    }
    return signature;
}

std::vector<std::string> names_of(const Signature& signature) {
    std::vector<std::string> names;
    for (const HostParameter& parameter : signature.parameters) names.push_back(parameter.name);
    return names;
}

bool same_names(const Signature& a, const Signature& b) {
    const std::vector<std::string> names = names_of(a);
    const std::vector<std::string> others = names_of(b);
    return std::multiset<std::string>(names.begin(), names.end()) ==
           std::multiset<std::string>(others.begin(), others.end());
}

/// The functions that hosts find by name.
std::vector<const manifest::Function*> named_functions(const Manifest& manifest) {
    std::vector<const manifest::Function*> named;
    for (const manifest::Function& function : manifest.functions)
        if (!manifest::is_hidden(manifest, function)) named.push_back(&function);
    return named;
}

class Comparison {
public:
    std::vector<InterfaceChange> run(const Manifest& before, const Manifest& now) {
        if (before.name != now.name)
            add(true, "name", "the name was '" + before.name + "' and is '" + now.name + "'");
        compare_constants(before, now);
        const auto old_functions = named_functions(before);
        const auto new_functions = named_functions(now);
        std::set<const manifest::Function*> met;
        for (const manifest::Function* function : old_functions) {
            function_ = function->name;
            const auto same =
                std::find_if(new_functions.begin(), new_functions.end(),
                             [&](const manifest::Function* one) { return one->name == function->name; });
            if (same != new_functions.end()) {
                met.insert(*same);
                compare(*function, **same);
                continue;
            }
            const auto renamed =
                std::find_if(new_functions.begin(), new_functions.end(), [&](const manifest::Function* one) {
                    return !met.contains(one) && !has(old_functions, one->name) &&
                           same_calls(*function, *one);
                });
            if (renamed == new_functions.end()) {
                add(true, "function_removed", "it is gone");
            } else {
                met.insert(*renamed);
                add(true, "function_renamed", "it is called '" + (*renamed)->name + "' now");
            }
        }
        for (const manifest::Function* function : new_functions) {
            function_ = function->name;
            if (!met.contains(function)) add(false, "function_added", "it is new");
        }
        std::stable_sort(
            changes_.begin(), changes_.end(),
            [](const InterfaceChange& a, const InterfaceChange& b) { return a.breaks > b.breaks; });
        return std::move(changes_);
    }

private:
    static bool has(const std::vector<const manifest::Function*>& functions, const std::string& name) {
        return std::any_of(functions.begin(), functions.end(),
                           [&](const manifest::Function* one) { return one->name == name; });
    }

    static bool same_calls(const manifest::Function& a, const manifest::Function& b) {
        return std::equal(
            a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
            [](const Call& one, const Call& other) { return overload_text(one) == overload_text(other); });
    }

    void add(bool breaks, std::string what, std::string text) {
        InterfaceChange change{breaks, std::move(what), function_, std::move(text)};
        if (std::find(changes_.begin(), changes_.end(), change) == changes_.end())
            changes_.push_back(std::move(change));
    }

    void compare(const manifest::Function& before, const manifest::Function& now) {
        std::vector<Signature> old_calls;
        std::vector<Signature> new_calls;
        for (const Call& call : before.calls) old_calls.push_back(signature_of(call));
        for (const Call& call : now.calls) new_calls.push_back(signature_of(call));
        for (Signature& old : old_calls)
            pair_up(old, new_calls, [&](const Signature& one) { return one.text == old.text; });
        for (Signature& old : old_calls)
            pair_up(old, new_calls, [&](const Signature& one) { return same_names(one, old); });
        for (Signature& old : old_calls)
            pair_up(old, new_calls, [&](const Signature& one) {
                return before.calls.size() == 1 && one.call == new_calls.front().call;
            });
        for (const Signature& old : old_calls)
            if (!old.taken) add(true, "overload_removed", "the overload " + old.text + " is gone");
        for (const Signature& one : new_calls)
            if (!one.taken) add(false, "overload_added", "the overload " + one.text + " is new");
        gained_or_lost(before.jvp >= 0, now.jvp >= 0, "forward derivative", "jvp", "");
        compare_variants(before, now);
        compare_choices(before, now);
    }

    template <class Fits>
    void pair_up(Signature& old, std::vector<Signature>& candidates, Fits fits) {
        if (old.taken) return;
        const auto found = std::find_if(candidates.begin(), candidates.end(),
                                        [&](const Signature& one) { return !one.taken && fits(one); });
        if (found == candidates.end()) return;
        old.taken = found->taken = true;
        compare(old, *found);
    }

    void compare(const Signature& before, const Signature& now) {
        if (same_names(before, now)) {
            if (names_of(before) != names_of(now))
                add(true, "argument_order",
                    "its arguments were (" + join(names_of(before)) + ") and are (" + join(names_of(now)) +
                        ")");
            for (const HostParameter& old : before.parameters) compare(old, named(now, old.name));
        } else {
            compare_by_place(before, now);
        }
        if (before.result != now.result) {
            const auto text = [](const std::string& kind) { return kind.empty() ? "nothing" : kind; };
            add(true, "result", "its result was " + text(before.result) + " and is " + text(now.result));
        }
        if (before.call->dispatch != now.call->dispatch)
            add(true, "dispatch", "it is launched in another way: see \"dispatch\"");
        if (before.call->strict_broadcasting != now.call->strict_broadcasting)
            add(now.call->strict_broadcasting, "strict_broadcasting",
                now.call->strict_broadcasting ? "it broadcasts no more" : "it broadcasts now");
        compare_gradients(*before.call, *now.call, before.text);
    }

    static const HostParameter& named(const Signature& signature, const std::string& name) {
        return *std::find_if(signature.parameters.begin(), signature.parameters.end(),
                             [&](const HostParameter& one) { return one.name == name; });
    }

    void compare(const HostParameter& before, const HostParameter& now) {
        if (before.kind != now.kind) {
            add(true, "argument_kind",
                "argument '" + before.name + "' was " + before.kind + " and is " + now.kind);
        } else if (before.layout != now.layout) {
            add(true, "struct_fields",
                "argument '" + before.name + "', " + now.kind + ", has other fields, or in other places");
        }
    }

    void compare_by_place(const Signature& before, const Signature& now) {
        const std::vector<std::string> old_names = names_of(before);
        const std::vector<std::string> new_names = names_of(now);
        const auto in = [](const std::vector<std::string>& names, const std::string& name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        const bool as_many = old_names.size() == new_names.size();
        for (std::size_t i = 0; i < old_names.size(); ++i) {
            const HostParameter& old = before.parameters[i];
            if (in(new_names, old.name)) {
                compare(old, named(now, old.name));
            } else if (as_many && !in(old_names, new_names[i])) {
                add(true, "argument_renamed",
                    "argument '" + old.name + "' is called '" + new_names[i] + "' now");
                compare(old, now.parameters[i]);
            } else {
                add(true, "argument_removed", "argument '" + old.name + "' is gone");
            }
        }
        for (std::size_t i = 0; i < new_names.size(); ++i) {
            if (!in(old_names, new_names[i]) && !(as_many && !in(new_names, old_names[i])))
                add(true, "argument_added", "argument '" + new_names[i] + "' is new");
        }
    }

    void gained_or_lost(bool before, bool now, const std::string& thing, const std::string& what,
                        const std::string& overload) {
        if (before == now) return;
        const std::string subject = overload.empty() ? "it" : "the overload " + overload;
        add(before, what + (before ? "_lost" : "_added"),
            subject + (before ? " has no " + thing + " any more" : " has a " + thing + " now"));
    }

    void compare_gradients(const Call& before, const Call& now, const std::string& overload) {
        gained_or_lost(before.has_backward, now.has_backward, "backward pass", "backward", overload);
        gained_or_lost(before.has_fused, now.has_fused, "fused pass", "fused", overload);
        const bool differentiated = before.has_backward && now.has_backward;
        for (const manifest::Argument& old : before.arguments) {
            const auto found = std::find_if(now.arguments.begin(), now.arguments.end(),
                                            [&](const auto& one) { return one.name == old.name; });
            if (found == now.arguments.end()) continue;
            if (differentiated) compare_gradient(old, *found);
            // An input's way to accumulate is that of its gradient.
            if ((differentiated || manifest::is_output(old)) && old.accumulate != found->accumulate)
                add(true, "accumulate",
                    "argument '" + old.name + "' combines the values of calls in another way");
        }
    }

    void compare_gradient(const manifest::Argument& before, const manifest::Argument& now) {
        const auto has = [](const manifest::Argument& argument) {
            return argument.gradient != manifest::Gradient::never;
        };
        const std::string subject = "argument '" + before.name + "' ";
        if (has(before) != has(now))
            add(has(before), has(before) ? "gradient_lost" : "gradient_added",
                subject + (has(before) ? "has no gradient any more" : "has a gradient now"));
        if (has(before) && before.gradient != now.gradient && has(now)) {
            const bool required = now.gradient == manifest::Gradient::required;
            add(required, "gradient_required",
                subject + (required ? "must have a gradient now" : "may go without a gradient now"));
        }
        if (before.overwrite != now.overwrite)
            add(true, "gradient_overwrites",
                subject + (now.overwrite ? "has its gradient replaced, not added to, now"
                                         : "has its gradient added to, not replaced, now"));
    }

    /// Compares the constants that run time chooses, of all functions.
    void compare_constants(const Manifest& before, const Manifest& now) {
        for (const manifest::RunTimeConstant& old : before.constants) {
            const std::string subject = "the constant '" + old.name + "' ";
            const auto same = std::ranges::find(now.constants, old.name, &manifest::RunTimeConstant::name);
            if (same == now.constants.end()) {
                add(true, "constant_removed", subject + "can't be chosen at run time any more");
                continue;
            }
            if (same->type != old.type)
                add(true, "constant_type",
                    subject + "was of the type " + to_string(old.type) + " and is of " +
                        to_string(same->type));
            if (same->values.front() != old.values.front())
                add(true, "constant_default",
                    subject + "was " + old.values.front() + " by default and is " + same->values.front());
            for (const std::string& value : old.values) {
                if (std::ranges::find(same->values, value) == same->values.end())
                    add(true, "constant_value",
                        subject + "lists no " + value + " any more, which CUDA requires");
            }
        }
        for (const manifest::RunTimeConstant& one : now.constants) {
            if (std::ranges::find(before.constants, one.name, &manifest::RunTimeConstant::name) ==
                before.constants.end())
                add(false, "constant_added", "the constant '" + one.name + "' can be chosen at run time");
        }
    }

    void compare_variants(const manifest::Function& before, const manifest::Function& now) {
        const auto has = [](const manifest::Function& function, const std::string& name) {
            return std::any_of(function.option_sets.begin(), function.option_sets.end(),
                               [&](const manifest::OptionSet& set) { return set.name == name; });
        };
        for (const manifest::OptionSet& set : before.option_sets)
            if (!has(now, set.name)) add(true, "variant_removed", "its variant '" + set.name + "' is gone");
        for (const manifest::OptionSet& set : now.option_sets)
            if (!has(before, set.name)) add(false, "variant_added", "its variant '" + set.name + "' is new");
    }

    void compare_choices(const manifest::Function& before, const manifest::Function& now) {
        const auto ways_of = [](const manifest::Function& function, const std::string& name) {
            for (const manifest::Choice& choice : function.choices)
                if (choice.name == name) return choice.ways;
            return std::vector<std::string>();
        };
        for (const manifest::Choice& choice : before.choices) {
            const std::vector<std::string> ways = ways_of(now, choice.name);
            for (const std::string& way : choice.ways) {
                if (std::find(ways.begin(), ways.end(), way) == ways.end())
                    add(true, "accumulate",
                        "accumulate of '" + choice.name + "' offers no '" + way + "' any more");
            }
            if (!ways.empty() && ways.front() != choice.ways.front())
                add(true, "accumulate",
                    "accumulate of '" + choice.name + "' was '" + choice.ways.front() +
                        "' by default and is '" + ways.front() + "'");
        }
    }

    std::vector<InterfaceChange> changes_;
    std::string function_;
};

}  // namespace

std::vector<InterfaceChange> interface_changes(const Manifest& before, const Manifest& now) {
    return Comparison().run(before, now);
}

bool breaks_callers(const std::vector<InterfaceChange>& changes) {
    return std::any_of(changes.begin(), changes.end(), [](const InterfaceChange& one) { return one.breaks; });
}

std::string interface_report(const std::vector<InterfaceChange>& changes, bool json) {
    const auto breaking = std::count_if(changes.begin(), changes.end(),
                                        [](const InterfaceChange& change) { return change.breaks; });
    if (json) {
        auto list = nlohmann::ordered_json::array();
        for (const InterfaceChange& change : changes) {
            list.push_back({{"breaks", change.breaks},
                            {"change", change.what},
                            {"function", change.function},
                            {"text", change.text}});
        }
        const nlohmann::ordered_json report{{"breaking", breaking}, {"changes", std::move(list)}};
        return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    if (changes.empty()) return "the interface is the same\n";
    std::string text;
    for (const InterfaceChange& change : changes)
        text += (change.breaks ? "breaks callers: " : "compatible: ") +
                (change.function.empty() ? "" : change.function + ": ") + change.text + "\n";
    return text + std::to_string(changes.size()) + (changes.size() == 1 ? " change, " : " changes, ") +
           std::to_string(breaking) + " of them break" + (breaking == 1 ? "s" : "") + " callers\n";
}

}  // namespace kf::gen
