// Calls that are bound once and run often.
#include "core/kept_call.h"

#include <algorithm>
#include <cstring>

#include "core/bind_error.h"
#include "core/convert.h"
#include "core/encoder_state.h"
#include "core/join.h"
#include "core/kinds/binding.h"
#include "core/module_state.h"

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
    log_.run(driver);
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
    if (settled_.temporary != nullptr && launches()) {
        made->move_temporary(device()->allocate(settled_.temporary->size));
    }
    return made;
}

/// What is in it comes along: values that kernels read there, and zeros.
void KeptCall::move_temporary(const std::shared_ptr<driver::Allocation>& to) {
    const std::shared_ptr<driver::Allocation> from = std::exchange(settled_.temporary, to);
    device()->driver().copy(to, 0, from, 0, from->size);
    log_.exchange(from, to);
    const std::span<std::byte> block = log_.last_block();
    const std::vector<Record>& records = kernel().records;
    for (std::size_t r = 0; r < records.size(); ++r) {
        if (!holds_value(records[r])) {
            pack_again(records[r], settled_.binding, to->address, block.data() + layout().offsets[r]);
        }
    }
}

bool is_settable(const Argument& argument) {
    if (manifest::is_only_written(argument.role) || !has_host_value(argument)) return false;
    const Arg::Kind given = given_as(argument);
    return given == Arg::Kind::value || given == Arg::Kind::generator;
}

std::string settable_text(const manifest::Call& call) {
    std::vector<std::string> names;
    for (const Argument& argument : call.arguments) {
        if (is_settable(argument)) names.push_back("'" + std::string(settable_name(argument)) + "'");
    }
    return names.empty() ? "no values" : join(names, " and ");
}

bool has_settable(const KeptCall& call, std::string_view name) {
    return look_up(call.call(), name).has_value();
}

std::size_t find_settable(const KeptCall& call, std::string_view name) {
    const std::optional<std::size_t> found = look_up(call.call(), name);
    if (!found) {
        throw ArgumentError(ErrorCode::unknown_name, call.function().name + ": set: no value '" +
                                                         std::string(name) + "'; it has " +
                                                         settable_text(call.call()));
    }
    call.check_settable(*found);
    return *found;
}

void KeptCall::check_settable(std::size_t leaf) const {
    const Argument& argument = call().arguments[leaf];
    if (is_settable(argument)) return;
    const bool output = manifest::is_only_written(argument.role);
    fail(request({}), leaf, ErrorCode::type_mismatch,
         std::string("set: ") + (output ? "an output" : "what it reads in memory") +
             " is settled when the call is prepared: write to that memory, or prepare another call; values "
             "can be set: " +
             settable_text(call()));
}

void KeptCall::check_one(const Change& change) const {
    check_settable(change.leaf);
    const BindRequest all = request(views_);
    check_changed(all, change.leaf, settled_.binding);
    const Dims& extents = views_[change.leaf].data.extents;
    if (const Dims& known = settled_.extents[change.leaf]; !(extents == known)) {
        fail(all, change.leaf, ErrorCode::shape_mismatch,
             "set: it has shape " + to_string(extents) + ", and the call was prepared for " +
                 to_string(known) + ": prepare another one");
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

void KeptCall::check(std::span<const Change> changes) {
    const std::lock_guard lock(mutex_);
    views_.resize(call().arguments.size());
    for (const Change& change : changes) {
        ArgumentView& view = views_[change.leaf];
        view.kind = change.arg.kind;
        view.data.extents = {};
        view.data.strides = {};
        read_given(call().arguments[change.leaf], change.arg, view);
        check_one(change);
    }
}

void KeptCall::set(std::span<const Change> changes) {
    if (!launches()) return;
    const std::lock_guard lock(mutex_);
    for (const Change& change : changes) put(change);
    version_.fetch_add(1, std::memory_order_release);
}

}  // namespace kf::detail
