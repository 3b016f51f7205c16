// The fast way to make a call.
#include "core/fast_launch.h"

#include <algorithm>
#include <cstring>

#include "core/command_target.h"
#include "core/encoder_state.h"
#include "core/few_resources.h"
#include "core/kinds/binding.h"
#include "core/kinds/generator_binding.h"
#include "core/launch_plan.h"
#include "core/launch_size.h"
#include "core/module_state.h"
#include "core/overlap.h"
#include "core/sampler_state.h"
#include "core/tensor_state.h"
#include "core/unaligned.h"

namespace kf::detail {
namespace {

using manifest::GradMode;
using PlanItem = LaunchPlan::Item;

/// How an item's views lie along the call.
struct ViewLayout {
    bool dense = true;   ///< its elements beside each other, in the call's order
    bool single = true;  ///< one element for all calls
};

class FastLaunch {
public:
    FastLaunch(const LaunchRequest& request, const LaunchPlan& plan, DeviceState& device)
        : request_(request), plan_(plan), items_(plan.items.data()), device_(device) {}

    /// Decides the launch; false where the general binder has to. Leaves no trace.
    bool bind() {
        if (request_.arguments.size() != plan_.items.size() || !start_shape()) return false;
        for (const std::size_t i : plan_.order) {
            if (!read(items_[i], request_.arguments[i], bound_[i])) return false;
        }
        if (fed_ != plan_.feeds || !count_calls()) return false;
        for (const std::size_t i : plan_.tensors) {
            if (!bind_tensor(i)) return false;
        }
        if (!plan_.resources.empty() && !are_textures_apart()) return false;
        if (runs_backward(request_.pass) && !has_gradients_) return false;
        return (!plan_.strict || is_unbroadcast()) && (plan_.counters.empty() || are_indices_held());
    }

    /// Takes what else can fail, kernel and memory, and gives the commands.
    void run(driver::Recorder* recorder) {
        const ModuleState& module = *request_.function.module;
        driver::Kernel& kernel = *module.kernel(plan_.kernel, device_.driver());
        plan_.resources.empty() ? issue(recorder, kernel, {}) : issue_bound(recorder, kernel);
    }

private:
    void issue(driver::Recorder* recorder, driver::Kernel& kernel,
               std::span<const driver::Resource> resources) {
        driver::Device& driver = device_.driver();
        for (std::size_t i = 0; i < made_count_; ++i) make(made_[i]);
        std::shared_ptr<driver::Allocation> temporary;
        bool is_zero = true;
        const std::int64_t size = sums_ ? temporary_size() : 0;
        if (size != 0) {
            temporary = device_.zeros(static_cast<std::uint64_t>(size));
            is_zero = temporary != nullptr;
            if (!is_zero) temporary = device_.allocate_scratch(static_cast<std::uint64_t>(size));
            use(temporary.get(), true);
        }
        const CommandTarget target(device_, recorder, request_.marks);
        if (request_.before != nullptr) target.replay(*request_.before);
        alignas(8) std::array<std::byte, LaunchPlan::max_block> block;
        const driver::Info& info = driver.info();
        const LaunchSize launch{plan_.threads,          plan_.calls_per_thread,  info.processors,
                                kernel.resident_groups, kernel.calls_per_thread, info.max_groups[0],
                                plan_.takes_textures};
        const std::uint32_t groups = launch.limited(launch.groups(total_, sums_));
        if (has_new_) settle_new(target, groups);
        if (plan_.combines) zero_combined(target);
        if (!is_zero) target.fill(temporary, 0, static_cast<std::uint64_t>(size));
        pack(block.data(), groups, temporary ? temporary->address : 0);
        target.dispatch({&kernel,
                         {groups, 1, 1},
                         std::span(block).first(plan_.block_size),
                         std::span(uses_).first(use_count_),
                         resources});
    }

    // What most calls don't come to isn't inlined: the rest stays short, and in the processor's caches.

    static constexpr std::uint64_t most_calls = std::uint64_t{1} << 62U;
    static constexpr std::int64_t part_alignment = 16;  ///< bytes, in temporary memory

