// Raises the limits of nested loops.
#include "slang/workarounds/nested_loops.h"

#include "slang/workarounds/loops.h"

namespace kf::gen {

constinit const Workaround nested_loops{
    .name = "nested loops",
    .fault =
        "keeps the values of nested loops in arrays whose extents are in the opposite order of its indices",
    .report = "shader-slang/slang#13000",
    .record = "decisions/0034-loops-for-slang.md",
    .since = {},
    .change_text = raise_loop_limits,
};

}  // namespace kf::gen
