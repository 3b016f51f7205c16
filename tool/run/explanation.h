// The text of `kfgen explain`: a function's kernels, and what each compiler made of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/options.h"
#include "diagnostic/diagnostic.h"
#include "run/generate.h"
#include "spec/spec.h"

namespace kf::gen {

/// The numbers of the kernels that the options ask for, ascending. Variants, ways to accumulate and forward
/// derivatives of the function are the function's. Error: "explain-unknown".
Outcome<std::vector<std::int64_t>> chosen_kernels(const Plan& plan, const KernelSet& kernels,
                                                  const Options& options);

/// The overloads with their kernels, and of each kernel that was made what the options ask for.
std::string explanation(const MadeKernels& made, const ExplainOptions& options);

/// The kernels are made as `kfgen generate` makes them, as far as what is asked for needs that.
Outcome<std::string> explain(const Spec& spec, const Options& options,
                             const OpenCuda& open_cuda = open_installed_cuda);

}  // namespace kf::gen