    /// What is known of an item once it is bound.
    struct Bound {
        std::array<const TensorState*, LaunchPlan::parts> states;
        std::array<std::uint64_t, LaunchPlan::parts> addresses;  ///< 0: absent
        std::uint32_t step;
        GradMode mode;
        const TextureState* texture;
        const Sampler* sampler;  ///< of a combined texture, too
        bool is_new;             ///< what its gradient holds doesn't count
    };
    /// Bytes that the launch touches: [low, high).
    struct Range {
        std::uint64_t low;
        std::uint64_t high;
        std::uint16_t item;
        bool is_data;
        bool writes;
    };

    bool start_shape() {
        shape_.fill(1);
        if (request_.shape == nullptr) return true;
        if (request_.shape->size() != plan_.rank) return false;
        for (std::size_t d = 0; d < plan_.rank; ++d) shape_[d] = (*request_.shape)[d];
        fed_ = plan_.feeds;
        return true;
    }

    bool read(const PlanItem& item, const Arg& arg, Bound& bound) {
        bound.step = 1;
        bound.mode = GradMode::none;
        bound.is_new = false;
        switch (item.given) {
            case LaunchPlan::Given::nothing: return arg.kind == Arg::Kind::absent;
            case LaunchPlan::Given::value:
                return arg.kind == Arg::Kind::value &&
                       (request_.pass == PassKind::forward || arg.gradient == nullptr);
            case LaunchPlan::Given::generator: return read_generator(item, arg);
            case LaunchPlan::Given::texture: return read_texture(item, arg, bound);
            case LaunchPlan::Given::sampler: return read_sampler(item, arg, bound);
            case LaunchPlan::Given::tensor: break;
        }
        bound.states = {nullptr, nullptr, nullptr};
        bound.addresses = {0, 0, 0};
        if (arg.kind != Arg::Kind::tensor) {
            return arg.kind == Arg::Kind::absent && (item.is_made || item.may_be_absent);
        }
        const TensorState* state = arg.tensor->state().get();
        if (state == nullptr || !has_type(item, *state) || !feed(item, state->shape)) return false;
        bound.states[LaunchPlan::data] = state;
        bound.addresses[LaunchPlan::data] = state->address();
        return state->device.get() == &device_ || state->device->is_same(device_);
    }

    static bool has_type(const PlanItem& item, const TensorState& state) {
        const ElementType& found = state.element;
        if (found.scalar != item.element.scalar || found.rank != item.element.rank ||
            found.struct_size != item.element.struct_size || state.shape.size() != item.rank) {
            return false;
        }
        for (std::size_t k = 0; k < found.rank; ++k) {
            if (found.extents[k] != item.element.extents[k]) return false;
        }
        for (std::size_t k = item.call_rank; k < item.rank; ++k) {
            if (state.shape[k] != item.trailing[k - item.call_rank]) return false;
        }
        return true;
    }

    bool feed(const PlanItem& item, const Dims& extents) {
        for (std::size_t k = 0; k < item.call_rank; ++k) {
            std::int64_t& extent = shape_[item.map[k]];
            if (extents[k] == extent || extents[k] == 1) continue;
            if (extent != 1) return false;
            extent = extents[k];
        }
        fed_ |= item.feeds;
        return true;
    }

    [[gnu::noinline]] bool read_generator(const PlanItem& item, const Arg& arg) {
        if (arg.kind != Arg::Kind::generator || arg.value == nullptr) return false;
        Dims extents;
        return takes(*item.generator, call().arguments[item.leaf], arg.value, extents) && feed(item, extents);
    }

    [[gnu::noinline]] bool read_texture(const PlanItem& item, const Arg& arg, Bound& bound) {
        if (arg.kind != Arg::Kind::texture || !*arg.texture) return false;
        bound.texture = arg.texture->state().get();
        bound.sampler = item.texture.is_combined ? sampler_of(arg) : nullptr;
        const std::shared_ptr<DeviceState>& device = bound.texture->device;
        if (!item.texture.take(*bound.texture, bound.sampler) ||
            (device.get() != &device_ && !device->is_same(device_))) {
            return false;
        }
        return item.call_rank == 0 || feed(item, bound.texture->texels);
    }

    [[gnu::noinline]] static bool read_sampler(const PlanItem& item, const Arg& arg, Bound& bound) {
        bound.sampler = arg.sampler;
        return arg.kind == Arg::Kind::sampler && *arg.sampler &&
               arg.sampler->is_comparison() == item.is_comparison;
    }

