// A spec's modules with loops that end at their [MaxIters], as backward passes end them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "spec/spec.h"

namespace kf::gen {

/// A loop that may run more often than its [MaxIters] says.
struct ProbedLoop {
    Location location;
    std::string function;  ///< the one that it is in; empty where that has no name
    std::string limit;     ///< as written

    bool operator==(const ProbedLoop&) const = default;
};

/// Forward kernels take no notice of [MaxIters]: what they give changes where a loop that is ended at its
/// limit would go on. What it refers to must outlive it.
class LimitProbe {
public:
    /// `sources`: paths and texts of what the spec's artifact was made from.
    LimitProbe(const Spec& spec, const Options& options,
               const std::vector<std::pair<std::filesystem::path, std::string>>& sources);

    /// Returns the loops whose limit may be too small as far as the texts show, in the texts' order.
    [[nodiscard]] const std::vector<ProbedLoop>& loops() const { return loops_; }

    /// The texts that differ where the loops from number `begin` to before `end` end at their limits; all
    /// others end far beyond them, so that none runs for ever as another one ends early.
    [[nodiscard]] std::map<std::string, std::string> texts(std::size_t begin, std::size_t end) const;

    /// An artifact of these with no backward passes; empty where Slang refuses it. It has the spec's calls,
    /// or those that make the function of an artifact ("blend", "blend.accumulate(…)"); empty: all.
    [[nodiscard]] std::vector<std::byte> artifact(std::size_t begin, std::size_t end,
                                                  const std::string& function);
    /// Why an artifact could not be made; empty otherwise.
    [[nodiscard]] const std::string& failure() const { return failure_; }

private:
    const Spec& spec_;
    const Options& options_;
    std::map<std::string, std::string> sources_;  ///< those with such loops
    std::vector<ProbedLoop> loops_;
    std::string failure_;
};

}  // namespace kf::gen
