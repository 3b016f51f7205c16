// Finds loops that ran more often than their [MaxIters] says, by what calls give where these loops end there.
#pragma once

#include <kf/module.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "check/differences.h"
#include "check/report.h"
#include "check/trial.h"

namespace kf::check {

/// The loops whose limits may be too small.
struct LimitedLoops {
    std::vector<PastLimit> loops;
    /// Returns an artifact of the same functions, or at least of the one of that name, in which the loops
    /// from number `begin` to before `end` end at their limits; empty where there can be none.
    std::function<std::vector<std::byte>(std::size_t begin, std::size_t end, const std::string& function)>
        artifact;
};

class LoopLimits {
public:
    /// `load` makes a module of an artifact, on the device of the trials.
    LoopLimits(const LimitedLoops& loops, std::function<Module(const std::vector<std::byte>&)> load);

    /// Adds those loops to the report without whose last iterations results change. Called after
    /// Trial::run(). Several loops may be named together, where none of them alone changes a result.
    void compare(const Trial& trial, const Precision& precision, CallReport& report);

private:
    using Range = std::pair<std::size_t, std::size_t>;
    struct Compared {
        const Trial& trial;
        const std::string& function;
        double epsilon = 0;
        std::vector<double> expected;
    };

    const Module* module(const Range& loops, const std::string& function);
    /// The call's outputs where loops end at their limits; nothing where they are what is expected.
    std::optional<std::vector<double>> other_outputs(const Compared& compared, const Range& loops);
    void find(const Compared& compared, const Range& loops, std::vector<Range>& found);

    const LimitedLoops& loops_;
    std::function<Module(const std::vector<std::byte>&)> load_;
    std::map<std::pair<std::string, Range>, std::optional<Module>> modules_;
};

}  // namespace kf::check
