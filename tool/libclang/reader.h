// Reads the user's own C++ headers: the types in them, by libclang.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "libclang/cpp_type.h"

namespace kf::gen {

/// A type to read, and where the spec asks for it.
struct CppRequest {
    std::string header;  ///< as an #include names it
    std::string type;    ///< as C++ names it, "app::Pair<float>"
    Location header_location = {};
    Location type_location = {};
};

struct CppReading {
    std::vector<CppType> types;                ///< one for each request
    std::vector<std::filesystem::path> files;  ///< that were read, but for the system's headers
};

/// C++ headers behind one narrow interface, so that the other stages can be tested without libclang.
class CppReader {
public:
    virtual ~CppReader() = default;
    /// `options`: the C++ compiler's, such as "-Iinclude", "-DWIDE", "--target=aarch64-linux-gnu". The
    /// compiler's own errors come back as diagnostics with their places. Error: "cpp-header".
    [[nodiscard]] virtual Outcome<CppReading> read(const std::vector<CppRequest>& requests,
                                                   const std::vector<std::string>& options) const = 0;
};

/// Returns the reader by libclang, which is opened here, from the system or from `site_packages`. Error:
/// "libclang-missing" (also where kfgen was built without libclang's header).
Outcome<std::shared_ptr<const CppReader>> open_libclang(const std::filesystem::path& site_packages = {});

}  // namespace kf::gen
