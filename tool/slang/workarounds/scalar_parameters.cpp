// Renames scalar parameters.
#include "slang/workarounds/scalar_parameters.h"

#include "slang/workarounds/scalar_renames.h"

namespace kf::gen {

constinit const Workaround scalar_parameters{
    .name = "scalar parameters",
    .fault = "loses the gradient of a scalar parameter that first meets a vector",
    .report = "shader-slang/slang#12071",
    .record = "decisions/0032-scalars-under-another-name.md",
    .since = {2026, 7},
    .fixed = SlangVersion{2026, 16},
    .change_text = [](ModuleText& text) { rename_scalars(text, RenamedScalars::parameters); },
};

}  // namespace kf::gen
