// Makes for loops of while loops.
#include "slang/workarounds/while_loops.h"

#include "slang/workarounds/loops.h"

namespace kf::gen {

constinit const Workaround while_loops{
    .name = "while loops",
    .fault = "loses the last iteration of a while that is left from within, or crashes",
    .report = "",
    .record = "decisions/0034-loops-for-slang.md",
    .since = {},
    .change_text = replace_whiles,
};

}  // namespace kf::gen
