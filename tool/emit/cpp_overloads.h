// The signatures of the generated C++, as templates of kf/overload.h make member functions of them.
#pragma once

#include <string>
#include <vector>

#include "emit/cpp_methods.h"

namespace kf::gen {

/// One kf::Overload: a member function, the one that records the same where their signatures are one, or
/// either alone.
struct CppOverload {
    std::size_t call = 0;
    std::string head;                     ///< "kf::Overload<0, float("
    std::vector<std::string> parameters;  ///< "kf::ScalarArg<float> a"
    std::string tail;                     ///< "), kf::CallOnly>"
};

/// The overloads of one part of a function, in the order of its methods.
std::vector<CppOverload> cpp_overloads(const std::vector<CppMethod>& methods, CppPart part);

}  // namespace kf::gen
