// Finds bwd_diff(f) by its tokens, and puts functions of differences in its place.
#include "run/difference_probe.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "emit/differences.h"
#include "run/generate.h"
#include "run/session.h"
#include "slang/insertions.h"
#include "slang/tokens.h"
#include "support/support_modules.h"

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
        if (is_differentiated(parameter) && !is_number(parameter.type)) {
            return "'" + parameter.name + "' is no number and no vector of them";
        }
    }
    return {};
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
                probe.untested.push_back(
                    {name, {path, static_cast<std::int64_t>(line_at(text, tokens[at].offset)), 0}, why});
                continue;
            }
            const std::string own = "kf_differences_of_" + name;
            if (const auto written = emit_differences(*named.front(), own, factor)) {
                added[own] = written.value();
            } else {
                probe.errors = written.errors();
                return probe;
            }
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

DifferenceArtifacts difference_artifacts(const Spec& spec, const Options& options) {
    DifferenceArtifacts made;
    auto compiler = make_slang_compiler(compiler_options(spec, options), support_modules());
    if (!compiler) return made;
    const Outcome<Module> module = compiler.value()->reflect(module_paths(spec));
    if (!module) return made;
    const OutputPaths paths = output_paths(spec, options);
    for (const double factor : {1.0, 0.5, 0.25}) {
        const DifferenceProbe probe = difference_probe(module.value(), factor);
        made.untested = probe.untested;
        if (!probe.errors.empty()) made.failure = probe.errors.front().message;
        if (probe.sources.empty() || !probe.errors.empty()) return made;
        Outcome<Generated> generated =
            generate_files(spec, options, paths, open_installed_cuda, probe.sources);
        if (!generated) {
            made.failure = generated.errors().front().message;
            made.artifacts.clear();
            return made;
        }
        for (const OutputFile& file : generated.value().files) {
            if (file.path != paths.artifact) continue;
            const auto bytes = std::as_bytes(std::span(file.content));
            made.artifacts.emplace_back(bytes.begin(), bytes.end());
        }
    }
    return made;
}

}  // namespace kf::gen
