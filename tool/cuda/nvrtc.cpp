// NVRTC, opened when it is first needed.
#include "cuda/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>

#include "output/file_system.h"
#include "process/opened_library.h"
#include "slang/compiler.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

// NVRTC's C interface as its documentation states it, so that no CUDA header is needed to build kfgen.
using Program = void*;
constexpr int success = 0;

/// NVRTC has --create-pch and --use-pch from then on.
constexpr std::pair first_with_precompiled{12, 8};

/// The header that Slang's prelude includes for kernels with halves.
constexpr const char* fp16_header = "cuda_fp16.h";
constexpr const char* headers_missing =
    "CUDA's headers were not found: set CUDA_PATH, or `pip install nvidia-cuda-runtime` beside the wheel of "
    "kfgen or slangpy";

struct Functions {
    int (*version)(int*, int*) = nullptr;
    int (*architecture_count)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*destroy)(Program*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*ptx_size)(Program, std::size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    int (*cubin_size)(Program, std::size_t*) = nullptr;
    int (*cubin)(Program, char*) = nullptr;
    const char* (*error_text)(int) = nullptr;
};

bool find_all(void* library, Functions& f) {
    return find_function(library, "nvrtcVersion", f.version) &&
           find_function(library, "nvrtcGetNumSupportedArchs", f.architecture_count) &&
           find_function(library, "nvrtcGetSupportedArchs", f.architectures) &&
           find_function(library, "nvrtcCreateProgram", f.create) &&
           find_function(library, "nvrtcDestroyProgram", f.destroy) &&
           find_function(library, "nvrtcCompileProgram", f.compile) &&
           find_function(library, "nvrtcGetProgramLogSize", f.log_size) &&
           find_function(library, "nvrtcGetProgramLog", f.log) &&
           find_function(library, "nvrtcGetPTXSize", f.ptx_size) &&
           find_function(library, "nvrtcGetPTX", f.ptx) &&
           find_function(library, "nvrtcGetCUBINSize", f.cubin_size) &&
           find_function(library, "nvrtcGetCUBIN", f.cubin) &&
           find_function(library, "nvrtcGetErrorString", f.error_text);
}

/// Removes the zero that NVRTC counts as part of its texts.
std::string until_zero(std::string text) {
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        // NVRTC says that it uses what it was given.
        if (line.find("precompiled header file") != std::string::npos) continue;
        if (line.find_first_not_of(' ') != std::string::npos) lines.push_back(std::move(line));
    }
    return lines;
}

/// The names in a text's #include lines, whatever conditions they stand under.
std::vector<std::string> included_by(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        const std::size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') continue;
        const std::size_t word = line.find_first_not_of(" \t", hash + 1);
        if (word == std::string::npos || line.compare(word, 7, "include") != 0) continue;
        const std::size_t open = line.find_first_of("\"<", word);
        const std::size_t close = open == std::string::npos ? open : line.find_first_of("\">", open + 1);
        if (close != std::string::npos) names.push_back(line.substr(open + 1, close - open - 1));
    }
    return names;
}

/// Finds what a text includes in `folders`, or beside the file that includes it.
void add_headers(const std::string& text, std::vector<fs::path> folders, std::set<fs::path>& headers) {
    for (const std::string& name : included_by(text)) {
        for (const fs::path& folder : folders) {
            std::error_code failed;
            const fs::path file = (folder / name).lexically_normal();
            if (!fs::is_regular_file(file, failed)) continue;
            if (!headers.insert(file).second) break;
            std::vector<fs::path> inner{file.parent_path()};
            inner.insert(inner.end(), folders.begin(), folders.end());
            const Outcome<std::string> content = DiskFileSystem().read(file);
            if (content) add_headers(content.value(), std::move(inner), headers);
            break;
        }
    }
}

std::vector<fs::path> cuda_includes(const CudaSearch& search) {
    for (const fs::path& folder : search.include_folders) {
        std::error_code failed;
        if (fs::exists(folder / fp16_header, failed)) return {folder};
    }
    return {};
}

class Nvrtc final : public CudaCompiler {
public:
    Nvrtc(void* library, const Functions& functions, const CudaSearch& search, fs::path builtins)
        : library_(library), f_(functions), includes_(cuda_includes(search)), builtins_(std::move(builtins)) {
        has_cuda_headers_ = !includes_.empty();
        includes_.insert(includes_.end(), search.source_folders.begin(), search.source_folders.end());
    }
    ~Nvrtc() override { dlclose(library_); }
    Nvrtc(const Nvrtc&) = delete;
    Nvrtc& operator=(const Nvrtc&) = delete;

