// What an artifact says about itself: calls, arguments, kernels. Written by kfgen, read by the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/argument.h"
#include "core/message.h"
#include "core/option_set.h"
#include "core/parameter_tree.h"
#include "core/records.h"
#include "core/run_time_constant.h"
#include "core/shared_bytes.h"

namespace kf::manifest {

/// Raised whenever the meaning of anything below changes; a runtime refuses newer artifacts.
inline constexpr std::int64_t abi_version = 18;

/// 64-bit words of one exact sum: of doubles, and of everything else that gradients are. See kf_exact.slang.
constexpr std::int64_t exact_words(ScalarType scalar) { return scalar == ScalarType::float64 ? 90 : 13; }

/// How a kernel is given its block of parameters.
enum class Passing : std::uint8_t {
    value,    ///< the block itself: Vulkan's push constants, a CUDA kernel's parameter
    uniform,  ///< in a uniform buffer, Vulkan's descriptor set 0, binding 0
    address,  ///< its address in memory
};

inline constexpr std::array passing_names{"value", "uniform", "address"};

/// Lanes of most GPUs' subgroups. With other subgroups, kernels that walk rows have tiles of another size.
inline constexpr std::int64_t usual_lanes = 32;

/// The largest block, in bytes, that may be passed as Passing::uniform.
inline constexpr std::int64_t max_uniform_block = 4096;

/// Where a kernel's records lie on one target.
struct BlockLayout {
    std::int64_t size = 0;              ///< bytes of the block
    std::vector<std::int64_t> offsets;  ///< of each record, bytes
    Passing passing = Passing::value;
    /// Where each resource is: on Vulkan its number in descriptor set 1, on CUDA its handle's offset in the
    /// block, in bytes.
    std::vector<std::int64_t> resource_places = {};

    bool operator==(const BlockLayout&) const = default;
};

enum class ResourceKind : std::uint8_t {
    buffer,
    texture,  ///< that is only read
    writable_texture,
    sampler,
    acceleration_structure,
    combined_texture,  ///< that is only read, with its sampler
};

inline constexpr std::array resource_kind_names{
    "buffer", "texture", "writable texture", "sampler", "acceleration structure", "combined texture"};

/// What a kernel takes beside its block: a descriptor on Vulkan, a handle in the block on CUDA.
struct ResourceSlot {
    std::string name;  ///< for messages: "positions"
    ResourceKind kind = ResourceKind::buffer;
    bool writes = false;      ///< the kernel may write to it
    std::int64_t stride = 1;  ///< bytes of a buffer's element
    // The rest is for textures and samplers.
    kinds::TextureDimension dimension = kinds::TextureDimension::two;
    bool is_array = false;
    std::string format = {};     ///< a name of texture_formats; empty: any with such texels
    std::string texel = {};      ///< "float", "int" or "uint" of textures
    std::int64_t samplers = 1;   ///< that a texture may be sampled with, 1 at least
    bool is_comparison = false;  ///< of samplers

    bool operator==(const ResourceSlot&) const = default;
};

/// Returns whether it is a texture, of any kind.
constexpr bool is_texture(ResourceKind kind) {
    return kind == ResourceKind::texture || kind == ResourceKind::writable_texture ||
           kind == ResourceKind::combined_texture;
}

/// Returns the bytes of its handle on CUDA, which lies at a multiple of 8: a buffer's address and how many
/// elements it has; a texture's objects, one for each sampler, and its extents; a sampler's number.
constexpr std::int64_t handle_bytes(ResourceKind kind, std::int64_t samplers = 1) {
    constexpr std::int64_t object = 8;
    constexpr std::int64_t extents = 24;
    if (kind == ResourceKind::buffer) return 16;
    return is_texture(kind) ? object * samplers + extents : object;
}
inline std::int64_t handle_bytes(const ResourceSlot& slot) { return handle_bytes(slot.kind, slot.samplers); }
inline constexpr std::int64_t handle_alignment = 8;

struct Image {
    std::string format;                 ///< "spirv", "cubin" or "ptx"
    std::string architecture;           ///< "sm_90" for cubin and ptx, empty for spirv
    std::string entry_point;            ///< ends with what its code relies on: see core/interface.h
    std::vector<std::string> features;  ///< what the device must offer
    /// What it was compiled for, a value for each of Manifest::constants; empty: for all of them.
    std::vector<std::string> constants = {};
    std::array<std::uint8_t, 32> sha256{};
    SharedBytes bytes;       ///< one cubin or PTX is shared by all the kernels in it
    bool is_checked = true;  ///< that they are what sha256 says; else checked_bytes() finds out

