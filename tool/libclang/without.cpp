// Stands in for the reader in a kfgen that was built without libclang's header.
#include "libclang/reader.h"

namespace kf::gen {

Outcome<std::shared_ptr<const CppReader>> open_libclang(const std::filesystem::path& /*site_packages*/) {
    return Diagnostic{Severity::error,
                      "libclang-missing",
                      {},
                      "\"structs\" need libclang, and this kfgen was built without it",
                      {"install libclang-dev (LLVM 14 or newer) and build kfgen again"}};
}

}  // namespace kf::gen
