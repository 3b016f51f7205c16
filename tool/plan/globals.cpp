// Plans globals as parameters of kernels.
#include "plan/globals.h"

#include <algorithm>
#include <string>

#include "diagnostic/suggest.h"
#include "plan/flag_enums.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/memory_layout.h"
#include "plan/structs.h"
#include "plan/types.h"
#include "slang/kernel_source.h"

namespace kf::gen {

namespace {

/// Whether the host sets the elements of such an array, and the fields of such a struct, one by one.
bool is_set_by_parts(const Type& type) {
    return holds_resource(type) || holds_tensor(type) || holds_pointer(type);
}

/// Returns the kind in which the host sets a global: a tensor, buffer or pointer for what is one, the fields
/// of a struct with some in it, else a value. One kind feeds all elements of an array. `name`: "scene.image".
KindSpec kind_of(const Type& type, const Location& location, const std::string& name,
                 const std::vector<NamedText>& formats) {
    if (type.kind == TypeKind::array && is_set_by_parts(type))
        return kind_of(type.element.front(), location, name, formats);
    KindSpec kind;
    kind.location = location;
    kind.kind = Kind::value;
    kind.spelling = "value";
    if (type.kind == TypeKind::tensor) {
        kind.kind = Kind::tensor;
        kind.rank = static_cast<int>(type.extent);
        kind.spelling = "tensor[" + std::to_string(kind.rank) + "]";
    } else if (type.kind == TypeKind::pointer) {
        kind.kind = Kind::pointer;
        kind.spelling = "pointer";
    } else if (type.kind == TypeKind::buffer) {
        const bool bytes = type.element.empty();
        kind.kind = type.is_writable ? (bytes ? Kind::rwbyteaddress : Kind::rwbuffer)
                                     : (bytes ? Kind::byteaddress : Kind::buffer);
        kind.spelling = std::string(type.is_writable ? "rw" : "") + (bytes ? "byteaddress" : "buffer");
    } else if (type.kind == TypeKind::texture) {
        kind.kind = Kind::texture;
        kind.texture = {type.texture.dimension, type.is_writable, type.texture.is_array};
        kind.spelling = texture_kind(type);
        const auto stated = std::find_if(formats.begin(), formats.end(),
                                         [&](const NamedText& one) { return one.name == name; });
        if (stated != formats.end()) {
            kind.format = stated->text;
            kind.location = stated->location;
        }
    } else if (type.kind == TypeKind::sampler) {
        kind.kind = Kind::sampler;
        kind.spelling = "sampler";
    } else if (is_set_by_parts(type)) {
        kind.kind = Kind::fields;
        kind.spelling = "{fields}";
        for (const Field& field : type.fields)
            kind.fields.push_back(
                {field.name, {kind_of(field.type, location, name + "." + field.name, formats)}, location});
    }
    return kind;
}

GlobalForm form_of(const GlobalParameter& global) { return {global.id, holds_resource(global.type)}; }

std::string kernel_function(const GlobalParameter& global) {
    const GlobalForm form = form_of(global);
    return (global.scope.empty() ? "" : global.scope + ".") +
           (form.is_property ? getter_name(form.id) : setter_name(form.id));
}

Outcome<PlannedGlobal> plan_global(const GlobalParameter& global, const std::string& name,
                                   const std::vector<NamedText>& formats) {
    if (!global.closed_type.empty()) {
        return Diagnostic{Severity::error,
                          "global-parameter",
                          global.location,
                          "'" + global.name + "' is a global with the type '" + global.closed_type +
                              "', which its module keeps to itself, and kernels have to name it",
                          {"mark the type public: " + std::string(why_closed)}};
    }
    const TreeTarget target{{manifest::global_name(name), global.type, manifest::Role::in, global.location},
                            true,
                            false,
                            false,
                            false};
    Outcome<FedTree> fed = feed_tree(kind_of(global.type, global.location, global.name, formats), target, 0);
    if (!fed) {
        Diagnostics errors;
        for (const Diagnostic& error : fed.errors()) {
            if (error.id == "texture-format") {
                errors.push_back(error);
                continue;
            }
            errors.push_back({Severity::error, "global-parameter", global.location,
                              "'" + global.name + "' is a global of type '" + global.type.name +
                                  "', which this version of kfgen can't set: " + error.message,
                              error.notes});
        }
        return errors;
    }
    PlannedGlobal planned;
    planned.name = name;
    planned.doc = global.doc;
    planned.parameter = {fed.value().host, global.type, manifest::Role::in, true};
    planned.parameter.global_function = kernel_function(global);
    planned.parameter.is_property = form_of(global).is_property;
    planned.arguments = std::move(fed.value().leaves);
    return planned;
}

/// Gives the tensors of a global gradients where the function's derivative adds to them.
void add_gradients(PlannedGlobal& global) {
    for (PlannedArgument& argument : global.arguments) {
        const bool is_tensor = argument.type.kind == TypeKind::tensor;
        if (!is_tensor || !is_differentiable(argument.type.form) || !reads(argument.type.form)) continue;
        if (!is_differentiable_leaf(argument)) continue;
        argument.host.differentiable = true;
        argument.host.gradient = manifest::Gradient::automatic;
    }
}

void move_leaves(manifest::ParameterTree& tree, std::int64_t by) {
    tree.leaf += by;
    for (manifest::ParameterTree& field : tree.fields) move_leaves(field, by);
}

/// The names of the textures in a global, as the spec's "globals" have them.
void add_texture_names(const Type& type, const std::string& name, std::vector<std::string>& names) {
    const Type& inner = innermost_of_arrays(type);
    if (inner.kind == TypeKind::texture) names.push_back(name);
    for (const Field& field : inner.fields) add_texture_names(field.type, name + "." + field.name, names);
}

Diagnostics check_formats(const std::vector<NamedText>& formats,
                          const std::vector<GlobalParameter>& globals) {
    std::vector<std::string> names;
    for (const GlobalParameter& global : globals) add_texture_names(global.type, global.name, names);
    Diagnostics errors;
    for (const NamedText& one : formats) {
        if (std::find(names.begin(), names.end(), one.name) != names.end()) continue;
        errors.push_back({Severity::error, "global-parameter", one.location,
                          "the modules have no texture '" + one.name + "' that is a global, or in one",
                          suggestion_notes(one.name, "textures", names)});
    }
    return errors;
}

bool is_listed(const std::vector<Location>& places, const GlobalParameter& global) {
    return std::find(places.begin(), places.end(), global.location) != places.end();
}

}  // namespace

Diagnostics add_globals(Plan& plan, const ReachedGlobals& reached,
                        const std::vector<GlobalParameter>& globals) {
    const auto is_reached = [&](const GlobalParameter& global) {
        return std::any_of(reached.begin(), reached.end(),
                           [&](const auto& call) { return is_listed(call.second, global); });
    };
    std::vector<const GlobalParameter*> all;
    for (const GlobalParameter& global : globals)
        if (is_reached(global)) all.push_back(&global);
    Diagnostics errors = check_formats(plan.formats, globals);
    std::map<const GlobalParameter*, PlannedGlobal> planned;
    for (const GlobalParameter* global : all) {
        const auto named = std::count_if(all.begin(), all.end(), [&](const GlobalParameter* other) {
            return other->name == global->name;
        });
        Outcome<PlannedGlobal> made = plan_global(
            *global, named > 1 ? global->module + "." + global->name : global->name, plan.formats);
        if (!made) {
            errors.insert(errors.end(), made.errors().begin(), made.errors().end());
            continue;
        }
        note_flag_enums(made.value().arguments, plan.flag_enums);
        planned.emplace(global, std::move(made.value()));
        plan.globals.push_back(form_of(*global));
    }
    for (PlannedFunction& function : plan.functions) {
        for (PlannedCall& call : function.calls) {
            const auto places = reached.find(&call);
            if (places == reached.end()) continue;
            for (const GlobalParameter* global : all) {
                const auto one = planned.find(global);
                if (one == planned.end() || !is_listed(places->second, *global)) continue;
                call.globals.push_back(one->second);
                if (call.has_backward) add_gradients(call.globals.back());
            }
        }
    }
    return errors;
}

PlannedCall with_globals(const PlannedCall& call) {
    PlannedCall merged = call;
    merged.globals.clear();
    for (const PlannedGlobal& global : call.globals) {
        merged.parameters.push_back(global.parameter);
        move_leaves(merged.parameters.back().host, static_cast<std::int64_t>(merged.arguments.size()));
        merged.arguments.insert(merged.arguments.end(), global.arguments.begin(), global.arguments.end());
    }
    return merged;
}

Plan with_globals(const Plan& plan) {
    Plan merged = plan;
    for (PlannedFunction& function : merged.functions) {
        for (PlannedCall& call : function.calls) call = with_globals(call);
    }
    return merged;
}

}  // namespace kf::gen
