// Artifacts from CBOR.
#include "core/artifact.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/artifact_words.h"
#include "core/block_records.h"
#include "core/cbor.h"
#include "core/enum_values.h"
#include "core/items.h"
#include "core/resource_list.h"
#include "core/sha256.h"

namespace kf::artifact {
namespace {

using namespace manifest;
using cbor::Value;

constexpr std::uint64_t largest_file = std::uint64_t{1} << 32U;  // bytes
constexpr std::uint64_t largest_read = 16ULL << 20;              ///< bytes of a file that is read, not mapped

[[noreturn]] void corrupt(const std::string& what) {
    throw ArtifactError(ErrorCode::artifact_corrupt,
                        "not a usable kernelfunctions artifact: " + what +
                            "; it is damaged or incomplete: copy or generate it again");
}

template <class Enum, class Names>
Enum enum_of(const Names& names, const std::string& word) {
    const auto found = std::find(names.begin(), names.end(), std::string_view(word));
    if (found == names.end()) {
        corrupt("unknown word '" + word + "'");
    }
    return static_cast<Enum>(found - names.begin());
}

// ---- in: what cbor::Value throws (a missing key, another type) is caught in read() ----

std::int64_t integer(const Value& value) { return value.integer(); }

std::vector<std::int64_t> integers(const Value& array) {
    std::vector<std::int64_t> result;
    result.reserve(array.array().size());
    for (const Value& value : array.array()) result.push_back(value.integer());
    return result;
}

std::vector<std::string> texts(const Value& array) {
    std::vector<std::string> result;
    for (const Value& value : array.array()) result.push_back(value.text());
    return result;
}

/// [["name", "value"], …]
std::vector<std::pair<std::string, std::string>> pairs(const Value& array) {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Value& pair : array.array()) result.emplace_back(pair.at(0).text(), pair.at(1).text());
    return result;
}

const Value::Array& list(const Value& object, const char* key) { return object.at(key).array(); }

std::string text(const Value& object, const char* key) { return object.at(key).text(); }

bool flag(const Value& object, const char* key) { return object.at(key).boolean(); }

std::array<std::uint8_t, 32> digest_of(const Value& value) {
    std::array<std::uint8_t, 32> digest{};
    const std::span<const std::byte> bytes = value.bytes();
    if (bytes.size() != digest.size()) {
        corrupt("a digest of the wrong length");
    }
    std::ranges::transform(bytes, digest.begin(),
                           [](std::byte one) { return std::to_integer<std::uint8_t>(one); });
    return digest;
}

/// Reads the fields that an argument's kind has.
struct FieldReader {
    const Value& j;

