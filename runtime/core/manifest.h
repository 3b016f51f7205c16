// What an artifact says about itself: calls, arguments, kernels. Written by kfgen, read by the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/parameter.h"
#include "core/shared_bytes.h"
#include "core/slots.h"

namespace kf::manifest {

/// Raised whenever the meaning of anything below changes; a runtime refuses newer artifacts.
inline constexpr std::int64_t abi_version = 7;

enum class Scalar : std::uint8_t {
    boolean,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64
};

/// A host element: a scalar, or a block of scalars (float3: {3}; float2x3: {2, 3}), row-major, packed.
struct Element {
    Scalar scalar = Scalar::float32;
    std::vector<std::int64_t> extents;

    bool operator==(const Element&) const = default;
};

/// `generator`: a value that the kernel makes for each call, from a few numbers of the host's.
enum class ArgumentKind : std::uint8_t { value, tensor, generator };
enum class Role : std::uint8_t { in, out, inout, result };

/// What a call does with a parameter that is a tensor itself (Tensor<float, 1> and its kin).
enum class Access : std::uint8_t {
    none,  ///< it is no tensor: calls read and write one element each
    read,
    write,
    read_write,
    add,  ///< atomically, so that calls may share elements
};

/// Whether the backward pass differentiates an input: never; when the host argument carries a
/// gradient; or always (then a missing gradient is an error).
enum class Gradient : std::uint8_t { never, automatic, required };

/// How values that meet in one element are combined: those of an output, or of an input's gradient. By
/// default outputs meet nowhere, and gradients are added up.
enum class Accumulate : std::uint8_t {
    automatic,
    none,   ///< calls that share an element are refused
    sum,    ///< an output is what the calls give, added up
    first,  ///< of those that share an element, the first one's
    push,   ///< of gradients: one for each call, in the call's shape
};

/// Which generator; of the first two the host gives nothing. Numbered as kf::detail::GeneratorKind.
enum class Generator : std::uint8_t { none, call_id, thread_id, grid, range, wang_hash, rand_float };

/// One leaf of a call's arguments: an argument, or a field of one that is a struct. Results come last, named
/// "result".
struct Argument {
    std::string name;  ///< of a field its path: "ray.origin", "scene.spheres.center" in an array of spheres
    Role role = Role::in;
    ArgumentKind kind = ArgumentKind::value;
    Generator generator = Generator::none;  ///< of generators
    Element element;   ///< what one element of the host argument is; of generators the parameter's
    std::string type;  ///< how Slang spells `element`, where that isn't as its extents look: "float[4]"
    /// Of enums: their members' names and values. Nothing that runs depends on them, so that they may be
    /// absent.
    std::vector<std::pair<std::string, std::int64_t>> members;
    std::int64_t rank = 0;  ///< of tensors, counted in `element`s; of generators how many indices they make
    /// How the tensor's dimensions, then `element.extents`, split: the first `call_rank` of them feed the
    /// call shape, the next `inner_rank` are those of a parameter that is a tensor, of any extent, and the
    /// rest must equal `trailing` and are one parameter's (or one of its elements') worth of scalars.
    std::int64_t call_rank = 0;
    std::int64_t inner_rank = 0;
    Access access = Access::none;  ///< of a parameter that is a tensor; its role is `in`
    std::vector<std::int64_t> trailing;
    std::vector<std::int64_t>
        map;  ///< dimension i of the argument is dimension map[i] of the call; call_rank long
    bool contiguous_only = false;  ///< "layout": "contiguous"
    bool in_memory = false;       ///< of values read: too large for the block, so the kernel takes an address
    bool differentiable = false;  ///< takes part in the backward pass (of outputs: its gradient is read)
    Gradient gradient = Gradient::never;
    std::int64_t tangent_of = -1;  ///< the argument whose tangent it is; that of an input may be absent: 0
    bool overwrite = false;  ///< gradient stored instead of added: the runtime zeroes it, the kernel adds
    Accumulate accumulate = Accumulate::automatic;
    // Of a field of a struct that the host passes whole.
    std::int64_t offset = 0;  ///< bytes from the struct's start
    std::int64_t pitch = 0;   ///< of tensors of structs: scalars from one struct to the next; 0: no struct
    std::vector<std::int64_t> spacing;  ///< scalars between neighbours along each of element.extents, on the
                                        ///< host and in tensors; empty: packed

