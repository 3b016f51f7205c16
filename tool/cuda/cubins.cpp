// Compiles CUDA source to images.
#include "cuda/cubins.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>

#include "core/join.h"
#include "core/sha256.h"
#include "cuda/resources.h"
#include "diagnostic/suggest.h"
#include "output/file_system.h"
#include "slang/compiler.h"

namespace kf::gen {

namespace {

/// Part of every key: raise it when what NVRTC is given of the same texts changes.
constexpr std::string_view version = "cubin 1";

/// A kernel for an architecture.
struct Task {
    std::size_t kernel = 0;
    std::string architecture;
    bool has_ptx = false;  ///< that goes into the artifact
    std::string key = {};
    CudaCode code = {};
    Diagnostics errors = {};
};

/// "sm_90" of "sm_90a", which is sm_90 with what only that one device has.
std::string plain_name(const std::string& architecture) {
    return architecture.substr(0, architecture.find_last_of("0123456789") + 1);
}

Outcome<std::vector<std::string>> architectures_of(const CudaJob& job) {
    const std::vector<std::string> known = job.compiler.architectures();
    const auto is_known = [&](const std::string& name) {
        return std::find(known.begin(), known.end(), plain_name(name)) != known.end();
    };
    std::vector<std::string> wanted = job.target.architectures;
    if (wanted.empty()) {
        for (const char* name : default_architectures) {
            if (is_known(name)) wanted.emplace_back(name);
        }
        if (!wanted.empty()) return wanted;
        return Diagnostic{Severity::error,
                          "cuda-architecture",
                          job.target.location,
                          "NVRTC " + job.compiler.version() + " knows none of the default architectures",
                          {"list some as \"arch\": " + join(known)}};
    }
    for (const std::string& name : wanted) {
        if (is_known(name)) continue;
        return Diagnostic{Severity::error, "cuda-architecture", job.target.location,
                          "NVRTC " + job.compiler.version() + " does not compile for '" + name + "'",
                          suggestion_notes(name, "architectures", known)};
    }
    return wanted;
}

/// "sm_90" and "sm_100" by their numbers.
bool is_older(const std::string& a, const std::string& b) {
    return std::stoi(a.substr(3)) < std::stoi(b.substr(3));
}

/// PTX is for devices newer than all listed ones: that of the newest, without what only that device has.
std::string ptx_architecture(const std::vector<std::string>& architectures) {
    std::vector<std::string> plain;
    for (const std::string& name : architectures) plain.push_back(plain_name(name));
    return *std::max_element(plain.begin(), plain.end(), is_older);
}

/// The compiler's words in a line of its log: "kernel.cu(7): error: name undefined".
std::string_view said_in(std::string_view line) {
    for (const std::string_view start : {"error: ", "error   : "}) {
        const std::size_t at = line.find(start);
        if (at != std::string_view::npos) return line.substr(at + start.size());
    }
    return {};
}

SharedBytes bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
}

manifest::Image image_of(std::string format, const std::string& architecture, const SharedBytes& bytes) {
    manifest::Image image;
    image.format = std::move(format);
    image.architecture = architecture;
    image.bytes = bytes;
    image.sha256 = sha256(bytes.span());
    return image;
}

class ImageCompiler {
public:
    ImageCompiler(const std::vector<CudaKernelSource>& kernels, const CudaJob& job)
        : kernels_(kernels), job_(job) {}

