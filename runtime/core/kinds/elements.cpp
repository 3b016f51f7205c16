// What the kinds have in common for which the host passes elements: values and tensors.
#include "core/kinds/elements.h"

#include <numeric>
#include <vector>

#include "core/block_records.h"
#include "core/consistency.h"
#include "core/kinds/questions.h"

namespace kf::manifest::kinds {

using artifact::require;

namespace {

class ElementRecords {
public:
    ElementRecords(const Argument& argument, std::int64_t index, std::int64_t inner_strides, RecordList& list)
        : argument_(argument), index_(index), inner_strides_(inner_strides), list_(list) {}

    void add() {
        const PassKind pass = list_.use().pass;
        if (argument_.tangent_of >= 0 && !argument_.differentiable && argument_.role == Role::in) return;
        const bool leads = leader_of(list_.call(), index_, Part::data, false) == index_;
        const bool leads_gradient = leader_of(list_.call(), index_, Part::gradient, false) == index_;
        if (leads && argument_.inner_rank > 0) {
            list_.add({RecordKind::extents, index_, {}, argument_.inner_rank});
        }
        if (leads && touches_data(argument_, pass)) add_data();
        const bool combined =
            is_combined(argument_) && (reads_gradient(argument_, pass) || writes_gradient(argument_, pass));
        if (combined && is_stepped()) list_.add({RecordKind::step, index_});
        // They say which calls share an element; a gradient that flows in may be missing, or a broadcast
        // view.
        if (takes_first(argument_, pass) && !writes_gradient(argument_, pass) && list_.is_strided() &&
            !argument_.map.empty()) {
            list_.add({RecordKind::strides, index_, list_.strided(argument_.map)});
        }
        if (leads_gradient && reads_gradient(argument_, pass)) {
            list_.add({RecordKind::grad_in, index_, list_.strided(argument_.map), trailing()});
        }
        const bool sums = needs_scratch(argument_, pass, list_.use().exact);
        if (!writes_gradient(argument_, pass) || !(leads_gradient || sums)) return;
        std::vector<std::int64_t> along = argument_.map;
        if (is_pushed(argument_)) {
            along.resize(static_cast<std::size_t>(list_.call().rank));
            std::iota(along.begin(), along.end(), 0);
        }
        list_.add(
            {RecordKind::grad_out, index_, list_.strided(along), trailing(), !has_free_access(argument_)});
        if (sums) list_.add({RecordKind::sums, index_, list_.strided(argument_.map)});
    }

private:
    void add_data() {
        if (lies_in_block(argument_)) return list_.add({RecordKind::value, index_});
        list_.add({RecordKind::data, index_, list_.strided(argument_.map), trailing(),
                   argument_.role == Role::in && is_stepped()});
    }

    /// Returns whether the kernel is told if calls share the element.
    [[nodiscard]] bool is_stepped() const {
        return (list_.has_rows() || !list_.is_strided()) && has_step(argument_);
    }

    /// Returns how many strides it is told along the argument's own dimensions.
    [[nodiscard]] std::int64_t trailing() const {
        const bool apart = list_.is_strided() && !list_.has_rows() && !has_free_access(argument_);
        return inner_strides_ + (apart ? static_cast<std::int64_t>(argument_.trailing.size()) : 0);
    }

    const Argument& argument_;
    std::int64_t index_;
    std::int64_t inner_strides_;
    RecordList& list_;
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

void list_element_records(const Argument& argument, std::int64_t index, std::int64_t inner_strides,
                          RecordList& list) {
    ElementRecords(argument, index, inner_strides, list).add();
}

}  // namespace kf::manifest::kinds
