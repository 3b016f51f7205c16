// Finds bwd_diff(f) by its tokens, and writes what stands for it.
#include "run/difference_probe.h"

#include <algorithm>
#include <filesystem>

#include "run/generate.h"
#include "run/session.h"
#include "run/support.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

bool is_number(const Type& type) {
    const bool plain = type.kind == TypeKind::scalar || type.kind == TypeKind::vector;
    return plain && type.scalar >= ScalarType::float16;
}

std::string why_not(const std::vector<const Function*>& named) {
    if (named.empty()) return "it is no function of the spec's modules";
    const Function& function = *named.front();
    if (named.size() > 1 || function.is_overload) return "it has several overloads";
    if (function.is_generic()) return "it is generic";
    if (function.member != Member::none) return "it is a member";
    if (!is_number(function.result)) return "its result is no number and no vector of them";
    for (const Parameter& parameter : function.parameters) {
        if (parameter.direction != Direction::in) return "'" + parameter.name + "' is written";
        const bool differentiated = parameter.type.differentiable && !parameter.no_diff;
        if (differentiated && !is_number(parameter.type)) {
            return "'" + parameter.name + "' is no number and no vector of them";
        }
    }
    return {};
}

/// For values around 1, as the check of gradients takes them.
double step_of(ScalarType scalar) {
    return scalar == ScalarType::float16 ? 1.0 / 4 : (scalar == ScalarType::float32 ? 1.0 / 64 : 1.0 / 512);
}

/// Each scalar of each parameter is moved to both sides.
std::string differences_of(const Function& function, const std::string& name, double factor) {
    const auto differentiated = [](const Parameter& one) { return one.type.differentiable && !one.no_diff; };
    std::string head;
    std::string body;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const Parameter& parameter = function.parameters[i];
        const std::string own = "a" + std::to_string(i);
        const bool moves = differentiated(parameter);
        head += (moves ? "inout DifferentialPair<" + parameter.type.name + ">" : parameter.type.name) + " " +
                own + ", ";
        if (!moves) continue;
        std::string arguments;
        for (std::size_t k = 0; k < function.parameters.size(); ++k) {
            const std::string other = "a" + std::to_string(k);
            arguments += (k == 0 ? "" : ", ") +
                         (k == i ? "moved" : other + (differentiated(function.parameters[k]) ? ".p" : ""));
        }
        const bool vector = parameter.type.kind == TypeKind::vector;
        const std::string at = vector ? "[i]" : "";
        const std::string scalar =
            vector ? parameter.type.name.substr(0, parameter.type.name.size() - 1) : parameter.type.name;
        const std::string call = function.name + "(" + arguments + ")";
        const bool sums = function.result.kind == TypeKind::vector;
        const std::string product = sums ? "dot(change, flowing)" : "change * flowing";
        body += "    { " + parameter.type.name + " gradient = " + parameter.type.name +
                "(0);\n    for (int i = 0; i < " + std::to_string(vector ? parameter.type.columns : 1) +
                "; ++i) {\n        " + parameter.type.name + " moved = " + own + ".p; const " + scalar +
                " by = " + scalar + "(" + std::to_string(factor * step_of(parameter.type.scalar)) +
                ") * max(abs(moved" + at + "), " + scalar + "(0.5));\n        moved" + at + " = " + own +
                ".p" + at + " + by; const " + scalar + " above = moved" + at + "; " + function.result.name +
                " change = " + call + ";\n        moved" + at + " = " + own + ".p" + at +
                " - by; change = change - " + call + ";\n        gradient" + at + " = " + scalar + "(" +
                product + ") / (above - moved" + at + ");\n    }\n    " + own + "_gradient = gradient; }\n";
        body = "    " + parameter.type.name + " " + own + "_gradient;\n" + body + "";
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const std::string own = "a" + std::to_string(i);
        if (differentiated(function.parameters[i])) {
            body += "    " + own + " = diffPair(" + own + ".p, " + own + "_gradient);\n";
        }
    }
    return "void " + name + "(" + head + function.result.name + " flowing)\n{\n" + body + "}\n";
}

std::int64_t line_at(std::string_view text, std::size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
}

}  // namespace

DifferenceProbe difference_probe(const Module& module, double factor) {
    DifferenceProbe probe;
    for (const auto& [path, text] : module.sources) {
        const std::vector<Token> tokens = tokenise(text).all;
        std::map<std::string, std::string> added;
        std::string changed = text;
        for (std::size_t at = tokens.size(); at-- > 0;) {
            const bool takes = at + 3 < tokens.size() &&
                               (tokens[at].text == "bwd_diff" || tokens[at].text == "__bwd_diff") &&
                               tokens[at + 1].text == "(";
            if (!takes) continue;
            const std::string name(tokens[at + 2].text);
            std::vector<const Function*> named;
            for (const Function& function : module.functions) {
                if (function.name == name) named.push_back(&function);
            }
            const bool plain = tokens[at + 3].text == ")";
            const std::string why = plain ? why_not(named) : "it isn't called by its name alone";
            if (!why.empty()) {
                probe.untested.push_back({name, {path, line_at(text, tokens[at].offset), 0}, why});
                continue;
            }
            const std::string own = "kf_differences_of_" + name;
            added[own] = differences_of(*named.front(), own, factor);
            changed.replace(tokens[at].offset, tokens[at + 3].offset + 1 - tokens[at].offset, own);
        }
        if (added.empty()) continue;
        changed += "\n";
        for (const auto& [name, function] : added) changed += function;
        probe.sources[path] = changed;
    }
    std::reverse(probe.untested.begin(), probe.untested.end());
    return probe;
}

std::vector<std::string> untested_texts(const DifferenceArtifacts& made) {
    std::vector<std::string> texts;
    for (const UntestedDerivative& one : made.untested) {
        texts.push_back("bwd_diff(" + one.function + ") at " +
                        std::filesystem::path(one.location.file).filename().string() + ":" +
                        std::to_string(one.location.line) + ": " + one.why);
    }
    if (!made.failure.empty())
        texts.push_back("what functions take by bwd_diff: with differences, " + made.failure);
    return texts;
}

DifferenceArtifacts difference_artifacts(const Spec& spec, const Options& options, FileSystem& disk) {
    DifferenceArtifacts made;
    auto compiler = make_slang_compiler(compiler_options(spec, options), support_modules());
    if (!compiler) return made;
    const Outcome<Module> module = compiler.value()->reflect(module_paths(spec));
    if (!module) return made;
    const OutputPaths paths = output_paths(spec, options);
    for (const double factor : {1.0, 0.5, 0.25}) {
        const DifferenceProbe probe = difference_probe(module.value(), factor);
        made.untested = probe.untested;
        if (probe.sources.empty()) return made;
        Outcome<Generated> generated =
            generate_files(spec, options, paths, disk, open_installed_cuda, probe.sources);
        if (!generated) {
            made.failure = generated.errors().front().message;
            made.artifacts.clear();
            return made;
        }
        for (OutputFile& file : generated.value().files) {
            if (file.path == paths.artifact) made.artifacts.push_back(std::move(file.content));
        }
    }
    return made;
}

}  // namespace kf::gen
