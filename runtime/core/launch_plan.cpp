// What launching a call's contiguous kernel takes, as far as it doesn't depend on what is given.
#include "core/launch_plan.h"

#include <algorithm>

#include "core/bind_error.h"
#include "core/bind_layout.h"
#include "core/bind_parts.h"
#include "core/convert.h"
#include "core/generator_rules.h"
#include "core/kinds/questions.h"
#include "core/launch_size.h"
#include "core/pass_rules.h"
#include "core/roles.h"

namespace kf::detail {
namespace {

using manifest::Accumulate;
using manifest::Argument;
using manifest::Call;
using manifest::Gradient;
using manifest::Record;
using manifest::RecordKind;

/// Bytes from a record's address to what follows it: an argument's step, a gradient's mode, the count of
/// sums.
constexpr std::uint32_t behind_address = 8;

class PlanMaker {
public:
    PlanMaker(const manifest::Manifest& manifest, const Call& call, PassKind pass, bool deterministic)
        : manifest_(manifest), call_(call), pass_(pass), deterministic_(deterministic) {}

    LaunchPlan make(const std::vector<const manifest::BlockLayout*>& layouts) {
        const manifest::Pass& exact = pass_kernels(call_, pass_, true);
        const manifest::Pass& plain = pass_kernels(call_, pass_, false);
        plan_.exact = exact.is_built() && (deterministic_ || !plain.is_built());
        plan_.stores = !plan_.exact;
        const std::int64_t kernel = (plan_.exact ? exact : plain).contiguous;
        plan_.usable = kernel >= 0 && add_call() && add_items() &&
                       add_records(static_cast<std::size_t>(kernel), layouts);
        return std::move(plan_);
    }

private:
    bool add_call() {
        const bool has_pass = pass_ == PassKind::backward ? call_.has_backward
                              : pass_ == PassKind::fused  ? call_.has_fused
                                                          : true;
        plan_.rank = static_cast<std::size_t>(call_.rank);
        plan_.feeds = (std::uint32_t{1} << plan_.rank) - 1;
        plan_.strict = call_.strict_broadcasting;
        return has_pass && call_.dispatch == manifest::Dispatch::elements && plan_.rank <= 8 &&
               call_.items.size() <= LaunchPlan::max_items;
    }

    bool add_items() {
        item_of_leaf_.resize(call_.arguments.size());
        for (const manifest::Item& item : call_.items) {
            const auto first = static_cast<std::size_t>(item.leaf);
            const auto leaves = static_cast<std::size_t>(item.leaves);
            std::fill_n(item_of_leaf_.begin() + item.leaf, leaves, plan_.items.size());
            LaunchPlan::Item& made = plan_.items.emplace_back();
            made.leaf = first;
            made.is_whole = item.form != manifest::Form::leaf;
            for (std::size_t i = first; i < first + leaves; ++i) {
                if (!add_leaf(call_.arguments[i], i, made)) return false;
            }
            if (made.is_whole) {
                made.element = ElementType{};
                made.element.struct_size = static_cast<std::uint32_t>(item.size);
                made.unaligned = 0;
            }
        }
        list_items();
        return true;
    }

    void list_items() {
        for (const bool outputs : {false, true}) {
            for (std::size_t i = 0; i < plan_.items.size(); ++i) {
                const LaunchPlan::Item& item = plan_.items[i];
                if (item.is_output == outputs) plan_.order.push_back(static_cast<std::uint8_t>(i));
            }
        }
        for (std::size_t i = 0; i < plan_.items.size(); ++i) {
            LaunchPlan::Item& item = plan_.items[i];
            item.bytes =
                static_cast<std::uint32_t>(static_cast<std::size_t>(item.inner) * item.element.size());
            item.is_plain = item.rank == plan_.rank && item.call_rank == plan_.rank;
            for (std::size_t k = 0; k < plan_.rank && item.is_plain; ++k) {
                item.is_plain = item.map[k] == static_cast<std::uint8_t>(k);
            }
            if (item.given == LaunchPlan::Given::tensor)
                plan_.tensors.push_back(static_cast<std::uint8_t>(i));
            const bool combines = item.is_combined && runs_forward(pass_);
            plan_.combines = plan_.combines || combines;
        }
    }