    /// Checks that outputs have the call's shape, and that no image is written and used twice: which mips and
    /// layers is for the general binder to say.
    [[nodiscard, gnu::noinline]] bool are_textures_apart() const {
        for (std::size_t r = 0; r < plan_.resources.size(); ++r) {
            const std::size_t i = plan_.resources[r];
            const PlanItem& item = items_[i];
            if (item.given != LaunchPlan::Given::texture) continue;
            const TextureState& texture = *bound_[i].texture;
            if (item.is_output && !has_extents(item, texture.texels)) return false;
            for (std::size_t s = 0; s < r && plan_.writes_textures; ++s) {
                const std::size_t j = plan_.resources[s];
                if (items_[j].given == LaunchPlan::Given::texture &&
                    bound_[j].texture->image == texture.image &&
                    (item.texture.is_written || items_[j].texture.is_written)) {
                    return false;
                }
            }
        }
        return true;
    }

    [[gnu::noinline]] void issue_bound(driver::Recorder* recorder, driver::Kernel& kernel) {
        FewResources<LaunchPlan::max_items> resources;
        for (const std::size_t i : plan_.resources) {
            const PlanItem& item = items_[i];
            const Bound& bound = bound_[i];
            std::shared_ptr<driver::Sampler> sampler;
            if (bound.sampler != nullptr) sampler = sampler_on(*bound.sampler, device_);
            if (item.given == LaunchPlan::Given::sampler) {
                resources.add(driver::SamplerBinding{std::move(sampler)});
            } else {
                resources.add(driver::ImageBinding{bound.texture->image, item.texture.range(*bound.texture),
                                                   std::move(sampler)});
            }
        }
        issue(recorder, kernel, resources.all());
    }

    bool count_calls() {
        std::uint64_t total = 1;
        for (std::size_t d = plan_.rank; d-- > 0;) {
            packed_[d] = static_cast<std::int64_t>(total);
            if (shape_[d] <= 0 ||
                __builtin_mul_overflow(total, static_cast<std::uint64_t>(shape_[d]), &total)) {
                return false;
            }
        }
        total_ = static_cast<std::int64_t>(total);
        return total <= most_calls &&
               (!plan_.takes_textures ||
                counts_tiles(total_, plan_.rank == 0 ? 1 : shape_[plan_.rank - 1], plan_.threads));
    }

    bool bind_tensor(std::size_t i) {
        const PlanItem& item = items_[i];
        ViewLayout layout;
        const TensorState* data = bound_[i].states[LaunchPlan::data];
        if (data == nullptr) return !item.is_made || plan_made(i, layout);
        if (item.must_be_packed && !is_dense(data->shape, data->strides)) return false;
        if (item.is_output && !has_extents(item, data->shape)) return false;
        if (item.touches_data && !join(i, LaunchPlan::data, layout)) return false;
        if (runs_backward(request_.pass) && !bind_gradients(i, *data, layout)) return false;
        return settle(i, layout);
    }

    /// An output is never broadcast; what calls are combined in may be.
    bool has_extents(const PlanItem& item, const Dims& extents) const {
        for (std::size_t k = 0; k < item.call_rank; ++k) {
            if (extents[k] != shape_[item.map[k]] && !(item.is_combined && extents[k] == 1)) {
                return false;
            }
        }
        return true;
    }

    bool bind_gradients(std::size_t i, const TensorState& data, ViewLayout& layout) {
        const PlanItem& item = items_[i];
        Bound& bound = bound_[i];
        if (const TensorState* in = data.grad_in.state().get(); in != nullptr && item.reads_gradient) {
            bound.states[LaunchPlan::grad_in] = in;
            if (!is_same(in->shape, data.shape) || !join(i, LaunchPlan::grad_in, layout)) return false;
        }
        if (item.takes_gradient) {
            const TensorState* out = data.grad_out.state().get();
            if (out == nullptr) return !item.needs_gradient;
            bound.states[LaunchPlan::grad_out] = out;
            if (!is_same(out->shape, data.shape) || !join(i, LaunchPlan::grad_out, layout)) return false;
            bound.is_new = item.overwrites || data.grad_is_new;
            // Each call's own are zeroed by one fill.
            if (bound.is_new && layout.dense && !is_dense(out->shape, out->strides)) return false;
            has_new_ = has_new_ || bound.is_new;
            has_gradients_ = true;
        }
        return true;
    }

