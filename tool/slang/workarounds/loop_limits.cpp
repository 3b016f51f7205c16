// Puts static_asserts into loops.
#include "slang/workarounds/loop_limits.h"

#include "slang/workarounds/loops.h"

namespace kf::gen {

constinit const Workaround loop_limits{
    .name = "loop limits",
    .fault = "says nothing of a loop that runs more often than its [MaxIters], and has a wrong gradient",
    .report = "",
    .record = "decisions/0034-loops-for-slang.md",
    .since = {},
    .change_text = assert_loop_limits,
};

}  // namespace kf::gen