    /// Adds what an argument says of the item that it is, or is a field of.
    bool add_leaf(const Argument& argument, std::size_t i, LaunchPlan::Item& item) {
        const bool is_first = i == item.leaf;
        const Argument& first = call_.arguments[item.leaf];
        if (argument.tangent_of >= 0 || is_pushed(argument) || argument.accumulate == Accumulate::first ||
            argument.role != first.role || argument.accumulate != first.accumulate ||
            argument.kind.index() != first.kind.index() || argument.rank > 8) {
            return false;
        }
        if (item.is_whole != (argument.pitch != 0) && passes_tensor(argument)) return false;
        if (item.is_whole && (argument.overwrite || argument.call_rank != argument.rank ||
                              argument.call_rank != first.call_rank || argument.map != first.map)) {
            return false;
        }
        item.element = element_type(argument.element);
        return std::visit([&](const auto& kind) { return add_kind(kind, argument, is_first, item); },
                          argument.kind);
    }

    template <class Kind>
    static bool add_kind(const Kind&, const Argument&, bool, LaunchPlan::Item&) {
        return false;
    }
    static bool add_kind(const manifest::kinds::Constant&, const Argument&, bool, LaunchPlan::Item& item) {
        item.given = LaunchPlan::Given::nothing;
        return !item.is_whole;
    }
    bool add_kind(const manifest::kinds::Value&, const Argument& argument, bool,
                  LaunchPlan::Item& item) const {
        item.given = LaunchPlan::Given::value;
        const bool required = runs_backward(pass_) && argument.gradient == Gradient::required;
        return lies_in_block(argument) && argument.call_rank == 0 && !required;
    }
    bool add_kind(const manifest::kinds::Generator& kind, const Argument& argument, bool,
                  LaunchPlan::Item& item) {
        if (item.is_whole) return false;
        if (!has_host_value(argument)) {
            plan_.counters.push_back({&kind, &argument});
            return true;
        }
        item.given = LaunchPlan::Given::generator;
        item.generator = &kind;
        item.rank = item.call_rank = static_cast<std::uint8_t>(argument.call_rank);
        return add_map(argument, item);
    }
    bool add_kind(const manifest::kinds::Texture& kind, const Argument& argument, bool,
                  LaunchPlan::Item& item) {
        item.given = LaunchPlan::Given::texture;
        item.texture = rules_of(kind);
        item.is_output = is_output(argument);
        item.rank = item.call_rank = static_cast<std::uint8_t>(argument.call_rank);
        plan_.writes_textures = plan_.writes_textures || item.texture.is_written;
        return !item.is_whole && add_map(argument, item);
    }
    static bool add_kind(const manifest::kinds::Sampler& kind, const Argument&, bool,
                         LaunchPlan::Item& item) {
        item.given = LaunchPlan::Given::sampler;
        item.is_comparison = kind.is_comparison;
        return !item.is_whole;
    }
    bool add_kind(const manifest::kinds::Tensor&, const Argument& argument, bool is_first,
                  LaunchPlan::Item& item) {
        if (argument.call_rank > argument.rank || !add_map(argument, item)) return false;
        item.given = LaunchPlan::Given::tensor;
        item.is_output = is_output(argument);
        item.is_combined = is_combined(argument);
        // What is read can't be absent.
        item.is_made = item.is_output && !is_input(argument) && runs_forward(pass_);
        item.may_be_absent = item.is_output && !is_input(argument) && !runs_forward(pass_);
        item.touches_data = touches_elements(argument, pass_);
        item.stores_data = stores_elements(argument, pass_);
        item.reads_gradient = item.reads_gradient || reads_gradient(argument, pass_);
        const bool wanted = runs_backward(pass_) && is_input(argument) &&
                            argument.gradient != Gradient::never &&
                            !(runs_forward(pass_) && item.is_combined);
        item.takes_gradient = item.takes_gradient || wanted;
        item.needs_gradient = item.needs_gradient || (wanted && argument.gradient == Gradient::required);
        item.overwrites = wanted && argument.overwrite;
        item.must_be_packed =
            item.must_be_packed || requires_contiguous(argument) || (item.is_combined && runs_forward(pass_));
        if (argument.accumulate == Accumulate::none ||
            (deterministic_ && !plan_.exact && is_floating(argument.element.scalar))) {
            item.may_be_shared = false;
        }
        item.rank = static_cast<std::uint8_t>(argument.rank);
        item.call_rank = static_cast<std::uint8_t>(argument.call_rank);
        if (is_first) add_trailing(argument, item);
        return true;
    }

