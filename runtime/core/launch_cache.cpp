// Launches that were bound before.
#include "core/launch_cache.h"

#include <algorithm>
#include <cstring>

#include "core/bind_error.h"
#include "core/command_target.h"
#include "core/convert.h"
#include "core/few_resources.h"
#include "core/items.h"
#include "core/kinds/binding.h"
#include "core/module_state.h"
#include "core/sampler_state.h"
#include "core/tensor_state.h"
#include "core/unaligned.h"

namespace kf::detail {
namespace {

using manifest::GradMode;
using manifest::RecordKind;

constexpr std::size_t max_block = 1024;  // bytes
constexpr std::size_t max_uses = 16;

/// What a launch uses, each allocation once.
struct Uses {
    std::array<driver::Use, max_uses> list;
    std::size_t count = 0;

    void add(const std::shared_ptr<driver::Allocation>& allocation, bool writes) {
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].allocation == allocation.get()) {
                list[i].writes = list[i].writes || writes;
                return;
            }
        }
        list[count].allocation = allocation.get();
        list[count++].writes = writes;
    }
};

bool share_bytes(const LaunchKey::View& a, const LaunchKey::View& b) {
    return a.low < b.high && b.low < a.high;
}

/// Whether nothing that is written shares a byte with anything else. Views whose elements lie between each
/// other's are left to the binder, which looks closer.
bool are_apart(const LaunchKey& key, std::span<const KnownLaunch::Use> uses) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if ((uses[i].writes || uses[j].writes) &&
                share_bytes(key.view(uses[i].view), key.view(uses[j].view))) {
                return false;
            }
        }
    }
    return true;
}

/// Returns whether no image is written and used twice: which mips and layers is for the binder to say.
bool are_textures_apart(std::span<const Arg> arguments, const KnownLaunch& launch) {
    if (!launch.writes_textures) return true;
    const std::vector<KnownLaunch::Resource>& all = launch.resources;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].kind != Arg::Kind::texture || !all[i].texture.is_written) continue;
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (j == i || all[j].kind != Arg::Kind::texture) continue;
            if (arguments[all[i].argument].texture->state()->image ==
                arguments[all[j].argument].texture->state()->image) {
                return false;
            }
        }
    }
    return true;
}

using Resources = FewResources<LaunchKey::max_arguments>;

/// Adds what the kernel is bound; makes samplers that the device lacks.
void add_resources(const KnownLaunch& launch, const LaunchKey& key, DeviceState& device,
                   Resources& resources) {
    for (const KnownLaunch::Resource& resource : launch.resources) {
        const Arg& arg = key.arguments()[resource.argument];
        if (resource.kind == Arg::Kind::tensor) {
            const LaunchKey::View& view = key.view(LaunchKey::index(resource.argument, LaunchKey::data));
            const std::shared_ptr<driver::Allocation>& allocation = *view.allocation;
            resources.add(
                driver::BufferRange{allocation, view.address - allocation->address, view.high - view.low});
        } else if (resource.kind == Arg::Kind::texture) {
            const TextureState& state = *arg.texture->state();
            std::shared_ptr<driver::Sampler> sampler;
            if (resource.texture.is_combined) sampler = sampler_on(*sampler_of(arg), device);
            resources.add(
                driver::ImageBinding{state.image, resource.texture.range(state), std::move(sampler)});
        } else {
            resources.add(driver::SamplerBinding{sampler_on(*arg.sampler, device)});
        }
    }
}

/// Which of the host's arguments each leaf is part of.
std::vector<std::size_t> items_of_leaves(const manifest::Call& call) {
    std::vector<std::size_t> items(call.arguments.size());
    for (std::size_t i = 0; i < manifest::item_count(call); ++i) {
        const std::size_t first = manifest::leaf_of(call, i);
        std::fill_n(items.begin() + static_cast<std::ptrdiff_t>(first), call.items[i].leaves, i);
    }
    return items;
}

