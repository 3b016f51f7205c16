// Parameters with default values, which the spec and the host may leave out.
#pragma once

#include <string>
#include <vector>

#include "plan/overloads.h"
#include "slang/module.h"
#include "spec/spec.h"

namespace kf::gen {

/// The functions that the call means when it leaves out their last parameters, which have default values:
/// without these parameters.
std::vector<Function> with_defaults(const CallSpec& call, const Module& module,
                                    const std::vector<Function>& shared);

/// An overload without its last parameters, and a call that lists the kinds of those that are left.
struct ShorterCall {
    CallSpec call;
    Function function;
};

/// The overload as hosts call it that leave out the last arguments, one more each time, since it has default
/// values for them. A call with derivatives has no such.
std::vector<ShorterCall> shorter_calls(const CallSpec& call, const Fit& fit);

/// Returns another of the module's functions that a call could mean which leaves these arguments out, since
/// it takes as many of the same types, or has default values for the rest; null where there is none.
const Function* find_rival(const Function& shorter, const Module& module);

/// An overload that leaves arguments out, planned.
struct ShorterOverload {
    PlannedCall planned;
    std::string name;        ///< on the host
    std::string function;    ///< with all its parameters and where it is declared, for messages
    std::string rival = {};  ///< another function that Slang could mean by such a call; empty: none
};

/// Adds the overloads that leave arguments out, but for those that hosts would call as they call one of the
/// plan's. Where they, or Slang, could mean several functions it adds none of these, and returns
/// warnings: "default-ambiguous".
Diagnostics add_shorter(Plan& plan, std::vector<ShorterOverload> overloads);

}  // namespace kf::gen
