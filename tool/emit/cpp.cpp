// Prepares the views of NAME.h and NAME.cpp; the text is in templates/cpp_*.mustache.
#include "emit/cpp.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/join.h"
#include "emit/cpp_methods.h"
#include "emit/element.h"
#include "emit/kinds/questions.h"
#include "emit/names.h"
#include "emit/render.h"
#include "emit/text.h"
#include "emit_templates.h"
#include "plan/globals.h"
#include "plan/memory_layout.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

/// A planned function with its C++ names and member functions.
struct CppFunction {
    const PlannedFunction* plan;
    const PlannedFunction* jvp;  ///< of its forward derivatives; null: none has one
    std::string class_name;
    std::string member;
    std::vector<CppMethod> methods;
    std::vector<std::pair<std::string, std::vector<CppOutput>>> results;  ///< structs that they return

    [[nodiscard]] const std::vector<PlannedCall>& calls(CppPart part) const {
        return part == CppPart::jvp ? jvp->calls : plan->calls;
    }

    [[nodiscard]] bool has(CppPart part, CppMethodKind kind = CppMethodKind::call) const {
        return std::any_of(methods.begin(), methods.end(), [&](const CppMethod& method) {
            return method.part == part && method.kind == kind;
        });
    }
};

/// The passes for which `deterministic` means something.
std::string sums_of(const CppFunction& function) {
    const auto names = [](const manifest::Choice& choice) { return !choice.name.ends_with(".grad"); };
    std::string text = std::any_of(function.plan->choices.begin(), function.plan->choices.end(), names)
                           ? "outputs that are sums"
                           : "";
    if (function.has(CppPart::backward))
        text += (text.empty() ? "" : ", and ") + std::string("its backward pass");
    if (function.has(CppPart::fused)) text += " and the fused one";
    return text;
}

/// What its options are for; empty where it has none.
std::string options_of(const CppFunction& function) {
    const std::string sums = sums_of(function);
    std::string text = sums.empty() ? sums : "`deterministic` is for " + sums;
    if (std::ranges::any_of(function.plan->calls, leads_elsewhere))
        text +=
            (text.empty() ? "" : "; ") + std::string("`reads` and `writes` are for what pointers lead to");
    const std::vector<manifest::OptionSet>& sets = function.plan->option_sets;
    if (!sets.empty() && !text.empty()) text += "; ";
    for (std::size_t i = 0; i < sets.size(); ++i)
        text += (i == 0 ? "`variant` is \"" : i + 1 < sets.size() ? ", \"" : " or \"") + sets[i].name + "\"";
    return text;
}

/// "result" by "sum" or "none"; …
std::string ways_of(const std::vector<manifest::Choice>& choices) {
    std::string text;
    for (const manifest::Choice& choice : choices) {
        text += (text.empty() ? "\"" : ", \"") + choice.name + "\" by ";
        for (std::size_t i = 0; i < choice.ways.size(); ++i)
            text += (i == 0 ? "\"" : i + 1 < choice.ways.size() ? ", \"" : " or \"") + choice.ways[i] + "\"";
    }
    return text;
}

/// {"w", {1}} of "by_column"; …
std::string maps_of(const PlannedFunction& function) {
    std::string text;
    std::set<std::string> seen;
    for (const PlannedCall& call : function.calls) {
        for (const PlannedVariant& variant : call.variants) {
            if (variant.maps.empty() || !seen.insert(variant.name).second) continue;
            std::string maps;
            for (const MapSpec& map : variant.maps) {
                std::string dimensions;
                for (const int dimension : map.map)
                    dimensions += (dimensions.empty() ? "" : ", ") + std::to_string(dimension);
                maps += (maps.empty() ? "{\"" : ", {\"") + map.argument + "\", {" + dimensions + "}}";
            }
            text += (text.empty() ? "" : "; ") + maps + " of \"" + variant.name + "\"";
        }
    }
    return text;
}

View::List if_any(const std::string& text) { return text.empty() ? View::List{} : View::List{text}; }

