// Text of loops over the scalars of a matrix or an array.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kf::gen {

/// A statement inside of the loops; `extents`: of the element.
std::string loop_over(const std::vector<std::int64_t>& extents, const std::string& statement);

/// The scalar that the loops are at: the outer loops are over the arrays of structs on the way, [].
std::string subscripted(const std::string& place, const std::vector<std::int64_t>& extents);

/// " + kf_i0 * 3 + kf_i1": how far from the element's start that scalar is.
std::string along(const std::vector<std::string>& strides);

/// Returns the strides of an element whose scalars lie without gaps.
std::vector<std::string> dense_strides(const std::vector<std::int64_t>& extents);

/// "kf_call * 3"; without what changes nothing.
std::string times(const std::string& index, std::int64_t count);

}  // namespace kf::gen