/// Describes a launch that was bound, so that others like it need not be.
class Notes {
public:
    Notes(const BindRequest& request, const Binding& binding, const LaunchKey& key, KnownLaunch& launch)
        : request_(request),
          binding_(binding),
          key_(key),
          launch_(launch),
          items_(items_of_leaves(request.call)) {}

    /// The launch's parameters that aren't the same each time; false where one isn't known here.
    bool note_parameters(const manifest::BlockLayout& layout) {
        const auto& records = request_.manifest.kernels[static_cast<std::size_t>(binding_.kernel)].records;
        for (std::size_t r = 0; r < records.size(); ++r) {
            const auto i = static_cast<std::size_t>(std::max<std::int64_t>(0, records[r].argument));
            const auto at = static_cast<std::size_t>(layout.offsets[r]);
            switch (records[r].kind) {
                case RecordKind::value:
                    if (request_.arguments[i].kind == Arg::Kind::absent) break;  // a tangent, and 0
                    launch_.values.push_back({items_[i], at, static_cast<std::size_t>(argument(i).offset),
                                              element_type(argument(i).element)});
                    break;
                // The address is a record's first member.
                case RecordKind::data:
                    if (!note_address(i, LaunchKey::data, binding_.arguments[i].data, at)) return false;
                    break;
                case RecordKind::grad_in:
                    if (!note_address(i, LaunchKey::grad_in, binding_.arguments[i].grad_in, at)) return false;
                    break;
                case RecordKind::grad_out:
                    if (!note_address(i, written_gradient(i), binding_.arguments[i].grad_out, at))
                        return false;
                    break;
                case RecordKind::launch:
                case RecordKind::walk:
                case RecordKind::shape:
                case RecordKind::step:
                case RecordKind::strides:
                case RecordKind::extents: break;
                case RecordKind::counter: note_place(at, binding_.temporary.counter_at); break;
                case RecordKind::sums: note_place(at, binding_.arguments[i].scratch_at); break;
                case RecordKind::pointer:
                    launch_.values.push_back({items_[i], at, 0, ElementType{ScalarType::uint64, 0}});
                    break;
                case RecordKind::grid:
                case RecordKind::hash:
                case RecordKind::random:
                case RecordKind::reports: return false;
            }
        }
        return true;
    }

    /// What is zeroed first; false for parts of structs.
    bool note_zeroed() {
        for (std::size_t i = 0; i < request_.arguments.size(); ++i) {
            const bool overwritten = runs_backward(request_.pass) && binding_.arguments[i].zeroes_gradient;
            const bool combined = is_combined_here(i);
            if (!overwritten && !combined) continue;
            if (request_.call.items[items_[i]].form != manifest::Form::leaf) return false;
            if (request_.arguments[i].kind != Arg::Kind::tensor) continue;
            if (combined) launch_.zeroed.push_back({items_[i], false});
            if (overwritten && request_.arguments[i].grad_out.present)
                launch_.zeroed.push_back({items_[i], true});
        }
        return true;
    }

    /// What the kernel is bound; false where a buffer is empty, or a texture was made.
    bool note_resources() {
        for (const std::int64_t leaf : request_.call.resources) {
            const auto i = static_cast<std::size_t>(leaf);
            KnownLaunch::Resource resource{request_.arguments[i].kind, items_[i], {}};
            if (resource.kind == Arg::Kind::absent || launch_.resources.size() == LaunchKey::max_arguments)
                return false;
            const bool is_buffer = resource.kind == Arg::Kind::tensor;
            if (is_buffer && key_.view(LaunchKey::index(items_[i], LaunchKey::data)).address == 0)
                return false;
            if (const auto rules = texture_rules(argument(i))) resource.texture = *rules;
            launch_.writes_textures = launch_.writes_textures || resource.texture.is_written;
            launch_.resources.push_back(resource);
        }
        return true;
    }