    bool operator==(const Image&) const = default;
};

/// `rows`: strided in all dimensions but the last, or last few, in which calls lie beside each other or share
/// elements. Gradients that calls share are summed in registers for as long as they stay the same ones.
enum class Variant : std::uint8_t { contiguous, strided, rows };
inline constexpr std::array variant_names{"contiguous", "strided", "rows"};

/// One compiled entry point: (call, pass, variant) for every target; identical ones are shared by calls.
struct Kernel {
    std::string name;  ///< for messages and profilers: "polynomial.backward.contiguous"
    Variant variant = Variant::contiguous;
    std::array<std::uint32_t, 3> group_size{1, 1, 1};
    std::uint32_t calls_per_thread = 1;  ///< that a thread takes at a time; launches are sized by it
    bool exact = false;                  ///< its sums are exact: no number is too small to count
    std::vector<Record> records;         ///< of its block
    std::vector<ResourceSlot> resources = {};
    std::map<std::string, BlockLayout> layouts;  ///< by target: "vulkan", "cuda"
    std::string source_hash;                     ///< SHA-256 of the generated source, hex
    std::vector<Image> images;
    std::vector<std::int64_t> constants = {};  ///< that it depends on: indices into Manifest::constants
    GroupExtents group_extents = {};           ///< what makes `group_size` of them
    /// What each of `constants` is, in a manifest that choose_constants() made; not stored.
    std::vector<ChosenConstant> chosen = {};

    bool operator==(const Kernel&) const = default;
};

/// The kernels of one pass: indices into Manifest::kernels; -1 where there is none.
struct Pass {
    std::int64_t contiguous = -1;
    std::int64_t strided = -1;
    std::int64_t rows = -1;

    /// Every variant's kernel.
    [[nodiscard]] std::array<std::pair<Variant, std::int64_t>, 3> kernels() const {
        return {{{Variant::contiguous, contiguous}, {Variant::strided, strided}, {Variant::rows, rows}}};
    }
    /// Row kernels don't count: each stands beside one that takes all layouts.
    [[nodiscard]] bool is_built() const { return contiguous >= 0 || strided >= 0; }

    bool operator==(const Pass&) const = default;
};

/// What a call's shape is made of.
enum class Dispatch : std::uint8_t {
    elements,  ///< the elements of its arguments: each makes one call of the function
    threads,   ///< the threads that the host asks for, (z, y, x); the kernel leaves out those beyond
    groups,    ///< whole groups of threads, (z, y, x): the function is a kernel by itself
};
inline constexpr std::array dispatch_names{"elements", "threads", "groups"};

/// One overload of a function: one kind chosen for each argument.
struct Call {
    std::vector<Argument> arguments;           ///< in parameter order, the result last
    std::vector<ParameterTree> parameters;     ///< the trees over `arguments`, in the same order
    std::vector<Item> items;                   ///< those of `parameters`, see core/items.h; not stored
    std::vector<std::int64_t> resources = {};  ///< the arguments that are some, in order; not stored
    std::vector<EnumValue> enum_values = {};   ///< what is checked of what the host passes; not stored
    std::int64_t rank = 0;                     ///< of the call shape
    Dispatch dispatch = Dispatch::elements;
    bool strict_broadcasting = false;
    bool has_backward = false;
    bool has_fused = false;
    bool prints = false;  ///< lines and assertions that don't hold: its kernels report
    bool checks = false;  ///< indices, and tells of those beyond what they index: its kernels report
    Pass forward;
    Pass forward_deterministic;  ///< of outputs that are sums: the forward pass with exact ones
    Pass backward;
    Pass deterministic;  ///< the backward pass with sums that don't depend on the order
    Pass fused;          ///< forward and backward in one, of a loss: its result comes too
    Pass fused_deterministic;

    [[nodiscard]] bool reports() const { return prints || checks; }

    bool operator==(const Call&) const = default;
};

struct Function {
    std::string name;  ///< on the host
    std::string doc;   ///< from the Slang source
    std::vector<Call> calls;
    std::int64_t jvp = -1;  ///< the function of its forward derivatives, by index; -1: none
    std::vector<Choice> choices = {};
    /// The function for each combination of choices, by index, the last one's ways varying fastest. The first
    /// is the one that is found by its name; all of them have the same choices.
    std::vector<std::int64_t> chosen = {};
    /// Its variants. Each of them has the same ones, and the same choices.
    std::vector<OptionSet> option_sets = {};

    bool operator==(const Function&) const = default;
};

struct Manifest {
    std::int64_t abi = abi_version;
    std::string name;
    std::map<std::string, std::string> producers;  ///< "kfgen": "0.1.0", "slang": "2026.12"
    std::vector<Function> functions;
    std::vector<Kernel> kernels;
    std::vector<Message> messages = {};  ///< by number
    std::vector<RunTimeConstant> constants = {};

    bool operator==(const Manifest&) const = default;
};

}  // namespace kf::manifest
