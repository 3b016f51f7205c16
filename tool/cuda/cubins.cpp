// From CUDA source to images.
#include "cuda/cubins.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <thread>

#include "core/sha256.h"
#include "diagnostic/suggest.h"

namespace kf::gen {

namespace {

/// The prelude takes NVRTC some 0.3 s, a kernel a few milliseconds.
constexpr std::size_t kernels_a_unit = 24;

struct Task {
    std::size_t unit = 0;
    std::string architecture;
    std::string key;
    CudaCode code;
    Diagnostics errors;
};

Outcome<std::vector<std::string>> architectures_of(const CudaJob& job) {
    const std::vector<std::string> known = job.compiler.architectures();
    const auto is_known = [&](const std::string& name) {
        // "sm_90a" is sm_90 with what only that one device has.
        const std::string plain = name.substr(0, name.find_last_of("0123456789") + 1);
        return std::find(known.begin(), known.end(), plain) != known.end();
    };
    std::vector<std::string> wanted = job.target.architectures;
    if (wanted.empty()) {
        for (const char* name : default_architectures) {
            if (is_known(name)) wanted.emplace_back(name);
        }
        return wanted;
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
    explicit ImageCompiler(const CudaJob& job) : job_(job) {}

    Outcome<std::vector<std::vector<manifest::Image>>> compile(const std::vector<CudaKernelSource>& kernels) {
        Outcome<std::vector<std::string>> architectures = architectures_of(job_);
        if (!architectures) return architectures.errors();
        for (std::size_t first = 0; first < kernels.size(); first += kernels_a_unit) {
            const std::size_t count = std::min(kernels_a_unit, kernels.size() - first);
            Outcome<CudaUnit> unit =
                join_cuda_sources({kernels.begin() + static_cast<std::ptrdiff_t>(first),
                                   kernels.begin() + static_cast<std::ptrdiff_t>(first + count)});
            if (!unit) return unit.errors();
            for (const std::string& architecture : architectures.value())
                add_task(units_.size(), unit.value(), architecture);
            units_.push_back(std::move(unit.value()));
        }
        run();
        Diagnostics errors;
        for (Task& task : tasks_) errors.insert(errors.end(), task.errors.begin(), task.errors.end());
        if (!errors.empty()) {
            for (Diagnostic& error : errors) error.location = job_.target.location;
            return errors;
        }
        return images(architectures.value());
    }

private:
    void add_task(std::size_t index, const CudaUnit& unit, const std::string& architecture) {
        std::string text = job_.compiler.version() + "\n" + architecture + "\n" + unit.text;
        for (const std::string& define : unit.defines) text += "\n" + define;
        tasks_.push_back({index, architecture, hex(sha256(std::as_bytes(std::span(text)))), {}, {}});
    }

    void run() {
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (;;) {
                const std::size_t index = next.fetch_add(1);
                if (index >= tasks_.size()) return;
                compile_one(tasks_[index]);
            }
        };
        std::vector<std::jthread> threads;
        const std::size_t workers = std::min<std::size_t>(job_.workers, tasks_.size());
        for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
        work();
    }

    void compile_one(Task& task) {
        const std::string cubin_key = task.key + "c0";
        const std::string ptx_key = task.key + "f0";
        if (job_.store != nullptr) {
            const auto cubin = job_.store->find(cubin_key);
            const auto ptx = job_.store->find(ptx_key);
            if (cubin && ptx) {
                task.code = {cubin->code, ptx->code};
                return;
            }
        }
        const CudaUnit& unit = units_[task.unit];
        Outcome<CudaCode> compiled = job_.compiler.compile(unit.text, task.architecture, unit.defines);
        if (!compiled) {
            task.errors = compiled.errors();
            return;
        }
        task.code = std::move(compiled.value());
        if (job_.store == nullptr) return;
        CompiledKernel kept;
        kept.code = task.code.cubin;
        job_.store->keep(cubin_key, kept);
        kept.code = task.code.ptx;
        job_.store->keep(ptx_key, kept);
    }

    /// PTX is for devices newer than all listed ones, so it is that of the newest.
    std::vector<std::vector<manifest::Image>> images(const std::vector<std::string>& architectures) {
        const std::string newest = *std::max_element(architectures.begin(), architectures.end(), is_older);
        std::vector<std::vector<manifest::Image>> shared(units_.size());
        for (Task& task : tasks_) {
            shared[task.unit].push_back(image_of("cubin", task.architecture, bytes_of(task.code.cubin)));
            if (!job_.target.ptx || task.architecture != newest) continue;
            std::string ptx = std::move(task.code.ptx);
            if (job_.target.ptx_isa_max) {
                ptx = cap_ptx_version(std::move(ptx), job_.target.ptx_isa_max->first,
                                      job_.target.ptx_isa_max->second);
            }
            shared[task.unit].push_back(image_of("ptx", task.architecture, bytes_of(ptx)));
        }
        std::vector<std::vector<manifest::Image>> result;
        for (std::size_t u = 0; u < units_.size(); ++u) {
            for (const std::string& entry_point : units_[u].entry_points) {
                std::vector<manifest::Image>& own = result.emplace_back(shared[u]);
                for (manifest::Image& image : own) image.entry_point = entry_point;
            }
        }
        return result;
    }

    const CudaJob& job_;
    std::vector<CudaUnit> units_;
    std::vector<Task> tasks_;
};

}  // namespace

Outcome<std::vector<std::vector<manifest::Image>>> compile_cuda(const std::vector<CudaKernelSource>& kernels,
                                                                const CudaJob& job) {
    return ImageCompiler(job).compile(kernels);
}

}  // namespace kf::gen
