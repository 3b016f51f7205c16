// Follows names from a kernel through the sources.
#include "kernels/code_keys.h"

#include <algorithm>

#include "core/sha256.h"

namespace kf::gen {

namespace {

/// Adds the text behind its length, so that no text goes on in the next one.
void add_text(std::string& all, std::string_view text) {
    all += std::to_string(text.size()) + ':';
    all += text;
}

/// The names that a kernel's text uses, without those of modules that it imports.
std::vector<std::string> uses_of(const std::string& code) {
    std::string text;
    for (std::size_t at = 0; at < code.size();) {
        const std::size_t end = std::min(code.find('\n', at), code.size() - 1) + 1;
        const std::string_view line = std::string_view(code).substr(at, end - at);
        if (!line.starts_with("import ")) text += line;
        at = end;
    }
    return identifiers_in(text);
}

}  // namespace

CodeKeys::CodeKeys(std::string environment, const std::map<CodeTarget, std::vector<SourceFile>>& sources,
                   const std::vector<std::pair<std::string, std::string>>& defines)
    : environment_(std::move(environment)) {
    for (const auto& [target, texts] : sources)
        programs_.emplace(target, PartGraph(source_parts(texts, defines)));
}

std::string CodeKeys::key(CodeTarget target, const KernelSource& kernel, std::string_view purpose) const {
    const std::string code = kernel.code_text();
    std::string all;
    add_text(all, environment_);
    add_text(all, target == CodeTarget::spirv ? "spirv" : "cuda");
    add_text(all, purpose);
    add_text(all, code);
    add_text(all, kernel.has_buffers ? "buffers" : "");
    for (const GlobalForm& global : kernel.globals)
        add_text(all, global.id + (global.is_property ? " property" : ""));
    const auto program = programs_.find(target);
    if (program == programs_.end()) return hex_digest(all);
    const PartGraph& graph = program->second;
    std::vector<bool> reached = graph.everywhere();
    graph.add_reached(uses_of(code), reached);
    for (std::size_t part = 0; part < reached.size(); ++part) {
        if (!reached[part]) continue;
        add_text(all, graph.parts()[part].file);
        add_text(all, graph.parts()[part].text);
    }
    return hex_digest(all);
}

}  // namespace kf::gen
