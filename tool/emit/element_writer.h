// Writes what a kernel says of one argument's element: how it is read and stored, for one call or a run of
// calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/argument_text.h"
#include "emit/kinds/questions.h"
#include "emit/render.h"
#include "emit/row_text.h"
#include "emit/run.h"

namespace kf::gen {

/// The strides of one of an argument's three tensors: its data, and the gradients in and out.
struct StrideKinds {
    manifest::SlotKind call;
    manifest::SlotKind trailing;
};
inline constexpr StrideKinds data_strides{manifest::SlotKind::stride, manifest::SlotKind::trailing_stride};
inline constexpr StrideKinds grad_in_strides{manifest::SlotKind::grad_in_stride,
                                             manifest::SlotKind::grad_in_trailing_stride};
inline constexpr StrideKinds grad_out_strides{manifest::SlotKind::grad_out_stride,
                                              manifest::SlotKind::grad_out_trailing_stride};

/// Fills the lists of statements; whoever derives from it orders the arguments.
class ElementWriter : protected ArgumentText {
protected:
    enum class Source : std::uint8_t { data, gradient };

    using ArgumentText::ArgumentText;

    [[nodiscard]] bool has_indices() const;
    /// Of a missing tangent that is 0: what is read of one that is there.
    [[nodiscard]] std::string if_there(const std::string& loaded, const std::string& type) const;

    /// Declares a local that holds the element and returns its name.
    std::string add_loaded(const std::string& qualifier, const std::string& name, Source source);
    MadeUse made_use() const;
    std::string add_made(const std::string& qualifier, const std::string& name);
    std::string load();
    /// An input of one element for all calls is loaded once, before the first.
    std::string in_shared_run();
    /// In a run of calls that lie in fours, of an argument that is moved in fours.
    bool moves_quads() const;
    /// Of a run's elements in memory that may be null; what they are then.
    std::string quads_or(const std::string& name, const std::string& address, const std::string& otherwise);
    std::string load_quads(const std::string& name, const std::string& address) const;
    void keep_quads(const std::string& name);
    std::string read_quads(const std::string& name, const std::string& read);
    std::string add_quads();
    /// The element at an index of a contiguous tensor.
    std::string load_contiguous(const std::string& index) const;
    RowText row_text(const std::string& scalar, const std::string& row);
    /// In kernels that walk rows, a run's elements are read together. `optional`: what may be null.
    std::string in_row(const std::string& name, const std::string& row, const std::string& optional);
    /// In runs, what is loaded is kept for the calls of the run and read back.
    std::string in_run(const std::string& name, const std::string& loaded);
    void keep(const std::string& type, const std::string& name);
    /// Whether a call is the first of those that share the element, by the strides of what they share.
    std::string is_first(manifest::SlotKind stride) const;
    /// Of what flows in: 0 for other calls than the one that gave the element.
    std::string of_first_call(const std::string& flowing, const std::string& type) const;
    std::string load_gradient();
    std::string load_scalar();
    std::string load_gradient_scalar();
    std::string load_from(manifest::SlotKind address, StrideKinds strides, const std::string& prefix);
    /// The scalar of a looped element that the loops are at.
    std::string scalar_at(manifest::SlotKind address, StrideKinds strides, const std::string& prefix);
    /// Where a scalar lies; strides, and so offsets, may be negative.
    void add_store(const std::string& local);
    void add_row_store(const std::string& local);
    /// Where the call's element starts, in scalars.
    std::string element_offset(StrideKinds strides, const std::string& prefix);
    /// In kernels that walk rows: the scalars from one call's element to the next.
    std::string step();
    /// Declares where the call's element lies, once, and returns the name.
    std::string add_offset(const std::string& name, manifest::SlotKind stride);
    /// `fill`: a statement after the declaration; empty for none.
    void add_local(const std::string& type, const std::string& name, const std::string& initial,
                   const std::string& fill = {});

    std::int64_t run_ = 1;  ///< calls at a time in the body being written
    Run whole_run_;         ///< the kernel's longest, and how its calls lie
    std::vector<std::string> offset_names_;
    View::List offsets_;
    View::List steps_;
    std::map<std::int64_t, View::List> row_offsets_;  ///< what an index along each dimension adds to
    std::vector<std::string> whole_rows_;
    View::List wholes_;  ///< of kernels that walk rows: what must hold to move runs whole
    View::List locals_;
    View::List stores_;
    View::List kept_;
    View::List shared_;
    View::List loads_;
    View::List run_loads_;
    View::List run_stores_;
    View::List results_;
};

}  // namespace kf::gen