    /// Notes the uses that the binder checks for aliasing, as invoke() does.
    void note_uses() {
        for (std::size_t i = 0; i < request_.arguments.size(); ++i) {
            const BoundArgument& bound = binding_.arguments[i];
            if (bound.allocate) {
                note_output(i);
            }
            if (const AnyTensor* memory = request_.arguments[i].memory;
                memory != nullptr && memory->address() != 0) {
                note_use(i, LaunchKey::data, may_write_through(argument(i)));
            }
            if (request_.arguments[i].kind != Arg::Kind::tensor) {
                continue;
            }
            if (touches_elements(argument(i), request_.pass)) {
                note_use(i, LaunchKey::data, stores_elements(argument(i), request_.pass));
            }
            if (bound.grad_in.present) {
                note_use(i, LaunchKey::grad_in, false);
            }
            if (bound.mode != GradMode::none && !is_combined(argument(i))) {
                note_use(i, written_gradient(i), true);
            }
        }
    }

private:
    [[nodiscard]] const manifest::Argument& argument(std::size_t leaf) const {
        return request_.call.arguments[leaf];
    }

    /// Whether the pass combines calls' values in it, as in a gradient.
    [[nodiscard]] bool is_combined_here(std::size_t leaf) const {
        return runs_forward(request_.pass) && is_combined(argument(leaf));
    }

    void note_place(std::size_t offset, std::int64_t at) {
        if (at >= 0) launch_.places.push_back({offset, static_cast<std::uint64_t>(at)});
    }

    /// Returns the gradient that is written: what has one gradient may have it as either.
    [[nodiscard]] LaunchKey::Part written_gradient(std::size_t leaf) const {
        if (is_combined_here(leaf)) return LaunchKey::data;
        const Arg& given = key_.arguments()[items_[leaf]];
        return has_one_gradient(argument(leaf)) && !given.tensor->grad_out() ? LaunchKey::grad_in
                                                                             : LaunchKey::grad_out;
    }

    bool note_address(std::size_t leaf, LaunchKey::Part part, const CallView& bound, std::size_t at) {
        if (bound.address == 0) {
            return true;
        }
        const std::size_t view = LaunchKey::index(items_[leaf], part);
        const auto field = static_cast<std::uint64_t>(argument(leaf).offset);
        launch_.addresses.push_back({view, at, field});
        // An output that was allocated has no view in the key.
        return binding_.arguments[leaf].allocate || bound.address == key_.view(view).address + field;
    }

    /// A tensor of structs is one output of all its fields.
    void note_output(std::size_t leaf) {
        const std::size_t item = items_[leaf];
        if (leaf != manifest::leaf_of(request_.call, item)) {
            return;
        }
        ElementType element = element_type(argument(leaf).element);
        if (request_.call.items[item].form != manifest::Form::leaf) {
            element = ElementType{};
            element.struct_size = static_cast<std::uint32_t>(request_.call.items[item].size);
        }
        launch_.outputs.push_back({item, element, binding_.arguments[leaf].allocate_shape,
                                   is_combined_here(leaf),
                                   !is_combined_here(leaf) && !has_free_access(argument(leaf))});
    }

    void note_use(std::size_t leaf, LaunchKey::Part part, bool writes) {
        const std::size_t view = LaunchKey::index(items_[leaf], part);
        for (KnownLaunch::Use& known : launch_.uses) {
            if (known.view == view) {
                known.writes = known.writes || writes;
                return;
            }
        }
        launch_.uses.push_back({view, writes});
    }

    const BindRequest& request_;
    const Binding& binding_;
    const LaunchKey& key_;
    KnownLaunch& launch_;
    std::vector<std::size_t> items_;
};

}  // namespace

bool LaunchKey::add(std::uint64_t word) {
    if (count_ == words_.size()) {
        return false;
    }
    words_[count_++] = word;
    return true;
}