    [[nodiscard]] std::string version() const override {
        int major = 0;
        int minor = 0;
        f_.version(&major, &minor);
        return std::to_string(major) + "." + std::to_string(minor);
    }

    [[nodiscard]] std::vector<std::string> architectures() const override {
        int count = 0;
        if (f_.architecture_count(&count) != success || count <= 0) return {};
        std::vector<int> numbers(static_cast<std::size_t>(count));
        if (f_.architectures(numbers.data()) != success) return {};
        std::sort(numbers.begin(), numbers.end());
        std::vector<std::string> names;
        for (const int number : numbers) names.push_back("sm_" + std::to_string(number));
        return names;
    }

    using CudaCompiler::compile;

    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program_text, const std::string& architecture,
                                            const std::string& precompiled) const override {
        std::vector<std::string> options;
        if (!precompiled.empty()) options.push_back("--use-pch=" + precompiled);
        const Outcome<Program> compiled =
            make_program(program_text.prelude, program_text.text, architecture, std::move(options));
        if (!compiled) return compiled.errors();
        Program program = compiled.value();
        CudaCode code{read(program, f_.cubin_size, f_.cubin), until_zero(read(program, f_.ptx_size, f_.ptx)),
                      until_zero(read(program, f_.log_size, f_.log))};
        f_.destroy(&program);
        // An empty code is refused: from the store it would be taken for an image.
        if (!code.cubin.empty() && !code.ptx.empty()) return code;
        return Diagnostic{Severity::error,
                          "cuda-compile",
                          {},
                          "NVRTC " + version() + " compiled for " + architecture + ", but gave no " +
                              (code.cubin.empty() ? "cubin" : "PTX"),
                          lines_of(code.log)};
    }

    [[nodiscard]] bool precompile(const std::string& prelude, const std::string& architecture,
                                  const std::string& file) const override {
        int major = 0;
        int minor = 0;
        f_.version(&major, &minor);
        if (std::pair(major, minor) < first_with_precompiled) return false;
        const Outcome<Program> compiled = make_program(prelude, {}, architecture, {"--create-pch=" + file});
        if (!compiled) return false;
        Program program = compiled.value();
        f_.destroy(&program);
        return true;
    }

    [[nodiscard]] Diagnostics check(const std::string& source,
                                    const std::string& architecture) const override {
        const Outcome<Program> compiled = make_program({}, source, architecture, {});
        if (!compiled) return compiled.errors();
        Program program = compiled.value();
        f_.destroy(&program);
        return {};
    }

    /// NVRTC has no function for it, but begins PTX with it.
    [[nodiscard]] std::string build() const override {
        const std::vector<std::string> known = architectures();
        if (known.empty()) return {};
        const Outcome<CudaCode> code = compile(CudaProgram{}, known.front(), {});
        return code ? code.value().ptx.substr(0, code.value().ptx.find(".version")) : std::string();
    }

    [[nodiscard]] std::vector<fs::path> files() const override {
        std::vector<fs::path> files;
        if (fs::path library = file_of(f_.version); !library.empty()) files.push_back(std::move(library));
        if (!builtins_.empty()) files.push_back(builtins_);
        return files;
    }

    [[nodiscard]] std::vector<fs::path> headers(const std::string& source) const override {
        std::set<fs::path> headers;
        add_headers(source, includes_, headers);
        return {headers.begin(), headers.end()};
    }