    static bool is_same(const Dims& a, const Dims& b) {
        if (a.size() != b.size()) return false;
        for (std::size_t k = 0; k < a.size(); ++k) {
            if (a[k] != b[k]) return false;
        }
        return true;
    }

    /// Chooses how the item's elements are found and its gradient is written.
    bool settle(std::size_t i, const ViewLayout& layout) {
        const PlanItem& item = items_[i];
        Bound& bound = bound_[i];
        if (!layout.dense && !(layout.single && (!item.is_output || item.is_combined))) return false;
        bound.step = layout.dense ? 1 : 0;
        const bool combined = item.is_combined && runs_forward(request_.pass);
        if (combined || bound.states[LaunchPlan::grad_out] != nullptr) {
            if (!layout.dense && !item.may_be_shared) return false;
            bound.mode = layout.dense ? GradMode::injective : GradMode::everywhere;
            sums_ = sums_ || !layout.dense;
        }
        const bool touches = item.touches_data && bound.states[LaunchPlan::data] != nullptr;
        if (touches && !touch(i, LaunchPlan::data, layout.dense, item.stores_data)) return false;
        if (!runs_backward(request_.pass)) return true;
        return (bound.states[LaunchPlan::grad_in] == nullptr ||
                touch(i, LaunchPlan::grad_in, layout.dense, false)) &&
               (bound.states[LaunchPlan::grad_out] == nullptr ||
                touch(i, LaunchPlan::grad_out, layout.dense, true));
    }

    /// Adds a view to what is known of how the item's views lie. False for elements that lie apart, or where
    /// kernels can't load them.
    bool join(std::size_t i, LaunchPlan::Part part, ViewLayout& layout) {
        const PlanItem& item = items_[i];
        Bound& bound = bound_[i];
        const TensorState& state = *bound.states[part];
        bound.addresses[part] = state.address();
        if ((bound.addresses[part] & item.unaligned) != 0) return false;
        if (item.is_plain && is_packed(state)) {
            layout.single = layout.single && total_ == 1;
            return layout.dense || layout.single;
        }
        return join(item, state.shape, state.strides, layout);
    }

    /// Returns true where elements plainly lie in the call's order; others may do so as well.
    [[nodiscard]] bool is_packed(const TensorState& state) const {
        for (std::size_t d = 0; d < plan_.rank; ++d) {
            if (state.shape[d] != shape_[d] || state.strides[d] != packed_[d]) return false;
        }
        return true;
    }

    [[gnu::noinline]] bool join(const PlanItem& item, const Dims& extents, const Dims& strides,
                                ViewLayout& layout) const {
        std::uint64_t expected = 1;
        for (std::size_t k = item.rank; k-- > item.call_rank;) {
            if (extents[k] != 1 && static_cast<std::uint64_t>(strides[k]) != expected) return false;
            expected *= static_cast<std::uint64_t>(extents[k]);
        }
        for (std::size_t d = plan_.rank; d-- > 0;) {
            if (shape_[d] == 1) continue;
            const int k = item.from[d];
            const bool moves = k >= 0 && extents[static_cast<std::size_t>(k)] != 1;
            const std::int64_t stride = moves ? strides[static_cast<std::size_t>(k)] : 0;
            layout.dense = layout.dense && static_cast<std::uint64_t>(stride) == expected;
            layout.single = layout.single && stride == 0;
            if (!layout.dense && !layout.single) return false;
            expected *= static_cast<std::uint64_t>(shape_[d]);
        }
        return true;
    }

    /// An output that is to be made, as the general binder makes it.
    [[gnu::noinline]] bool plan_made(std::size_t i, ViewLayout& layout) {
        const PlanItem& item = items_[i];
        const Dims shape = made_shape(item);
        if (!join(item, shape, row_major(shape), layout) || !settle(i, layout)) return false;
        made_[made_count_++] = i;
        return true;
    }

    [[nodiscard, gnu::noinline]] Dims made_shape(const PlanItem& item) const {
        const bool single = item.is_combined && item.call_rank == plan_.rank;
        Dims shape;
        for (std::size_t k = 0; k < item.rank; ++k) {
            const bool fed = k < item.call_rank;
            shape.push_back(!fed ? item.trailing[k - item.call_rank] : single ? 1 : shape_[item.map[k]]);
        }
        return shape;
    }

