// Declarations with which kernels hand a tensor to the function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slang/module.h"

namespace kf::gen {

/// Slang expressions for one kf.View.
struct TensorView {
    std::string address;      ///< a pointer; empty: the view is of nothing
    std::string offset;       ///< of the call's tensor, scalars; empty for none
    std::int64_t before = 0;  ///< bytes of the element before what `address` points to
    std::vector<std::string> extents;
    std::vector<std::string> strides;  ///< scalars
    std::int64_t scalar_bytes = 4;
};

/// "{ uint64_t(…), { … }, { … } }"
std::string view_initializer(const TensorView& view);

/// Row-major strides over `extents` of elements of that many scalars.
std::vector<std::string> dense_inner_strides(const std::vector<std::string>& extents,
                                             std::int64_t element_scalars);

/// The names of the views that a tensor is made of; empty where there is none.
struct TensorViews {
    std::string data;
    std::string grad_in;
    std::string grad_out;
    std::string apart = "0, 0, 0";  ///< of sums that lie apart from the gradient: see kf.Sum
    std::string is_shared;          ///< whether calls have the same elements of the gradient; empty for no
};

/// Initialises the struct of kf.slang's, or kf_views.slang's, that the tensor's type is. A backward pass runs
/// the function's stores again: `writable` is false there.
std::string tensor_initializer(const Type& type, const TensorViews& views, bool writable);

}  // namespace kf::gen
