// Images that are checked when they are first needed.
#include "core/checked_image.h"

#include <kf/error.h>

#include "core/sha256.h"

namespace kf::manifest {

SharedBytes checked_bytes(const Image& image, const std::string& kernel) {
    if (image.is_checked) return image.bytes;
    SharedBytes copy(image.bytes.copy());
    if (sha256(copy.span()) != image.sha256) {
        throw ArtifactError(
            ErrorCode::artifact_corrupt,
            "the " + image.format + " image of kernel '" + kernel +
                "' isn't what its SHA-256 says: the artifact was damaged, or changed after it "
                "was loaded; copy or generate it again");
    }
    return copy;
}

}  // namespace kf::manifest