    bool operator==(const Argument&) const = default;
};

/// 64-bit words of one exact sum: of doubles, and of everything else that gradients are. See kf_exact.slang.
constexpr std::int64_t exact_words(Scalar scalar) { return scalar == Scalar::float64 ? 90 : 13; }

/// How a kernel is given its block of parameters.
enum class Passing : std::uint8_t {
    value,    ///< the block itself: Vulkan's push constants, a CUDA kernel's parameter
    uniform,  ///< in a uniform buffer, Vulkan's descriptor set 0, binding 0
    address,  ///< its address in memory
};

inline constexpr std::array passing_names{"value", "uniform", "address"};

/// Of the subgroups of most GPUs. Where there are others the tiles of kernels that walk rows are of another
/// size, too.
inline constexpr std::int64_t usual_lanes = 32;

/// The largest block, in bytes, that may be passed as Passing::uniform.
inline constexpr std::int64_t max_uniform_block = 4096;

/// Where a kernel's slots lie on one target.
struct BlockLayout {
    std::int64_t size = 0;              ///< bytes of the block
    std::vector<std::int64_t> offsets;  ///< of each slot, bytes
    Passing passing = Passing::value;

    bool operator==(const BlockLayout&) const = default;
};

struct Image {
    std::string format;                 ///< "spirv", "cubin" or "ptx"
    std::string architecture;           ///< "sm_90" for cubin and ptx, empty for spirv
    std::string entry_point;            ///< ends with what its code relies on: see core/interface.h
    std::vector<std::string> features;  ///< what the device must offer
    std::array<std::uint8_t, 32> sha256{};
    SharedBytes bytes;  ///< one cubin or PTX is shared by all the kernels in it

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
    std::vector<Slot> slots;
    std::map<std::string, BlockLayout> layouts;  ///< by target: "vulkan", "cuda"
    std::string source_hash;                     ///< SHA-256 of the generated source, hex
    std::vector<Image> images;

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

/// One overload of a function: one kind chosen for each argument.
struct Call {
    std::vector<Argument> arguments;  ///< in parameter order, the result last
    /// In the same order; empty where every argument is a leaf.
    std::vector<Parameter> parameters;
    std::vector<Item> items;  ///< those of `parameters`, see core/items.h; not stored
    std::int64_t rank = 0;    ///< of the call shape
    bool strict_broadcasting = false;
    bool has_backward = false;
    bool has_fused = false;
    Pass forward;
    Pass forward_deterministic;  ///< of outputs that are sums: the forward pass with exact ones
    Pass backward;
    Pass deterministic;  ///< the backward pass with sums that don't depend on the order
    Pass fused;          ///< forward and backward in one, of a loss: its result comes too
    Pass fused_deterministic;

    bool operator==(const Call&) const = default;
};

/// What `.accumulate()` may pick for an output ("result") or a gradient ("a.grad").
struct Choice {
    std::string name;
    std::vector<std::string> ways;  ///< "sum"; the first is the default

    bool operator==(const Choice&) const = default;
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

    bool operator==(const Function&) const = default;
};

struct Manifest {
    std::int64_t abi = abi_version;
    std::string name;
    std::map<std::string, std::string> producers;  ///< "kfgen": "0.1.0", "slang": "2026.12"
    std::vector<Function> functions;
    std::vector<Kernel> kernels;

    bool operator==(const Manifest&) const = default;
};

}  // namespace kf::manifest
