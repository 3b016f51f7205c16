// Which kernels a plan needs.
#include "kernels/collect.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/choose_constants.h"
#include "core/interface.h"
#include "core/join.h"
#include "core/sha256.h"
#include "emit/block.h"
#include "emit/kinds/questions.h"
#include "plan/group_extents.h"

namespace kf::gen {

namespace {

using manifest::Variant;

/// A call without tensors has nothing to stride through, but for values batched over their components;
/// tensor parameters have their strides in every kernel.
bool has_strides(const PlannedCall& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(),
                       [](const PlannedArgument& argument) { return moves_along_calls(argument.host); });
}

/// A tensor of its own for each call: its place takes the call's index along each dimension.
bool has_batches(const PlannedCall& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(), [](const PlannedArgument& argument) {
        return supply_of(argument.host) == Supply::view && argument.host.call_rank > 0;
    });
}

bool needs_no_strides(const PlannedCall& call) {
    return std::all_of(call.arguments.begin(), call.arguments.end(), [](const PlannedArgument& argument) {
        return is_found_without_strides(argument.host);
    });
}

/// Contiguous kernels read all gradients before they write one, so that inputs which share a gradient need
/// the other kernel.
bool may_add_twice(const PlannedCall& call, PassKind pass) {
    return 1 <
           std::count_if(call.arguments.begin(), call.arguments.end(), [&](const PlannedArgument& argument) {
               return passes_tensor(argument.host) && supply_of(argument.host) == Supply::memory &&
                      writes_gradient(argument.host, pass);
           });
}

/// Outputs that are sums, whose last bits would depend on the order.
bool has_sums(const PlannedCall& call) {
    return std::any_of(call.arguments.begin(), call.arguments.end(), [](const PlannedArgument& argument) {
        return needs_scratch(argument.host, PassKind::forward, Sums::exact);
    });
}

/// Which of the calls that share an element is the first one shows in their indices.
bool has_first(const PlannedCall& call, PassKind pass) {
    return call.rank > 0 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), [&](const PlannedArgument& argument) {
               return takes_first(argument.host, pass) ||
                      (writes_gradient(argument.host, pass) &&
                       argument.host.accumulate == manifest::Accumulate::first);
           });
}

std::string interface_of(const KernelUnit& unit, const PlannedCall& planned) {
    manifest::Call call;
    call.dispatch = planned.dispatch;
    for (const PlannedArgument& argument : planned.arguments) call.arguments.push_back(argument.host);
    manifest::Kernel kernel;
    kernel.variant = unit.variant;
    kernel.group_size = unit.group_size;
    kernel.calls_per_thread = unit.sources.begin()->second.calls_per_thread;
    kernel.records = unit.sources.begin()->second.records;
    kernel.resources = unit.sources.begin()->second.resources;
    return manifest::interface_of(call, kernel, unit.exact);
}

class Collector {
public:
    Collector(const Plan& plan, const std::vector<CodeTarget>& targets) : plan_(plan), targets_(targets) {}

    Outcome<KernelSet> collect() {
        for (const PlannedFunction& function : plan_.functions) {
            std::vector<CallKernels>& kernels = set_.calls.emplace_back();
            for (const PlannedCall& call : function.calls) {
                CallKernels& one = kernels.emplace_back();
                const Determinism wish = call.deterministic;
                const bool sums = has_sums(call);
                if (!sums || wish != Determinism::always) one.forward = collect_pass(call, PassKind::forward);
                if (sums) one.forward_deterministic = collect_pass(call, PassKind::forward, Sums::exact);
                if (call.has_backward && wish != Determinism::always)
                    one.backward = collect_pass(call, PassKind::backward);
                if (call.has_backward && wish != Determinism::never)
                    one.deterministic = collect_pass(call, PassKind::backward, Sums::exact);
                if (call.has_fused && wish != Determinism::always)
                    one.fused = collect_pass(call, PassKind::fused);
                if (call.has_fused && wish != Determinism::never)
                    one.fused_deterministic = collect_pass(call, PassKind::fused, Sums::exact);
            }
        }
        add_chosen();
        if (!errors_.empty()) return errors_;
        return std::move(set_);
    }

private:
    manifest::Pass collect_pass(const PlannedCall& call, PassKind pass, Sums sums = Sums::fast) {
        manifest::Pass indices;
        const bool batches = has_batches(call);
        if (!batches) indices.contiguous = add({plan_, call, pass, Variant::contiguous, {}, sums});
        const bool has_layouts = batches || (has_strides(call) && !needs_no_strides(call));
        if (has_layouts || may_add_twice(call, pass) || has_first(call, pass))
            indices.strided = add({plan_, call, pass, Variant::strided, {}, sums});
        // Which call it is doesn't show in a row.
        if (has_layouts && can_walk_rows(call, pass) && !call.reports())
            indices.rows = add({plan_, call, pass, Variant::rows, {}, sums});
        return indices;
    }