    bool add_map(const Argument& argument, LaunchPlan::Item& item) const {
        if (argument.map.size() > item.map.size()) return false;
        item.from.fill(-1);
        item.feeds = 0;
        for (std::size_t k = 0; k < argument.map.size(); ++k) {
            const std::int64_t d = argument.map[k];
            if (d < 0 || d >= call_.rank) return false;
            item.map[k] = static_cast<std::uint8_t>(d);
            item.from[static_cast<std::size_t>(d)] = static_cast<std::int16_t>(k);
            item.feeds |= std::uint32_t{1} << static_cast<unsigned>(d);
        }
        return true;
    }

    static void add_trailing(const Argument& argument, LaunchPlan::Item& item) {
        const auto own = static_cast<std::size_t>(argument.rank - argument.call_rank);
        for (std::size_t k = 0; k < own; ++k) {
            item.trailing[k] = argument.trailing[k];
            item.inner *= argument.trailing[k];
        }
        const std::int64_t bytes =
            manifest::scalar_bytes(argument.element.scalar) * element_scalars(argument);
        item.unaligned = static_cast<std::uint8_t>(std::min<std::int64_t>(16, bytes & -bytes) - 1);
    }

    bool add_records(std::size_t index, const std::vector<const manifest::BlockLayout*>& layouts) {
        const manifest::Kernel& kernel = manifest_.kernels[index];
        const manifest::BlockLayout& layout = *layouts[index];
        plan_.kernel = index;
        plan_.threads = threads_of(kernel);
        plan_.calls_per_thread = kernel.calls_per_thread;
        plan_.takes_textures = takes_textures(kernel);
        plan_.block_size = static_cast<std::size_t>(layout.size);
        bool has_launch = false;
        for (std::size_t r = 0; r < kernel.records.size(); ++r) {
            has_launch = has_launch || kernel.records[r].kind == RecordKind::launch;
            if (!add_record(kernel.records[r], static_cast<std::uint32_t>(layout.offsets[r]),
                            static_cast<std::uint32_t>(r))) {
                return false;
            }
        }
        const bool counts = plan_.counter_at.has_value();
        return has_launch && add_resources() && plan_.block_size <= LaunchPlan::max_block &&
               (counts ? has_sums_ : plan_.sums.empty());
    }

    /// Textures and samplers alone.
    bool add_resources() {
        for (const std::int64_t argument : call_.resources) {
            const std::size_t item = item_of_leaf_[static_cast<std::size_t>(argument)];
            const LaunchPlan::Given given = plan_.items[item].given;
            if (given != LaunchPlan::Given::texture && given != LaunchPlan::Given::sampler) return false;
            plan_.resources.push_back(static_cast<std::uint8_t>(item));
        }
        return true;
    }

    bool add_record(const Record& record, std::uint32_t at, std::uint32_t index) {
        if (record.argument < 0) return add_call_record(record, at);
        const auto leaf = static_cast<std::size_t>(record.argument);
        const Argument& argument = call_.arguments[leaf];
        const auto item = static_cast<std::uint16_t>(item_of_leaf_[leaf]);
        const bool is_tensor = plan_.items[item].given == LaunchPlan::Given::tensor;
        const auto field = static_cast<std::uint64_t>(argument.offset);
        switch (record.kind) {
            case RecordKind::value: {
                const ElementType element = element_type(argument.element);
                plan_.values.push_back({at, item, copied_bytes(element), field, element});
                return true;
            }
            case RecordKind::data:
                plan_.addresses.push_back({at, item, LaunchPlan::data, field});
                if (record.flagged) plan_.steps.push_back({at + behind_address, item});
                return is_tensor && record.numbers() == 0;
            case RecordKind::step: plan_.steps.push_back({at, item}); return is_tensor;
            case RecordKind::grad_in:
                plan_.addresses.push_back({at, item, LaunchPlan::grad_in, field});
                return is_tensor && record.numbers() == 0;
            case RecordKind::grad_out: return add_gradient(record, at, item, argument);
            case RecordKind::sums: return add_sum(record, at, item, argument);
            case RecordKind::strides: return add_texels(record, at, item);
            case RecordKind::grid:
            case RecordKind::hash:
            case RecordKind::random: plan_.generated.push_back({at, item, index}); return true;
            default: return false;
        }
    }

    bool add_texels(const Record& record, std::uint32_t at, std::uint16_t item) {
        LaunchPlan::Texels& texels = plan_.texels.emplace_back();
        texels.at = at;
        texels.item = item;
        for (const std::int64_t d : record.dimensions)
            texels.dimensions.push_back(static_cast<std::uint8_t>(d));
        return plan_.items[item].given == LaunchPlan::Given::texture;
    }

