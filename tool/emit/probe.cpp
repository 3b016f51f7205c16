// Writes a kernel that shows what functions reach beside their parameters.
#include "emit/probe.h"

#include <algorithm>

#include "emit/adapter.h"
#include "emit/backward_operand.h"
#include "emit/items.h"
#include "emit/kernel_text.h"
#include "emit/render.h"
#include "emit/text.h"
#include "emit/values.h"
#include "emit_templates.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Role;

/// A buffer, texture or sampler, which probes declare beside their functions.
struct ProbeResource {
    std::string type;
    std::string name;
};

std::string any(const std::string& type) { return "kf_any<" + type + ">()"; }

/// The statements of one call.
class ProbeWriter {
public:
    ProbeWriter(const PlannedCall& call, std::vector<ProbeResource>& resources)
        : call_(call), resources_(resources) {}

    View::List write() {
        const bool backward = call_.has_backward || call_.has_fused;
        for (std::size_t i = 0; i < call_.parameters.size(); ++i) {
            const PlannedParameter& parameter = call_.parameters[i];
            pass_launch_values(i);
            if (parameter.tangent_of >= 0) continue;
            const std::string id = std::to_string(++count_);
            if (holds_resource(parameter.type)) {
                const std::string given = add_resources(parameter.type, "kf_arg_" + id);
                const bool paired = has_derivative(parameter);
                const std::string pair = "kf_pair_" + id;
                if (paired && (backward || call_.is_jvp)) add("var " + pair + " = diffPair(" + given + ")");
                passed_.push_back(paired && call_.is_jvp ? pair : given);
                backward_.push_back(paired ? pair : given);
                continue;
            }
            if (call_.is_jvp && has_derivative(parameter)) {
                add_pair(parameter, "kf_pair_" + id);
            } else {
                add_value(parameter, "kf_arg_" + id);
            }
            if (backward) add_backward(parameter, "kf_back_" + id);
        }
        pass_launch_values(call_.parameters.size());
        const PassKind pass = backward ? PassKind::fused : PassKind::forward;
        // Fused kernels take the function's own arguments apart from the derivative's.
        const CallOperands operands{result_, backward ? backward_ : passed_, passed_};
        for (const std::string& statement : call_statements(call_, pass, operands)) add(statement);
        for (const std::string& value : kept_) add("kf_keep(" + value + ")");
        return std::move(statements_);
    }

private:
    void add(const std::string& statement) { statements_.emplace_back(View::Object{{"text", statement}}); }

    void pass_launch_values(std::size_t parameter) {
        for (const LaunchValue& value : call_.launch_values) {
            if (value.before != parameter) continue;
            passed_.push_back(any(value.type));
            backward_.push_back(any(value.type));
        }
    }

    /// A resource, or a local of a struct with some in it: as an expression.
    std::string add_resources(const Type& type, const std::string& name) {
        const Type& inner = innermost_of_arrays(type);
        const bool is_opaque = inner.kind == TypeKind::texture || inner.kind == TypeKind::sampler;
        // No local can be an array of textures.
        if (is_resource(type) || is_opaque) {
            resources_.push_back(
                {declared_name(type), std::string(probe_buffer) + std::to_string(resources_.size())});
            return resources_.back().name;
        }
        if (!holds_resource(type)) return any(declared_name(type));
        add(declared_name(type) + " " + name);
        for (const Field& field : fields_of(type))
            add(manifest::field_path(name, field.name) + " = " +
                add_resources(field.type, as_identifier(name + "_" + field.name)));
        return name;
    }

    void add_value(const PlannedParameter& parameter, const std::string& name) {
        const std::string type = declared_name(parameter.type);
        add(type + " " + name + (is_read(parameter.role) ? " = " + any(type) : ""));
        pass(parameter, name);
        if (parameter.role != Role::in) kept_.push_back(name);
    }

