// Prepares the views of NAME.h and NAME.cpp; the text is in templates/cpp_*.mustache.
#include "emit/cpp.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/join.h"
#include "emit/cpp_methods.h"
#include "emit/cpp_overloads.h"
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

/// Returns a sentence on what the function's options are for; empty where it has none.
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
    std::string chosen;
    for (const LinkConstant* constant : function.plan->calls.front().link.kept())
        chosen += (chosen.empty() ? "\"" : ", \"") + constant->name + "\"";
    if (!chosen.empty()) text += (text.empty() ? "" : "; ") + ("`constants` are " + chosen);
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

/// A part of a global that the host sets: all of it, or, where a struct in it holds buffers, a field.
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
        views.emplace_back(View::Object{{"doc", doc_comment(doc_lines(one.doc))},
                                        {"slang", one.name},
                                        {"type", set_type(one.item, structs)},
                                        {"name", one.member}});
    }
    return views;
}

/// `classes`: the names of the namespace that are taken.
std::vector<CppFunction> cpp_functions(const Plan& plan, const CppStructs& structs, UniqueNames& classes) {
    std::set<std::string> taken = structs.names();
    taken.insert({"Module", "artifact_bytes", "artifact_path", "artifact_sha256", "checked", "hook", "load",
                  "loaded", "loaded_", "options", "try_load"});
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
                method.result = "kf::Dual<" + type + ">";
                method.outputs.clear();
                continue;
            }
            if (method.outputs.size() > 1) method.result = result_struct(made, method, classes);
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

/// Returns the type that hooks of the module's functions take.
std::string hook_context(const Plan& plan) {
    return plan.globals.empty() ? "kf::HookContext" : "kf::HookContextOf<Globals>";
}

/// Returns the overloads of this pass as text, with a comment on the shape before the first of each call.
View::List overloads(const CppFunction& function, CppPart part, const std::string& end) {
    const std::size_t indent = part == CppPart::function ? 10 : 14;
    const std::vector<CppOverload> made = cpp_overloads(function.methods, part);
    View::List list;
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (i == 0 || made[i].call != made[i - 1].call)
            list.emplace_back(std::string(indent, ' ') + "// " +
                              describe_shape(function.calls(part)[made[i].call]));
        list.emplace_back(wrap_list(indent, made[i].head, made[i].parameters,
                                    made[i].tail + (i + 1 == made.size() ? end : ",")));
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

/// A base that configures the function, "WithOptions<AddFunction>", and what it is for.
struct Feature {
    std::string name;
    std::string doc;
};

std::vector<Feature> features_of(const CppFunction& function) {
    const auto of = [&](const std::string& name) { return name + "<" + function.class_name + ">"; };
    std::vector<Feature> features;
    if (reaches_globals(*function.plan))
        features.push_back({"WithGlobals<" + function.class_name + ", Globals>", ""});
    if (is_launched(*function.plan)) features.push_back({of("WithThreads"), ""});
    if (const std::string text = options_of(function); !text.empty())
        features.push_back({of("WithOptions"), "options(): " + text + "."});
    if (const std::string text = ways_of(function.plan->choices); !text.empty())
        features.push_back({of("WithAccumulate"), "accumulate(): " + text + "."});
    if (const std::string text = maps_of(*function.plan); !text.empty())
        features.push_back({of("WithMaps"), "map(): " + text + "."});
    return features;
}

/// The classes of its derivatives, each with a member of its type.
View::List derivatives_of(const CppFunction& function) {
    struct Derivative {
        CppPart part;
        const char* name;
        const char* member;
        const char* pass;
        const char* says;
    };
    constexpr std::array<Derivative, 3> all{{
        {CppPart::backward, "Backward", "backward", "backward",
         "Takes the same arguments, then the result: gradients flow from outputs to inputs."},
        {CppPart::fused, "Fused", "fused", "fused",
         "The function and its backward pass in one launch: returns the result, adds to gradients."},
        {CppPart::jvp, "Jvp", "jvp", "forward",
         "Takes the arguments with their tangents, returns the result with its."},
    }};
    View::List list;
    for (const Derivative& one : all) {
        if (!function.has(one.part)) continue;
        list.emplace_back(View::Object{{"first", list.empty()},
                                       {"says", one.says},
                                       {"name", one.name},
                                       {"member", one.member},
                                       {"pass", one.pass},
                                       {"overloads", overloads(function, one.part, "> {")}});
    }
    return list;
}

/// A constructor that makes these members.
std::string constructor(const std::string& head, const std::vector<std::string>& members) {
    const std::string list = " : " + join(members) + " {}";
    if (head.size() + list.size() <= columns) return head + list;
    if (list.size() + 3 <= columns) return head + "\n   " + list;
    std::string text = head;
    for (std::size_t i = 0; i < members.size(); ++i) text += (i == 0 ? "\n    : " : ",\n      ") + members[i];
    return text + " {}";
}

std::string indented(std::size_t indent, std::string text) {
    const std::string blanks(indent, ' ');
    for (std::size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 1))
        text.insert(line + 1, blanks);
    return blanks + text;
}