    bool add_call_record(const Record& record, std::uint32_t at) {
        switch (record.kind) {
            case RecordKind::launch: plan_.launch_at = at; return true;
            case RecordKind::shape:
                plan_.shape_at = at;
                for (std::size_t d = 0; d < record.dimensions.size(); ++d) {
                    if (record.dimensions[d] != static_cast<std::int64_t>(d)) return false;
                }
                return record.dimensions.size() == plan_.rank && record.trailing == 0;
            case RecordKind::counter: plan_.counter_at = at; return true;
            default: return false;
        }
    }

    bool add_gradient(const Record& record, std::uint32_t at, std::uint16_t item, const Argument& argument) {
        // A value's is none: values with gradients aren't planned.
        if (plan_.items[item].given == LaunchPlan::Given::value) return true;
        const bool combined = plan_.items[item].is_combined && runs_forward(pass_);
        const bool adds = combined || argument.gradient != Gradient::never;
        if (adds) {
            plan_.addresses.push_back({at, item, combined ? LaunchPlan::data : LaunchPlan::grad_out,
                                       static_cast<std::uint64_t>(argument.offset)});
            if (record.flagged) plan_.modes.push_back({at + behind_address, item});
        }
        return record.numbers() == 0;
    }

    bool add_sum(const Record& record, std::uint32_t at, std::uint16_t item, const Argument& argument) {
        has_sums_ = true;
        if (plan_.items[item].given == LaunchPlan::Given::value) return true;
        const bool exact = plan_.exact && is_floating(argument.element.scalar);
        const std::int64_t bytes = exact ? 8 * manifest::exact_words(argument.element.scalar) : 4;
        const bool of_outputs = plan_.items[item].is_combined && runs_forward(pass_);
        plan_.sums.push_back({at, item, of_outputs, element_scalars(argument), bytes});
        return record.numbers() == 0 && is_in_order(record.argument);
    }

    /// Temporary memory is in the arguments' order.
    bool is_in_order(std::int64_t argument) {
        const bool ordered = argument > last_sum_;
        last_sum_ = argument;
        return ordered;
    }

    /// What put_value() copies as it is.
    static std::uint32_t copied_bytes(const ElementType& element) {
        switch (element.scalar) {
            case ScalarType::boolean:
            case ScalarType::int8:
            case ScalarType::int16:
            case ScalarType::uint8:
            case ScalarType::uint16:
            case ScalarType::float16: return 0;
            default: return static_cast<std::uint32_t>(element.size());
        }
    }

    const manifest::Manifest& manifest_;
    const Call& call_;
    PassKind pass_;
    bool deterministic_;
    LaunchPlan plan_;
    std::vector<std::size_t> item_of_leaf_;
    std::int64_t last_sum_ = -1;
    bool has_sums_ = false;
};

}  // namespace

LaunchPlan make_launch_plan(const manifest::Manifest& manifest,
                            const std::vector<const manifest::BlockLayout*>& layouts,
                            const manifest::Call& call, PassKind pass, bool deterministic) {
    return PlanMaker(manifest, call, pass, deterministic).make(layouts);
}

LaunchPlans::LaunchPlans(const manifest::Manifest& manifest,
                         const std::vector<const manifest::BlockLayout*>& layouts)
    : manifest_(manifest), layouts_(layouts) {
    calls_.reserve(manifest.functions.size());
    for (const manifest::Function& function : manifest.functions) {
        calls_.emplace_back(function.calls.size());
    }
}

LaunchPlans::~LaunchPlans() {
    for (std::vector<Plans>& calls : calls_) {
        for (Plans& plans : calls) {
            for (std::atomic<const LaunchPlan*>& plan : plans) delete plan.load(std::memory_order_relaxed);
        }
    }
}

const LaunchPlan* LaunchPlans::make(std::size_t function, std::size_t call, PassKind pass,
                                    bool deterministic) const {
    auto made = std::make_unique<const LaunchPlan>(make_launch_plan(
        manifest_, layouts_, manifest_.functions[function].calls[call], pass, deterministic));
    const std::size_t index = 2 * static_cast<std::size_t>(pass) + (deterministic ? 1 : 0);
    std::atomic<const LaunchPlan*>& place = calls_[function][call][index];
    const LaunchPlan* known = nullptr;
    // Two threads may make it: both have what the first of them kept.
    return place.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? made.release()
                                                                                       : known;
}

}  // namespace kf::detail
