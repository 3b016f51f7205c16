// What compiled kernels are known by: their own text, and what of the sources they may depend on.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "slang/compiler.h"
#include "slang/source_parts.h"

namespace kf::gen {

class CodeKeys {
public:
    /// `environment`: the compiler and its options. `sources`: what Slang is given for each target.
    CodeKeys(std::string environment, const std::map<CodeTarget, std::vector<SourceFile>>& sources,
             const std::vector<std::pair<std::string, std::string>>& defines);

    /// The key of what is made of a kernel: in hexadecimal. `purpose`: of what, and how.
    [[nodiscard]] std::string key(CodeTarget target, const KernelSource& kernel,
                                  std::string_view purpose = {}) const;

private:
    /// One target's sources.
    struct Program {
        std::vector<SourcePart> parts;
        std::unordered_map<std::string, std::vector<std::size_t>> named;  ///< parts, by each of their names
        std::vector<bool> everywhere;  ///< parts that all kernels may depend on
    };

    static void add_reached(const Program& program, const std::vector<std::string>& uses,
                            std::vector<bool>& reached);

    std::string environment_;
    std::map<CodeTarget, Program> programs_;
};

}  // namespace kf::gen
