// Writes what a kernel says of the gradients that flow out of one argument, and of outputs that calls are
// combined in.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emit/element_writer.h"

namespace kf::gen {

/// Fills the lists of what is added, and of the sums that the last group rounds.
class GradientWriter : protected ElementWriter {
protected:
    GradientWriter(const PlannedCall& call, PassKind pass, manifest::Variant variant,
                   std::vector<BlockField> fields, Sums sums)
        : ElementWriter(call, pass, variant, std::move(fields)), sums_(sums) {}

    /// The mode, for one call: where the first of those that share an element counts, others have none.
    std::string mode_of_call();
    /// `gradient`: where the call leaves it.
    void add_gradient(const std::string& gradient);
    /// `offset` and `shared_offset`: of the row in the gradient and among its sums.
    std::string add_row_gradient(const std::string& gradient, const std::string& offset,
                                 const std::string& shared_offset, std::string& finish);
    /// The last group walks the scratch in its dense order and finds each scalar's place in the gradient.
    void add_scratch(const std::vector<std::string>& own_strides);
    void add_call_dimensions(View::List& dimensions) const;
    /// Each gradient's sums are taken up by other subgroups, so that none waits for another's memory.
    [[nodiscard]] std::string scratch_start() const;
    /// Whether the gradient is that of an input before, which another thread may be adding to: it is the very
    /// same view then.
    View::List meeting();
    void add_scratch_walk(const View::List& dimensions, bool by_dimension);
    [[nodiscard]] bool is_exact() const { return sums_ == Sums::exact; }
    /// Of the argument that is selected.
    [[nodiscard]] bool sums_exactly() const { return is_summed_exactly(host(), sums_); }
    [[nodiscard]] std::string sum_type() const {
        return host().element.scalar == ScalarType::float64 ? "double" : "float";
    }
    [[nodiscard]] std::int64_t exact_words() const { return manifest::exact_words(host().element.scalar); }
    /// An offset in sums as one in what a sum is made of.
    [[nodiscard]] std::string in_words(const std::string& sums) const;

    Sums sums_;
    View::List row_gradients_;
    View::List adds_;
    View::List gradients_;
    View::List scratches_;
    std::vector<std::string> scratch_targets_;  ///< whose sums are taken up so far
};

}  // namespace kf::gen
