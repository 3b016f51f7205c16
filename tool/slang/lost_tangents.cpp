// Reads calls from the code of modules, and follows them by the names of functions.
#include "slang/lost_tangents.h"

#include <vector>

#include "slang/ir_text.h"
#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

using ir::Text;

/// What Slang's code says of one function, by names, so that modules can be put together.
struct Calls {
    LostTangent lost;               ///< the first one
    std::vector<std::string> into;  ///< those whose code is differentiated with it
};

class Reader {
public:
    explicit Reader(Text code) : module_(ir::parse(code)) {}

    void add_to(std::map<std::string, Calls>& all) const {
        for (const ir::Function& function : module_.functions) {
            const std::string name = name_of(function.generic.empty() ? function.id : function.generic);
            if (name.empty() || function.blocks.empty()) continue;
            Calls& calls = all[name];
            if (module_.opaque.contains(function.generic.empty() ? function.id : function.generic))
                calls.lost = {name, true};
            for (const ir::Block& block : function.blocks) {
                for (const ir::Instruction& one : block.instructions) {
                    // Forward derivatives call those behind no_diff, too.
                    if (!one.callee.empty()) add_call(one.callee, calls);
                }
            }
        }
    }

private:
    [[nodiscard]] std::string name_of(Text id) const {
        if (const auto given = module_.generics.find(id); given != module_.generics.end()) {
            if (const auto own = module_.names.find(given->second); own != module_.names.end())
                return std::string(own->second);
        }
        const auto found = module_.names.find(id);
        return found == module_.names.end() ? std::string() : std::string(found->second);
    }

    void add_call(Text callee, Calls& calls) const {
        const Text id = ir::head_of(callee);
        const auto inner = module_.generics.find(id);
        for (const Text known : {callee, id, inner == module_.generics.end() ? id : inner->second}) {
            const bool treated_as_one = module_.opaque.contains(ir::head_of(known));
            if (treated_as_one || (module_.backward.contains(known) && !module_.forward.contains(known))) {
                if (calls.lost.called.empty()) calls.lost = {name_of(id), treated_as_one};
                return;
            }
            if (module_.differentiated.contains(known)) calls.into.push_back(name_of(id));
        }
    }

    ir::Module module_;
};

/// "S.f" of `S::f<float>` in the brackets that open at `open`; nothing of what is no name.
std::string function_in(const LexedText& text, std::size_t open) {
    std::string name;
    std::size_t at = open + 1;
    for (const std::size_t close = text.closing(open); at < close; ++at) {
        if (text[at] == "<") break;
        if (text[at] == ":" && text[at + 1] == ":") {
            name += '.';
            ++at;
        } else if (text[at] == "." || text.is_word(at)) {
            name += text[at];
        } else {
            return {};
        }
    }
    return name;
}

}  // namespace

Diagnostics lost_tangent_uses(const Module& module, const std::optional<SlangVersion>& version) {
    constexpr SlangVersion keeps_values{2026, 14, 0};
    const bool opaque_is_right = version && *version >= keeps_values;
    std::map<std::string, LostTangent> lost;
    const auto note = [&](const std::vector<Function>& functions) {
        for (const Function& function : functions) {
            const LostTangent& one = function.lost_tangent;
            if (!one.called.empty() && !(one.treated_as_one && opaque_is_right))
                lost.emplace(function.name, one);
        }
    };
    note(module.functions);
    for (const NamedModule& named : module.modules) note(named.functions);
    Diagnostics errors;
    if (lost.empty()) return errors;
    for (const auto& [path, source] : module.sources) {
        const LexedText text(source);
        for (std::size_t at = 0; at < text.size(); ++at) {
            if (!is_one_of(text[at], "fwd_diff", "__fwd_diff") || text[at + 1] != "(") continue;
            const auto found = lost.find(function_in(text, at + 1));
            if (found == lost.end()) continue;
            const std::string called = "'" + found->second.called + "'";
            errors.push_back(
                {Severity::error,
                 "lost-tangent",
                 text.place(path, at),
                 "the forward derivative of '" + found->first + "' takes the tangent of " + called +
                     " for 0, which has no forward derivative",
                 {"give " + called + " a [ForwardDerivative], or mark it [Differentiable], too"}});
        }
    }
    return errors;
}

std::map<std::string, LostTangent> lost_tangents(std::span<const std::string> codes) {
    std::map<std::string, Calls> all;
    for (const std::string& code : codes) Reader(code).add_to(all);
    std::map<std::string, LostTangent> lost;
    for (const auto& [name, calls] : all) {
        if (!calls.lost.called.empty()) lost.emplace(name, calls.lost);
    }
    for (bool grows = true; grows;) {
        grows = false;
        for (const auto& [name, calls] : all) {
            for (const std::string& called : calls.into) {
                const auto found = lost.find(called);
                if (found != lost.end() && lost.emplace(name, found->second).second) grows = true;
            }
        }
    }
    return lost;
}

void note_lost_tangents(Module& module, const std::map<std::string, LostTangent>& lost) {
    const auto note = [&](std::vector<Function>& functions) {
        for (Function& function : functions) {
            const auto found = lost.find(function.name);
            if (found != lost.end() && !function.forward_by_hand) function.lost_tangent = found->second;
        }
    };
    note(module.functions);
    for (NamedModule& named : module.modules) note(named.functions);
}

}  // namespace kf::gen
