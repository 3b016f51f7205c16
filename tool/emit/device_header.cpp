// Writes device headers.
#include "emit/device_header.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/sha256.h"
#include "emit/cpp_structs.h"
#include "emit/kernel_text.h"
#include "emit/render.h"
#include "emit/text.h"
#include "emit_templates.h"

namespace kf::gen {

namespace {

/// Returns the ending of the library's namespace: a part of the hash of all that may be in it.
std::string library_version() {
    const std::string text =
        std::string(templates::device_library_mustache) + std::string(templates::device_halves_mustache);
    return hex_digest(text).substr(0, 12);
}

/// Returns the library for the code; programs without halves don't include CUDA's header of them.
Outcome<View::List> library_of(const std::string& code, const std::string& version) {
    View::List parts;
    const auto add = [&](const char* name, std::string_view text) -> Diagnostics {
        Outcome<std::string> part = render(name, text, View(View::Object{{"version", version}}));
        if (!part) return part.errors();
        parts.emplace_back(part.value());
        return {};
    };
    Diagnostics errors = add("device_library.mustache", templates::device_library_mustache);
    if (errors.empty() && code.find("__half") != std::string::npos)
        errors = add("device_halves.mustache", templates::device_halves_mustache);
    if (!errors.empty()) return errors;
    return parts;
}

/// The functions of Slang's code, without the kernel that kept them.
std::string functions_of(const std::string& code) {
    std::string text = code.substr(0, code.find("extern \"C\" __global__"));
    const std::string unused = "struct kf_Unused_";
    if (const std::size_t at = text.find(unused); at != std::string::npos)
        text.erase(at, text.find("};\n", at) + 3 - at);
    constexpr std::string_view load = " __ldg(";
    for (std::size_t at = text.find(load); at != std::string::npos; at = text.find(load, at))
        text.replace(at, load.size(), " loaded(");
    std::string result;
    constexpr std::string_view device = "__device__ ";
    for (const std::string& line : doc_lines(text)) {
        // Headers are part of many programs: each function is one in all of them.
        const bool function = line.starts_with(device) && !line.starts_with("__device__ static");
        result += (function ? "inline " : "") + line + "\n";
    }
    return result;
}

/// The function's parameters in Slang's code, and the name that it has there.
struct WrittenFunction {
    std::string name;
    std::size_t parameters = 0;
};

std::optional<WrittenFunction> find_function(const std::string& code, const std::string& name) {
    const std::size_t line = code.find(name + "_0(");
    if (line == std::string::npos) return std::nullopt;
    const std::size_t begin = code.find_last_of(" \n", line) + 1;
    const std::size_t open = code.find('(', line);
    const std::string listed = code.substr(open + 1, code.find(")\n", open) - open - 1);
    WrittenFunction found{code.substr(begin, open - begin), 0};
    int depth = 0;
    for (const char c : listed) {
        if (c == '<') ++depth;
        if (c == '>') --depth;
        if (c == ',' && depth == 0) ++found.parameters;
    }
    if (!listed.empty()) ++found.parameters;
    return found;
}

Diagnostic other_form(const DeviceFunction& function) {
    return {Severity::error,
            "internal-cuda-source",
            function.call->location,
            "CUDA source of '" + function.name + "' does not have the expected form",
            {}};
}

View::List doc_of(const DeviceFunction& function) {
    const std::string name = function.name.substr(0, function.name.rfind('_'));
    switch (function.part) {
        case DevicePart::backward:
            return doc_comment({"The derivative of " + name +
                                    "(): takes the gradients of what that writes, and writes those of",
                                "what it reads."});
        case DevicePart::forward:
            return doc_comment({"The forward derivative of " + name +
                                    "(): takes the tangents of what that reads, too, and writes those of",
                                "what it writes."});
        default: return doc_comment(doc_lines(function.function->doc));
    }
}

/// The types of the header, as its functions use them.
DeviceTypes types_of(const Plan& plan, const std::vector<DeviceFunction>& functions) {
    DeviceTypes types(plan.structs);
    for (const DeviceFunction& function : functions) {
        for (const PlannedParameter& parameter : function.call->parameters)
            types.add_parameter(parameter.type, parameter.role == manifest::Role::result);
    }
    return types;
}

}  // namespace

std::string device_declaration(const DeviceFunction& function) {
    return wrap_list(0, function.result + " " + function.name + "(", function.parameters, ")");
}

Outcome<std::string> emit_device_header(const Plan& plan, const std::vector<DeviceFunction>& functions,
                                        const std::string& code) {
    const std::string version = library_version();
    const std::string scope = identifier(plan.cpp_namespace);
    Diagnostics errors;
    View::List contents;
    View::List views;
    for (const DeviceFunction& function : functions) {
        const std::optional<WrittenFunction> written = find_function(code, function.slang_name);
        if (!written || written->parameters != function.passed.size()) {
            errors.push_back(other_form(function));
            continue;
        }
        std::vector<std::string> passed;
        for (const DevicePassed& one : function.passed)
            passed.push_back("kf::" + one.way + "(" + one.expression + ")");
        for (const std::string& line : doc_lines(device_declaration(function) + ";"))
            contents.emplace_back(line);
        views.emplace_back(View::Object{
            {"doc", doc_of(function)},
            {"declaration", wrap_list(0, "__device__ inline " + function.result + " " + function.name + "(",
                                      function.parameters, ")")},
            {"result", function.result == "void" ? View::List() : View::List{function.result}},
            {"call", wrap_list(4, "kf::" + scope + "::" + written->name + "(", passed, ");")}});
    }
    if (!errors.empty()) return errors;
    const DeviceTypes types = types_of(plan, functions);
    Outcome<View::List> library = library_of(code, version);
    if (!library) return library.errors();
    return render("device_header.mustache", templates::device_header_mustache,
                  View(View::Object{{"name", plan.name},
                                    {"namespace", plan.cpp_namespace},
                                    {"contents", std::move(contents)},
                                    {"library", std::move(library.value())},
                                    {"version", version},
                                    {"scope", scope},
                                    {"code", functions_of(code)},
                                    {"has_given", !types.given().empty()},
                                    {"given", types.given()},
                                    {"has_aliases", !types.aliases().empty()},
                                    {"aliases", types.aliases()},
                                    {"structs", types.structs()},
                                    {"functions", std::move(views)}}));
}

}  // namespace kf::gen