std::string function_constructor(const CppFunction& function) {
    std::vector<std::string> parts{"Overloads(function)"};
    if (function.has(CppPart::backward)) parts.emplace_back("backward(function)");
    if (function.has(CppPart::fused)) parts.emplace_back("fused(function)");
    if (function.has(CppPart::jvp)) parts.emplace_back("jvp(kf::detail::jvp_of(function))");
    if (parts.size() == 1) return "    using Overloads::Overloads;";
    const std::string head = "explicit " + function.class_name + "(const kf::detail::FunctionRef& function)";
    return indented(4, constructor(head, parts));
}

// ---- what it includes

void add_text(const View& view, std::string& all) {
    if (view.text() != nullptr) all += *view.text() + "\n";
    if (view.list() != nullptr) {
        for (const View& one : *view.list()) add_text(one, all);
    }
    if (view.object() == nullptr) return;
    for (const auto& [name, one] : *view.object()) {
        if (name != "doc") add_text(one, all);
    }
}

struct Provided {
    const char* header;
    std::vector<const char*> words;
};

void add_headers(const std::string& text, const std::vector<Provided>& all, std::set<std::string>& headers) {
    for (const auto& [header, words] : all) {
        if (std::ranges::any_of(words,
                                [&](const char* word) { return text.find(word) != std::string::npos; }))
            headers.insert(header);
    }
}

/// Vectors' and matrices' names: "kf::float3", "kf::half2x2".
void add_blocks(const std::string& text, std::set<std::string>& headers) {
    for (std::size_t at = text.find("kf::"); at != std::string::npos; at = text.find("kf::", at + 4)) {
        const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at + 4);
        const std::string name = text.substr(at + 4, end - at - 4);
        if (name.empty() || std::isdigit(static_cast<unsigned char>(name.back())) == 0) continue;
        const bool matrix = name.size() > 2 && name[name.size() - 2] == 'x' &&
                            std::isdigit(static_cast<unsigned char>(name[name.size() - 3])) != 0;
        headers.insert(matrix ? "matrix.h" : "types.h");
    }
}

View::List in_order(const std::set<std::string>& headers) { return {headers.begin(), headers.end()}; }

View::List runtime_headers(const std::string& text) {
    std::set<std::string> headers{"configured.h", "device.h",  "error.h",   "hook.h",
                                  "module.h",     "options.h", "overload.h"};
    add_headers(text,
                {{"buffer.h", {"kf::Buffer<", "kf::RWBuffer<"}},
                 {"dual.h", {"kf::Dual<"}},
                 {"generator.h", {"kf::Grid<", "kf::Range", "kf::WangHash", "kf::RandFloat", "kf::Made"}},
                 {"global_values.h", {"kf::HookContextOf<"}},
                 {"half.h", {"kf::half>", "kf::half ", "kf::half,"}},
                 {"matrix.h", {"std::array<"}},
                 {"pointer.h", {"kf::Pointer<"}},
                 {"scalar_arg.h", {"kf::ScalarArg<"}},
                 {"tensor.h", {"kf::Tensor<"}},
                 {"types.h", {"kf::StructElement<"}},
                 {"value.h", {"kf::DiffArg<", "kf::OutputArg<", "kf::Out<", "kf::detail::FieldOf<"}}},
                headers);
    add_blocks(text, headers);
    return in_order(headers);
}