    void add_pair(const PlannedParameter& parameter, const std::string& name) {
        const std::string type = declared_name(parameter.type);
        add("DifferentialPair<" + type + "> " + name +
            (is_read(parameter.role)
                 ? " = diffPair(" + any(type) + ", " + any(differential_name(parameter.type)) + ")"
                 : ""));
        pass(parameter, name);
        if (parameter.role == Role::in) return;
        kept_.push_back(name + ".p");
        kept_.push_back(name + ".d");
    }

    void pass(const PlannedParameter& parameter, const std::string& name) {
        if (parameter.role == Role::result) {
            result_ = name + " = ";
        } else {
            passed_.push_back(name);
        }
    }

    void add_backward(const PlannedParameter& parameter, const std::string& name) {
        const auto part = [&](Source source, bool is_paired) {
            const std::string type =
                source == Source::data ? declared_name(parameter.type) : differential_name(parameter.type);
            if (is_paired) return any(type);
            add(type + " " + name + " = " + any(type));
            return name;
        };
        const auto pair = [&](const std::string& parts) {
            add("var " + name + " = diffPair(" + parts + ")");
            kept_.push_back(name + ".d");
            return name;
        };
        if (auto operand = backward_operand(parameter.role, has_derivative(parameter), part, pair))
            backward_.push_back(std::move(*operand));
    }

    const PlannedCall& call_;
    std::vector<ProbeResource>& resources_;
    int count_ = 0;
    View::List statements_;
    std::string result_;
    std::vector<std::string> passed_;
    std::vector<std::string> backward_;
    std::vector<std::string> kept_;
};

View::List imports_view(const Plan& plan, const std::vector<const PlannedCall*>& calls, bool& has_tensors) {
    std::vector<std::string> imports;
    if (has_tensors) imports.emplace_back("kf");
    for (const PlannedCall* call : calls) {
        for (std::string& name : imports_of(plan, *call, {})) {
            if (std::find(imports.begin(), imports.end(), name) == imports.end())
                imports.push_back(std::move(name));
        }
    }
    has_tensors = std::find(imports.begin(), imports.end(), "kf") != imports.end();
    if (has_tensors) imports.insert(imports.begin(), "kf_exact");
    View::List views;
    for (const std::string& name : imports) views.emplace_back(View::Object{{"name", name}});
    return views;
}

}  // namespace

Outcome<KernelSource> emit_probe(const Plan& plan, const std::vector<const PlannedCall*>& calls,
                                 ProbedGlobals globals) {
    View::List views;
    std::vector<ProbeResource> buffers;
    for (const PlannedCall* call : calls) {
        views.emplace_back(View::Object{{"name", "kf_call_" + std::to_string(views.size())},
                                        {"adapters", adapters(*call)},
                                        {"statements", ProbeWriter(*call, buffers).write()}});
    }
    KernelSource source;
    source.entry_point = "kf_probe";
    if (!calls.empty()) source.origin = calls.front()->location;
    View::List imports = imports_view(plan, calls, globals.tensors);
    const bool samples = std::any_of(buffers.begin(), buffers.end(), [](const ProbeResource& one) {
        return one.type.find("Texture") != std::string::npos || one.type.find("Sampler") != std::string::npos;
    });
    View::List buffer_views;
    for (const ProbeResource& buffer : buffers)
        buffer_views.emplace_back(View::Object{{"type", buffer.type}, {"name", buffer.name}});
    Outcome<std::string> text = render("probe.slang.mustache", templates::probe_slang_mustache,
                                       View(View::Object{{"imports", std::move(imports)},
                                                         {"has_tensors", globals.tensors},
                                                         {"has_textures", samples || globals.textures},
                                                         {"group_size", std::string(probe_group_size)},
                                                         {"entry", source.entry_point},
                                                         {"buffers", std::move(buffer_views)},
                                                         {"samples", samples},
                                                         {"calls", views}}));
    if (!text) return text.errors();
    source.text = std::move(text.value());
    if (calls.empty()) return source;
    Outcome<std::string> values = emit_values(calls.front()->link, plan.imports);
    if (!values) return values.errors();
    source.values = std::move(values.value());
    source.conformances = calls.front()->link.conformances;
    return source;
}

}  // namespace kf::gen