    void operator()(const char* key, bool& value) const { value = flag(j, key); }
    void operator()(const char* key, std::int64_t& value) const { value = integer(j.at(key)); }
    void operator()(const char* key, std::string& found) const { found = text(j, key); }
    void operator()(const char* key, std::vector<std::string>& found) const { found = texts(j.at(key)); }
    template <class Enum, class Words>
    void operator()(const char* key, Enum& value, const Words& words) const {
        value = enum_of<Enum>(words, text(j, key));
    }
};

/// The alternative of the variant by the kind's name.
template <std::size_t index = 0>
Kind kind_of(const Value& j) {
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

Argument argument_of(const Value& j) {
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
    if (j.contains("aliases")) argument.aliases = flag(j, "aliases");
    if (j.contains("members")) {
        for (const Value& member : list(j, "members")) {
            argument.members.emplace_back(member.at(0).text(), integer(member.at(1)));
        }
    }
    if (j.contains("flags")) argument.flags = flag(j, "flags");
    return argument;
}

ParameterTree parameter_of(const Value& j) {
    ParameterTree parameter;
    parameter.name = text(j, "name");
    parameter.form = enum_of<Form>(form_names, text(j, "form"));
    parameter.type = text(j, "type");
    parameter.leaf = integer(j.at("leaf"));
    parameter.leaves = integer(j.at("leaves"));
    parameter.size = integer(j.at("size"));
    parameter.offset = integer(j.at("offset"));
    parameter.extents = integers(j.at("extents"));
    for (const Value& field : list(j, "fields")) {
        parameter.fields.push_back(parameter_of(field));
    }
    if (j.contains("own")) parameter.own = enum_of<OwnStruct>(own_struct_names, text(j, "own"));
    return parameter;
}

Pass pass_of(const Value& j) { return {integer(j.at(0)), integer(j.at(1)), integer(j.at(2))}; }

Call call_of(const Value& j) {
    Call call;
    for (const Value& argument : list(j, "arguments")) {
        call.arguments.push_back(argument_of(argument));
    }
    for (const Value& parameter : list(j, "parameters")) {
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
    if (j.contains("prints")) call.prints = flag(j, "prints");
    if (j.contains("checks")) call.checks = flag(j, "checks");
    call.fused = pass_of(j.at("fused"));
    call.fused_deterministic = pass_of(j.at("fused_deterministic"));
    return call;
}

/// The bytes of one or more images.
struct Blob {
    std::array<std::uint8_t, 32> sha256{};
    SharedBytes bytes;
};

/// One after the other, and nothing behind the last.
std::vector<Blob> blobs_of(const Value::Array& described, const SharedBytes& images) {
    std::vector<Blob> blobs;
    std::span<const std::byte> rest = images.span();
    for (const Value& blob : described) {
        const std::int64_t size = integer(blob.at("size"));
        if (size < 0 || static_cast<std::uint64_t>(size) > rest.size()) {
            corrupt("images that are cut off");
        }
        const auto bytes = rest.first(static_cast<std::size_t>(size));
        rest = rest.subspan(bytes.size());
        blobs.push_back({digest_of(blob.at("sha256")), images.part(bytes)});
    }
    if (!rest.empty()) {
        corrupt("images that nothing names");
    }
    return blobs;
}

Image image_of(const Value& j, const std::vector<Blob>& blobs) {
    Image image;
    image.format = text(j, "format");
    image.architecture = text(j, "architecture");
    image.entry_point = text(j, "entry_point");
    image.features = texts(j.at("features"));
    if (j.contains("constants")) image.constants = texts(j.at("constants"));
    const std::int64_t index = integer(j.at("blob"));
    if (index < 0 || index >= static_cast<std::int64_t>(blobs.size())) {
        corrupt("an image without its bytes");
    }
    const Blob& blob = blobs[static_cast<std::size_t>(index)];
    image.sha256 = blob.sha256;
    image.bytes = blob.bytes;
    image.is_checked = false;
    return image;
}

ResourceSlot slot_of(const Value& j) {
    ResourceSlot slot{text(j, "name"), enum_of<ResourceKind>(resource_kind_names, text(j, "kind")),
                      flag(j, "writes"), integer(j.at("stride"))};
    if (is_texture(slot.kind)) {
        slot.dimension =
            enum_of<kinds::TextureDimension>(kinds::texture_dimension_words, text(j, "dimension"));
        slot.is_array = flag(j, "is_array");
        slot.format = text(j, "format");
        slot.texel = text(j, "texel");
        slot.samplers = integer(j.at("samplers"));
    }
    if (slot.kind == ResourceKind::sampler) slot.is_comparison = flag(j, "is_comparison");
    return slot;
}

Kernel kernel_of(const Value& j, const std::vector<Blob>& blobs) {
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
    for (const Value& record : list(j, "records")) {
        kernel.records.push_back({enum_of<RecordKind>(record_names, record.at(0).text()),
                                  integer(record.at(1)), integers(record.at(2)), integer(record.at(3)),
                                  record.at(4).boolean()});
    }
    if (j.contains("resources")) {
        for (const Value& slot : list(j, "resources")) {
            kernel.resources.push_back(slot_of(slot));
        }
    }
    for (const auto& [target, layout] : j.at("layouts").map()) {
        BlockLayout& added = kernel.layouts[std::string(target)];
        added = {integer(layout.at("size")), integers(layout.at("offsets")),
                 enum_of<Passing>(passing_names, text(layout, "passing"))};
        if (layout.contains("resource_places")) {
            added.resource_places = integers(layout.at("resource_places"));
        }
    }
    kernel.source_hash = text(j, "source_hash");
    for (const Value& image : list(j, "images")) {
        kernel.images.push_back(image_of(image, blobs));
    }
    if (j.contains("constants")) kernel.constants = integers(j.at("constants"));
    if (j.contains("group_extents")) {
        for (const Value& extent : list(j, "group_extents")) {
            kernel.group_extents.push_back({integer(extent.at(0)), integers(extent.at(1))});
        }
    }
    return kernel;
}

OptionSet option_set_of(const Value& j) {
    OptionSet set;
    set.name = text(j, "name");
    set.threads = integers(j.at("threads"));
    set.constants = pairs(j.at("constants"));
    set.types = pairs(j.at("types"));
    for (const Value& one : list(j, "conformances")) {
        set.conformances.push_back({text(one, "interface"), text(one, "type"), integer(one.at("id"))});
    }
    set.function = integer(j.at("function"));
    return set;
}

Manifest manifest_of(const Value& j, const SharedBytes& images) {
    Manifest manifest;
    manifest.name = text(j, "name");
    for (const auto& [name, version] : j.at("producers").map()) {
        manifest.producers.emplace(name, version.text());
    }
    for (const Value& function : list(j, "functions")) {
        Function& added = manifest.functions.emplace_back();
        added.name = text(function, "name");
        added.doc = text(function, "doc");
        added.jvp = integer(function.at("jvp"));
        for (const Value& choice : list(function, "choices")) {
            added.choices.push_back({text(choice, "name"), texts(choice.at("ways"))});
        }
        added.chosen = integers(function.at("chosen"));
        for (const Value& set : list(function, "option_sets")) {
            added.option_sets.push_back(option_set_of(set));
        }
        for (const Value& call : list(function, "calls")) {
            added.calls.push_back(call_of(call));
        }
    }
    const std::vector<Blob> blobs = blobs_of(list(j, "blobs"), images);
    for (const Value& kernel : list(j, "kernels")) {
        manifest.kernels.push_back(kernel_of(kernel, blobs));
    }
    if (j.contains("constants")) {
        for (const Value& constant : list(j, "constants")) {
            manifest.constants.push_back({constant.at(0).text(),
                                          enum_of<ScalarType>(scalar_words, constant.at(1).text()),
                                          texts(constant.at(2))});
        }
    }
    if (j.contains("messages")) {
        for (const Value& message : list(j, "messages")) {
            manifest.messages.push_back({static_cast<std::uint32_t>(integer(message.at(0))),
                                         message.at(1).text(), message.at(2).text()});
        }
    }
    return manifest;
}

/// Everything but the images' bytes is checked.
Manifest read_but_images(const SharedBytes& artifact) {
    const Value document = cbor::parse(artifact.span());
    if (document.at("format").text() != format_name) {
        corrupt("it calls itself something else");
    }
    const std::int64_t abi = integer(document.at("abi"));
    if (abi != abi_version) {
        throw ArtifactError(ErrorCode::artifact_version,
                            "the artifact has ABI version " + std::to_string(abi) +
                                ", this runtime reads version " + std::to_string(abi_version) +
                                (abi > abi_version ? "; it was written by a newer kfgen: update the runtime"
                                                   : "; it was written by an older kfgen") +
                                ", or generate the artifact with the kfgen that came with this runtime");
    }
    const std::span<const std::byte> body = document.at("body").bytes();
    if (digest_of(document.at("sha256")) != sha256(body)) {
        corrupt("its contents aren't what its SHA-256 says");
    }
    Manifest manifest = manifest_of(cbor::parse(body), artifact.part(document.at("images").bytes()));
    manifest.abi = abi;
    return manifest;
}

Manifest read(const SharedBytes& artifact, bool checks_images) {
    Manifest manifest;
    try {
        manifest = read_but_images(artifact);
    } catch (const cbor::Error& error) {
        corrupt(error.what());
    }
    if (checks_images) {
        for (Kernel& kernel : manifest.kernels) {
            for (Image& image : kernel.images) image.is_checked = true;
        }
    }
    check(manifest);
    for (Function& function : manifest.functions) {
        for (Call& call : function.calls) {
            call.resources = resource_arguments(call);
            call.enum_values = detail::enum_values(call);
        }
    }
    return manifest;
}

/// A file's bytes, mapped.
class Mapping {
public:
    Mapping(int file, std::size_t size)
        : bytes_(mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0)), size_(size) {}
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (*this) (void)munmap(bytes_, size_);
    }

    explicit operator bool() const { return bytes_ != MAP_FAILED; }
    [[nodiscard]] std::span<const std::byte> span() const {
        return {static_cast<const std::byte*>(bytes_), size_};
    }

private:
    void* bytes_;
    std::size_t size_;
};

/// Closes a file.
struct File {
    explicit File(int opened) : number(opened) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (number >= 0) (void)close(number);
    }

