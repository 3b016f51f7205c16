// Artifacts to CBOR. The only file of the runtime's folder that includes nlohmann_json.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/artifact.h"
#include "core/artifact_words.h"
#include "core/image_digests.h"
#include "core/sha256.h"

namespace kf::artifact {
namespace {

using namespace manifest;
using nlohmann::json;

json binary(std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
}

json digest_json(const std::array<std::uint8_t, 32>& digest) {
    return binary(std::as_bytes(std::span(digest)));
}

/// Writes the fields that an argument's kind has.
struct FieldWriter {
    json& j;

    void operator()(const char* key, bool value) const { j[key] = value; }
    void operator()(const char* key, std::int64_t value) const { j[key] = value; }
    void operator()(const char* key, const std::string& text) const { j[key] = text; }
    void operator()(const char* key, const std::vector<std::string>& texts) const { j[key] = texts; }
    template <class Enum, class Words>
    void operator()(const char* key, Enum value, const Words& words) const {
        j[key] = name_of(words, value);
    }
};

json to_json(const Kind& kind) {
    return std::visit(
        [](const auto& one) {
            json j;
            j["kind"] = one.word;
            one.each_field(one, FieldWriter{j});
            return j;
        },
        kind);
}

json to_json(const Argument& argument) {
    json j = to_json(argument.kind);
    j.update({{"name", argument.name},
              {"role", name_of(role_names, argument.role)},
              {"scalar", name_of(scalar_words, argument.element.scalar)},
              {"extents", argument.element.extents},
              {"rank", argument.rank},
              {"call_rank", argument.call_rank},
              {"inner_rank", argument.inner_rank},
              {"trailing", argument.trailing},
              {"map", argument.map},
              {"differentiable", argument.differentiable},
              {"gradient", name_of(gradient_names, argument.gradient)},
              {"overwrite", argument.overwrite},
              {"accumulate", name_of(accumulate_words, argument.accumulate)},
              {"tangent_of", argument.tangent_of},
              {"offset", argument.offset},
              {"pitch", argument.pitch},
              {"spacing", argument.spacing}});
    if (!argument.type.empty()) {
        j["type"] = argument.type;
    }
    if (argument.address) j["address"] = true;
    if (argument.aliases) j["aliases"] = true;
    for (const auto& [name, value] : argument.members) {
        j["members"].push_back(json::array({name, value}));
    }
    if (argument.flags) j["flags"] = true;
    return j;
}

json to_json(const ParameterTree& parameter) {
    json fields = json::array();
    for (const ParameterTree& field : parameter.fields) {
        fields.push_back(to_json(field));
    }
    json j = {{"name", parameter.name},     {"form", name_of(form_names, parameter.form)},
              {"type", parameter.type},     {"leaf", parameter.leaf},
              {"leaves", parameter.leaves}, {"size", parameter.size},
              {"offset", parameter.offset}, {"extents", parameter.extents},
              {"fields", std::move(fields)}};
    if (parameter.own != OwnStruct::none) j["own"] = name_of(own_struct_names, parameter.own);
    return j;
}

json to_json(const Pass& pass) { return json::array({pass.contiguous, pass.strided, pass.rows}); }

json to_json(const Call& call) {
    json arguments = json::array();
    for (const Argument& argument : call.arguments) {
        arguments.push_back(to_json(argument));
    }
    json parameters = json::array();
    for (const ParameterTree& parameter : call.parameters) {
        parameters.push_back(to_json(parameter));
    }
    json j = {{"arguments", std::move(arguments)},
              {"parameters", std::move(parameters)},
              {"rank", call.rank},
              {"dispatch", name_of(dispatch_names, call.dispatch)},
              {"strict_broadcasting", call.strict_broadcasting},
              {"has_backward", call.has_backward},
              {"forward", to_json(call.forward)},
              {"forward_deterministic", to_json(call.forward_deterministic)},
              {"backward", to_json(call.backward)},
              {"deterministic", to_json(call.deterministic)},
              {"has_fused", call.has_fused},
              {"fused", to_json(call.fused)},
              {"fused_deterministic", to_json(call.fused_deterministic)}};
    if (call.prints) j["prints"] = true;
    if (call.checks) j["checks"] = true;
    return j;
}

/// The images' bytes, each once.
class BlobWriter {
public:
    std::size_t index_of(const Image& image) {
        const auto found = std::find(digests_.begin(), digests_.end(), image.sha256);
        if (found != digests_.end()) {
            return static_cast<std::size_t>(found - digests_.begin());
        }
        digests_.push_back(image.sha256);
        blobs_.push_back({{"sha256", digest_json(image.sha256)}, {"size", image.bytes.size()}});
        const std::span<const std::byte> added = image.bytes.span();
        bytes_.insert(bytes_.end(), added.begin(), added.end());
        return digests_.size() - 1;
    }