    /// CUDA knows no constants that are set when code is loaded: it has code for each combination.
    void add_chosen() {
        for (const Choosable& one : choosable_) {
            const LinkTime& link = one.request.call.link;
            for (const std::vector<std::string>& values : link.combinations()) {
                PlannedCall call = one.request.call;
                const manifest::GroupExtents extents = std::exchange(call.group_extents, {});
                call.link = link.with(values);
                if (!extents.empty()) {
                    const auto size = detail::group_size_with(extents, values);
                    // The runtime refuses the combination.
                    if (!manifest::is_possible_group(size)) continue;
                    std::transform(size.begin(), size.end(), call.group_size.begin(),
                                   [](std::int64_t extent) { return static_cast<std::uint32_t>(extent); });
                }
                KernelRequest request{
                    plan_,           call, one.request.pass, one.request.variant, CodeTarget::cuda_source,
                    one.request.sums};
                Outcome<EmittedKernel> emitted = emit_kernel(request);
                if (!emitted) {
                    add_distinct(errors_, emitted.errors());
                    continue;
                }
                KernelUnit unit = set_.units.at(one.unit);
                unit.sources.clear();
                unit.group_size = call.group_size;
                unit.group_extents.clear();
                unit.chosen_of = static_cast<std::int64_t>(one.unit);
                unit.chosen = values;
                unit.name += " (" + join(values) + ")";
                unit.source_hash =
                    hex_digest(emitted.value().source.text + emitted.value().source.code_text());
                unit.sources.emplace(CodeTarget::cuda_source, std::move(emitted.value()));
                set_.units.push_back(std::move(unit));
            }
        }
    }

    std::int64_t add(KernelRequest request) {
        KernelUnit unit;
        unit.group_extents = request.call.group_extents;
        unit.variant = request.variant;
        unit.group_size = request.call.group_size;
        unit.exact = request.sums == Sums::exact;
        std::string text;
        std::size_t codes = 0;
        for (const CodeTarget target : targets_) {
            request.target = target;
            Outcome<EmittedKernel> emitted = emit_kernel(request);
            if (!emitted) {
                add_distinct(errors_, emitted.errors());
                return -1;
            }
            text += emitted.value().source.text;
            unit.name = emitted.value().name;
            const std::string code = emitted.value().source.code_text();
            codes = codes * 31 + std::hash<std::string>()(code);
            text += code;
            unit.sources.emplace(target, std::move(emitted.value()));
        }
        unit.interface = interface_of(unit, request.call);
        std::vector<std::size_t>& alike = by_codes_[codes];
        const auto known = std::find_if(alike.begin(), alike.end(), [&](std::size_t other) {
            return same_kernel(unit, set_.units[other]);
        });
        if (known != alike.end()) return static_cast<std::int64_t>(*known);
        alike.push_back(set_.units.size());
        unit.source_hash = hex_digest(text);
        if (unit.sources.contains(CodeTarget::cuda_source) && !request.call.link.kept().empty())
            choosable_.push_back({request, set_.units.size()});
        set_.units.push_back(std::move(unit));
        return static_cast<std::int64_t>(set_.units.size()) - 1;
    }

    /// A unit that run time chooses constants of, and what it was made for.
    struct Choosable {
        KernelRequest request;
        std::size_t unit = 0;
    };

    /// Places in the spec differ between calls that share a kernel; the first one's stays.
    static bool same_kernel(const KernelUnit& a, const KernelUnit& b) {
        return a.variant == b.variant && a.group_size == b.group_size && a.interface == b.interface &&
               std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), b.sources.end(),
                          [](const auto& left, const auto& right) {
                              return left.second.source.code_text() == right.second.source.code_text() &&
                                     left.second.records == right.second.records &&
                                     left.second.resources == right.second.resources;
                          });
    }

    const Plan& plan_;
    const std::vector<CodeTarget>& targets_;
    KernelSet set_;
    std::vector<Choosable> choosable_;
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_codes_;  ///< units, by a hash of their code
    Diagnostics errors_;
};

}  // namespace

std::vector<std::int64_t> CallKernels::kernels() const {
    std::vector<std::int64_t> indices;
    for (const manifest::Pass& pass :
         {forward, forward_deterministic, backward, deterministic, fused, fused_deterministic}) {
        for (const auto& [variant, index] : pass.kernels())
            if (index >= 0) indices.push_back(index);
    }
    return indices;
}

Outcome<KernelSet> collect_kernels(const Plan& plan, const std::vector<CodeTarget>& targets) {
    return Collector(plan, targets).collect();
}

}  // namespace kf::gen
