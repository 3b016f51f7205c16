// Copies structs and arrays behind calls.
#include "slang/workarounds/written_values.h"

#include "slang/workarounds/value_copies.h"

namespace kf::gen {

constinit const Workaround written_values{
    .name = "written values",
    .fault =
        "stores what flows from a loop into a struct or array that a call has written, instead of adding up",
    .report = "",
    .record = "decisions/0032-scalars-under-another-name.md",
    .since = {},
    .change_text = [](ModuleText& text) { copy_values(text, CopiedValues::behind_calls); },
};

}  // namespace kf::gen
