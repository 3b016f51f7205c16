// `kfgen init`: a spec to start from, of all functions that can be called.
#include "run/starter.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/join.h"
#include "emit/render.h"
#include "kernels/reach.h"
#include "output/file_system.h"
#include "plan/candidates.h"
#include "plan/resolve.h"
#include "run/session.h"
#include "run/starter_calls.h"
#include "run_templates.h"
#include "spec/names.h"
#include "spec/namespaces.h"
#include "spec/parse.h"
#include "spec/supported.h"
#include "support/support_modules.h"

namespace kf::gen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view spec_ending = ".kf.json";

/// Returns the path as the spec names it: from its folder, or as it is where it is absolute.
std::string path_text(const fs::path& path, const fs::path& folder) {
    if (path.is_absolute()) return path.string();
    const fs::path relative = absolute_from({}, path).lexically_relative(absolute_from({}, folder));
    return relative.empty() ? absolute_from({}, path).string() : relative.string();
}

std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
}

/// A function, what is written of it, and the ways that are left to try.
struct Candidate {
    const Function* function = nullptr;
    std::vector<StarterCall> ways;  ///< the last one is tried next
    std::string reason;             ///< why the last try failed
    std::string backward_reason;    ///< why it has no backward pass, where it was tried
};

class StarterMaker {
public:
    StarterMaker(const Options& options, const FileSystem& file_system)
        : options_(options), file_system_(file_system) {}

    Outcome<Starter> make() {
        if (const auto refused = set_paths()) return *refused;
        auto compiler = make_slang_compiler(compiler_options(base_, {}), support_modules());
        if (!compiler) return compiler.errors();
        compiler_ = std::move(compiler.value());
        Outcome<Module> module = compiler_->reflect(module_paths(base_));
        if (!module) return Outcome<Starter>(module.errors()).with_warnings(module.warnings());
        module_ = std::move(module.value());
        collect();
        choose();
        Outcome<Starter> starter = written();
        return std::move(starter).with_warnings(module.warnings());
    }

private:
    std::optional<Diagnostic> set_paths() {
        const fs::path& module = options_.module;
        if (module.extension() != ".slang") {
            return Diagnostic{Severity::error,
                              "init-not-a-module",
                              {module.string(), 0, 0},
                              "'kfgen init' takes a Slang module, NAME.slang",
                              {}};
        }
        if (const auto text = file_system_.read(module); !text) return text.errors().front();
        const std::string stem = module.stem().string();
        path_ = options_.output;
        if (path_.empty()) path_ = module.parent_path() / (stem + std::string(spec_ending));
        const bool prints = path_ == "-";
        if (!prints && !options_.force && file_system_.status(path_)) {
            return Diagnostic{Severity::error,
                              "init-file-exists",
                              {path_.string(), 0, 0},
                              "there is such a file, and 'kfgen init' would replace it",
                              {"--force replaces it, -o FILE writes another one, and -o - prints the spec"}};
        }
        const std::string file = path_.filename().string();
        const bool named = !prints && file.size() > spec_ending.size() && file.ends_with(spec_ending);
        name_ = module_identifier(named ? file.substr(0, file.size() - spec_ending.size()) : stem);
        Spec named_so;
        named_so.namespace_name = name_;
        if (!is_identifier(name_) || is_reserved(name_) || !check_namespace(named_so).empty())
            name_ = "my_" + name_;
        base_.name = name_;
        base_.file = prints ? stem + std::string(spec_ending) : path_.string();
        base_.directory = fs::path(base_.file).parent_path();
        base_.modules = {{path_text(module, base_.directory), {}}};
        for (const fs::path& folder : options_.include_directories)
            base_.search_paths.push_back({path_text(folder, base_.directory), {}});
        for (const auto& [name, text] : options_.defines) base_.defines.push_back({name, text, {}});
        base_.targets = {{}};
        return std::nullopt;
    }

