// Tables of constants in Slang's CUDA code.
#pragma once

#include <string>
#include <string_view>

namespace kf::gen {

/// Makes `static const FixedArray<Entry_0, 64>  t_0 = { Entry_0 {1.0f, int(2)}, … };` of a local table with
/// constants that is only read by its elements. Slang makes locals of tables whose elements are structs, and
/// each thread then stores all of one in its local memory before it reads an element.
std::string share_tables(std::string_view code);

}  // namespace kf::gen
