// What the kinds have in common for which the host passes elements: values and tensors.
#include "core/kinds/elements.h"

#include <numeric>
#include <vector>

#include "core/block_slots.h"
#include "core/consistency.h"
#include "core/kinds/questions.h"

namespace kf::manifest::kinds {

using artifact::require;

namespace {

class ElementSlots {
public:
    ElementSlots(const Argument& argument, std::int64_t index, std::int64_t inner_strides, SlotList& list)
        : argument_(argument), index_(index), inner_strides_(inner_strides), list_(list) {}

    void add() {
        const PassKind pass = list_.use().pass;
        if (argument_.tangent_of >= 0 && !argument_.differentiable && argument_.role == Role::in) return;
        const bool leads = leader_of(list_.call(), index_, Part::data, false) == index_;
        const bool leads_gradient = leader_of(list_.call(), index_, Part::gradient, false) == index_;
        for (std::int64_t d = 0; leads && d < argument_.inner_rank; ++d) {
            list_.add(SlotKind::extent, index_, d);
        }
        if (leads && touches_data(argument_, pass)) add_data();
        const bool combined =
            is_combined(argument_) && (reads_gradient(argument_, pass) || writes_gradient(argument_, pass));
        if (combined) add_step();
        // They say which calls share an element; a gradient that flows in may be missing, or a broadcast
        // view.
        if (takes_first(argument_, pass) && !writes_gradient(argument_, pass)) {
            list_.add_call_strides(argument_.map, index_, SlotKind::stride);
        }
        if (leads_gradient && reads_gradient(argument_, pass)) {
            list_.add(SlotKind::grad_in, index_);
            add_strides(argument_.map, SlotKind::grad_in_stride, SlotKind::grad_in_trailing_stride);
        }
        const bool scratch = needs_scratch(argument_, pass, list_.use().exact);
        if (!writes_gradient(argument_, pass) || !(leads_gradient || scratch)) return;
        list_.add(SlotKind::grad_out, index_);
        std::vector<std::int64_t> along = argument_.map;
        if (is_pushed(argument_)) {
            along.resize(static_cast<std::size_t>(list_.call().rank));
            std::iota(along.begin(), along.end(), 0);
        }
        add_strides(along, SlotKind::grad_out_stride, SlotKind::grad_out_trailing_stride);
        if (!has_free_access(argument_)) list_.add(SlotKind::grad_mode, index_);
        if (!scratch) return;
        list_.add(SlotKind::scratch, index_);
        list_.add(SlotKind::scratch_count, index_);
        for (std::size_t d = 0; list_.is_strided() && d < argument_.map.size(); ++d) {
            list_.add(SlotKind::scratch_stride, index_, argument_.map[d]);
        }
    }

private:
    void add_data() {
        if (lies_in_block(argument_)) return list_.add(SlotKind::value, index_);
        list_.add(SlotKind::address, index_);
        add_strides(argument_.map, SlotKind::stride, SlotKind::trailing_stride);
        if (argument_.role == Role::in) add_step();
    }

    void add_step() {
        if ((list_.has_rows() || !list_.is_strided()) && has_step(argument_)) {
            list_.add(SlotKind::step, index_);
        }
    }

    /// `call`: the kind of those along the call's dimensions; `trailing`: along the others.
    void add_strides(const std::vector<std::int64_t>& along, SlotKind call, SlotKind trailing) {
        for (std::int64_t d = 0; d < inner_strides_; ++d) list_.add(trailing, index_, d);
        list_.add_call_strides(along, index_, call);
        const bool apart = list_.is_strided() && !list_.has_rows() && !has_free_access(argument_);
        for (std::size_t d = 0; apart && d < argument_.trailing.size(); ++d) {
            list_.add(trailing, index_, static_cast<std::int64_t>(d));
        }
    }

    const Argument& argument_;
    std::int64_t index_;
    std::int64_t inner_strides_;
    SlotList& list_;
};

}  // namespace

void check_extents(const Argument& argument, const std::string& where) {
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + argument.element.extents.size();
    const std::size_t leading = argument.map.size() + static_cast<std::size_t>(argument.inner_rank);
    require(leading + argument.trailing.size() == dims, where,
            "call rank, inner rank and trailing extents don't add up");
    for (std::size_t i = 0; i < argument.element.extents.size(); ++i) {
        const std::size_t dimension = static_cast<std::size_t>(argument.rank) + i;
        require(dimension < leading || argument.trailing[dimension - leading] == argument.element.extents[i],
                where, "trailing extents that aren't the element's");
    }
}

std::string tensor_spec_text(const Argument& argument, const std::string& element) {
    return "tensor<" + element + ">[" + std::to_string(argument.rank) + "]";
}

std::int64_t element_extent(const Argument& argument, std::size_t k) {
    const auto rank = static_cast<std::size_t>(argument.rank);
    if (k < rank || k - rank >= argument.element.extents.size()) return 0;
    return argument.element.extents[k - rank];
}

void list_element_slots(const Argument& argument, std::int64_t index, std::int64_t inner_strides,
                        SlotList& list) {
    ElementSlots(argument, index, inner_strides, list).add();
}

}  // namespace kf::manifest::kinds