    /// Adds a view to what the launch uses. Nothing that is written may share a byte with anything else, but
    /// an output that is the very view of an input: each call reads its own element before it writes it.
    bool touch(std::size_t i, LaunchPlan::Part part, bool dense, bool writes) {
        const Bound& bound = bound_[i];
        const TensorState& state = *bound.states[part];
        const std::uint64_t low = bound.addresses[part];
        const std::uint64_t size = items_[i].bytes * (dense ? static_cast<std::uint64_t>(total_) : 1);
        const Range range{low, low + size, static_cast<std::uint16_t>(i), part == LaunchPlan::data, writes};
        driver::Allocation* const allocation = state.allocation.get();
        // An allocation's bytes are its own, unless somebody else owns them.
        is_wrapped_ = is_wrapped_ || allocation->is_wrapped;
        const bool is_new = note(allocation);
        if ((!is_new || is_wrapped_) && !is_apart(range)) return false;
        ranges_[range_count_++] = range;
        if (is_new) {
            uses_[use_count_].allocation = allocation;
            uses_[use_count_++].writes = writes;
        } else {
            use(allocation, writes);
        }
        return true;
    }

    /// Returns whether the allocation was surely not used before.
    bool note(const driver::Allocation* allocation) {
        const auto place = reinterpret_cast<std::uintptr_t>(allocation);
        const std::uint64_t bit = std::uint64_t{1} << (place * 0x9E3779B97F4A7C15U >> 58U);
        const bool is_new = (used_ & bit) == 0;
        used_ |= bit;
        return is_new;
    }

    void use(driver::Allocation* allocation, bool writes) {
        driver::Use* const end = uses_.data() + use_count_;
        for (driver::Use* known = uses_.data(); known != end; ++known) {
            if (known->allocation == allocation) {
                known->writes = known->writes || writes;
                return;
            }
        }
        end->allocation = allocation;
        end->writes = writes;
        ++use_count_;
    }