bool LaunchKey::add_view(const AnyTensor& tensor, View& view) {
    if (!tensor) {
        return add(0);
    }
    const TensorState& state = *tensor.state();
    const std::size_t rank = state.shape.size();
    if (words_.size() - count_ < 1 + 2 * rank) {
        return false;
    }
    view.allocation = &state.allocation;
    view.address = state.address();
    // Kernels are chosen by alignment, 16 bytes at most.
    words_[count_++] = 1 | (rank << 8U) | ((view.address & 15U) << 16U) |
                       (static_cast<std::uint64_t>(view.address == 0) << 24U);
    const auto size = static_cast<std::int64_t>(state.element.size());
    std::int64_t low = 0;
    std::int64_t high = size;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t reach = (state.shape[d] - 1) * state.strides[d] * size;
        (reach < 0 ? low : high) += reach;
        words_[count_++] = static_cast<std::uint64_t>(state.shape[d]);
        words_[count_++] = static_cast<std::uint64_t>(state.strides[d]);
    }
    view.low = view.address + static_cast<std::uint64_t>(low);
    view.high = view.address + static_cast<std::uint64_t>(high);
    return true;
}

bool LaunchKey::add_data(const AnyTensor& tensor, View& view) {
    const ElementType& element = tensor.state()->element;
    if (!add(4 | (static_cast<std::uint64_t>(element.scalar) << 8U) | (std::uint64_t{element.rank} << 16U) |
             (std::uint64_t{element.struct_size} << 32U))) {
        return false;
    }
    for (std::size_t k = 0; k < element.rank; ++k) {
        if (!add(static_cast<std::uint64_t>(element.extents[k]))) return false;
    }
    return add_view(tensor, view);
}

/// What is compared with the parameter, and the extents of what feeds the call.
bool LaunchKey::add_texture(const manifest::Call& call, std::size_t i, const Arg& arg) {
    if (i >= call.items.size() || !*arg.texture) return false;
    const TextureState& state = *arg.texture->state();
    const Sampler* sampler = sampler_of(arg);
    const std::uint64_t sampled = sampler == nullptr ? 0U : sampler->is_comparison() ? 2U : 1U;
    if (!add(6 | static_cast<std::uint64_t>(state.range.dimension) << 8U |
             std::uint64_t{state.range.is_array} << 16U | std::uint64_t{state.shape.writable} << 17U |
             static_cast<std::uint64_t>(state.shape.format) << 24U | sampled << 32U)) {
        return false;
    }
    const manifest::Argument& first = call.arguments[manifest::leaf_of(call, i)];
    if (first.call_rank == 0) return true;
    for (const std::int64_t extent : state.texels) {
        if (!add(static_cast<std::uint64_t>(extent))) return false;
    }
    return true;
}

bool LaunchKey::read(const manifest::Call& call, std::span<const Arg> arguments, PassKind pass,
                     const Options& options) {
    const bool launched = options.launch.has_value();
    if (!options.reads.empty() || !options.writes.empty() || arguments.size() > max_arguments ||
        !add((options.deterministic.value_or(false) ? 1U : 0U) | (launched ? 2U : 0U))) {
        return false;
    }
    if (launched) {
        const Launch& launch = *options.launch;
        for (std::size_t d = 0; d < 3; ++d) {
            if (!add((std::uint64_t{launch.count[d]} << 32U) | launch.group_size[d])) return false;
        }
        if (!add(launch.in_groups ? 1 : 0)) return false;
    }
    arguments_ = arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Arg& arg = arguments[i];
        switch (arg.kind) {
            case Arg::Kind::absent:
                views_[index(i, data)] = {nullptr, 0, 0, 0};
                if (!add(2)) return false;
                break;
            case Arg::Kind::value:
                if (arg.gradient != nullptr || arg.pushed != nullptr || arg.out_value != nullptr || !add(3))
                    return false;
                break;
            case Arg::Kind::tensor: {
                if (!add_data(*arg.tensor, views_[index(i, data)])) return false;
                if (runs_backward(pass) && !add(arg.tensor->state()->grad_is_new ? 1 : 0)) return false;
                if (runs_backward(pass) &&
                    (!add_view(arg.tensor->state()->grad_in, views_[index(i, grad_in)]) ||
                     !add_view(arg.tensor->state()->grad_out, views_[index(i, grad_out)]))) {
                    return false;
                }
                break;
            }
            case Arg::Kind::pointer: {
                std::uint64_t address = 0;
                std::memcpy(&address, arg.value, sizeof address);
                const bool has_memory = arg.tensor != nullptr && *arg.tensor;
                // The low bits are in the key: alignment is checked when the launch is first bound.
                if (!add(5 | (address & 15U) << 8U | (has_memory ? 1U << 16U : 0U))) return false;
                if (has_memory && !add_data(*arg.tensor, views_[index(i, data)])) return false;
                break;
            }
            case Arg::Kind::texture:
                if (!add_texture(call, i, arg)) return false;
                break;
            case Arg::Kind::sampler:
                if (!*arg.sampler || !add(7 | (arg.sampler->is_comparison() ? 1U << 8U : 0U))) return false;
                break;
            default: return false;
        }
    }
    return true;
}

