// Copies inout parameters at a function's end.
#include "slang/workarounds/inout_constants.h"

#include "slang/workarounds/value_copies.h"

namespace kf::gen {

constinit const Workaround inout_constants{
    .name = "inout constants",
    .fault = "passes the gradient of an inout parameter that ends as a constant on to its first value",
    .report = "",
    .record = "decisions/0032-scalars-under-another-name.md",
    .since = {},
    .change_text = [](ModuleText& text) { copy_values(text, CopiedValues::at_ends); },
};

}  // namespace kf::gen
