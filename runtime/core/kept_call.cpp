// Calls that are bound once and run often.
#include "core/kept_call.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/bind_error.h"
#include "core/bind_parts.h"
#include "core/convert.h"
#include "core/encoder_state.h"
#include "core/enum_values.h"
#include "core/host_scalars.h"
#include "core/join.h"
#include "core/kinds/binding.h"
#include "core/module_state.h"
#include "core/sampler_state.h"
#include "core/texture_rules.h"

namespace kf::detail {
namespace {

using manifest::Argument;
using manifest::Record;
using manifest::RecordKind;

/// Whether a record holds what the host gave for its argument, and nothing else.
bool holds_value(const Record& record) {
    switch (record.kind) {
        case RecordKind::value:
        case RecordKind::grid:
        case RecordKind::hash:
        case RecordKind::random:
        case RecordKind::pointer: return true;
        default: return false;
    }
}

/// The name that set() takes: a global's as functions' own set() has it.
std::string_view settable_name(const Argument& argument) {
    std::string_view name = argument.name;
    if (manifest::is_global(name)) name.remove_prefix(manifest::global_prefix.size());
    return name;
}

/// Returns whether an argument becomes a resource beside the block.
bool is_resource(const Argument& argument) { return passes_texture(argument) || passes_sampler(argument); }

/// Returns whether runs may have different values of an argument.
bool is_settable(const Argument& argument) {
    if (is_resource(argument)) return true;
    if (manifest::is_only_written(argument.role) || !has_host_value(argument)) return false;
    const Arg::Kind given = given_as(argument);
    return given == Arg::Kind::value || given == Arg::Kind::generator;
}

/// Returns where among the call's resources that of an argument is.
std::size_t resource_index(const manifest::Call& call, std::size_t leaf) {
    const auto found = std::ranges::find(call.resources, static_cast<std::int64_t>(leaf));
    return static_cast<std::size_t>(found - call.resources.begin());
}

std::optional<std::size_t> look_up(const manifest::Call& call, std::string_view name) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Argument& argument = call.arguments[i];
        if (argument.name == name) return i;
        if (settable_name(argument) == name) found = i;
    }
    return found;
}

}  // namespace

const manifest::Function& KeptCall::function() const {
    return settled_.function.module->manifest().functions[settled_.function.function];
}

const std::shared_ptr<DeviceState>& KeptCall::device() const {
    return settled_.function.module->device().state();
}

const manifest::Kernel& KeptCall::kernel() const {
    return settled_.function.module->manifest().kernels[static_cast<std::size_t>(settled_.binding.kernel)];
}

const manifest::BlockLayout& KeptCall::layout() const {
    return settled_.function.module->layout(static_cast<std::size_t>(settled_.binding.kernel));
}

BindRequest KeptCall::request(std::span<const ArgumentView> views) const {
    return {settled_.function.module->manifest(), function(), call(), settled_.pass, views, nullptr, {}};
}

void KeptCall::run(const DeviceState& on) {
    driver::Device& driver = on.driver();
    if (&on != device().get() && !on.is_same(*device())) {
        throw ArgumentError(ErrorCode::device_mismatch,
                            function().name + ": the stream is of another device than the call");
    }
    driver.check_replay();
    driver.admit();
    const std::lock_guard lock(mutex_);
    const auto launching = on.launching();
    if (Observers* const observers = on.observers(); observers != nullptr) {
        observers->run(driver, observed_now(), [&](LaunchMarks& marks) {
            marks.mark_begin(driver);
            log_.run(driver);
            marks.mark_end(driver);
        });
        return;
    }
    log_.run(driver);
}

ObservedCalls KeptCall::observed_now() const {
    ObservedCalls calls = settled_.hooked;
    calls.push_back(std::make_shared<const ObservedCall>(*settled_.observed));
    return calls;
}

ObservedCalls KeptCall::observed() {
    const std::lock_guard lock(mutex_);
    return observed_now();
}

void KeptCall::append_to(driver::Recorder& recorder) {
    const std::lock_guard lock(mutex_);
    log_.replay(recorder);
}

void KeptCall::append_as_it_is(driver::Recorder& recorder) {
    const auto lies_in_memory = [](const BoundArgument& bound) { return bound.value_at >= 0; };
    if (launches() && std::ranges::any_of(settled_.binding.arguments, lies_in_memory)) {
        copy()->append_to(recorder);
    } else {
        append_to(recorder);
    }
}