std::string signature(const CppMethod& method) {
    constexpr std::array parts{"", "backward.", "fused.", "jvp."};
    std::string text = parts.at(static_cast<std::size_t>(method.part)) + method.name();
    for (const std::string& type : method.types) text += ", " + type;
    return text;
}

/// Returning the outputs is a convenience: not at the price of another overload's signature.
void leave_out_repeated(std::vector<CppMethod>& methods) {
    std::set<std::string> seen;
    for (const CppMethod& method : methods) {
        if (method.outputs.empty()) seen.insert(signature(method));
    }
    std::erase_if(methods, [&](const CppMethod& method) {
        return method.part != CppPart::jvp && !method.outputs.empty() &&
               !seen.insert(signature(method)).second;
    });
}

bool is_alike(const std::vector<CppOutput>& a, const std::vector<CppOutput>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CppOutput& x, const CppOutput& y) {
        return x.type == y.type && x.name == y.name;
    });
}

/// The struct that holds these outputs: "SplitResult", "SplitResult2" …
std::string result_struct(CppFunction& function, const CppMethod& method, UniqueNames& names) {
    for (const auto& [name, outputs] : function.results) {
        if (is_alike(outputs, method.outputs)) return name;
    }
    const std::string number = function.results.empty() ? "" : std::to_string(function.results.size() + 1);
    std::string name = names.claim(pascal_case(function.plan->name) + "Result" + number);
    function.results.emplace_back(name, method.outputs);
    return name;
}

/// The globals that some call reaches, each once.
std::vector<PlannedGlobal> globals_of(const Plan& plan) {
    std::vector<PlannedGlobal> globals;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            for (const PlannedGlobal& global : call.globals) {
                const bool known =
                    std::any_of(globals.begin(), globals.end(),
                                [&](const PlannedGlobal& other) { return other.name == global.name; });
                if (!known) globals.push_back(global);
            }
        }
    }
    return globals;
}

bool reaches_globals(const PlannedFunction& function) {
    return std::any_of(function.calls.begin(), function.calls.end(),
                       [](const PlannedCall& call) { return !call.globals.empty(); });
}

/// What the host sets of a global: all of it, or, where a struct in it holds buffers, a field.
struct SetItem {
    PlannedArgument item;
    std::string name;    ///< in Slang: "look.gain", "scene.bark"
    std::string member;  ///< of Globals
    std::string doc;
};

std::vector<SetItem> set_items(const Plan& plan) {
    std::vector<SetItem> all;
    UniqueNames members(std::set<std::string>{});
    for (const PlannedGlobal& global : globals_of(plan)) {
        PlannedCall alone;
        alone.parameters = {global.parameter};
        alone.arguments = global.arguments;
        for (PlannedArgument& item : host_items(alone)) {
            if (!manifest::has_host_value(item.host)) continue;
            const std::string name = item.host.name.substr(manifest::global_prefix.size());
            std::string member = name;
            std::erase(member, ']');
            all.push_back({std::move(item), name, members.claim(cpp_identifier(member)), global.doc});
        }
    }
    return all;
}

View::List global_names(const Plan& plan) {
    View::List views;
    for (const SetItem& one : set_items(plan))
        views.emplace_back(View::Object{{"slang", one.name}, {"name", one.member}});
    return views;
}

std::string set_type(const PlannedArgument& item, const CppStructs& structs) {
    switch (manifest::passed_as(item.host)) {
        case manifest::HostPassing::value: return "std::optional<" + structs.type(item) + ">";
        case manifest::HostPassing::tensor: return structs.tensor_type(item);
        case manifest::HostPassing::pointer: return "std::optional<" + cpp_passed_type(item, structs) + ">";
        default: return cpp_passed_type(item, structs);
    }
}

View::List globals_view(const Plan& plan, const CppStructs& structs) {
    View::List views;
    for (const SetItem& one : set_items(plan)) {
        View::List doc;
        for (const std::string& line : doc_lines(one.doc)) doc.emplace_back(line.empty() ? "" : " " + line);
        views.emplace_back(View::Object{{"doc", std::move(doc)},
                                        {"slang", one.name},
                                        {"type", set_type(one.item, structs)},
                                        {"name", one.member}});
    }
    return views;
}

