// What launching a call's contiguous kernel takes, as far as it doesn't depend on what is given: found once,
// so that most calls bind with a few comparisons. fast_launch.h does that.
#pragma once

#include <kf/pass_kind.h>
#include <kf/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/manifest.h"
#include "core/texture_rules.h"

namespace kf::detail {

/// One pass of a call, run by its contiguous kernel: its arguments are values, tensors whose elements lie in
/// the call's order or are one for all calls, textures, samplers and generators. Points into the manifest.
/// Immutable.
struct LaunchPlan {
    static constexpr std::size_t max_items = 16;
    static constexpr std::size_t max_block = 1024;  ///< bytes

    /// The views of a tensor. What calls are combined in counts as the data that it is.
    enum Part : std::uint8_t { data, grad_in, grad_out, parts };

    /// What the host passes for one item, see manifest::Item.
    enum class Given : std::uint8_t { nothing, value, tensor, generator, texture, sampler };

    struct Item {
        Given given = Given::nothing;
        bool is_output = false;
        bool is_combined = false;
        bool is_made = false;                ///< an output, which may be absent: it is allocated then
        bool may_be_absent = false;          ///< an output of a backward pass
        bool touches_data = false;           ///< the pass reads or writes its elements
        bool stores_data = false;            ///< the pass writes them
        bool reads_gradient = false;         ///< that flows in
        bool takes_gradient = false;         ///< the pass adds to its gradient, where there is one
        bool needs_gradient = false;         ///< there must be one
        bool overwrites = false;             ///< its gradient is zeroed first
        bool must_be_packed = false;         ///< one element for all calls must be all that the tensor has
        bool may_be_shared = true;           ///< calls may add to one gradient
        bool is_whole = false;               ///< a struct, or a tensor of structs
        bool is_plain = false;               ///< its dimensions are the call's, one by one
        std::uint32_t bytes = 0;             ///< of what each call takes of the tensor
        std::uint8_t rank = 0;               ///< of the tensor; of generators how many extents they have
        std::uint8_t call_rank = 0;          ///< so many of its dimensions feed the call
        std::uint8_t unaligned = 0;          ///< bits of its address that must be 0
        std::uint32_t feeds = 0;             ///< the call's dimensions that it gives an extent, as bits
        std::array<std::uint8_t, 8> map{};   ///< dimension i is dimension map[i] of the call
        std::array<std::int16_t, 8> from{};  ///< dimension d of the call is its dimension from[d]; -1: none
        std::array<std::int64_t, 8> trailing{};  ///< extents of the dimensions that don't feed the call
        std::int64_t inner = 1;                  ///< elements that each call takes of the tensor
        ElementType element;
        std::size_t leaf = 0;  ///< the first of its arguments
        const manifest::kinds::Generator* generator = nullptr;
        TextureRules texture;        ///< of textures
        bool is_comparison = false;  ///< of samplers
    };

    // Where the block's parameters lie, bytes.
    struct Address {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
        Part part = data;
        std::uint64_t field = 0;  ///< bytes into each struct that the tensor holds
    };
    /// A number that the device needs as it is, or as put_value() makes it.
    struct Value {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
        std::uint32_t bytes = 0;  ///< to copy as they are; 0: put_value() converts them
        std::uint64_t field = 0;  ///< bytes into the struct that is given
        ElementType element;
    };
    /// A 32-bit number for each of an item's arguments: 1 where calls have elements of their own; and how a
    /// gradient is written.
    struct Number {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
    };
    struct Generated {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
        std::uint32_t record = 0;  ///< of the kernel's
    };
    /// For each of the call's dimensions, whether a texture has a texel for each index along it: as 64-bit
    /// numbers.
    struct Texels {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
        std::vector<std::uint8_t> dimensions;
    };
    /// Sums in temporary memory, where all calls share one gradient.
    struct Sum {
        std::uint32_t at = 0;
        std::uint16_t item = 0;
        bool of_outputs = false;  ///< combined ones
        std::int64_t count = 0;
        std::int64_t bytes = 0;  ///< of one
    };

    /// A generator without a part of the host's, whose type must hold the call's indices.
    struct Counter {
        const manifest::kinds::Generator* generator = nullptr;
        const manifest::Argument* argument = nullptr;
    };

    bool usable = false;  ///< else the general binder makes the call
    bool exact = false;
    bool strict = false;      ///< nothing is broadcast
    std::size_t rank = 0;     ///< of the call
    std::uint32_t feeds = 0;  ///< all its dimensions, as bits
    std::size_t kernel = 0;
    std::int64_t threads = 1;           ///< of a group
    std::int64_t calls_per_thread = 1;  ///< that one takes at a time
    bool takes_textures = false;
    std::size_t block_size = 0;
    std::uint32_t launch_at = 0;
    std::optional<std::uint32_t> shape_at;
    std::optional<std::uint32_t> counter_at;
    bool combines = false;  ///< calls add to outputs, which start as zeros
    bool stores = false;    ///< kernels know the modes that store gradients
    std::vector<Item> items;
    std::vector<std::uint8_t> order;    ///< of the items, as they give the call its shape: outputs come last
    std::vector<std::uint8_t> tensors;  ///< among the items
    std::vector<std::uint8_t> resources;  ///< the items that the kernel's resources are, in its order
    bool writes_textures = false;
    std::vector<Address> addresses;
    std::vector<Value> values;
    std::vector<Number> steps;
    std::vector<Number> modes;
    std::vector<Generated> generated;
    std::vector<Texels> texels;
    std::vector<Sum> sums;
    std::vector<Counter> counters;
};

/// A call's plan: `exact` sums are those of its deterministic kernels.
[[nodiscard]] LaunchPlan make_launch_plan(const manifest::Manifest& manifest,
                                          const std::vector<const manifest::BlockLayout*>& layouts,
                                          const manifest::Call& call, PassKind pass, bool exact);

/// The plans of a module's calls, each made when it is first asked for. Thread-safe.
class LaunchPlans {
public:
    LaunchPlans(const manifest::Manifest& manifest, const std::vector<const manifest::BlockLayout*>& layouts);
    ~LaunchPlans();
    LaunchPlans(const LaunchPlans&) = delete;
    LaunchPlans& operator=(const LaunchPlans&) = delete;

    /// Null where the general binder makes the call. `deterministic`: as in Options.
    [[nodiscard]] const LaunchPlan* find(std::size_t function, std::size_t call, PassKind pass,
                                         bool deterministic) const {
        if (function >= calls_.size() || call >= calls_[function].size()) {
            return nullptr;
        }
        const std::size_t index = 2 * static_cast<std::size_t>(pass) + (deterministic ? 1 : 0);
        const LaunchPlan* plan = calls_[function][call].at(index).load(std::memory_order_acquire);
        if (plan == nullptr) plan = make(function, call, pass, deterministic);
        return plan->usable ? plan : nullptr;
    }

private:
    using Plans = std::array<std::atomic<const LaunchPlan*>, 6>;
    [[nodiscard]] const LaunchPlan* make(std::size_t function, std::size_t call, PassKind pass,
                                         bool deterministic) const;

    const manifest::Manifest& manifest_;
    const std::vector<const manifest::BlockLayout*>& layouts_;
    mutable std::vector<std::vector<Plans>> calls_;  ///< by function
};

}  // namespace kf::detail