    void collect() {
        std::map<std::string, int> counts;
        for (const Function& function : module_.functions) ++counts[function.name];
        for (const Function& function : module_.functions) {
            Candidate candidate{&function, starter_calls(function, counts[function.name] > 1), {}, {}};
            std::reverse(candidate.ways.begin(), candidate.ways.end());
            if (function.is_closed) {
                candidate.ways.clear();
                candidate.reason = "it isn't public";
            } else if (function.entry == EntryPoint::other) {
                candidate.ways.clear();
                candidate.reason = "it is an entry point, and none of a compute shader";
            }
            candidates_.push_back(std::move(candidate));
        }
    }

    /// Plans these calls together.
    [[nodiscard]] Outcome<Plan> planned(const std::vector<const Candidate*>& candidates) {
        const Outcome<Spec> spec = parse_spec(text_of(candidates, false), base_.file);
        if (!spec) return spec.errors();
        if (Diagnostics errors = check_supported(spec.value()); !errors.empty()) return errors;
        return resolve(spec.value(), module_, compiler_.get());
    }

    /// Returns why kernels of the plan would not compile; nothing where they do.
    [[nodiscard]] Diagnostics unreachable(Plan plan) {
        const ReachReport reach =
            check_reach(plan, {code_targets(base_), {}, nullptr, module_.globals}, *compiler_);
        if (!reach.errors.empty()) return reach.errors;
        if (!reach.failures.empty()) return reach.failures;
        return add_globals(plan, reach.globals, module_.globals);
    }

    /// Gives up the way of calling it that was tried last.
    static void drop_way(Candidate& candidate, const Diagnostics& errors) {
        const std::string reason = one_line(errors.front().message);
        if (candidate.ways.back().backward) candidate.backward_reason = reason;
        // A reason about kinds that fit the function's types says more than why others fail.
        if (candidate.reason.empty() || !candidate.ways.back().backward) candidate.reason = reason;
        candidate.ways.pop_back();
    }

    /// Moves on to the first way that can be planned, and `compiled` too.
    void settle(Candidate& candidate, bool compiled) {
        while (!candidate.ways.empty()) {
            Outcome<Plan> plan = planned({&candidate});
            Diagnostics errors = plan ? Diagnostics() : plan.errors();
            if (errors.empty() && compiled) errors = unreachable(std::move(plan.value()));
            if (errors.empty()) return;
            drop_way(candidate, errors);
        }
    }

    /// Leaves each candidate with a way that works, beside all others; or with none.
    void choose() {
        std::vector<Candidate*> all;
        for (Candidate& candidate : candidates_) {
            settle(candidate, false);
            if (!candidate.ways.empty()) all.push_back(&candidate);
        }
        if (settle_together(all)) return;
        const std::vector<const Candidate*> left = possible();
        if (left.empty() || planned(left)) return;
        std::vector<const Candidate*> chosen;
        for (Candidate& candidate : candidates_) {
            while (!candidate.ways.empty()) {
                chosen.push_back(&candidate);
                const Outcome<Plan> plan = planned(chosen);
                if (plan) break;
                chosen.pop_back();
                drop_way(candidate, plan.errors());
                settle(candidate, true);
            }
        }
    }

    /// Leaves each with a way that compiles, or with none. Those that don't compile are found by halves,
    /// since starting a compilation costs more than one more function in it. Returns whether all did at once.
    bool settle_together(std::span<Candidate* const> group) {
        if (group.empty()) return true;
        if (group.size() == 1) {
            settle(*group.front(), true);
            return !group.front()->ways.empty();
        }
        Outcome<Plan> plan = planned(std::vector<const Candidate*>(group.begin(), group.end()));
        if (plan && unreachable(std::move(plan.value())).empty()) return true;
        settle_together(group.first(group.size() / 2));
        settle_together(group.subspan(group.size() / 2));
        return false;
    }

    [[nodiscard]] std::vector<const Candidate*> possible() const {
        std::vector<const Candidate*> found;
        for (const Candidate& candidate : candidates_)
            if (!candidate.ways.empty()) found.push_back(&candidate);
        return found;
    }