/// `classes`: the names of the namespace that are taken.
std::vector<CppFunction> cpp_functions(const Plan& plan, const CppStructs& structs, UniqueNames& classes) {
    std::set<std::string> taken = structs.names();
    taken.insert({"Module", "artifact_bytes", "artifact_path", "checked", "hook", "loaded", "loaded_",
                  "options", "try_load"});
    if (!plan.globals.empty()) taken.insert({"put_values", "set", "with_values"});
    // A member called as a function's class would change what the name means.
    for (const PlannedFunction& function : plan.functions)
        taken.insert(pascal_case(function.name) + "Function");
    UniqueNames members(std::move(taken));
    std::vector<CppFunction> functions;
    for (const PlannedFunction& function : plan.functions) {
        if (function.is_hidden()) continue;
        CppFunction& made = functions.emplace_back();
        made.plan = &function;
        made.jvp = function.jvp < 0 ? nullptr : &plan.functions[static_cast<std::size_t>(function.jvp)];
        made.class_name = classes.claim(pascal_case(function.name) + "Function");
        made.member = members.claim(cpp_identifier(function.name));
        for (std::size_t i = 0; i < function.calls.size(); ++i) {
            for (CppMethod& method : cpp_methods(function.calls[i], i, structs))
                made.methods.push_back(std::move(method));
        }
        for (std::size_t i = 0; made.jvp != nullptr && i < made.jvp->calls.size(); ++i) {
            for (CppMethod& method : cpp_methods(made.jvp->calls[i], i, structs))
                made.methods.push_back(std::move(method));
        }
        leave_out_repeated(made.methods);
        separate_scalars(made.methods);
        for (CppMethod& method : made.methods) {
            if (method.part == CppPart::jvp) {
                if (method.outputs.empty()) continue;
                const std::string type = method.outputs.size() > 1 ? result_struct(made, method, classes)
                                                                   : method.outputs.front().type;
                method.result = method.local = "kf::Dual<" + type + ">";
                method.outputs.clear();
                continue;
            }
            if (method.outputs.size() > 1)
                method.result = method.local = result_struct(made, method, classes);
        }
    }
    return functions;
}

// ---- checks

/// Where two calls part: the spec entry of the last argument that comes from another place.
std::pair<Location, Location> parting(const PlannedCall& first, const PlannedCall& second) {
    if (first.location == second.location && first.arguments.size() == second.arguments.size()) {
        for (std::size_t i = first.arguments.size(); i-- > 0;) {
            if (first.arguments[i].location != second.arguments[i].location)
                return {first.arguments[i].location, second.arguments[i].location};
        }
    }
    return {first.location, second.location};
}

void check_signatures(const CppFunction& function, Diagnostics& errors) {
    std::map<std::string, std::size_t> seen;  // signature -> call
    std::set<std::pair<std::size_t, std::size_t>> reported;
    for (const CppMethod& method : function.methods) {
        const std::string types = join(method.types);
        const auto [other, fresh] = seen.emplace(signature(method), method.call);
        if (fresh || !reported.emplace(other->second, method.call).second) continue;
        const std::vector<PlannedCall>& calls = function.calls(method.part);
        const auto [first, second] = parting(calls[other->second], calls[method.call]);
        errors.push_back(
            {Severity::error,
             "duplicate-signature",
             second,
             "two overloads of '" + function.plan->name + "' take the same host arguments: (" + types + ")",
             {"the other one comes from " + format_place(first),
              "give one of the calls a \"name\" of its own, or take the alternative out"}});
    }
}

// ---- layout assertions