    Outcome<std::vector<std::vector<manifest::Image>>> compile() {
        Outcome<std::vector<std::string>> architectures = architectures_of(job_);
        if (!architectures) return architectures.errors();
        for (const CudaKernelSource& kernel : kernels_) {
            Outcome<CudaUnit> unit = cuda_unit(kernel);
            if (!unit) return unit.errors();
            units_.push_back(std::move(unit.value()));
        }
        add_tasks(architectures.value());
        if (job_.store != nullptr) add_keys();
        run();
        Diagnostics errors;
        for (const Task& task : tasks_) {
            for (const Diagnostic& error : task.errors) add_distinct_place(errors, placed(error, task));
        }
        if (!errors.empty()) return errors;
        return images(architectures.value());
    }

private:
    /// All kernels for one architecture, and then for the next: those with one prelude follow each other.
    void add_tasks(const std::vector<std::string>& architectures) {
        const std::string newest =
            job_.target.ptx && !architectures.empty() ? ptx_architecture(architectures) : std::string();
        std::vector<std::string> all = architectures;
        if (!newest.empty() && std::find(all.begin(), all.end(), newest) == all.end()) all.push_back(newest);
        std::vector<std::size_t> kernels(units_.size());
        std::iota(kernels.begin(), kernels.end(), std::size_t{0});
        std::stable_sort(kernels.begin(), kernels.end(),
                         [&](std::size_t a, std::size_t b) { return units_[a].defines < units_[b].defines; });
        for (const std::string& architecture : all) {
            for (const std::size_t kernel : kernels)
                tasks_.push_back({kernel, architecture, architecture == newest});
        }
    }

    /// All that goes into a task's code; of headers the names and contents, wherever they lie.
    void add_keys() {
        std::string tools =
            std::string(version) + "\n" + job_.compiler.version() + "\n" + job_.compiler.build();
        for (const std::filesystem::path& header : job_.headers) {
            const Outcome<std::string> text = DiskFileSystem().read(header);
            tools += "\n" + header.filename().string() + " " + hex_digest(text ? text.value() : "");
        }
        std::map<std::string_view, std::string> preludes;  // long, and mostly one
        for (Task& task : tasks_) {
            const CudaUnit& unit = units_[task.kernel];
            std::string& prelude = preludes[unit.prelude];
            if (prelude.empty()) prelude = hex_digest(tools + "\n" + std::string(unit.prelude));
            task.key = hex_digest(prelude + task.architecture + "\n" + unit.defines + unit.bounded);
        }
    }

    /// Returns the error with the kernel's name, where it is in the kernel's own text, or as the target's.
    [[nodiscard]] Diagnostic placed(Diagnostic error, const Task& task) const {
        error.location = kernels_[task.kernel].origin;
        if (error.id != "cuda-compile") return error;
        const CudaUnit& unit = units_[task.kernel];
        for (const std::string& line : error.notes) {
            const std::string_view said = said_in(line);
            if (said.empty() || !is_about_kernel(unit, line)) continue;
            error.notes.insert(error.notes.begin(), error.message + ", in " + unit.entry_point);
            error.message = "the CUDA code of this call does not compile: " + std::string(said);
            return error;
        }
        error.location = job_.target.location;
        return error;
    }

    /// Adds an error once for each place: it is mostly that of a call's other kernels and architectures, too.
    static void add_distinct_place(Diagnostics& errors, Diagnostic error) {
        const bool known = std::any_of(errors.begin(), errors.end(), [&](const Diagnostic& other) {
            return other.location == error.location && other.message == error.message;
        });
        if (!known) errors.push_back(std::move(error));
    }

    void run() {
        std::vector<Task*> missing;
        for (Task& task : tasks_) {
            const bool known = is_kept(task);
            if (job_.found) job_.found(kernels_[task.kernel], task.architecture, known);
            if (!known) missing.push_back(&task);
        }
        std::vector<std::unique_ptr<const CudaCompiler>> compilers;
        const std::size_t workers = std::min<std::size_t>(job_.workers, missing.size());
        for (std::size_t i = 0; i < workers && job_.make_worker; ++i)
            compilers.push_back(job_.make_worker(missing.size() / workers));
        std::atomic<std::size_t> next{0};
        std::atomic<std::size_t> done{0};
        const auto work = [&](std::size_t worker, process::JobServer* slots) {
            while (next.load() < missing.size()) {
                const process::JobServer::Slot slot =
                    slots != nullptr ? slots->wait() : process::JobServer::Slot();
                if (slots != nullptr && !slot) continue;
                const std::size_t index = next.fetch_add(1);
                if (index >= missing.size()) return;
                Task& task = *missing[index];
                compile_one(task, compilers.empty() ? job_.compiler : *compilers[worker]);
                if (!job_.tell) continue;
                job_.tell(done.fetch_add(1) + 1, missing.size(), what(task));
            }
        };
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([&, i] { work(i, job_.slots); });
        work(0, nullptr);
    }