    /// What the body says of them, in the order in which bytes() holds them.
    json take() { return std::move(blobs_); }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::vector<std::array<std::uint8_t, 32>> digests_;
    json blobs_ = json::array();
    std::vector<std::byte> bytes_;
};

json to_json(const ResourceSlot& slot) {
    json j = {{"name", slot.name},
              {"kind", name_of(resource_kind_names, slot.kind)},
              {"writes", slot.writes},
              {"stride", slot.stride}};
    if (is_texture(slot.kind)) {
        j.update({{"dimension", name_of(kinds::texture_dimension_words, slot.dimension)},
                  {"is_array", slot.is_array},
                  {"format", slot.format},
                  {"texel", slot.texel},
                  {"samplers", slot.samplers}});
    }
    if (slot.kind == ResourceKind::sampler) j["is_comparison"] = slot.is_comparison;
    return j;
}

json to_json(const Kernel& kernel, BlobWriter& blobs) {
    json records = json::array();
    for (const Record& record : kernel.records) {
        records.push_back(json::array({name_of(record_names, record.kind), record.argument, record.dimensions,
                                       record.trailing, record.flagged}));
    }
    json layouts = json::object();
    for (const auto& [target, layout] : kernel.layouts) {
        layouts[target] = {{"size", layout.size},
                           {"offsets", layout.offsets},
                           {"passing", name_of(passing_names, layout.passing)}};
        if (!kernel.resources.empty()) {
            layouts[target]["resource_places"] = layout.resource_places;
        }
    }
    json images = json::array();
    for (const Image& image : kernel.images) {
        images.push_back({{"format", image.format},
                          {"architecture", image.architecture},
                          {"entry_point", image.entry_point},
                          {"features", image.features},
                          {"blob", blobs.index_of(image)}});
        if (!image.constants.empty()) images.back()["constants"] = image.constants;
    }
    json j = {{"name", kernel.name},
              {"variant", name_of(variant_names, kernel.variant)},
              {"group_size", kernel.group_size},
              {"calls_per_thread", kernel.calls_per_thread},
              {"exact", kernel.exact},
              {"records", std::move(records)},
              {"layouts", std::move(layouts)},
              {"source_hash", kernel.source_hash},
              {"images", std::move(images)}};
    if (!kernel.constants.empty()) j["constants"] = kernel.constants;
    for (const GroupExtent& extent : kernel.group_extents) {
        j["group_extents"].push_back(json::array({extent.factor, extent.constants}));
    }
    for (const ResourceSlot& slot : kernel.resources) {
        j["resources"].push_back(to_json(slot));
    }
    return j;
}

json to_json(const OptionSet& set) {
    json conformances = json::array();
    for (const OptionSet::Conformance& one : set.conformances) {
        conformances.push_back({{"interface", one.interface_name}, {"type", one.type}, {"id", one.id}});
    }
    return {{"name", set.name},
            {"threads", set.threads},
            {"constants", set.constants},
            {"types", set.types},
            {"conformances", std::move(conformances)},
            {"function", set.function}};
}

json to_json(const Manifest& manifest, BlobWriter& blobs) {
    json functions = json::array();
    for (const Function& function : manifest.functions) {
        json calls = json::array();
        for (const Call& call : function.calls) {
            calls.push_back(to_json(call));
        }
        json choices = json::array();
        for (const Choice& choice : function.choices) {
            choices.push_back({{"name", choice.name}, {"ways", choice.ways}});
        }
        json sets = json::array();
        for (const OptionSet& set : function.option_sets) {
            sets.push_back(to_json(set));
        }
        functions.push_back({{"name", function.name},
                             {"doc", function.doc},
                             {"calls", std::move(calls)},
                             {"jvp", function.jvp},
                             {"choices", std::move(choices)},
                             {"chosen", function.chosen},
                             {"option_sets", std::move(sets)}});
    }
    json kernels = json::array();
    for (const Kernel& kernel : manifest.kernels) {
        kernels.push_back(to_json(kernel, blobs));
    }
    json j = {{"name", manifest.name},
              {"producers", manifest.producers},
              {"functions", std::move(functions)},
              {"kernels", std::move(kernels)},
              {"blobs", blobs.take()}};
    for (const RunTimeConstant& constant : manifest.constants) {
        j["constants"].push_back(
            json::array({constant.name, name_of(scalar_words, constant.type), constant.values}));
    }
    for (const Message& message : manifest.messages) {
        j["messages"].push_back(json::array({message.number, message.text, message.place}));
    }
    return j;
}

std::vector<std::byte> to_cbor(const json& document) {
    const std::vector<std::uint8_t> bytes = json::to_cbor(document);
    const auto view = std::as_bytes(std::span(bytes));
    return {view.begin(), view.end()};
}

}  // namespace

std::vector<std::byte> write(const Manifest& manifest) {
    Manifest complete = manifest;
    ImageDigests digests;
    for (Kernel& kernel : complete.kernels) {
        for (Image& image : kernel.images) {
            image.sha256 = digests.of(image.bytes);
        }
    }
    check(complete);
    BlobWriter blobs;
    const std::vector<std::byte> body = to_cbor(to_json(complete, blobs));
    return to_cbor({{"format", format_name},
                    {"abi", manifest.abi},
                    {"sha256", digest_json(sha256(body))},
                    {"body", binary(body)},
                    {"images", binary(blobs.bytes())}});
}

}  // namespace kf::artifact