    [[nodiscard]] Outcome<Starter> written() {
        const std::vector<const Candidate*> all = possible();
        if (all.empty()) {
            Diagnostic error{Severity::error,
                             "init-no-functions",
                             {options_.module.string(), 0, 0},
                             candidates_.empty() ? "the module has no functions"
                                                 : "none of the module's functions can be called",
                             {}};
            for (const Candidate& candidate : candidates_) error.notes.push_back(refusal(candidate));
            return error;
        }
        return Starter{path_, text_of(all, true)};
    }

    static std::string place_of(const Function& function) {
        return one_line(signature(function)) + ", line " + std::to_string(function.location.line);
    }

    static std::string refusal(const Candidate& candidate) {
        return place_of(*candidate.function) + ": " + candidate.reason;
    }

    static std::vector<std::string> comments(const Candidate& candidate) {
        const Function& function = *candidate.function;
        const bool backward = candidate.ways.back().backward;
        std::vector<std::string> lines{place_of(function)};
        lines.back() += function.backward_differentiable ? "; differentiable" : "; not differentiable";
        if (!backward && !candidate.backward_reason.empty())
            lines.push_back("without \"backward\": " + candidate.backward_reason);
        if (!function.backward_differentiable && function.forward_differentiable)
            lines.back() += ", but forward: \"forward_diff\": true makes .jvp()";
        if (function.is_generic()) lines.emplace_back("generic: this is one instance");
        return lines;
    }

    [[nodiscard]] std::string list_of(const std::vector<PathSpec>& paths) const {
        std::vector<std::string> texts;
        for (const PathSpec& path : paths) texts.push_back(json_string(path.path.string()));
        return "[" + join(texts) + "]";
    }

    [[nodiscard]] std::string text_of(const std::vector<const Candidate*>& candidates, bool refused) const {
        View::List calls;
        for (const Candidate* candidate : candidates) {
            View::List comment_items;
            for (std::string& line : comments(*candidate)) comment_items.emplace_back(std::move(line));
            View::List lines;
            for (std::string& line : call_lines(candidate->ways.back())) lines.emplace_back(std::move(line));
            calls.emplace_back(View::Object{{"comments", std::move(comment_items)},
                                            {"lines", std::move(lines)},
                                            {"comma", candidate == candidates.back() ? "" : ","}});
        }
        View::List left_out;
        for (const Candidate& candidate : candidates_)
            if (refused && candidate.ways.empty()) left_out.emplace_back(refusal(candidate));
        View::List search_paths;
        if (!base_.search_paths.empty()) search_paths.emplace_back(list_of(base_.search_paths));
        View::List defines;
        if (!base_.defines.empty()) {
            std::vector<std::string> texts;
            for (const NamedText& define : base_.defines)
                texts.push_back(json_string(define.name) + ": " + json_string(define.text));
            defines.emplace_back("{" + join(texts) + "}");
        }
        const bool has_refused = !left_out.empty();
        return render("starter_spec.mustache", templates::starter_spec_mustache,
                      View::Object{{"module", one_line(options_.module.filename().string())},
                                   {"name", json_string(name_)},
                                   {"path", json_string(base_.modules.front().path.string())},
                                   {"search_paths", std::move(search_paths)},
                                   {"defines", std::move(defines)},
                                   {"calls", std::move(calls)},
                                   {"has_refused", has_refused},
                                   {"refused", std::move(left_out)}})
            .value();
    }

    const Options& options_;
    const FileSystem& file_system_;
    fs::path path_;
    std::string name_;
    Spec base_;  ///< without calls
    std::unique_ptr<Compiler> compiler_;
    Module module_;
    std::vector<Candidate> candidates_;
};

}  // namespace

Outcome<Starter> make_starter(const Options& options, const FileSystem& file_system) {
    return StarterMaker(options, file_system).make();
}

}  // namespace kf::gen
