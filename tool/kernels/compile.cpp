// Compiles a set of kernels, several at a time.
#include "kernels/compile.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace kf::gen {

namespace {

/// One source to compile, and where the result goes.
struct Task {
    std::size_t unit = 0;
    CodeTarget target = CodeTarget::spirv;
    const KernelSource* source = nullptr;
    const std::string* name = nullptr;  ///< the kernel's
    std::string key;
    std::optional<CompiledKernel> result;
    Diagnostics errors;
    Diagnostics warnings;
};

std::vector<Task> tasks_of(const KernelSet& kernels, const CompileJob& job) {
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < kernels.units.size(); ++i) {
        for (const auto& [target, emitted] : kernels.units[i].sources) {
            std::string key = job.store != nullptr ? job.keys->key(target, emitted.source) : std::string();
            tasks.push_back({i, target, &emitted.source, &kernels.units[i].name, std::move(key), {}, {}, {}});
        }
    }
    return tasks;
}

/// How far the workers are.
struct Counts {
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
};

void work_on(Task& task, Compiler& compiler, std::size_t all, Counts& counts, const CompileJob& job) {
    Outcome<CompiledKernel> compiled = compiler.compile(*task.source, task.target);
    task.warnings = compiled.warnings();
    if (job.tell) job.tell(counts.done.fetch_add(1) + 1, all, *task.name);
    if (!compiled) {
        task.errors = compiled.errors();
        return;
    }
    // A kernel with warnings isn't kept: a stored one has none, and the next run must find them again.
    if (job.store != nullptr && task.warnings.empty()) job.store->keep(task.key, compiled.value());
    task.result = std::move(compiled.value());
}

/// `slots`: of which it takes one for each kernel; null: it works at all times.
void work(Compiler& compiler, std::vector<Task*>& missing, Counts& counts, const CompileJob& job,
          process::JobServer* slots) {
    while (counts.next.load() < missing.size()) {
        const process::JobServer::Slot slot = slots != nullptr ? slots->wait() : process::JobServer::Slot();
        if (slots != nullptr && !slot) continue;
        const std::size_t index = counts.next.fetch_add(1);
        if (index >= missing.size()) return;
        work_on(*missing[index], compiler, missing.size(), counts, job);
    }
}

/// Compilers are made before the first thread starts: each forks a child process.
Outcome<std::vector<std::unique_ptr<Compiler>>> make_compilers(std::size_t kernels, const CompileJob& job) {
    // A compiler takes a quarter of a second to set up, so a few kernels are not worth another one.
    constexpr std::size_t kernels_a_worker = 6;
    const std::size_t useful = (kernels + kernels_a_worker - 1) / kernels_a_worker;
    std::vector<std::unique_ptr<Compiler>> compilers;
    do {
        Outcome<std::unique_ptr<Compiler>> compiler = job.make_compiler();
        if (!compiler) return compiler.errors();
        compilers.push_back(std::move(compiler.value()));
    } while (compilers.size() < std::min<std::size_t>(job.workers, useful));
    return compilers;
}

void run(std::vector<Task*>& missing, std::vector<std::unique_ptr<Compiler>>& compilers,
         const CompileJob& job) {
    Counts counts;
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < compilers.size(); ++i) {
        threads.emplace_back([&, i] { work(*compilers[i], missing, counts, job, job.slots); });
    }
    work(*compilers.front(), missing, counts, job, nullptr);
}

}  // namespace

Outcome<std::vector<CompiledUnit>> compile_kernels(const KernelSet& kernels, const CompileJob& job) {
    std::vector<Task> tasks = tasks_of(kernels, job);
    std::vector<Task*> missing;
    for (Task& task : tasks) {
        if (job.store != nullptr) task.result = job.store->find(task.key);
        if (job.found) job.found(kernels.units[task.unit], task.target, task.result.has_value());
        if (!task.result) missing.push_back(&task);
    }
    if (!missing.empty()) {
        if (job.start) job.start(missing.size());
        auto compilers = make_compilers(missing.size(), job);
        if (!compilers) return compilers.errors();
        run(missing, compilers.value(), job);
    }

    Diagnostics errors;
    Diagnostics warnings;
    std::vector<CompiledUnit> units(kernels.units.size());
    for (Task& task : tasks) {
        add_distinct(errors, std::move(task.errors));
        add_distinct(warnings, std::move(task.warnings));
        if (task.result) units[task.unit].emplace(task.target, std::move(*task.result));
    }
    Outcome<std::vector<CompiledUnit>> outcome =
        errors.empty() ? Outcome<std::vector<CompiledUnit>>(std::move(units)) : std::move(errors);
    return std::move(outcome).with_warnings(std::move(warnings));
}

}  // namespace kf::gen