private:
    /// Compiles a program, which the caller destroys.
    [[nodiscard]] Outcome<Program> make_program(const std::string& prelude, const std::string& text,
                                                const std::string& architecture,
                                                std::vector<std::string> options) const {
        options.insert(options.begin(),
                       {"--gpu-architecture=" + architecture, "--std=c++17", "-w", "--ptxas-options=-v"});
        if (text.find(cuda_exact) != std::string::npos) options.emplace_back("--fmad=false");
        for (const fs::path& folder : includes_) options.push_back("--include-path=" + folder.string());
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());

        Program program = nullptr;
        // Hosts' headers, which modules written for nvcc include, and which device code needs nothing of.
        const std::array<const char*, 4> names{"cuda.h", "stdlib.h", "stdint.h", "kf_prelude.h"};
        const std::array<const char*, 4> texts{"", "", "", prelude.c_str()};
        // The precompiled part ends at the pragma.
        const std::string source =
            prelude.empty() ? text : "#include \"kf_prelude.h\"\n#pragma nv_hdrstop\n" + text;
        int result = f_.create(&program, source.c_str(), "kernel.cu", static_cast<int>(names.size()),
                               texts.data(), names.data());
        if (result != success) return error(architecture, result, {});
        result = f_.compile(program, static_cast<int>(pointers.size()), pointers.data());
        if (result != success) {
            const std::string log = until_zero(read(program, f_.log_size, f_.log));
            f_.destroy(&program);
            Diagnostic failed = error(architecture, result, lines_of(log));
            if (!has_cuda_headers_ && log.find(fp16_header) != std::string::npos)
                failed.notes.emplace_back(headers_missing);
            return failed;
        }
        return program;
    }

    static std::string read(Program program, int (*size_of)(Program, std::size_t*),
                            int (*get)(Program, char*)) {
        std::size_t size = 0;
        if (size_of(program, &size) != success || size == 0) return {};
        std::string bytes(size, '\0');
        if (get(program, bytes.data()) != success) return {};
        return bytes;
    }

    [[nodiscard]] Diagnostic error(const std::string& architecture, int result,
                                   std::vector<std::string> log) const {
        const std::string text = f_.error_text(result);
        return {Severity::error,
                "cuda-compile",
                {},
                "NVRTC " + version() + " failed for " + architecture + ": " + text,
                std::move(log)};
    }

    void* library_;
    Functions f_;
    std::vector<fs::path> includes_;
    bool has_cuda_headers_ = false;
    fs::path builtins_;  ///< what NVRTC opens itself; empty where the system finds it
};

/// The newest file in a folder whose name starts like this.
fs::path newest(const fs::path& folder, const std::string& start) {
    std::vector<fs::path> found;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(start) && name.find(".alt.") == std::string::npos) found.push_back(entry.path());
    }
    if (found.empty()) return {};
    return *std::max_element(found.begin(), found.end());
}

void add_toolkit(CudaSearch& search, const fs::path& root) {
    search.library_folders.push_back(root / "lib64");
    search.library_folders.push_back(root / "lib");
    search.include_folders.push_back(root / "include");
}

}  // namespace

CudaSearch wheel_cuda_search(const fs::path& site_packages) {
    CudaSearch search;
    for (const char* wheel : {"nvidia/cu13", "nvidia/cuda_nvrtc", "nvidia/cuda_runtime"}) {
        add_toolkit(search, site_packages / wheel);
    }
    return search;
}

CudaSearch default_cuda_search(const fs::path& site_packages) {
    CudaSearch search;
    for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value != '\0') add_toolkit(search, value);
    }
    if (!site_packages.empty()) {
        const CudaSearch wheels = wheel_cuda_search(site_packages);
        search.library_folders.insert(search.library_folders.end(), wheels.library_folders.begin(),
                                      wheels.library_folders.end());
        search.include_folders.insert(search.include_folders.end(), wheels.include_folders.begin(),
                                      wheels.include_folders.end());
    }
    add_toolkit(search, "/usr/local/cuda");
    search.library_names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    return search;
}

Outcome<std::shared_ptr<const CudaCompiler>> open_nvrtc(const CudaSearch& search) {
    std::vector<fs::path> candidates;
    for (const fs::path& folder : search.library_folders) {
        const fs::path library = newest(folder, "libnvrtc.so");
        if (!library.empty()) candidates.push_back(library);
    }
    candidates.insert(candidates.end(), search.library_names.begin(), search.library_names.end());
    for (const fs::path& candidate : candidates) {
        // NVRTC opens its built-ins by name; once they are loaded from beside it, that name is found.
        const fs::path builtins = candidate.has_parent_path()
                                      ? newest(candidate.parent_path(), "libnvrtc-builtins.so")
                                      : fs::path();
        if (!builtins.empty()) dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL);
        // Stays loaded: what a leak checker says of it would have no name otherwise.
        void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) continue;
        Functions functions;
        if (find_all(library, functions)) {
            return std::shared_ptr<const CudaCompiler>(
                std::make_shared<Nvrtc>(library, functions, search, builtins));
        }
        dlclose(library);
    }
    return Diagnostic{
        Severity::error,
        "nvrtc-missing",
        {},
        "CUDA code needs NVRTC (libnvrtc.so), which was not found",
        {"install the CUDA Toolkit and set CUDA_PATH, or "
         "`pip install nvidia-cuda-nvrtc nvidia-cuda-runtime` beside the wheel of kfgen or slangpy"}};
}

}  // namespace kf::gen