View::List layouts(const Plan& plan) {
    std::map<std::string, manifest::Element> elements;
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            for (const PlannedArgument& argument : call.arguments) {
                if (!passes_elements(argument.host)) continue;
                elements.emplace(cpp_type(argument.element_name), argument.host.element);
            }
        }
    }
    View::List list;
    for (const auto& [type, element] : elements) {
        std::vector<std::string> terms{"sizeof(" + type + ") == " + std::to_string(element_size(element)),
                                       "std::is_trivially_copyable_v<" + type + ">"};
        list.emplace_back(View::Object{{"condition", wrap_list(0, "static_assert(", terms, ");", " &&")}});
        const bool vector = element.extents.size() == 1 && type.starts_with("kf::");
        if (!vector) continue;
        terms.clear();
        for (std::int64_t i = 0; i < element.extents[0]; ++i) {
            terms.push_back("offsetof(" + type + ", " + "xyzw"[i] +
                            ") == " + std::to_string(i * manifest::scalar_bytes(element.scalar)));
        }
        list.emplace_back(View::Object{{"condition", wrap_list(0, "static_assert(", terms, ");", " &&")}});
    }
    return list;
}

// ---- the header

/// The source's comment, and what the arguments are.
std::vector<std::string> function_doc(const PlannedFunction& function, const CppStructs& structs) {
    std::vector<std::string> lines = doc_lines(function.doc);
    std::vector<ArgumentDocs> calls;
    for (const PlannedCall& call : function.calls)
        calls.push_back(describe_arguments(host_items(call), cpp_argument_names(call, structs)));
    const std::vector<std::string> arguments = describe_function(calls);
    if (!lines.empty() && !arguments.empty()) lines.emplace_back();
    lines.insert(lines.end(), arguments.begin(), arguments.end());
    return lines;
}

bool is_launched(const PlannedFunction& function) {
    return std::any_of(function.calls.begin(), function.calls.end(),
                       [](const PlannedCall& call) { return call.dispatch != manifest::Dispatch::elements; });
}

/// What hooks of the module's functions are given.
std::string hook_context(const Plan& plan) {
    return plan.globals.empty() ? "kf::HookContext" : "kf::HookContextOf<Globals>";
}

/// One entry for each call that has methods of this pass.
View::List overloads(const CppFunction& function, CppPart part) {
    const std::size_t indent = part == CppPart::function ? 4 : 8;
    const std::vector<PlannedCall>& calls = function.calls(part);
    View::List list;
    for (std::size_t call = 0; call < calls.size(); ++call) {
        View::List declarations;
        for (const CppMethod& method : function.methods) {
            if (method.call != call || method.part != part) continue;
            const std::string head = method.result + " " + method.name() + "(";
            declarations.emplace_back(wrap_list(indent, (method.nodiscard ? "[[nodiscard]] " : "") + head,
                                                method.parameters(true), ") const;"));
            declarations.emplace_back(
                wrap_list(indent, "kf::Result<" + method.result + "> " + method.twin_name() + "(",
                          method.parameters(true), ") const;"));
        }
        if (declarations.empty()) continue;
        list.emplace_back(View::Object{{"separate", !list.empty()},
                                       {"doc", describe_shape(calls[call])},
                                       {"declarations", std::move(declarations)}});
    }
    return list;
}

/// The passes of members as members beside them, where their names are free.
void add_passes(const std::vector<CppFunction>& functions, std::vector<CppMember>& members) {
    const std::vector<CppMember> own = members;
    constexpr std::array passes{std::pair(CppPart::backward, "backward"), std::pair(CppPart::fused, "fused"),
                                std::pair(CppPart::jvp, "jvp")};
    for (const CppFunction& function : functions) {
        for (const auto& [part, name] : passes) {
            if (function.plan->owner.empty() || !function.has(part)) continue;
            CppMember pass{function.plan, function.member, name};
            const bool taken = std::any_of(own.begin(), own.end(), [&](const CppMember& member) {
                return member.function->owner == function.plan->owner && member.name() == pass.name();
            });
            if (!taken) members.push_back(std::move(pass));
        }
    }
}

