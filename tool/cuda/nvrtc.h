// NVIDIA's runtime compiler, opened when it is first needed: CUDA source in, cubin or PTX out.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// The result of one compilation for a real architecture ("sm_90"); neither code is empty.
struct CudaCode {
    std::string cubin;
    std::string ptx;
    std::string log = {};  ///< what ptxas says of registers and memory
};

struct CudaProgram {
    std::string name;          ///< what errors call it
    std::string prelude = {};  ///< that `text` stands behind: the same for many programs
    std::string text = {};
};

/// Thread-safe: programs are compiled independently of each other.
class CudaCompiler {
public:
    virtual ~CudaCompiler() = default;
    /// "13.0"
    [[nodiscard]] virtual std::string version() const = 0;
    /// The real architectures that it compiles for, oldest first: "sm_75", …
    [[nodiscard]] virtual std::vector<std::string> architectures() const = 0;
    /// Error: "cuda-compile", with the lines of the compiler's own log as notes, where those about `text`
    /// begin with "kernel.cu(". `precompiled`: what precompile() wrote of this prelude for this architecture
    /// in this process; empty: none. The code is the same with and without.
    [[nodiscard]] virtual Outcome<CudaCode> compile(const CudaProgram& program,
                                                    const std::string& architecture,
                                                    const std::string& precompiled) const = 0;
    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program,
                                            const std::string& architecture) const {
        return compile(program, architecture, {});
    }
    /// Writes `file`, so that compile() need not read the prelude again; false where this compiler can't.
    [[nodiscard]] virtual bool precompile(const std::string& prelude, const std::string& architecture,
                                          const std::string& file) const = 0;
    /// Returns the errors in a source that holds no kernels, and so comes to no code; nothing where it
    /// compiles. Errors as compile()'s.
    [[nodiscard]] virtual Diagnostics check(const std::string& source,
                                            const std::string& architecture) const = 0;
    /// Returns a text that differs from that of other builds of the compiler's version.
    [[nodiscard]] virtual std::string build() const = 0;
    /// The files that make up the compiler: inputs of every run.
    [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
    /// The headers that a source may include, CUDA's and modules', and those that they may, sorted.
    [[nodiscard]] virtual std::vector<std::filesystem::path> headers(const std::string& source) const = 0;
};

/// Where NVRTC and CUDA's headers are looked for, best first.
struct CudaSearch {
    std::vector<std::filesystem::path> library_folders;
    std::vector<std::filesystem::path> include_folders;
    std::vector<std::string> library_names;  ///< when no folder has it: left to the system's own search
    std::vector<std::filesystem::path> source_folders =
        {};  ///< of headers that modules' own CUDA code includes
};

/// The nvidia-cuda-nvrtc and nvidia-cuda-runtime wheels in `site_packages`, and nothing else.
CudaSearch wheel_cuda_search(const std::filesystem::path& site_packages);

/// CUDA_PATH and CUDA_HOME, the wheels in `site_packages` (where Slang's own wheel lies; may be empty),
/// /usr/local/cuda, the system's own search.
CudaSearch default_cuda_search(const std::filesystem::path& site_packages);

/// Opens libnvrtc from the first place that has it. Error: "nvrtc-missing", with what to install.
Outcome<std::shared_ptr<const CudaCompiler>> open_nvrtc(const CudaSearch& search);

}  // namespace kf::gen
