// The text of `kfgen explain`.
#include "run/explanation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "cuda/resources.h"
#include "diagnostic/suggest.h"
#include "emit/overload.h"
#include "output/columns.h"
#include "run/inspection.h"
#include "slang/library.h"
#include "slang/spirv_text.h"

namespace kf::gen {

namespace {

bool is_of(const PlannedFunction& function, const std::string& name) {
    return function.name == name || (function.is_hidden() && function.name.starts_with(name + "."));
}

/// Whether it is the kernel's number, or some of the words that its name is made of: "backward.strided".
bool is_named(std::int64_t number, const std::string& name, const std::string& wanted) {
    return wanted == std::to_string(number) ||
           ("." + name + ".").find("." + wanted + ".") != std::string::npos;
}

Diagnostic unknown(const Options& options, std::string message, std::vector<std::string> notes) {
    return {Severity::error,
            "explain-unknown",
            {options.spec.string(), 0, 0},
            std::move(message),
            std::move(notes)};
}

std::set<std::int64_t> kernels_of(const std::string& function, const Plan& plan, const KernelSet& kernels) {
    std::set<std::int64_t> numbers;
    for (std::size_t f = 0; f < plan.functions.size(); ++f) {
        if (!is_of(plan.functions[f], function)) continue;
        for (const CallKernels& call : kernels.calls[f]) {
            const std::vector<std::int64_t> found = call.kernels();
            numbers.insert(found.begin(), found.end());
        }
    }
    return numbers;
}

std::string target_name(CodeTarget target) { return target == CodeTarget::spirv ? "vulkan" : "cuda"; }

/// The fields of the block, by their places; once where targets agree.
std::string block_text(const CompiledUnit& compiled) {
    std::map<std::string, std::string> targets;  // by text
    for (const auto& [target, code] : compiled) {
        std::string lines;
        for (const FieldLayout& field : code.block) {
            // The contents of buffers are not in the block.
            if (field.name.ends_with("[]")) continue;
            lines += "    " + right(std::to_string(field.offset), 6) + right(std::to_string(field.size), 7) +
                     "  " + field.name + "\n";
        }
        std::string& names = targets[lines];
        names += (names.empty() ? "" : ", ") + target_name(target);
    }
    std::string text;
    for (const auto& [lines, names] : targets)
        text += "  block on " + names + "\n    offset  bytes  field\n" + lines;
    return text;
}

std::string resources_text(const MadeKernel& kernel) {
    std::string text;
    for (const manifest::Image& image : kernel.kernel.images) {
        if (image.format != "cubin") continue;
        const auto made = std::find_if(kernel.cuda.begin(), kernel.cuda.end(),
                                       [&](const auto& one) { return one.first == image.architecture; });
        if (made == kernel.cuda.end()) continue;
        const auto found = resources_of(image.entry_point, made->second.log);
        text += "  " + image.architecture + ": ";
        text += !found ? "NVRTC says nothing of registers"
                       : std::to_string(found->registers) + " registers, " + std::to_string(found->stack) +
                             " bytes of stack, " + std::to_string(found->spill_stores) + " spilled, " +
                             std::to_string(found->spill_loads) + " read back, " +
                             std::to_string(found->shared) + " of shared memory";
        text += "\n";
    }
    return text;
}

/// Collects the texts of one kernel below titles.
class Texts {
public:
    explicit Texts(const MadeKernel& kernel) : kernel_(kernel) {}

    std::string all(const ExplainOptions& options) {
        if (options.shows(Shown::slang)) add_slang();
        if (options.shows(Shown::code)) add_code();
        if (options.shows(Shown::ptx)) {
            for (const auto& [architecture, code] : kernel_.cuda) add("PTX for " + architecture, code.ptx);
        }
        return std::move(all_);
    }

private:
    void add(const std::string& title, std::string_view text) {
        all_ +=
            "\n-- kernel " + std::to_string(kernel_.number) + ": " + kernel_.unit.name + ", " + title + "\n";
        all_ += text;
        if (!text.ends_with('\n')) all_ += '\n';
    }