    [[nodiscard, gnu::noinline]] bool is_apart(const Range& a) const {
        for (std::size_t i = 0; i < range_count_; ++i) {
            const Range& b = ranges_[i];
            if ((a.writes || b.writes) && a.low < b.high && b.low < a.high && !is_in_place(a, b)) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool is_in_place(const Range& a, const Range& b) const {
        if (!a.is_data || !b.is_data || a.writes == b.writes || a.low != b.low) return false;
        const PlanItem& x = items_[a.item];
        const PlanItem& y = items_[b.item];
        return bound_[a.item].step == 1 && bound_[b.item].step == 1 && !x.is_whole && !y.is_whole &&
               !x.is_combined && !y.is_combined && x.element == y.element && x.inner == y.inner &&
               trailing(x) == trailing(y);
    }
    [[nodiscard]] const std::vector<std::int64_t>& trailing(const PlanItem& item) const {
        return call().arguments[item.leaf].trailing;
    }

    /// Every input has each dimension of the call, as it is.
    [[nodiscard, gnu::noinline]] bool is_unbroadcast() const {
        for (std::size_t i = 0; i < plan_.items.size(); ++i) {
            const PlanItem& item = items_[i];
            if (item.call_rank == 0 || item.is_output) continue;
            if (item.feeds != plan_.feeds) return false;
            if (item.given == LaunchPlan::Given::texture) {
                if (!is_plainly(item, bound_[i].texture->texels)) return false;
                continue;
            }
            const TensorState* data =
                item.given == LaunchPlan::Given::tensor ? bound_[i].states[LaunchPlan::data] : nullptr;
            if (data == nullptr || !is_plainly(item, data->shape)) return false;
        }
        return true;
    }

    [[nodiscard]] bool is_plainly(const PlanItem& item, const Dims& extents) const {
        for (std::size_t k = 0; k < item.call_rank; ++k) {
            if (extents[k] != shape_[item.map[k]]) return false;
        }
        return true;
    }

    [[nodiscard, gnu::noinline]] bool are_indices_held() const {
        return std::ranges::all_of(plan_.counters, [&](const LaunchPlan::Counter& counter) {
            return holds_indices(*counter.generator, *counter.argument, std::span(shape_).first(plan_.rank),
                                 total_);
        });
    }

    /// Tells outputs that the host reads at once, and of which each thread stores its own elements.
    [[nodiscard]] bool is_read_at_once(std::size_t i) const {
        return request_.arguments[i].is_read && request_.encoder == nullptr && !items_[i].is_combined;
    }

    [[gnu::noinline]] void make(std::size_t i) {
        const PlanItem& item = items_[i];
        OutputMaker* const maker = request_.arguments[i].maker;
        AnyTensor made =
            maker != nullptr
                ? maker->make(item.element, made_shape(item))
                : make_tensor(request_.function.module->device().state(), device_, item.element,
                              made_shape(item), is_read_at_once(i) ? Placement::mapped : Placement::device);
        bound_[i].addresses[LaunchPlan::data] = made.address();
        use(made.state()->allocation.get(), item.stores_data);
        request_.arguments[i].allocated = std::move(made);
    }

    /// The temporary memory holds how many groups are done, then sums, as plan_temporary() has it.
    [[nodiscard, gnu::noinline]] std::int64_t temporary_size() const {
        std::int64_t sums = 0;
        for (const LaunchPlan::Sum& sum : plan_.sums) {
            if (bound_[sum.item].mode == GradMode::everywhere) sums += padded(sum.bytes * sum.count);
        }
        return sums == 0 ? 0 : counter_size() + sums;
    }
    [[nodiscard]] std::int64_t counter_size() const {
        return padded(4 * (1 + static_cast<std::int64_t>(call().arguments.size())));
    }
    static std::int64_t padded(std::int64_t bytes) {
        return (bytes + part_alignment - 1) / part_alignment * part_alignment;
    }

    /// Gradients whose elements don't count are stored where each is written once, and else start as zeros.
    void settle_new(const CommandTarget& target, std::uint32_t groups) {
        for (const std::size_t i : plan_.tensors) {
            Bound& bound = bound_[i];
            if (!bound.is_new) continue;
            const bool may_store = plan_.stores && !items_[i].is_whole && !has_sums(i);
            if (may_store && bound.mode == GradMode::injective) {
                bound.mode = GradMode::set_injective;
            } else if (may_store && groups == 1) {
                bound.mode = GradMode::set_everywhere;
            } else {
                target.zero(*bound.states[LaunchPlan::grad_out]);
            }
        }
    }
    [[nodiscard]] bool has_sums(std::size_t i) const {
        return bound_[i].mode == GradMode::everywhere &&
               std::ranges::any_of(plan_.sums, [&](const LaunchPlan::Sum& sum) { return sum.item == i; });
    }

    [[gnu::noinline]] void zero_combined(const CommandTarget& target) const {
        for (std::size_t i = 0; i < plan_.items.size() && runs_forward(request_.pass); ++i) {
            if (!plan_.items[i].is_combined) continue;
            const AnyTensor& made = request_.arguments[i].allocated;
            const TensorState* given = bound_[i].states[LaunchPlan::data];
            target.zero(given != nullptr ? *given : *made.state());
        }
    }

    void pack(std::byte* block, std::uint32_t groups, std::uint64_t temporary) const {
        std::memset(block, 0, plan_.block_size);
        put(block + plan_.launch_at, total_);
        put(block + plan_.launch_at + sizeof total_, groups);
        if (plan_.shape_at) {
            std::memcpy(block + *plan_.shape_at, shape_.data(), plan_.rank * sizeof shape_[0]);
        }
        for (const LaunchPlan::Value& value : plan_.values) {
            const auto* given =
                static_cast<const std::byte*>(request_.arguments[value.item].value) + value.field;
            if (value.bytes == 4) {  // most of them
                std::memcpy(block + value.at, given, 4);
            } else if (value.bytes != 0) {
                std::memcpy(block + value.at, given, value.bytes);
            } else {
                put_value(value.element, given, block + value.at);
            }
        }
        for (const LaunchPlan::Address& address : plan_.addresses) {
            const std::uint64_t view = bound_[address.item].addresses[address.part];
            put(block + address.at, view == 0 ? 0 : view + address.field);
        }
        for (const LaunchPlan::Number& step : plan_.steps) put(block + step.at, bound_[step.item].step);
        for (const LaunchPlan::Number& mode : plan_.modes) {
            put(block + mode.at, static_cast<std::uint32_t>(bound_[mode.item].mode));
        }
        if (!plan_.generated.empty()) pack_generated(block);
        if (!plan_.texels.empty()) pack_texels(block);
        if (temporary != 0) pack_sums(block, temporary);
    }

    [[gnu::noinline]] void pack_generated(std::byte* block) const {
        for (const LaunchPlan::Generated& generated : plan_.generated) {
            const manifest::Argument& argument = call().arguments[plan_.items[generated.item].leaf];
            const manifest::Kernel& kernel = request_.function.module->manifest().kernels[plan_.kernel];
            pack_record(argument, kernel.records[generated.record], request_.arguments[generated.item].value,
                        block + generated.at);
        }
    }

    [[gnu::noinline]] void pack_texels(std::byte* block) const {
        for (const LaunchPlan::Texels& texels : plan_.texels) {
            const PlanItem& item = items_[texels.item];
            const Dims& extents = bound_[texels.item].texture->texels;
            std::byte* at = block + texels.at;
            for (const std::size_t d : texels.dimensions) {
                const bool moves = extents[static_cast<std::size_t>(item.from[d])] != 1;
                put(at, std::int64_t{moves ? 1 : 0});
                at += sizeof(std::int64_t);
            }
        }
    }

    [[gnu::noinline]] void pack_sums(std::byte* block, std::uint64_t temporary) const {
        put(block + *plan_.counter_at, temporary);
        std::int64_t at = counter_size();
        for (const LaunchPlan::Sum& sum : plan_.sums) {
            if (bound_[sum.item].mode != GradMode::everywhere) continue;
            put(block + sum.at, temporary + static_cast<std::uint64_t>(at));
            put(block + sum.at + sizeof temporary, sum.count);
            at += padded(sum.bytes * sum.count);
        }
    }

    [[nodiscard]] const manifest::Call& call() const {
        return request_.function.module->manifest()
            .functions[request_.function.function]
            .calls[request_.call];
    }

    // Made for every call: what a call doesn't use is neither cleared nor looked at.
    const LaunchRequest& request_;
    const LaunchPlan& plan_;
    const PlanItem* items_;
    DeviceState& device_;
    std::uint32_t fed_ = 0;  ///< the call's dimensions that have an extent, as bits
    bool has_gradients_ = false;
    bool sums_ = false;     ///< all calls add to some element
    bool has_new_ = false;  ///< some gradient's elements don't count
    std::int64_t total_ = 0;
    std::uint64_t used_ = 0;   ///< a bit for each allocation, which several may have
    bool is_wrapped_ = false;  ///< some allocation is
    std::size_t range_count_ = 0;
    std::size_t use_count_ = 0;
    std::size_t made_count_ = 0;
    std::array<std::int64_t, 8> shape_;
    std::array<std::int64_t, 8> packed_;  ///< row-major strides along it
    std::array<Bound, LaunchPlan::max_items> bound_;
    std::array<std::size_t, LaunchPlan::max_items> made_;
    std::array<Range, 3 * LaunchPlan::max_items> ranges_;
    std::array<driver::Use, 3 * LaunchPlan::max_items + 1> uses_;
};

}  // namespace

DeviceState& device_of(const LaunchRequest& request) {
    return request.on == nullptr ? *request.function.module->device().state() : *request.on->state();
}

bool find_recorder(const LaunchRequest& request, const DeviceState& device, driver::Recorder*& recorder) {
    recorder = nullptr;
    if (request.encoder == nullptr) return true;
    const EncoderState& state = request.encoder->state();
    if (!state.device->is_same(device) || state.target == EncoderState::Target::kept) return false;
    recorder = state.recorder.get();
    return true;
}

bool launch_fast(const LaunchRequest& request) {
    const FunctionRef& function = request.function;
    const Options& options = function.options;
    const ModuleState& module = *function.module;
    const LaunchPlan* plan = module.plans().find(function.function, request.call, request.pass,
                                                 options.deterministic.value_or(false));
    if (plan == nullptr || options.launch || !options.reads.empty() || !options.writes.empty()) {
        return false;
    }
    DeviceState& device = device_of(request);
    if (request.on != nullptr && !device.is_same(*module.device().state())) {
        return false;
    }
    driver::Recorder* recorder = nullptr;
    if (request.encoder != nullptr && !find_recorder(request, device, recorder)) {
        return false;
    }
    FastLaunch launch(request, *plan, device);
    if (!launch.bind()) {
        return false;
    }
    launch.run(recorder);
    return true;
}

}  // namespace kf::detail