    int number;
};

[[noreturn]] void fail_to_read(const std::string& path, const std::string& why) {
    throw ArtifactError(ErrorCode::artifact_missing, "can't read the artifact '" + path + "': " + why);
}

/// For file systems that map nothing.
std::vector<std::byte> read_all(int file, std::size_t size, const std::string& path) {
    std::vector<std::byte> content(size);
    std::size_t done = 0;
    while (done < size) {
        const ssize_t count = ::read(file, content.data() + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_to_read(path, std::strerror(errno));
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    content.resize(done);
    return content;
}

}  // namespace

Manifest read(std::span<const std::byte> bytes) {
    return read(std::vector(bytes.begin(), bytes.end()), true);
}

Manifest read_lazily(const SharedBytes& bytes) { return read(bytes, false); }

SharedBytes map_file(const std::string& path) {
    // Opening a pipe may wait for ever, and a device may have no end.
    const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.number < 0 || fstat(file.number, &status) != 0) fail_to_read(path, std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail_to_read(path, "it is no regular file");
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (size > largest_file) fail_to_read(path, "it is larger than any artifact");
    if (size == 0) return {};
    // A file that shrinks ends the program when its mapping is read; reading this much costs a few
    // milliseconds.
    if (size <= largest_read) return read_all(file.number, static_cast<std::size_t>(size), path);
    const auto mapping = std::make_shared<const Mapping>(file.number, static_cast<std::size_t>(size));
    if (*mapping) return {mapping, mapping->span()};
    return read_all(file.number, static_cast<std::size_t>(size), path);
}

std::vector<std::byte> read_file(const std::string& path) { return map_file(path).copy(); }

}  // namespace kf::artifact
