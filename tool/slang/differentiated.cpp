// Follows names from calls through the sources' parts.
#include "slang/differentiated.h"

#include <algorithm>

#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

using NameList = std::vector<std::string>;

bool holds(const NameList& sorted, const std::string& name) {
    return std::binary_search(sorted.begin(), sorted.end(), name);
}

void add(NameList& names, const NameList& more) { names.insert(names.end(), more.begin(), more.end()); }

NameList names_in(const NameList& called) {
    NameList names;
    for (const std::string& function : called) add(names, identifiers_in(function));
    return names;
}

/// "f" of `bwd_diff(f)`.
NameList differentiated_in(const SourcePart& part) {
    NameList names;
    const LexedText text(part.text);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_one_of(text[at], "bwd_diff", "fwd_diff", "__bwd_diff", "__fwd_diff") || text[at + 1] != "(")
            continue;
        for (std::size_t in = at + 2; in < text.closing(at + 1); ++in) names.emplace_back(text[in]);
    }
    return names;
}

/// Adds what the names reach. Code that calls an interface's function calls those of the types that conform.
void follow(const PartGraph& graph, const NameList& names, std::vector<bool>& reached) {
    graph.add_reached(names, reached);
    const std::vector<SourcePart>& parts = graph.parts();
    for (bool grows = true; grows;) {
        grows = false;
        NameList interfaces;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (reached[i] && holds(parts[i].uses, "interface")) add(interfaces, parts[i].names);
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const NameList& uses = parts[i].uses;
            const bool is_type = holds(uses, "struct") || holds(uses, "class") || holds(uses, "extension");
            if (reached[i] || !is_type ||
                !std::any_of(interfaces.begin(), interfaces.end(),
                             [&](const std::string& one) { return holds(uses, one); }))
                continue;
            reached[i] = grows = true;
            graph.add_reached(uses, reached);
        }
    }
}

}  // namespace

DifferentiatedFunctions::DifferentiatedFunctions(PartGraph graph, const CalledFunctions& called)
    : graph_(std::move(graph)), reached_(graph_.everywhere()) {
    std::vector<bool> run = reached_;
    follow(graph_, names_in(called.all), run);
    NameList roots = names_in(called.differentiated);
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (run[i]) add(roots, differentiated_in(graph_.parts()[i]));
    }
    follow(graph_, roots, reached_);
    for (const std::string& root : roots) ++mentions_[root];
    for (std::size_t i = 0; i < reached_.size(); ++i) {
        if (!reached_[i]) continue;
        const LexedText text(graph_.parts()[i].text);
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (text.is_word(at)) ++mentions_[std::string(text[at])];
        }
    }
}

bool DifferentiatedFunctions::has(const std::string& function) const {
    const NameList components = identifiers_in(function);
    const auto declares = [&](const SourcePart& part) {
        return std::any_of(part.names.begin(), part.names.end(),
                           [&](const std::string& name) { return holds(components, name); });
    };
    const std::vector<SourcePart>& parts = graph_.parts();
    bool is_known = false;
    bool is_reached = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!declares(parts[i])) continue;
        is_known = true;
        is_reached = is_reached || reached_[i];
    }
    if (!is_known || !is_reached) return !is_known;
    // A type's part holds all its methods: one that is called is named elsewhere, too.
    const std::string last = function.substr(function.rfind('.') + 1);
    const auto mentioned = mentions_.find(last);
    return last == function || mentioned == mentions_.end() || mentioned->second > 1;
}

std::optional<DifferentiatedFunctions> differentiated_functions(
    const std::map<std::filesystem::path, std::string>& texts, const CompilerOptions& options) {
    if (!options.differentiated) return std::nullopt;
    std::vector<SourceFile> files;
    for (const auto& [path, text] : texts) files.push_back({path.string(), text});
    return DifferentiatedFunctions(PartGraph(source_parts(files, options.defines)),
                                   {options.functions, *options.differentiated});
}

}  // namespace kf::gen
