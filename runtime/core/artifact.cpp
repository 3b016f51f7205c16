// Artifacts to and from CBOR. The only file of the runtime that includes nlohmann_json.
#include "core/artifact.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/block_records.h"
#include "core/image_digests.h"
#include "core/items.h"
#include "core/resource_list.h"
#include "core/sha256.h"

namespace kf::artifact {
namespace {

using namespace manifest;
using nlohmann::json;

constexpr const char* format_name = "kernelfunctions artifact";
constexpr std::size_t largest_file = std::size_t{1} << 32;  // bytes
constexpr int max_depth = 40;  // of arrays and maps in a document; ours has fewer

[[noreturn]] void corrupt(const std::string& what) {
    throw ArtifactError(ErrorCode::artifact_corrupt,
                        "not a usable kernelfunctions artifact: " + what +
                            "; it is damaged or incomplete: copy or generate it again");
}

// Enumerators as words, so that a dump of the document can be read.
constexpr std::array role_names{"in", "out", "inout", "result"};
constexpr std::array gradient_names{"never", "automatic", "required"};
constexpr std::array form_names{"leaf", "value", "tensor", "fields"};

template <class Names, class Enum>
const char* name_of(const Names& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

template <class Enum, class Names>
Enum enum_of(const Names& names, const std::string& word) {
    const auto found = std::find(names.begin(), names.end(), std::string_view(word));
    if (found == names.end()) {
        corrupt("unknown word '" + word + "'");
    }
    return static_cast<Enum>(found - names.begin());
}

json binary(std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary(std::vector<std::uint8_t>(first, first + bytes.size()));
}

std::span<const std::byte> bytes_of(const json& value) {
    return std::as_bytes(std::span(value.get_binary().data(), value.get_binary().size()));
}

json digest_json(const std::array<std::uint8_t, 32>& digest) {
    return binary(std::as_bytes(std::span(digest)));
}

std::array<std::uint8_t, 32> digest_of(const json& value) {
    std::array<std::uint8_t, 32> digest{};
    if (value.get_binary().size() != digest.size()) {
        corrupt("a digest of the wrong length");
    }
    std::copy(value.get_binary().begin(), value.get_binary().end(), digest.begin());
    return digest;
}

// ---- out ----

/// Writes the fields that an argument's kind has.
struct FieldWriter {
    json& j;

    void operator()(const char* key, bool value) const { j[key] = value; }
    void operator()(const char* key, std::int64_t value) const { j[key] = value; }
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
    for (const auto& [name, value] : argument.members) {
        j["members"].push_back(json::array({name, value}));
    }
    return j;
}

json to_json(const ParameterTree& parameter) {
    json fields = json::array();
    for (const ParameterTree& field : parameter.fields) {
        fields.push_back(to_json(field));
    }
    return {{"name", parameter.name},     {"form", name_of(form_names, parameter.form)},
            {"type", parameter.type},     {"leaf", parameter.leaf},
            {"leaves", parameter.leaves}, {"size", parameter.size},
            {"offset", parameter.offset}, {"extents", parameter.extents},
            {"fields", std::move(fields)}};
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
    return {{"arguments", std::move(arguments)},
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
        blobs_.push_back({{"sha256", digest_json(image.sha256)}, {"bytes", binary(image.bytes.span())}});
        return digests_.size() - 1;
    }

    json take() { return std::move(blobs_); }

private:
    std::vector<std::array<std::uint8_t, 32>> digests_;
    json blobs_ = json::array();
};

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
    for (const ResourceSlot& slot : kernel.resources) {
        j["resources"].push_back({{"name", slot.name},
                                  {"kind", name_of(resource_kind_names, slot.kind)},
                                  {"writes", slot.writes},
                                  {"stride", slot.stride}});
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

json to_json(const Manifest& manifest) {
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
    BlobWriter blobs;
    json kernels = json::array();
    for (const Kernel& kernel : manifest.kernels) {
        kernels.push_back(to_json(kernel, blobs));
    }
    return {{"name", manifest.name},
            {"producers", manifest.producers},
            {"functions", std::move(functions)},
            {"kernels", std::move(kernels)},
            {"blobs", blobs.take()}};
}

std::vector<std::byte> to_cbor(const json& document) {
    const std::vector<std::uint8_t> bytes = json::to_cbor(document);
    const auto view = std::as_bytes(std::span(bytes));
    return {view.begin(), view.end()};
}

// ---- in: nlohmann's own exceptions (a missing key, another type) are caught in read() ----

std::int64_t integer(const json& value) {
    // get<int64_t>() would round a float and wrap a large unsigned number.
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))) {
        corrupt("a number that isn't a 64-bit integer");
    }
    return value.get<std::int64_t>();
}

std::vector<std::int64_t> integers(const json& array) {
    std::vector<std::int64_t> result;
    for (const json& value : array.get_ref<const json::array_t&>()) {
        result.push_back(integer(value));
    }
    return result;
}

const json::array_t& list(const json& object, const char* key) {
    return object.at(key).get_ref<const json::array_t&>();
}

std::string text(const json& object, const char* key) { return object.at(key).get<std::string>(); }

bool flag(const json& object, const char* key) { return object.at(key).get<bool>(); }

/// Reads the fields that an argument's kind has.
struct FieldReader {
    const json& j;