LaunchCache::LaunchCache(const manifest::Manifest& manifest) {
    for (const manifest::Function& function : manifest.functions) {
        auto& calls = slots_.emplace_back();
        for (std::size_t i = 0; i < function.calls.size(); ++i) {
            calls.push_back({std::make_unique<Slot>(), std::make_unique<Slot>(), std::make_unique<Slot>()});
        }
    }
}

LaunchCache::Slot* LaunchCache::find(const FunctionRef& function, std::size_t call, PassKind pass) {
    if (function.function >= slots_.size() || call >= slots_[function.function].size()) {
        return nullptr;
    }
    return slots_[function.function][call][static_cast<std::size_t>(pass)].get();
}

bool LaunchCache::launch(const LaunchRequest& request, const LaunchKey& key) {
    const ModuleState& module = *request.function.module;
    const std::span<Arg> arguments = request.arguments;
    Slot* slot = find(request.function, request.call, request.pass);
    if (slot == nullptr) {
        return false;
    }
    std::shared_ptr<const KnownLaunch> known;
    {
        const std::lock_guard lock(slot->mutex);
        for (const std::shared_ptr<const KnownLaunch>& launch : slot->launches) {
            if (std::ranges::equal(launch->key, key.words())) {
                known = launch;
                break;
            }
        }
    }
    const DeviceState& own = *module.device().state();
    DeviceState& device = device_of(request);
    driver::Recorder* recorder = nullptr;
    if (!find_recorder(request, device, recorder)) {
        return false;
    }
    if (known == nullptr || !device.is_same(own) || !are_apart(key, known->uses) ||
        !are_textures_apart(arguments, *known)) {
        return false;
    }
    for (const Arg& arg : arguments) {
        const bool has_memory = arg.kind == Arg::Kind::tensor ||
                                (arg.kind == Arg::Kind::pointer && arg.tensor != nullptr && *arg.tensor);
        if (has_memory && !arg.tensor->state()->device->is_same(own)) {
            return false;
        }
        if (arg.kind == Arg::Kind::texture && !arg.texture->state()->device->is_same(own)) return false;
    }
    Resources resources;
    add_resources(*known, key, device, resources);
    Uses uses;
    for (const KnownLaunch::Use& use : known->uses) {
        uses.add(*key.view(use.view).allocation, use.writes);
    }
    std::array<std::byte, max_block> block;
    std::ranges::copy(known->block, block.begin());
    for (const KnownLaunch::Address& address : known->addresses) {
        put(block.data() + address.offset, key.view(address.view).address + address.field);
    }
    for (const KnownLaunch::Value& value : known->values) {
        const auto* given = static_cast<const std::byte*>(arguments[value.argument].value);
        put_value(value.element, given + value.field, block.data() + value.offset);
    }
    for (const KnownLaunch::Output& output : known->outputs) {
        const bool is_read = arguments[output.argument].is_read && output.stored_once;
        OutputMaker* const maker = arguments[output.argument].maker;
        AnyTensor made = maker != nullptr
                             ? maker->make(output.element, output.shape)
                             : make_tensor(module.device().state(), device, output.element, output.shape,
                                           is_read ? Placement::mapped : Placement::device);
        for (const KnownLaunch::Address& address : known->addresses) {
            if (address.view == LaunchKey::index(output.argument, LaunchKey::data)) {
                put(block.data() + address.offset, made.address() + address.field);
            }
        }
        uses.add(made.state()->allocation, true);
        arguments[output.argument].allocated = std::move(made);
    }
    const TemporaryPlan& plan = known->temporary;
    std::shared_ptr<driver::Allocation> temporary;
    bool is_zero = true;
    if (plan.size != 0) {
        const auto size = static_cast<std::uint64_t>(plan.size);
        temporary = plan.stays_zero() ? device.zeros(size) : nullptr;
        is_zero = temporary != nullptr;
        if (!is_zero) temporary = device.allocate_scratch(size);
        uses.add(temporary, true);
    }
    for (const KnownLaunch::Place& place : known->places) {
        put(block.data() + place.offset, temporary->address + place.at);
    }
    const CommandTarget target(device, recorder, request.marks);
    for (const KnownLaunch::Zeroed& one : known->zeroed) {
        const AnyTensor& tensor = *arguments[one.argument].tensor;
        target.zero(one.is_gradient ? *tensor.grad_out().state() : *tensor.state());
    }
    for (const KnownLaunch::Output& output : known->outputs) {
        if (output.is_zeroed) target.zero(*arguments[output.argument].allocated.state());
    }
    if (!is_zero && plan.zeroed > 0) {
        target.fill(temporary, 0, static_cast<std::uint64_t>(plan.zeroed));
    }
    target.dispatch({known->kernel.get(), known->grid, std::span(block).first(known->block.size()),
                     std::span(uses.list).first(uses.count), resources.all()});
    return true;
}