    [[nodiscard]] std::string what(const Task& task) const {
        return kernels_[task.kernel].name + " for " + task.architecture;
    }

    bool is_kept(Task& task) {
        if (job_.store == nullptr) return false;
        return is_stored(task, "c0", task.code.cubin) &&
               (!needs_ptx(task) || is_stored(task, "f0", task.code.ptx)) &&
               (!job_.made || is_stored(task, "l0", task.code.log));
    }

    [[nodiscard]] bool needs_ptx(const Task& task) const { return task.has_ptx || job_.made; }

    bool is_stored(const Task& task, const char* part, std::string& text) const {
        auto found = job_.store->find(task.key + part);
        if (found) text = std::move(found->code);
        return found.has_value();
    }

    void keep(const Task& task, const char* part, const std::string& text) const {
        CompiledKernel kept;
        kept.code = text;
        job_.store->keep(task.key + part, kept);
    }

    void compile_one(Task& task, const CudaCompiler& compiler) const {
        const CudaUnit& unit = units_[task.kernel];
        CudaProgram program{"'" + kernels_[task.kernel].name + "'", unit.defines + std::string(unit.prelude),
                            unit.bounded};
        Outcome<CudaCode> compiled = compiler.compile(program, task.architecture);
        if (compiled && !unit.unbounded.empty() && spills(unit.entry_point, compiled.value().log)) {
            program.text = unit.unbounded;
            compiled = compiler.compile(program, task.architecture);
        }
        if (!compiled) {
            task.errors = compiled.errors();
            return;
        }
        task.code = std::move(compiled.value());
        if (job_.store == nullptr) return;
        keep(task, "c0", task.code.cubin);
        if (needs_ptx(task)) keep(task, "f0", task.code.ptx);
        if (job_.made) keep(task, "l0", task.code.log);
    }

    std::vector<std::vector<manifest::Image>> images(const std::vector<std::string>& architectures) {
        std::vector<std::vector<manifest::Image>> result(units_.size());
        const auto add = [&](const Task& task, std::string format, const std::string& code) {
            manifest::Image image = image_of(std::move(format), task.architecture, bytes_of(code));
            image.entry_point = units_[task.kernel].entry_point;
            result[task.kernel].push_back(std::move(image));
        };
        for (Task& task : tasks_) {
            if (job_.made) job_.made(task.kernel, task.architecture, task.code);
            if (std::find(architectures.begin(), architectures.end(), task.architecture) !=
                architectures.end()) {
                add(task, "cubin", task.code.cubin);
            }
            if (!task.has_ptx) continue;
            std::string ptx = std::move(task.code.ptx);
            if (job_.target.ptx_isa_max) {
                ptx = cap_ptx_version(std::move(ptx), job_.target.ptx_isa_max->first,
                                      job_.target.ptx_isa_max->second);
            }
            add(task, "ptx", ptx);
        }
        return result;
    }

    const std::vector<CudaKernelSource>& kernels_;
    const CudaJob& job_;
    std::vector<CudaUnit> units_;
    std::vector<Task> tasks_;
};

}  // namespace

Outcome<std::vector<std::vector<manifest::Image>>> compile_cuda(const std::vector<CudaKernelSource>& kernels,
                                                                const CudaJob& job) {
    return ImageCompiler(kernels, job).compile();
}

std::vector<std::filesystem::path> cuda_headers(const std::vector<CudaKernelSource>& kernels,
                                                const CudaCompiler& compiler) {
    // The set holds each prelude once: most kernels have the same, which is long.
    std::set<std::string_view> texts;
    for (const CudaKernelSource& kernel : kernels) {
        const std::string_view text = kernel.text;
        const std::size_t end = std::min(text.find(cuda_prelude_end), text.size());
        texts.insert(text.substr(0, end));
        texts.insert(text.substr(end));
    }
    std::set<std::filesystem::path> headers;
    for (const std::string_view text : texts) {
        for (std::filesystem::path& header : compiler.headers(std::string(text)))
            headers.insert(std::move(header));
    }
    return {headers.begin(), headers.end()};
}

}  // namespace kf::gen
