// Counts iterations in the text of loops.
#include "run/limit_probe.h"

#include <filesystem>

#include "run/generate.h"
#include "slang/insertions.h"
#include "slang/tokens.h"
#include "slang/workarounds/loops.h"

namespace kf::gen {

namespace {

/// Added to a limit, it is far more than any limit is too small by.
constexpr const char* beyond = " + 100000";

std::string with_ends(std::string_view text, const std::vector<LimitedLoop>& loops,
                      const std::vector<bool>& at_limit) {
    Insertions insertions;
    for (std::size_t i = 0; i < loops.size(); ++i) {
        const LimitedLoop& loop = loops[i];
        const std::string count = "kf_iterations_" + std::to_string(i);
        insertions[loop.begin] += "{ int " + count + " = 0; ";
        insertions[loop.body] += "{ if (" + count + "++ >= int(" + loop.iterations + ")" +
                                 (at_limit[i] ? "" : beyond) + ") break; ";
        insertions[loop.body_end] += " }";
        insertions[loop.end] += " }";
    }
    std::string result;
    std::size_t copied = 0;
    for (const auto& [offset, inserted] : insertions) {
        result.append(text.substr(copied, offset - copied)).append(inserted);
        copied = offset;
    }
    return result.append(text.substr(copied));
}

/// Members' functions have their types before their names: "Walk.sum".
bool makes(const CallSpec& call, std::string_view function) {
    const std::string_view name = function.substr(0, function.find(".accumulate("));
    return name == call.name || name.ends_with("." + call.name);
}

}  // namespace

LimitProbe::LimitProbe(const Spec& spec, const Options& options,
                       const std::vector<std::pair<std::filesystem::path, std::string>>& sources)
    : spec_(spec), options_(options) {
    for (const auto& [path, text] : sources) {
        if (path != options.spec) sources_.emplace(path.string(), text);
    }
    std::erase_if(sources_, [&](const auto& source) {
        const auto& [path, text] = source;
        const std::vector<LimitedLoop> found = limited_loops(text, tokenise(text));
        for (const LimitedLoop& loop : found) {
            const auto line = static_cast<std::int64_t>(line_at(text, loop.keyword));
            const auto column = static_cast<std::int64_t>(column_at(text, loop.keyword));
            loops_.push_back({{path, line, column}, loop.function, loop.limit});
        }
        return found.empty();
    });
}

std::map<std::string, std::string> LimitProbe::texts(std::size_t begin, std::size_t end) const {
    std::map<std::string, std::string> changed;
    std::size_t first = 0;  // of a text's loops
    for (const auto& [path, text] : sources_) {
        const std::vector<LimitedLoop> loops = limited_loops(text, tokenise(text));
        std::vector<bool> at_limit;
        for (std::size_t i = 0; i < loops.size(); ++i) {
            at_limit.push_back(first + i >= begin && first + i < end);
        }
        changed[path] = with_ends(text, loops, at_limit);
        first += loops.size();
    }
    return changed;
}

std::vector<std::byte> LimitProbe::artifact(std::size_t begin, std::size_t end, const std::string& function) {
    Spec spec = spec_;
    if (!function.empty()) {
        std::erase_if(spec.calls, [&](const CallSpec& call) { return !makes(call, function); });
    }
    Outcome<std::vector<std::byte>> made = generate_forward_passes(spec, options_, texts(begin, end));
    if (made) return std::move(made.value());
    failure_ = made.errors().front().message;
    return {};
}

}  // namespace kf::gen