View header_view(const Plan& plan, const std::vector<CppFunction>& functions, const CppStructs& structs,
                 bool embedded) {
    View::List views;
    for (const CppFunction& function : functions) {
        View::List doc = doc_comment(function_doc(*function.plan, structs));
        View::List results;
        for (const auto& [name, outputs] : function.results) {
            View::List fields;
            for (const CppOutput& output : outputs) {
                const std::string initial = output.is_value ? "{}" : "";
                fields.emplace_back(View::Object{{"type", output.type}, {"field", output.name + initial}});
            }
            results.emplace_back(View::Object{{"struct", name}, {"fields", std::move(fields)}});
        }
        const auto derivative = [&](CppPart part) {
            View::List made;
            if (function.has(part)) made.emplace_back(View::Object{{"overloads", overloads(function, part)}});
            return made;
        };
        views.emplace_back(
            View::Object{{"class", function.class_name},
                         {"member", function.member},
                         {"context", hook_context(plan)},
                         {"results", std::move(results)},
                         {"has_doc", !doc.empty()},
                         {"doc", std::move(doc)},
                         {"records", function.has(CppPart::function, CppMethodKind::append_to)},
                         {"backward", derivative(CppPart::backward)},
                         {"fused", derivative(CppPart::fused)},
                         {"jvp", derivative(CppPart::jvp)},
                         {"sets_globals", reaches_globals(*function.plan)},
                         {"launched", is_launched(*function.plan)},
                         {"options", if_any(options_of(function))},
                         {"accumulate", if_any(ways_of(function.plan->choices))},
                         {"maps", if_any(maps_of(*function.plan))},
                         {"overloads", overloads(function, CppPart::function)}});
    }
    View::List asserts = layouts(plan);
    std::vector<CppMember> members;
    for (const CppFunction& function : functions) {
        if (!function.plan->owner.empty()) members.push_back({function.plan, function.member});
    }
    add_passes(functions, members);
    View::List whole = structs.structs_view(plan.cpp_namespace, members);
    View::List owners = structs.owners_view(members);
    View::List by_field = structs.templates_view(members);
    View::List definitions = structs.definitions_view(members);
    View::List headers{"cstddef", "cstdint", "functional", "string", "type_traits"};
    View::List globals = globals_view(plan, structs);
    if (!globals.empty()) headers.insert(headers.begin() + 3, "optional");
    if (std::any_of(functions.begin(), functions.end(), [](const CppFunction& function) {
            return !function.plan->choices.empty() || !maps_of(*function.plan).empty();
        }))
        headers.insert(headers.begin() + 3, "initializer_list");
    if (!whole.empty()) headers.insert(headers.begin(), "array");
    if (!definitions.empty()) headers.emplace_back("utility");
    return View::Object{{"name", plan.name},
                        {"namespace", plan.cpp_namespace},
                        {"context", hook_context(plan)},
                        {"standard_headers", std::move(headers)},
                        {"has_globals", !globals.empty()},
                        {"globals", std::move(globals)},
                        {"has_members", !definitions.empty()},
                        {"definitions", std::move(definitions)},
                        {"has_structs", !whole.empty()},
                        {"structs", std::move(whole)},
                        {"owners", std::move(owners)},
                        {"templates", std::move(by_field)},
                        {"has_layouts", !asserts.empty()},
                        {"layouts", std::move(asserts)},
                        {"embedded", embedded},
                        {"functions", std::move(views)}};
}

// ---- the source

std::string packed_arguments(const std::vector<std::string>& arguments) {
    if (arguments.empty()) return "    std::array<Arg, 0> args{};";
    if (std::string line = "    std::array args{" + join(arguments) + "};"; line.size() <= columns)
        return line;
    std::string text = "    std::array args{";
    for (const std::string& argument : arguments) text += "\n        " + argument + ",";
    return text + "\n    };";
}

/// The body of a twin: the member function that throws, called inside kf::attempt().
std::string forwarding(const CppMethod& method) {
    const std::string target = method.kind == CppMethodKind::call ? "(*this)(" : method.name() + "(";
    const std::string call = "[&] { return " + target + join(method.names) + "); });";
    const std::string head = "    return kf::attempt(";
    if (head.size() + call.size() <= columns) return head + call;
    if (8 + call.size() <= columns) return head + "\n        " + call;
    return head + "[&] {\n" + wrap_list(8, "return " + target, method.names, ");") + "\n    });";
}

