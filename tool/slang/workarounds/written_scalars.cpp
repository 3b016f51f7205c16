// Renames what calls write.
#include "slang/workarounds/written_scalars.h"

#include "slang/workarounds/scalar_renames.h"

namespace kf::gen {

constinit const Workaround written_scalars{
    .name = "written scalars",
    .fault = "stores what flows from a loop into a number that a call has written, instead of adding up",
    .report = "",
    .record = "decisions/0032-scalars-under-another-name.md",
    .since = {},
    .change_text = [](ModuleText& text) { rename_scalars(text, RenamedScalars::behind_calls); },
};

}  // namespace kf::gen
