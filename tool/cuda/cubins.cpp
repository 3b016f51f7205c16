// From CUDA source to images.
#include "cuda/cubins.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>

#include "core/join.h"
#include "core/sha256.h"
#include "diagnostic/suggest.h"
#include "output/file_system.h"
#include "slang/compiler.h"

namespace kf::gen {

namespace {

/// The prelude takes NVRTC some 0.3 s, a kernel up to 0.1 s: see docs/results/compile_times.md.
constexpr std::size_t kernels_a_unit = 24;

struct Task {
    std::size_t unit = 0;
    std::string architecture;
    std::string key;
    CudaCode code;
    Diagnostics errors;
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

/// The compiler's words in a line of its log: "kf_kernel_0(7): error: name undefined".
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
            add_tasks(architectures.value());
            units_.push_back(std::move(unit.value()));
        }
        if (job_.store != nullptr) add_keys();
        run();
        Diagnostics errors;
        for (const Task& task : tasks_) {
            for (const Diagnostic& error : task.errors) place(error, task, kernels, errors);
        }
        if (!errors.empty()) return errors;
        return images(architectures.value());
    }

private:
    /// Adds the next unit's tasks.
    void add_tasks(const std::vector<std::string>& architectures) {
        const std::size_t unit = units_.size();
        for (const std::string& architecture : architectures)
            tasks_.push_back({unit, architecture, {}, {}, {}});
        if (!job_.target.ptx || architectures.empty()) return;
        const std::string ptx = ptx_architecture(architectures);
        if (std::find(architectures.begin(), architectures.end(), ptx) == architectures.end())
            tasks_.push_back({unit, ptx, {}, {}, {}});
    }

    /// All that goes into a task's code; of headers the names and contents, wherever they lie.
    void add_keys() {
        std::string tools = job_.compiler.version() + "\n" + job_.compiler.build();
        for (const std::filesystem::path& header : job_.headers) {
            const Outcome<std::string> text = DiskFileSystem().read(header);
            tools += "\n" + header.filename().string() + " " + hex_digest(text ? text.value() : "");
        }
        for (Task& task : tasks_) {
            const CudaUnit& unit = units_[task.unit];
            std::string text = tools + "\n" + task.architecture + "\n" + unit.text;
            for (const std::string& define : unit.defines) text += "\n" + define;
            for (const std::string& define : define_bounds(unit, {})) text += "\n" + define;
            task.key = hex_digest(text);
        }
    }

    /// Splits an error by the kernels that its log is about. What is wrong with a kernel is mostly wrong
    /// with the others of its call and for all architectures: said once.
    void place(const Diagnostic& error, const Task& task, const std::vector<CudaKernelSource>& kernels,
               Diagnostics& placed) const {
        const CudaUnit& unit = units_[task.unit];
        Diagnostics of_kernels;
        std::optional<std::size_t> last;
        for (const std::string& line : error.notes) {
            const auto kernel = kernel_of_log_line(unit, line);
            const std::string_view said = said_in(line);
            if (kernel && kernel != last && !said.empty()) {
                last = kernel;
                of_kernels.push_back({Severity::error,
                                      error.id,
                                      kernels[task.unit * kernels_a_unit + *kernel].origin,
                                      "the CUDA code of this call does not compile: " + std::string(said),
                                      {error.message + ", in " + unit.entry_points[*kernel]}});
            }
            if (!of_kernels.empty()) of_kernels.back().notes.push_back(line);
        }
        if (of_kernels.empty()) {
            of_kernels.push_back(error);
            of_kernels.back().location = job_.target.location;
        }
        for (Diagnostic& found : of_kernels) {
            const bool known = std::any_of(placed.begin(), placed.end(), [&](const Diagnostic& other) {
                return other.location == found.location && other.message == found.message;
            });
            if (!known) placed.push_back(std::move(found));
        }
    }

    void run() {
        std::atomic<std::size_t> next{0};
        std::atomic<std::size_t> done{0};
        const auto work = [&](process::JobServer* slots) {
            while (next.load() < tasks_.size()) {
                const process::JobServer::Slot slot =
                    slots != nullptr ? slots->wait() : process::JobServer::Slot();
                if (slots != nullptr && !slot) continue;
                const std::size_t index = next.fetch_add(1);
                if (index >= tasks_.size()) return;
                compile_one(tasks_[index]);
                if (!job_.tell) continue;
                job_.tell(done.fetch_add(1) + 1, tasks_.size(), "kernels for " + tasks_[index].architecture);
            }
        };
        std::vector<std::jthread> threads;
        const std::size_t workers = std::min<std::size_t>(job_.workers, tasks_.size());
        for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([&] { work(job_.slots); });
        work(nullptr);
    }

    void compile_one(Task& task) {
        const std::string cubin_key = task.key + "c0";
        const std::string ptx_key = task.key + "f0";
        if (job_.store != nullptr) {
            const auto cubin = job_.store->find(cubin_key);
            const auto ptx = job_.store->find(ptx_key);
            if (cubin && ptx) {
                task.code = {cubin->code, ptx->code, {}};
                return;
            }
        }
        const CudaUnit& unit = units_[task.unit];
        Outcome<CudaCode> compiled = compile_unit(unit, task.architecture, {});
        if (compiled) {
            const std::vector<std::size_t> spilling = spilling_kernels(unit, compiled.value().log);
            if (!spilling.empty()) compiled = compile_unit(unit, task.architecture, spilling);
        }
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

    Outcome<CudaCode> compile_unit(const CudaUnit& unit, const std::string& architecture,
                                   const std::vector<std::size_t>& unbounded) const {
        std::vector<std::string> defines = unit.defines;
        const std::vector<std::string> bounds = define_bounds(unit, unbounded);
        defines.insert(defines.end(), bounds.begin(), bounds.end());
        return job_.compiler.compile(unit.text, architecture, defines);
    }

    std::vector<std::vector<manifest::Image>> images(const std::vector<std::string>& architectures) {
        const std::string newest = ptx_architecture(architectures);
        const auto is_listed = [&](const std::string& name) {
            return std::find(architectures.begin(), architectures.end(), name) != architectures.end();
        };
        std::vector<std::vector<manifest::Image>> shared(units_.size());
        for (Task& task : tasks_) {
            if (is_listed(task.architecture))
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

std::vector<std::filesystem::path> cuda_headers(const std::vector<CudaKernelSource>& kernels,
                                                const CudaCompiler& compiler) {
    // Most kernels have the same prelude, which is long.
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
