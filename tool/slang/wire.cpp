// Every value as a CBOR array or map, by nlohmann_json's conversions.
#include "slang/wire.h"

#include <nlohmann/json.hpp>

namespace kf::gen {

using Json = nlohmann::json;

// Code may be any bytes, which JSON strings may not.
static Json bytes_json(const std::string& text) { return Json::binary({text.begin(), text.end()}); }
static std::string bytes_text(const Json& json) {
    const auto& bytes = json.get_binary();
    return {bytes.begin(), bytes.end()};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Location, file, line, column)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Diagnostic, severity, id, location, message, notes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FieldLayout, name, offset, size)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Conformance, interface_name, type, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GlobalForm, id, is_property)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KeptConstant, name, file, line, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelSource, entry_point, text, origin, hint, globals, for_header,
                                   has_buffers, has_aliases, padded_textures, values, kept, conformances)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TextureForm, dimension, is_array, is_multisampled, is_combined,
                                   is_comparison, is_fraction, format)

static void to_json(Json& json, const Field& field);
static void from_json(const Json& json, Field& field);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Type, kind, scalar, rows, columns, extent, element, form, fields, name,
                                   differentiable, inherits, no_diff_array, is_writable, link_extent, is_enum,
                                   members, addressing, texture, own)

static void to_json(Json& json, const Field& field) {
    json = Json::array({field.name, field.type, field.no_diff, field.has_default});
}
static void from_json(const Json& json, Field& field) {
    json.at(0).get_to(field.name);
    json.at(1).get_to(field.type);
    json.at(2).get_to(field.no_diff);
    json.at(3).get_to(field.has_default);
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Parameter, name, type, direction, no_diff, no_diff_written, has_default,
                                   only_read)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SystemValue, name, semantic, type, before, location, fields)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GenericParameter, name, value_type, constraints, part)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LostTangent, called, treated_as_one)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Function, name, parameters, result, no_diff_result,
                                   backward_differentiable, forward_differentiable, forward_by_hand,
                                   lost_tangent, generics, member, doc, location, is_overload, entry,
                                   is_closed, system_values, group_size, group_text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StructText, name, doc, fields)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SharedMember, owner, generics, function)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(HiddenField, type, name, location)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GlobalParameter, name, type, location, doc, scope, module, id, closed_type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamedModule, name, path, import_name, function_names, functions, shared)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LinkDeclaration, name, location, gives, has_default, type, interfaces,
                                   default_value, is_specialization)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Module, module_names, functions, structs, shared, sources, closed_fields,
                                   modules, globals, link, compiled, flag_enums)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CodeForm, target, places, sets_globals, keeps_constants)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Reached, what, name, declared, initialised, used, function, line)

static void to_json(Json& json, const CompiledKernel& kernel) {
    json = Json::array(
        {bytes_json(kernel.code), kernel.block_size, kernel.block, kernel.features, kernel.constants});
}
static void from_json(const Json& json, CompiledKernel& kernel) {
    kernel.code = bytes_text(json.at(0));
    json.at(1).get_to(kernel.block_size);
    json.at(2).get_to(kernel.block);
    json.at(3).get_to(kernel.features);
    json.at(4).get_to(kernel.constants);
}

namespace {

// Slang's messages quote source text, which need not be UTF-8; CBOR does not mind.
std::string to_bytes(const Json& json) {
    std::string bytes;
    Json::to_cbor(json, bytes);
    return bytes;
}

template <class T>
std::string encode_outcome(const Outcome<T>& outcome) {
    return to_bytes(outcome.ok() ? Json::array({true, outcome.value(), outcome.warnings()})
                                 : Json::array({false, outcome.errors(), outcome.warnings()}));
}

template <class T>
Outcome<T> decode_outcome(const std::string& bytes) {
    const Json json = Json::from_cbor(bytes);
    Outcome<T> outcome =
        json.at(0).get<bool>() ? Outcome<T>(json.at(1).get<T>()) : Outcome<T>(json.at(1).get<Diagnostics>());
    return std::move(outcome).with_warnings(json.at(2).get<Diagnostics>());
}

}  // namespace

std::string encode(const CompilerRequest& request) {
    if (const auto* reflect = std::get_if<ReflectRequest>(&request)) {
        std::vector<std::string> paths;
        for (const std::filesystem::path& path : reflect->modules) {
            paths.push_back(path.string());
        }
        return to_bytes(Json::array({"reflect", paths, reflect->values}));
    }
    if (const auto* type = std::get_if<TypeRequest>(&request)) {
        return to_bytes(Json::array({"type", type->name, type->module}));
    }
    if (const auto* conforms = std::get_if<ConformsRequest>(&request)) {
        return to_bytes(
            Json::array({"conforms", conforms->type, conforms->interface_name, conforms->module}));
    }
    if (const auto* reach = std::get_if<ReachRequest>(&request)) {
        return to_bytes(Json::array({"reach", reach->source, reach->form}));
    }
    const auto& compile = std::get<CompileRequest>(request);
    return to_bytes(Json::array({"compile", compile.source, compile.target}));
}

std::string encode(const Outcome<Module>& outcome) { return encode_outcome(outcome); }
std::string encode(const Outcome<CompiledKernel>& outcome) { return encode_outcome(outcome); }
std::string encode(const Outcome<std::vector<Reached>>& outcome) { return encode_outcome(outcome); }
std::string encode(const Outcome<bool>& outcome) { return encode_outcome(outcome); }
std::string encode(const Outcome<std::optional<Type>>& outcome) {
    // None or one: nlohmann has no conversion of optionals.
    if (!outcome) return encode_outcome(Outcome<std::vector<Type>>(outcome.errors()));
    std::vector<Type> found;
    if (outcome.value()) found.push_back(*outcome.value());
    return encode_outcome(Outcome<std::vector<Type>>(std::move(found)));
}

CompilerRequest decode_request(const std::string& bytes) {
    const Json json = Json::from_cbor(bytes);
    if (json.at(0) == "reflect") {
        ReflectRequest request;
        for (const Json& path : json.at(1)) {
            request.modules.emplace_back(path.get<std::string>());
        }
        json.at(2).get_to(request.values);
        return request;
    }
    if (json.at(0) == "type") {
        return TypeRequest{json.at(1).get<std::string>(), json.at(2).get<std::string>()};
    }
    if (json.at(0) == "conforms") {
        return ConformsRequest{json.at(1).get<std::string>(), json.at(2).get<std::string>(),
                               json.at(3).get<std::string>()};
    }
    if (json.at(0) == "reach") {
        return ReachRequest{json.at(1).get<KernelSource>(), json.at(2).get<CodeForm>()};
    }
    return CompileRequest{json.at(1).get<KernelSource>(), json.at(2).get<CodeTarget>()};
}

Outcome<Module> decode_module(const std::string& bytes) { return decode_outcome<Module>(bytes); }
Outcome<CompiledKernel> decode_kernel(const std::string& bytes) {
    return decode_outcome<CompiledKernel>(bytes);
}
Outcome<std::vector<Reached>> decode_reached(const std::string& bytes) {
    return decode_outcome<std::vector<Reached>>(bytes);
}
Outcome<bool> decode_conforms(const std::string& bytes) { return decode_outcome<bool>(bytes); }
Outcome<std::optional<Type>> decode_type(const std::string& bytes) {
    Outcome<std::vector<Type>> found = decode_outcome<std::vector<Type>>(bytes);
    if (!found) return found.errors();
    if (found.value().empty()) return std::optional<Type>();
    return std::optional<Type>(std::move(found.value().front()));
}

}  // namespace kf::gen