    void operator()(const char* key, bool& value) const { value = flag(j, key); }
    void operator()(const char* key, std::int64_t& value) const { value = integer(j.at(key)); }
    void operator()(const char* key, std::vector<std::string>& texts) const {
        texts = j.at(key).get<std::vector<std::string>>();
    }
    template <class Enum, class Words>
    void operator()(const char* key, Enum& value, const Words& words) const {
        value = enum_of<Enum>(words, text(j, key));
    }
};

/// The alternative of the variant by the kind's name.
template <std::size_t index = 0>
Kind kind_of(const json& j) {
    if constexpr (index < std::variant_size_v<Kind>) {
        std::variant_alternative_t<index, Kind> kind;
        if (text(j, "kind") != kind.word) {
            return kind_of<index + 1>(j);
        }
        kind.each_field(kind, FieldReader{j});
        return kind;
    } else {
        corrupt("unknown kind '" + text(j, "kind") + "'");
    }
}

Argument argument_of(const json& j) {
    Argument argument;
    argument.name = text(j, "name");
    argument.role = enum_of<Role>(role_names, text(j, "role"));
    argument.kind = kind_of(j);
    argument.element.scalar = enum_of<ScalarType>(scalar_words, text(j, "scalar"));
    argument.element.extents = integers(j.at("extents"));
    argument.rank = integer(j.at("rank"));
    argument.call_rank = integer(j.at("call_rank"));
    argument.inner_rank = integer(j.at("inner_rank"));
    argument.trailing = integers(j.at("trailing"));
    argument.map = integers(j.at("map"));
    argument.differentiable = flag(j, "differentiable");
    argument.gradient = enum_of<Gradient>(gradient_names, text(j, "gradient"));
    argument.overwrite = flag(j, "overwrite");
    argument.accumulate = enum_of<Accumulate>(accumulate_words, text(j, "accumulate"));
    argument.tangent_of = integer(j.at("tangent_of"));
    argument.offset = integer(j.at("offset"));
    argument.pitch = integer(j.at("pitch"));
    argument.spacing = integers(j.at("spacing"));
    if (j.contains("type")) {
        argument.type = text(j, "type");
    }
    if (j.contains("address")) argument.address = flag(j, "address");
    if (j.contains("members")) {
        for (const json& member : list(j, "members")) {
            argument.members.emplace_back(member.at(0).get<std::string>(), integer(member.at(1)));
        }
    }
    return argument;
}

ParameterTree parameter_of(const json& j) {
    ParameterTree parameter;
    parameter.name = text(j, "name");
    parameter.form = enum_of<Form>(form_names, text(j, "form"));
    parameter.type = text(j, "type");
    parameter.leaf = integer(j.at("leaf"));
    parameter.leaves = integer(j.at("leaves"));
    parameter.size = integer(j.at("size"));
    parameter.offset = integer(j.at("offset"));
    parameter.extents = integers(j.at("extents"));
    for (const json& field : list(j, "fields")) {
        parameter.fields.push_back(parameter_of(field));
    }
    return parameter;
}

Pass pass_of(const json& j) { return {integer(j.at(0)), integer(j.at(1)), integer(j.at(2))}; }

Call call_of(const json& j) {
    Call call;
    for (const json& argument : list(j, "arguments")) {
        call.arguments.push_back(argument_of(argument));
    }
    for (const json& parameter : list(j, "parameters")) {
        call.parameters.push_back(parameter_of(parameter));
    }
    call.items = items_of(call.parameters);
    call.rank = integer(j.at("rank"));
    call.dispatch = enum_of<Dispatch>(dispatch_names, text(j, "dispatch"));
    call.strict_broadcasting = flag(j, "strict_broadcasting");
    call.has_backward = flag(j, "has_backward");
    call.forward = pass_of(j.at("forward"));
    call.forward_deterministic = pass_of(j.at("forward_deterministic"));
    call.backward = pass_of(j.at("backward"));
    call.deterministic = pass_of(j.at("deterministic"));
    call.has_fused = flag(j, "has_fused");
    call.fused = pass_of(j.at("fused"));
    call.fused_deterministic = pass_of(j.at("fused_deterministic"));
    return call;
}

/// The bytes of one or more images.
struct Blob {
    std::array<std::uint8_t, 32> sha256{};
    SharedBytes bytes;
};

Image image_of(const json& j, const std::vector<Blob>& blobs) {
    Image image;
    image.format = text(j, "format");
    image.architecture = text(j, "architecture");
    image.entry_point = text(j, "entry_point");
    image.features = j.at("features").get<std::vector<std::string>>();
    const std::int64_t index = integer(j.at("blob"));
    if (index < 0 || index >= static_cast<std::int64_t>(blobs.size())) {
        corrupt("an image without its bytes");
    }
    const Blob& blob = blobs[static_cast<std::size_t>(index)];
    image.sha256 = blob.sha256;
    image.bytes = blob.bytes;
    return image;
}

Kernel kernel_of(const json& j, const std::vector<Blob>& blobs) {
    Kernel kernel;
    kernel.name = text(j, "name");
    kernel.variant = enum_of<Variant>(variant_names, text(j, "variant"));
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t extent = integer(j.at("group_size").at(i));
        if (extent < 1 || extent > 1024) {
            corrupt("a group size out of range");
        }
        kernel.group_size[i] = static_cast<std::uint32_t>(extent);
    }
    const std::int64_t calls = integer(j.at("calls_per_thread"));
    if (calls < 1 || calls > 64) {
        corrupt("calls of a thread out of range");
    }
    kernel.calls_per_thread = static_cast<std::uint32_t>(calls);
    kernel.exact = flag(j, "exact");
    for (const json& record : list(j, "records")) {
        kernel.records.push_back({enum_of<RecordKind>(record_names, record.at(0).get<std::string>()),
                                  integer(record.at(1)), integers(record.at(2)), integer(record.at(3)),
                                  record.at(4).get<bool>()});
    }
    if (j.contains("resources")) {
        for (const json& slot : list(j, "resources")) {
            kernel.resources.push_back({text(slot, "name"),
                                        enum_of<ResourceKind>(resource_kind_names, text(slot, "kind")),
                                        flag(slot, "writes"), integer(slot.at("stride"))});
        }
    }
    for (const auto& [target, layout] : j.at("layouts").get_ref<const json::object_t&>()) {
        BlockLayout& added = kernel.layouts[target];
        added = {integer(layout.at("size")), integers(layout.at("offsets")),
                 enum_of<Passing>(passing_names, text(layout, "passing"))};
        if (layout.contains("resource_places")) {
            added.resource_places = integers(layout.at("resource_places"));
        }
    }
    kernel.source_hash = text(j, "source_hash");
    for (const json& image : list(j, "images")) {
        kernel.images.push_back(image_of(image, blobs));
    }
    return kernel;
}

