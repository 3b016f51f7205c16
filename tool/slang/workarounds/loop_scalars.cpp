// Renames scalars behind loops.
#include "slang/workarounds/loop_scalars.h"

#include "slang/workarounds/scalar_renames.h"

namespace kf::gen {

constinit const Workaround loop_scalars{
    .name = "loop scalars",
    .fault =
        "uses another iteration's value of a scalar that meets a vector behind the loop that computes it",
    .report = "shader-slang/slang#12071",
    .record = "decisions/0032-scalars-under-another-name.md",
    .since = {},
    .fixed = SlangVersion{2026, 16},
    .change_text = [](ModuleText& text) { rename_scalars(text, RenamedScalars::behind_loops); },
};

}  // namespace kf::gen