View method_view(const CppFunction& function, const CppMethod& method) {
    constexpr std::array passes{"forward", "backward", "fused", "forward"};
    constexpr std::array owners{"", "::Backward", "::Fused", "::Jvp"};
    const std::string owner = function.class_name + owners.at(static_cast<std::size_t>(method.part)) + "::";
    View::List local;
    View::List returns;
    View::List gathered;
    for (const CppOutput& output : method.outputs) {
        if (method.outputs.size() == 1 || output.is_value) continue;
        gathered.emplace_back(
            View::Object{{"statement", "result." + output.name + " = " + output.type + "(std::move(args[" +
                                           std::to_string(output.at) + "].allocated));"}});
    }
    for (const std::string& assign : method.assigns)
        gathered.emplace_back(View::Object{{"statement", assign + ";"}});
    View::List shape;
    if (!method.shape.empty())
        shape.emplace_back(View::Object{{"shape", method.shape}, {"extents", method.extents}});
    if (!method.local.empty()) {
        local.emplace_back(View::Object{{"type", method.local}});
        returns.emplace_back(View::Object{{"value", "result"}});
    } else if (method.result != "void") {
        returns.emplace_back(View::Object{{"value", method.result + "(std::move(args[" +
                                                        std::to_string(method.result_at) + "].allocated))"}});
    }
    return View::Object{
        {"head", wrap_list(0, method.result + " " + owner + method.name() + "(", method.parameters(false),
                           ") const {")},
        {"twin_head", wrap_list(0, "kf::Result<" + method.result + "> " + owner + method.twin_name() + "(",
                                method.parameters(false), ") const {")},
        {"has_local", std::move(local)},
        {"args", packed_arguments(method.arguments)},
        {"call", std::to_string(method.call)},
        {"pass", passes.at(static_cast<std::size_t>(method.part))},
        {"records", method.kind == CppMethodKind::append_to},
        {"has_shape", std::move(shape)},
        {"gathered", std::move(gathered)},
        {"returns", std::move(returns)},
        {"forwarded", forwarding(method)}};
}

std::string constructor(const std::string& head, const std::vector<std::string>& members) {
    const std::string list = " : " + join(members) + " {}";
    if (head.size() + list.size() <= columns) return head + list;
    if (list.size() + 3 <= columns) return head + "\n   " + list;
    std::string text = head;
    for (std::size_t i = 0; i < members.size(); ++i) text += (i == 0 ? "\n    : " : ",\n      ") + members[i];
    return text + " {}";
}

/// The artifact as little-endian words: few tokens, so that compilers are quick.
View embedded_view(std::span<const std::byte> bytes) {
    constexpr std::size_t words_per_line = 5;
    const std::size_t words = std::max<std::size_t>(1, (bytes.size() + 7) / 8);
    View::List lines;
    std::string line;
    for (std::size_t word = 0; word < words; ++word) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < 8 && word * 8 + i < bytes.size(); ++i)
            value |= std::to_integer<std::uint64_t>(bytes[word * 8 + i]) << (8 * i);
        std::array<char, 24> text{};
        std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(value));
        line += (line.empty() ? "" : ", ") + std::string(text.data());
        if ((word + 1) % words_per_line == 0 || word + 1 == words) {
            lines.emplace_back(line + (word + 1 == words ? "" : ","));
            line.clear();
        }
    }
    return View::Object{{"words", std::to_string(words)},
                        {"size", std::to_string(bytes.size())},
                        {"lines", std::move(lines)}};
}

/// Names a variable of the module's own methods that hides none of its functions, of which compilers would
/// warn.
std::string variable_name(std::string name, const std::vector<CppFunction>& functions) {
    const auto hides = [&](const CppFunction& function) { return function.member == name; };
    while (std::any_of(functions.begin(), functions.end(), hides)) name += "_";
    return name;
}

