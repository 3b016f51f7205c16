// Keys of compiled kernels: their own text, and the parts of the sources that they may depend on.
#pragma once

#include <map>
#include <string>
#include <string_view>
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
    std::string environment_;
    std::map<CodeTarget, PartGraph> programs_;
};

}  // namespace kf::gen