std::shared_ptr<KeptCall> KeptCall::copy() {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<KeptCall>(settled_, log_);
    made->settled_.observed = std::make_shared<ObservedCall>(*settled_.observed);
    if (settled_.temporary != nullptr && launches()) {
        made->move_temporary(device()->allocate(settled_.temporary->size));
    }
    return made;
}

/// What is in it comes along: values that kernels read there, and zeros.
void KeptCall::move_temporary(const std::shared_ptr<driver::Allocation>& to) {
    const std::shared_ptr<driver::Allocation> from = std::exchange(settled_.temporary, to);
    device()->driver().copy(to, 0, from, 0, static_cast<std::uint64_t>(settled_.binding.temporary.size));
    log_.exchange(from, to);
    const std::span<std::byte> block = log_.last_block();
    const std::vector<Record>& records = kernel().records;
    for (std::size_t r = 0; r < records.size(); ++r) {
        if (!holds_value(records[r])) {
            pack_again(records[r], settled_.binding, to->address, block.data() + layout().offsets[r]);
        }
    }
}

/// What the call made is what it returns.
bool KeptCall::can_set(std::size_t leaf) const {
    return is_settable(call().arguments[leaf]) && !settled_.binding.arguments[leaf].allocate;
}

std::string KeptCall::settable_text() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < call().arguments.size(); ++i) {
        if (can_set(i)) names.push_back("'" + std::string(settable_name(call().arguments[i])) + "'");
    }
    return names.empty() ? "no values" : join(names, " and ");
}

bool KeptCall::writes(const driver::Allocation& memory) const {
    const std::lock_guard lock(mutex_);
    return log_.writes(memory);
}

bool KeptCall::writes(const driver::Image& image) const {
    const std::lock_guard lock(mutex_);
    // Hooks may have recorded dispatches, of which it is not known what they only read.
    if (log_.takes_writable(image)) return true;
    for (std::size_t i = 0; i < settled_.textures.size(); ++i) {
        const AnyTexture& texture = settled_.textures[i];
        if (texture && texture.state()->image.get() == &image && writes_elements(call().arguments[i]))
            return true;
    }
    return false;
}

CommandLog& KeptCalls::between() {
    if (between_.empty() || between_.back().calls != calls_.size()) between_.push_back({calls_.size(), {}});
    return between_.back().log;
}

bool has_settable(const KeptCall& call, std::string_view name) {
    return look_up(call.call(), name).has_value();
}

std::size_t find_settable(const KeptCall& call, std::string_view name) {
    const std::optional<std::size_t> found = look_up(call.call(), name);
    if (!found) {
        throw ArgumentError(ErrorCode::unknown_name, call.function().name + ": set: no value '" +
                                                         std::string(name) + "'; it has " +
                                                         call.settable_text());
    }
    call.check_settable(*found);
    return *found;
}

void KeptCall::check_settable(std::size_t leaf) const {
    if (can_set(leaf)) return;
    const Argument& argument = call().arguments[leaf];
    const std::string others = "; what can be set: " + settable_text();
    if (is_resource(argument)) {
        fail(request({}), leaf, ErrorCode::type_mismatch,
             "set: it is the texture that the call made when it was prepared, and returns: prepare the call "
             "with a texture for it, and others can be set" +
                 others);
    }
    const bool output = manifest::is_only_written(argument.role);
    fail(request({}), leaf, ErrorCode::type_mismatch,
         std::string("set: ") + (output ? "an output" : "what it reads in memory") +
             " is settled when the call is prepared: write to that memory, or prepare another call" + others);
}

void KeptCall::check_one(const Change& change) const {
    check_settable(change.leaf);
    const BindRequest all = request(views_);
    check_changed(all, change.leaf, settled_.binding);
    const Argument& argument = call().arguments[change.leaf];
    if (!argument.members.empty() && change.arg.kind == Arg::Kind::value)
        check_enum_value(function().name, argument, static_cast<const std::byte*>(change.arg.value),
                         packed_strides(argument));
    // A whole texture takes no part in the call's shape.
    if (is_resource(argument) && flat_extents(argument, views_[change.leaf]).empty()) return;
    const Dims& extents = views_[change.leaf].data.extents;
    if (const Dims& known = settled_.extents[change.leaf]; !(extents == known)) {
        fail(all, change.leaf, ErrorCode::shape_mismatch,
             "set: it has shape " + to_string(extents) + ", and the call was prepared for " +
                 to_string(known) + ": prepare another one");
    }
}