View source_view(const Plan& plan, const std::vector<CppFunction>& functions, const CppOptions& options) {
    View::List views;
    std::vector<std::string> members{"loaded_(std::move(loaded))"};
    View::List configured;
    View::List reaching;
    View::List hooked;
    const std::string hook = plan.globals.empty()
                                 ? "kf::detail::hooked(function_, std::move(callback))"
                                 : "kf::detail::hooked<Globals>(function_, std::move(callback), put_values)";
    for (const CppFunction& function : functions) {
        hooked.emplace_back(function.member);
        if (reaches_globals(*function.plan)) reaching.emplace_back(function.member);
        if (!options_of(function).empty()) configured.emplace_back(function.member);
        View::List methods;
        for (const CppMethod& method : function.methods) methods.push_back(method_view(function, method));
        std::vector<std::string> parts;
        if (function.has(CppPart::backward)) parts.emplace_back("backward(function)");
        if (function.has(CppPart::fused)) parts.emplace_back("fused(function)");
        if (function.jvp != nullptr) parts.emplace_back("jvp(kf::detail::jvp_of(function))");
        parts.emplace_back("function_(function)");
        views.emplace_back(
            View::Object{{"class", function.class_name},
                         {"context", hook_context(plan)},
                         {"hooked", hook},
                         {"sets_globals", reaches_globals(*function.plan)},
                         {"constructor", constructor(function.class_name + "::" + function.class_name +
                                                         "(const kf::detail::FunctionRef& function)",
                                                     parts)},
                         {"methods", std::move(methods)}});
        members.push_back(function.member + "(loaded_.function(\"" + function.plan->name + "\"))");
    }
    View::List digest;
    if (!options.sha256.empty()) digest.emplace_back(View::Object{{"digest", options.sha256}});
    View::List headers{"array"};
    const std::vector<std::string> needed =
        options.artifact ? std::vector<std::string>{"bit", "cstddef", "cstdint", "span"}
                         : std::vector<std::string>{"filesystem"};
    headers.insert(headers.end(), needed.begin(), needed.end());
    if (!options.sha256.empty()) headers.emplace_back("string_view");
    if (!options.artifact) headers.emplace_back("system_error");
    headers.emplace_back("utility");
    View embedded = false;
    if (options.artifact) embedded = embedded_view(*options.artifact);
    return View::Object{{"name", plan.name},
                        {"namespace", plan.cpp_namespace},
                        {"device", variable_name("device", functions)},
                        {"artifact", variable_name("artifact", functions)},
                        {"callback", variable_name("callback", functions)},
                        {"chosen", variable_name("chosen", functions)},
                        {"context", hook_context(plan)},
                        {"hooked", std::move(hooked)},
                        {"copy", variable_name("copy", functions)},
                        {"standard_headers", std::move(headers)},
                        {"embedded", std::move(embedded)},
                        {"sha256", std::move(digest)},
                        {"module_constructor", constructor("Module::Module(kf::Module loaded)", members)},
                        {"has_options", !configured.empty()},
                        {"configured", std::move(configured)},
                        {"has_globals", !reaching.empty()},
                        {"globals", global_names(plan)},
                        {"reaching", std::move(reaching)},
                        {"functions", std::move(views)}};
}

}  // namespace

Outcome<CppFiles> emit_cpp(const Plan& plan, const CppOptions& options) {
    Diagnostics errors;
    std::set<std::string> taken{"Module"};
    if (!plan.globals.empty()) taken.insert("Globals");
    UniqueNames classes(std::move(taken));
    const CppStructs structs(with_globals(plan), classes);
    const std::vector<CppFunction> functions = cpp_functions(plan, structs, classes);
    for (const CppFunction& function : functions) check_signatures(function, errors);
    if (!errors.empty()) return errors;

    auto header = render("cpp_header.mustache", templates::cpp_header_mustache,
                         header_view(plan, functions, structs, options.artifact.has_value()));
    auto source =
        render("cpp_source.mustache", templates::cpp_source_mustache, source_view(plan, functions, options));
    if (!header) return header.errors();
    if (!source) return source.errors();
    return CppFiles{std::move(header.value()), std::move(source.value())};
}

}  // namespace kf::gen