void LaunchCache::remember(const FunctionRef& function, std::size_t call, const BindRequest& request,
                           const Binding& binding, const LaunchKey& key,
                           std::shared_ptr<driver::Kernel> kernel, std::span<const std::byte> block,
                           const manifest::BlockLayout& layout) {
    Slot* slot = find(function, call, request.pass);
    if (slot == nullptr || block.size() > max_block ||
        binding.temporary.read_end != binding.temporary.read_begin ||
        key.arguments().size() != manifest::item_count(request.call)) {
        return;
    }
    for (std::size_t i = 0; i < request.call.arguments.size(); ++i) {
        const manifest::Argument& argument = request.call.arguments[i];
        const bool is_known = passes_elements(argument) || passes_buffer(argument) ||
                              passes_texture(argument) || passes_sampler(argument) ||
                              passed_as(argument) == manifest::HostPassing::pointer ||
                              !has_host_value(argument);
        const BoundArgument& bound = binding.arguments[i];
        if (!is_known || bound.value_at >= 0 || bound.grad_in_at >= 0 || bound.gradient_at >= 0) {
            return;
        }
    }
    auto launch = std::make_shared<KnownLaunch>();
    Notes notes(request, binding, key, *launch);
    if (!notes.note_parameters(layout) || !notes.note_resources() || !notes.note_zeroed()) {
        return;
    }
    notes.note_uses();
    if (launch->uses.size() + launch->outputs.size() >= max_uses || !are_apart(key, launch->uses)) {
        return;
    }
    launch->key.assign(key.words().begin(), key.words().end());
    launch->kernel = std::move(kernel);
    launch->grid = binding.grid;
    launch->temporary = binding.temporary;
    launch->block.assign(block.begin(), block.end());
    const std::lock_guard lock(slot->mutex);
    if (slot->launches.size() < kept) {
        slot->launches.push_back(std::move(launch));
        return;
    }
    slot->launches[slot->next] = std::move(launch);
    slot->next = (slot->next + 1) % kept;
}

}  // namespace kf::detail
