// Errors of the rules that hold in every manifest.
#pragma once

#include <kf/error.h>

#include <string>

namespace kf::artifact {

[[noreturn]] inline void fail(const std::string& where, const std::string& what) {
    throw ArtifactError(ErrorCode::artifact_corrupt, "the artifact is inconsistent: " + where + ": " + what +
                                                         "; generate it again with kfgen");
}

inline void require(bool holds, const std::string& where, const char* what) {
    if (!holds) {
        fail(where, what);
    }
}

}  // namespace kf::artifact