View::List standard_headers(const std::string& text) {
    std::set<std::string> headers{"functional", "string"};
    add_headers(text,
                {{"array", {"std::array<"}},
                 {"cstddef", {"offsetof("}},
                 {"cstdint", {"std::int", "std::uint"}},
                 {"optional", {"std::optional<"}},
                 {"tuple", {"std::tie(", "std::tuple<"}},
                 {"type_traits", {"std::is_trivially_", "std::is_copy_"}},
                 {"utility", {"std::forward<"}}},
                headers);
    return in_order(headers);
}

View header_view(const Plan& plan, const std::vector<CppFunction>& functions, const CppStructs& structs,
                 bool embedded) {
    View::List views;
    for (const CppFunction& function : functions) {
        std::vector<std::string> doc = function_doc(*function.plan, structs);
        View::List features;
        for (const Feature& feature : features_of(function)) {
            features.emplace_back(feature.name);
            if (feature.doc.empty()) continue;
            if (!doc.empty()) doc.emplace_back();
            doc.push_back(feature.doc);
        }
        View::List results;
        for (const auto& [name, outputs] : function.results) {
            View::List fields;
            std::vector<std::string> names;
            for (const CppOutput& output : outputs) {
                const std::string initial = output.is_value ? "{}" : "";
                fields.emplace_back(View::Object{{"type", output.type}, {"field", output.name + initial}});
                names.push_back(output.name);
            }
            results.emplace_back(View::Object{{"struct", name},
                                              {"member", function.member},
                                              {"fields", std::move(fields)},
                                              {"parts", parts_text(name, std::move(names))}});
        }
        views.emplace_back(
            View::Object{{"class", function.class_name},
                         {"member", function.member},
                         {"context", plan.globals.empty() ? "" : ", kf::HookContextOf<Globals>"},
                         {"results", std::move(results)},
                         {"doc", doc_comment(doc)},
                         {"features", std::move(features)},
                         {"derivatives", derivatives_of(function)},
                         {"constructor", function_constructor(function)},
                         {"overloads", overloads(function, CppPart::function, ">,")}});
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
    View::List globals = globals_view(plan, structs);
    View::List hosts = structs.hosts_view();
    View::List enums = structs.enums_view(plan.cpp_namespace);
    View::Object view{{"name", plan.name},
                      {"namespace", plan.cpp_namespace},
                      {"host_headers", structs.host_headers()},
                      {"has_hosts", !hosts.empty()},
                      {"hosts", std::move(hosts)},
                      {"context", hook_context(plan)},
                      {"has_globals", !globals.empty()},
                      {"globals", std::move(globals)},
                      {"has_enums", !enums.empty()},
                      {"enums", std::move(enums)},
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
    std::string text;
    add_text(view, text);
    view.emplace("headers", runtime_headers(text));
    view.emplace("standard_headers", standard_headers(text));
    return view;
}

// ---- the source

/// The artifact as little-endian words: few tokens, so that compilers are quick.
View words_view(std::span<const std::byte> bytes) {
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

View embedded_view(const Plan& plan, const CppOptions& options) {
    View text = false;
    View outside = false;
    if (options.place == ArtifactPlace::text) {
        text = words_view(options.artifact);
    } else {
        outside = View::Object{{"symbol", artifact_symbol(plan.name, options.sha256)},
                               {"size", std::to_string(options.artifact.size())},
                               {"assembler", options.place == ArtifactPlace::assembler},
                               {"hidden", options.place != ArtifactPlace::coff_object}};
    }
    return View::Object{{"text", std::move(text)}, {"outside", std::move(outside)}};
}

/// Names a variable of the module's own methods that hides none of its functions, of which compilers would
/// warn.
std::string variable_name(std::string name, const std::vector<CppFunction>& functions) {
    const auto hides = [&](const CppFunction& function) { return function.member == name; };
    while (std::any_of(functions.begin(), functions.end(), hides)) name += "_";
    return name;
}

/// Returns the argument, behind a comma, that says what the function takes besides a hook.
std::string takes_of(bool options, bool globals) {
    if (!options && !globals) return "";
    return std::string(", kf::detail::Takes::") + (!globals ? "options" : options ? "both" : "globals");
}

/// Returns the list that names the drivers, "{&kf::detail::cuda_backend}"; empty without any.
std::string drivers_text(const std::vector<std::string>& backends) {
    std::string text;
    for (const std::string& name : backends)
        text += (text.empty() ? "{" : ", ") + ("&kf::detail::" + name) + "_backend";
    return text.empty() ? text : text + "}";
}

View source_view(const Plan& plan, const std::vector<CppFunction>& functions, const CppOptions& options) {
    const std::string other = variable_name("other", functions);
    const std::string change = variable_name("change", functions);
    std::vector<std::string> members{"loaded_(std::move(loaded))"};
    std::vector<std::string> changed{"loaded_(" + other + ".loaded_)"};
    bool has_options = false;
    bool has_globals = false;
    for (const CppFunction& function : functions) {
        const bool takes_options = !options_of(function).empty();
        const bool takes_globals = reaches_globals(*function.plan);
        has_options |= takes_options;
        has_globals |= takes_globals;
        members.push_back(function.member + "(loaded_.function(\"" + function.plan->name + "\"))");
        changed.push_back(function.member + "(" + change + "(" + other + "." + function.member +
                          takes_of(takes_options, takes_globals) + "))");
    }
    View::List digest;
    if (!options.sha256.empty()) digest.emplace_back(View::Object{{"digest", options.sha256}});
    View::List drivers;
    if (!options.backends.empty())
        drivers.emplace_back(View::Object{{"list", drivers_text(options.backends)}});
    View::List headers;
    const bool embedded = options.place != ArtifactPlace::file;
    if (options.place == ArtifactPlace::text) {
        headers = {"array", "bit", "cstddef", "cstdint", "span"};
    } else if (embedded) {
        headers = {"cstddef", "span"};
    }
    headers.emplace_back("utility");
    const std::string artifact = variable_name("artifact", functions);
    const std::string device = variable_name("device", functions);
    const std::string given = "(" + device + ", " + artifact + (digest.empty() ? ")" : ", artifact_sha256)");
    // The digest of the artifact in this library.
    const std::string here = digest.empty() ? "\"\"" : "artifact_sha256";
    return View::Object{{"name", plan.name},
                        {"namespace", plan.cpp_namespace},
                        {"device", device},
                        {"artifact", artifact},
                        {"loading", "kf::detail::load_own" + given},
                        {"callback", variable_name("callback", functions)},
                        {"chosen", variable_name("chosen", functions)},
                        {"context", hook_context(plan)},
                        {"standard_headers", std::move(headers)},
                        {"anonymous", embedded || !digest.empty() || !drivers.empty()},
                        {"drivers", std::move(drivers)},
                        {"here", here},
                        {"embedded", embedded ? embedded_view(plan, options) : View(false)},
                        {"sha256", std::move(digest)},
                        {"module_constructor", constructor("Module::Module(kf::Module loaded)", members)},
                        {"module_change", constructor("Module::Module(const Module& " + other +
                                                          ", const kf::detail::Change& " + change + ")",
                                                      changed)},
                        {"has_options", has_options},
                        {"has_globals", has_globals},
                        {"globals", global_names(plan)}};
}

}  // namespace

std::string artifact_symbol(const std::string& module, const std::string& sha256) {
    return "kf_artifact_" + module + '_' + sha256.substr(0, 32);
}

Outcome<CppFiles> emit_cpp(const Plan& plan, const CppOptions& options) {
    Diagnostics errors;
    // Names of members of the classes that functions are made of.
    std::set<std::string> taken{"Module",    "Overloads", "WithAccumulate", "WithGlobals",
                                "WithHooks", "WithMaps",  "WithOptions",    "WithThreads"};
    if (!plan.globals.empty()) taken.insert({"Globals", "put_values"});
    UniqueNames classes(std::move(taken));
    const CppStructs structs(with_globals(plan), classes);
    const std::vector<CppFunction> functions = cpp_functions(plan, structs, classes);
    for (const CppFunction& function : functions) check_signatures(function, errors);
    if (!errors.empty()) return errors;

    auto header = render("cpp_header.mustache", templates::cpp_header_mustache,
                         header_view(plan, functions, structs, options.place != ArtifactPlace::file));
    auto source =
        render("cpp_source.mustache", templates::cpp_source_mustache, source_view(plan, functions, options));
    if (!header) return header.errors();
    if (!source) return source.errors();
    return CppFiles{std::move(header.value()), std::move(source.value())};
}

}  // namespace kf::gen
