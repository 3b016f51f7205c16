// Launches that were bound before.
#include "core/launch_cache.h"

#include <algorithm>
#include <cstring>

#include "core/bind_error.h"
#include "core/convert.h"
#include "core/module_state.h"
#include "core/tensor_state.h"

namespace kf::detail {
namespace {

using manifest::ArgumentKind;
using manifest::GradMode;
using manifest::SlotKind;

constexpr std::size_t max_block = 1024;  // bytes
constexpr std::size_t max_uses = 16;

/// What a launch uses, each allocation once.
struct Uses {
    std::array<driver::Use, max_uses> list;
    std::size_t count = 0;

    void add(const std::shared_ptr<driver::Allocation>& allocation, bool writes) {
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].allocation == allocation) {
                list[i].writes = list[i].writes || writes;
                return;
            }
        }
        list[count].allocation = allocation;
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

template <class T>
void put(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
}

/// The launch's parameters that aren't the same each time; false where one isn't known here.
bool note_parameters(const BindRequest& request, const Binding& binding, const LaunchKey& key,
                     const manifest::BlockLayout& layout, KnownLaunch& launch) {
    const auto& slots = request.manifest.kernels[static_cast<std::size_t>(binding.kernel)].slots;
    const auto address = [&](std::size_t i, LaunchKey::Part part, const CallView& bound, std::int64_t at) {
        const std::size_t view = LaunchKey::index(i, part);
        if (bound.address != 0) {
            launch.addresses.push_back({view, static_cast<std::size_t>(at)});
        }
        // An output that was allocated has no view in the key.
        return bound.address == 0 || binding.arguments[i].allocate || bound.address == key.view(view).address;
    };
    for (std::size_t s = 0; s < slots.size(); ++s) {
        const auto i = static_cast<std::size_t>(std::max<std::int64_t>(0, slots[s].argument));
        const std::int64_t at = layout.offsets[s];
        switch (slots[s].kind) {
            case SlotKind::value:
                launch.values.push_back(
                    {i, static_cast<std::size_t>(at), element_type(request.call.arguments[i].element)});
                break;
            case SlotKind::address:
                if (!address(i, LaunchKey::data, binding.arguments[i].data, at)) return false;
                break;
            case SlotKind::grad_in:
                if (!address(i, LaunchKey::grad_in, binding.arguments[i].grad_in, at)) return false;
                break;
            case SlotKind::grad_out:
                if (!address(i, LaunchKey::grad_out, binding.arguments[i].grad_out, at)) return false;
                break;
            case SlotKind::total:
            case SlotKind::groups:
            case SlotKind::shape:
            case SlotKind::step:
            case SlotKind::stride:
            case SlotKind::trailing_stride:
            case SlotKind::extent:
            case SlotKind::grad_in_stride:
            case SlotKind::grad_in_trailing_stride:
            case SlotKind::grad_out_stride:
            case SlotKind::grad_out_trailing_stride:
            case SlotKind::grad_mode:
            case SlotKind::scratch:
            case SlotKind::scratch_count:
            case SlotKind::scratch_stride:
            case SlotKind::counter: break;
            default: return false;
        }
    }
    return true;
}

/// As the binder checks aliasing, and as invoke() notes uses.
void note_uses(const BindRequest& request, const Binding& binding, KnownLaunch& launch) {
    for (std::size_t i = 0; i < request.arguments.size(); ++i) {
        const manifest::Argument& argument = request.call.arguments[i];
        const BoundArgument& bound = binding.arguments[i];
        if (bound.allocate) {
            launch.outputs.push_back({i, element_type(argument.element), bound.allocate_shape});
        }
        if (request.arguments[i].kind != Arg::Kind::tensor) {
            continue;
        }
        const bool forward = request.pass == PassKind::forward;
        if (reads_data(argument, request.pass)) {
            launch.uses.push_back({LaunchKey::index(i, LaunchKey::data), forward && writes_data(argument)});
        }
        if (bound.grad_in.present) {
            launch.uses.push_back({LaunchKey::index(i, LaunchKey::grad_in), false});
        }
        if (bound.mode != GradMode::none) {
            launch.uses.push_back({LaunchKey::index(i, LaunchKey::grad_out), true});
        }
    }
}

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

bool LaunchKey::take(std::span<const Arg> arguments, PassKind pass) {
    if (arguments.size() > max_arguments) {
        return false;
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
                if (arg.gradient != nullptr || arg.out_value != nullptr || !add(3)) return false;
                break;
            case Arg::Kind::tensor: {
                const ElementType& element = arg.tensor->state()->element;
                if (!add(4 | (static_cast<std::uint64_t>(element.scalar) << 8U) |
                         (std::uint64_t{element.rank} << 16U))) {
                    return false;
                }
                for (std::size_t k = 0; k < element.rank; ++k) {
                    if (!add(static_cast<std::uint64_t>(element.extents[k]))) return false;
                }
                if (!add_view(*arg.tensor, views_[index(i, data)])) return false;
                if (pass == PassKind::backward &&
                    (!add_view(arg.tensor->state()->grad_in, views_[index(i, grad_in)]) ||
                     !add_view(arg.tensor->state()->grad_out, views_[index(i, grad_out)]))) {
                    return false;
                }
                break;
            }
            default: return false;
        }
    }
    return true;
}