OptionSet option_set_of(const json& j) {
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    OptionSet set;
    set.name = text(j, "name");
    set.threads = integers(j.at("threads"));
    set.constants = j.at("constants").get<Pairs>();
    set.types = j.at("types").get<Pairs>();
    for (const json& one : list(j, "conformances")) {
        set.conformances.push_back({text(one, "interface"), text(one, "type"), integer(one.at("id"))});
    }
    set.function = integer(j.at("function"));
    return set;
}

Manifest manifest_of(const json& j) {
    Manifest manifest;
    manifest.name = text(j, "name");
    manifest.producers = j.at("producers").get<std::map<std::string, std::string>>();
    for (const json& function : list(j, "functions")) {
        Function& added = manifest.functions.emplace_back();
        added.name = text(function, "name");
        added.doc = text(function, "doc");
        added.jvp = integer(function.at("jvp"));
        for (const json& choice : list(function, "choices")) {
            added.choices.push_back(
                {text(choice, "name"), choice.at("ways").get<std::vector<std::string>>()});
        }
        added.chosen = integers(function.at("chosen"));
        for (const json& set : list(function, "option_sets")) {
            added.option_sets.push_back(option_set_of(set));
        }
        for (const json& call : list(function, "calls")) {
            added.calls.push_back(call_of(call));
        }
    }
    std::vector<Blob> blobs;
    for (const json& blob : list(j, "blobs")) {
        const auto bytes = bytes_of(blob.at("bytes"));
        blobs.push_back({digest_of(blob.at("sha256")), std::vector<std::byte>(bytes.begin(), bytes.end())});
    }
    for (const json& kernel : list(j, "kernels")) {
        manifest.kernels.push_back(kernel_of(kernel, blobs));
    }
    return manifest;
}

