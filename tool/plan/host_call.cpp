// A planned call as hosts see it.
#include "plan/host_call.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/kinds/questions.h"
#include "core/roles.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

/// Whether the way of passing leaves the element open, which then distinguishes arguments.
bool names_no_element(manifest::HostPassing passed) {
    return passed == manifest::HostPassing::buffer || passed == manifest::HostPassing::pointer ||
           passed == manifest::HostPassing::texture;
}

/// "out tensor<float>[1]"; nothing where hosts give nothing.
std::string given_text(const PlannedCall& call, const manifest::ParameterTree& parameter) {
    std::string text;
    if (parameter.form == manifest::Form::fields) {
        for (const manifest::ParameterTree& field : parameter.fields)
            text += (text.empty() ? "" : ", ") + given_text(call, field);
        return parameter.type + "{" + text + "}";
    }
    const PlannedArgument& first = call.arguments[static_cast<std::size_t>(parameter.leaf)];
    const manifest::HostPassing passed = manifest::passed_as(first.host);
    if (passed == manifest::HostPassing::nothing) return "";
    std::string element =
        parameter.form == manifest::Form::leaf ? slang_name(first.host.element) : parameter.type;
    for (const std::int64_t extent : parameter.extents) element += "[" + std::to_string(extent) + "]";
    if (is_only_written(first.host.role)) text = "out ";
    if (first.host.role == manifest::Role::inout) text = "inout ";
    if (first.from_buffer) text += "buffer as ";
    text += spec_text(first.host, element);
    return names_no_element(passed) ? text + " of " + element : text;
}

/// Whether hosts may give what such a result is written to.
bool is_given_to_write(const PlannedCall& call, const PlannedParameter& result) {
    return result.host.form != manifest::Form::fields &&
           !manifest::passes_value(call.arguments[static_cast<std::size_t>(result.host.leaf)].host);
}

}  // namespace

manifest::Call host_call(const PlannedCall& call) {
    manifest::Call host;
    host.rank = call.rank;
    host.dispatch = call.dispatch;
    host.strict_broadcasting = call.strict_broadcasting;
    host.has_backward = call.has_backward;
    host.has_fused = call.has_fused;
    host.prints = call.prints;
    host.checks = call.checks;
    for (const PlannedArgument& argument : call.arguments) host.arguments.push_back(argument.host);
    for (const PlannedParameter& parameter : call.parameters) host.parameters.push_back(parameter.host);
    return host;
}

std::string host_name(const PlannedCall& call, const std::string& name) {
    const bool is_member = !call.owner.empty() && call.member != Member::constructor;
    return is_member ? call.owner + "." + name : name;
}

void add_call(Plan& plan, const std::string& name, const std::string& doc, PlannedCall call) {
    const std::string full = host_name(call, name);
    auto function = std::ranges::find(plan.functions, full, &PlannedFunction::name);
    if (function == plan.functions.end()) {
        const std::string owner = full == name ? std::string() : call.owner;
        plan.functions.push_back({full, doc, {}, owner, -1, false});
        function = plan.functions.end() - 1;
    }
    if (function->doc.empty()) function->doc = doc;
    function->calls.push_back(std::move(call));
}

std::vector<std::string> given_types(const PlannedCall& call, bool with_result) {
    std::vector<std::string> types;
    for (const PlannedParameter& parameter : call.parameters) {
        const bool is_result = parameter.role == manifest::Role::result;
        if (is_result && (!with_result || !is_given_to_write(call, parameter))) continue;
        const std::string text = given_text(call, parameter.host);
        if (!text.empty()) types.push_back(text);
    }
    return types;
}

}  // namespace kf::gen