LaunchCache::LaunchCache(const manifest::Manifest& manifest) {
    for (const manifest::Function& function : manifest.functions) {
        auto& calls = slots_.emplace_back();
        for (std::size_t i = 0; i < function.calls.size(); ++i) {
            calls.push_back({std::make_unique<Slot>(), std::make_unique<Slot>()});
        }
    }
}

LaunchCache::Slot* LaunchCache::find(const FunctionRef& function, std::size_t call, PassKind pass) {
    if (function.function >= slots_.size() || call >= slots_[function.function].size()) {
        return nullptr;
    }
    return slots_[function.function][call][pass == PassKind::forward ? 0 : 1].get();
}

bool LaunchCache::launch(const ModuleState& module, const FunctionRef& function, std::size_t call,
                         PassKind pass, const LaunchKey& key, std::span<Arg> arguments, const Device* on) {
    Slot* slot = find(function, call, pass);
    if (slot == nullptr) {
        return false;
    }
    std::shared_ptr<const KnownLaunch> known;
    {
        const std::lock_guard lock(slot->mutex);
        for (const std::shared_ptr<const KnownLaunch>& launch : slot->launches) {
            if (launch != nullptr && std::ranges::equal(launch->key, key.words())) {
                known = launch;
                break;
            }
        }
    }
    const DeviceState& own = *module.device().state();
    DeviceState& device = on == nullptr ? *module.device().state() : *on->state();
    if (known == nullptr || !device.is_same(own) || !are_apart(key, known->uses)) {
        return false;
    }
    for (const Arg& arg : arguments) {
        if (arg.kind == Arg::Kind::tensor && !arg.tensor->state()->device->is_same(own)) {
            return false;
        }
    }
    Uses uses;
    for (const KnownLaunch::Use& use : known->uses) {
        uses.add(*key.view(use.view).allocation, use.writes);
    }
    std::array<std::byte, max_block> block;
    std::ranges::copy(known->block, block.begin());
    for (const KnownLaunch::Address& address : known->addresses) {
        put(block.data() + address.offset, key.view(address.view).address);
    }
    for (const KnownLaunch::Value& value : known->values) {
        put_value(value.element, arguments[value.argument].value, block.data() + value.offset);
    }
    for (const KnownLaunch::Output& output : known->outputs) {
        AnyTensor made = make_tensor(module.device().state(), device, output.element, output.shape);
        for (const KnownLaunch::Address& address : known->addresses) {
            if (address.view == LaunchKey::index(output.argument, LaunchKey::data)) {
                put(block.data() + address.offset, made.address());
            }
        }
        uses.add(made.state()->allocation, true);
        arguments[output.argument].allocated = std::move(made);
    }
    device.driver().dispatch({known->kernel, known->groups, std::span(block).first(known->block.size()),
                              std::span(uses.list).first(uses.count)});
    return true;
}

void LaunchCache::remember(const FunctionRef& function, std::size_t call, const BindRequest& request,
                           const Binding& binding, const LaunchKey& key,
                           std::shared_ptr<driver::Kernel> kernel, std::span<const std::byte> block,
                           const manifest::BlockLayout& layout) {
    Slot* slot = find(function, call, request.pass);
    if (slot == nullptr || block.size() > max_block || binding.temporary.size != 0 ||
        key.arguments().size() != request.call.arguments.size()) {
        return;
    }
    for (std::size_t i = 0; i < request.call.arguments.size(); ++i) {
        const manifest::Argument& argument = request.call.arguments[i];
        const bool plain = argument.kind == ArgumentKind::value || argument.kind == ArgumentKind::tensor;
        if (!plain || argument.overwrite) {
            return;
        }
    }
    auto launch = std::make_shared<KnownLaunch>();
    if (!note_parameters(request, binding, key, layout, *launch)) {
        return;
    }
    note_uses(request, binding, *launch);
    if (launch->uses.size() + launch->outputs.size() > max_uses || !are_apart(key, launch->uses)) {
        return;
    }
    launch->key.assign(key.words().begin(), key.words().end());
    launch->kernel = std::move(kernel);
    launch->groups = binding.groups;
    launch->block.assign(block.begin(), block.end());
    const std::lock_guard lock(slot->mutex);
    slot->launches[slot->next] = std::move(launch);
    slot->next = (slot->next + 1) % kept;
}

}  // namespace kf::detail