driver::Resource KeptCall::resource_of(const Change& change) const {
    DeviceState& on = *device();
    const Argument& argument = call().arguments[change.leaf];
    const ArgumentView& view = views_[change.leaf];
    if (passes_sampler(argument)) return driver::SamplerBinding{sampler_on(*view.sampler, on)};
    const TextureState& state = *view.texture->state();
    if (!state.device->is_same(on)) {
        fail(request({}), change.leaf, ErrorCode::device_mismatch,
             "set: the texture " + on_other_device(view.texture->device(), on));
    }
    const TextureRules rules = texture_rules(argument).value();
    std::shared_ptr<driver::Sampler> sampler;
    if (rules.is_combined) sampler = sampler_on(*view.sampler, on);
    return driver::ImageBinding{state.image, rules.range(state), std::move(sampler)};
}

/// Makes the resources of what changes, and lets the driver check them in a list of commands that never runs.
void KeptCall::check_resources(std::span<Change> changes) const {
    std::vector<driver::Resource> resources;
    for (Change& change : changes) {
        if (!is_resource(call().arguments[change.leaf])) continue;
        change.resource = resource_of(change);
        if (!launches()) continue;
        if (resources.empty())
            std::ranges::copy(log_.last_dispatch().resources, std::back_inserter(resources));
        resources[resource_index(call(), change.leaf)] = *change.resource;
    }
    if (resources.empty()) return;
    check_textures_apart(request(views_));
    driver::Dispatch dispatch = log_.last_dispatch();
    dispatch.resources = resources;
    device()->driver().make_recorder()->dispatch(dispatch);
}

void KeptCall::put_resource(Change& change) {
    if (change.arg.texture != nullptr) {
        change.replaced = std::exchange(settled_.textures[change.leaf], *change.arg.texture);
    }
    if (launches()) {
        log_.set_last_resource(resource_index(call(), change.leaf), std::move(*change.resource));
    }
}

void KeptCall::put(const Change& change) {
    const Argument& argument = call().arguments[change.leaf];
    if (is_uploaded(argument)) {
        const std::int64_t at = settled_.binding.arguments[change.leaf].value_at;
        if (at < 0) return;
        const std::size_t size = element_type(argument.element).size();
        device()->driver().upload(settled_.temporary, static_cast<std::uint64_t>(at),
                                  {static_cast<const std::byte*>(change.arg.value), size});
        return;
    }
    const std::span<std::byte> block = log_.last_block();
    const std::vector<Record>& records = kernel().records;
    for (std::size_t r = 0; r < records.size(); ++r) {
        if (records[r].argument == static_cast<std::int64_t>(change.leaf) && holds_value(records[r])) {
            pack_record(argument, records[r], change.arg.value, block.data() + layout().offsets[r]);
        }
    }
}

std::unique_lock<std::mutex> KeptCall::check(std::span<Change> changes) {
    std::unique_lock lock(mutex_);
    views_.resize(call().arguments.size());
    for (std::size_t i = 0; i < settled_.textures.size(); ++i) {
        views_[i].texture = settled_.textures[i] ? &settled_.textures[i] : nullptr;
    }
    for (const Change& change : changes) {
        ArgumentView& view = views_[change.leaf];
        view.kind = change.arg.kind;
        view.data.extents = {};
        view.data.strides = {};
        view.texture = nullptr;
        view.sampler = nullptr;
        read_given(call().arguments[change.leaf], change.arg, view);
        check_one(change);
    }
    check_resources(changes);
    return lock;
}

void KeptCall::set(std::span<Change> changes, const std::unique_lock<std::mutex>& /*lock*/) {
    bool binds = false;
    for (Change& change : changes) {
        if (change.resource) {
            put_resource(change);
            binds = true;
        } else if (launches()) {
            put(change);
        }
        settled_.observed->exchange(change.leaf, change.arg);
    }
    if (!launches()) return;
    version_.fetch_add(1, std::memory_order_release);
    if (binds) resources_version_.fetch_add(1, std::memory_order_release);
}

}  // namespace kf::detail