    void add_slang() {
        const auto& sources = kernel_.unit.sources;
        const std::string& first = sources.begin()->second.source.text;
        const bool alike = std::all_of(sources.begin(), sources.end(), [&](const auto& source) {
            return source.second.source.text == first;
        });
        if (alike) return add("Slang", first);
        for (const auto& [target, emitted] : sources)
            add("Slang for " + target_name(target), emitted.source.text);
    }

    void add_code() {
        for (const manifest::Image& image : kernel_.kernel.images) {
            if (image.format != "spirv") continue;
            const auto bytes = image.bytes.span();
            const auto text =
                spirv_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, slang_library_path());
            add("SPIR-V",
                text.value_or("; not shown: there is no libslang-glslang with a disassembler beside "
                              "Slang's library"));
        }
        const auto cuda = kernel_.compiled.find(CodeTarget::cuda_source);
        if (cuda != kernel_.compiled.end()) add("CUDA", without_prelude(cuda->second.code));
    }

    const MadeKernel& kernel_;
    std::string all_;
};

}  // namespace

Outcome<std::vector<std::int64_t>> chosen_kernels(const Plan& plan, const KernelSet& kernels,
                                                  const Options& options) {
    const std::string& function = options.explain.function;
    const std::set<std::int64_t> all = kernels_of(function, plan, kernels);
    if (all.empty()) {
        std::vector<std::string> known;
        for (const PlannedFunction& one : plan.functions)
            if (!one.is_hidden()) known.push_back(one.name);
        return unknown(options, "the spec has no function '" + function + "'",
                       suggestion_notes(function, "functions", known));
    }
    const std::vector<std::string>& wanted = options.explain.kernels;
    if (wanted.empty()) return std::vector<std::int64_t>(all.begin(), all.end());
    std::set<std::int64_t> chosen;
    for (const std::string& one : wanted) {
        bool found = false;
        std::vector<std::string> notes;
        for (const std::int64_t number : all) {
            const std::string& name = kernels.units[static_cast<std::size_t>(number)].name;
            notes.push_back("kernel " + std::to_string(number) + ": " + name);
            if (!is_named(number, name, one)) continue;
            chosen.insert(number);
            found = true;
        }
        if (!found)
            return unknown(options, "'" + function + "' has no kernel '" + one + "'", std::move(notes));
    }
    return std::vector<std::int64_t>(chosen.begin(), chosen.end());
}

std::string explanation(const MadeKernels& made, const ExplainOptions& options) {
    std::string text;
    for (std::size_t f = 0; f < made.plan.functions.size(); ++f) {
        const PlannedFunction& function = made.plan.functions[f];
        if (!is_of(function, options.function)) continue;
        text += function_heading(function.name, function.calls.size());
        for (std::size_t c = 0; c < function.calls.size(); ++c)
            text += overload_lines(overload_text(function.calls[c]), named_passes(made.calls[f][c]));
    }
    for (const MadeKernel& kernel : made.kernels) {
        if (options.shows(Shown::summary)) {
            text += "\n" + kernel_text(static_cast<std::size_t>(kernel.number), kernel.kernel) +
                    resources_text(kernel) + block_text(kernel.compiled);
        }
        text += Texts(kernel).all(options);
    }
    return text;
}

Outcome<std::string> explain(const Spec& spec, const Options& options, const OpenCuda& open_cuda) {
    const ExplainOptions& explained = options.explain;
    const std::vector<CodeTarget> targets = code_targets(spec);
    if (explained.shows(Shown::ptx) &&
        std::find(targets.begin(), targets.end(), CodeTarget::cuda_source) == targets.end())
        return unknown(options, "there is no PTX to show: the spec's targets don't have 'cuda'",
                       {"--backend cuda compiles for it"});
    const KernelStage stage = explained.shows(Shown::summary) || explained.shows(Shown::ptx)
                                  ? KernelStage::images
                              : explained.shows(Shown::code) ? KernelStage::code
                                                             : KernelStage::source;
    const auto choose = [&](const Plan& plan, const KernelSet& kernels) {
        return chosen_kernels(plan, kernels, options);
    };
    const Outcome<MadeKernels> made = make_kernels(spec, options, stage, choose, open_cuda);
    Outcome<std::string> text = made ? Outcome<std::string>(explanation(made.value(), explained))
                                     : Outcome<std::string>(made.errors());
    return std::move(text).with_warnings(made.warnings());
}

}  // namespace kf::gen
