// A spec's modules with differences in place of their own backward derivatives.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/options.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// Where a module takes a derivative that isn't put to the test, and why.
struct UntestedDerivative {
    std::string function;  ///< "lit" of bwd_diff(lit)
    Location location;
    std::string why;
};

struct DifferenceProbe {
    std::map<std::string, std::string> sources;  ///< those that are changed, by their paths
    std::vector<UntestedDerivative> untested;
    Diagnostics errors;  ///< faults of kfgen's own
};

/// Each `bwd_diff(f)` becomes a function that takes the same arguments and finds the gradients of f by
/// central differences. `factor` is that of the steps, of which 1 suits the parameters' types. f is a
/// function of the modules' own that has one overload and isn't generic, takes numbers and vectors of them,
/// and gives its result back as its value; others are named as untested.
DifferenceProbe difference_probe(const Module& module, double factor);

/// The artifacts of the spec's calls with such differences, by steps of the factors 1, 1/2 and 1/4; their
/// calls are those of the spec's own artifact. None where no module takes a derivative, or where Slang
/// refuses them, which `failure` says.
struct DifferenceArtifacts {
    std::vector<std::vector<std::byte>> artifacts;
    std::vector<UntestedDerivative> untested;
    std::string failure;
};
/// "bwd_diff(lit) at scene.slang:12: it is generic"
std::vector<std::string> untested_texts(const DifferenceArtifacts& made);
DifferenceArtifacts difference_artifacts(const Spec& spec, const Options& options);

}  // namespace kf::gen