/// Lets a document pass that isn't nested so deeply that reading it overflows the stack.
class DepthGuard : public nlohmann::json_sax<json> {
public:
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return ++depth_ <= max_depth; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return --depth_ >= 0; }
    bool start_array(std::size_t) override { return ++depth_ <= max_depth; }
    bool end_array() override { return --depth_ >= 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    int depth_ = 0;
};

json parse(std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto* last = first + bytes.size();
    DepthGuard guard;
    if (!json::sax_parse(first, last, &guard, json::input_format_t::cbor)) {
        corrupt("it is truncated, or isn't one CBOR document");
    }
    return json::from_cbor(first, last);
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
    const std::vector<std::byte> body = to_cbor(to_json(complete));
    return to_cbor({{"format", format_name},
                    {"abi", manifest.abi},
                    {"sha256", digest_json(sha256(body))},
                    {"body", binary(body)}});
}

Manifest read(std::span<const std::byte> bytes) {
    Manifest manifest;
    try {
        const json document = parse(bytes);
        if (document.at("format").get<std::string>() != format_name) {
            corrupt("it calls itself something else");
        }
        const std::int64_t abi = integer(document.at("abi"));
        if (abi != abi_version) {
            throw ArtifactError(
                ErrorCode::artifact_version,
                "the artifact has ABI version " + std::to_string(abi) + ", this runtime reads version " +
                    std::to_string(abi_version) +
                    (abi > abi_version ? "; it was written by a newer kfgen: update the runtime"
                                       : "; it was written by an older kfgen") +
                    ", or generate the artifact with the kfgen that came with this runtime");
        }
        const auto body = bytes_of(document.at("body"));
        if (digest_of(document.at("sha256")) != sha256(body)) {
            corrupt("its contents aren't what its SHA-256 says");
        }
        manifest = manifest_of(parse(body));
        manifest.abi = abi;
    } catch (const json::exception& error) {
        corrupt(error.what());
    }
    check(manifest);
    for (Function& function : manifest.functions) {
        for (Call& call : function.calls) call.resources = resource_arguments(call);
    }
    return manifest;
}

std::vector<std::byte> read_file(const std::string& path) {
    struct Close {
        void operator()(std::FILE* file) const { (void)std::fclose(file); }
    };
    const auto fail_to_read = [&](const std::string& why) {
        throw ArtifactError(ErrorCode::artifact_missing, "can't read the artifact '" + path + "': " + why);
    };
    // Opening a pipe may wait for ever, and a device may have no end.
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        fail_to_read("it is no regular file");
    }
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
    std::vector<std::byte> content;
    if (file) {
        std::array<std::byte, 65536> part{};
        while (const std::size_t size = std::fread(part.data(), 1, part.size(), file.get())) {
            content.insert(content.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size));
            if (content.size() > largest_file) {
                fail_to_read("it is larger than any artifact");
            }
        }
    }
    if (!file || std::ferror(file.get()) != 0) {
        fail_to_read(std::strerror(errno));
    }
    return content;
}

}  // namespace kf::artifact
