// Follows parameters through the code of functions, and into those that they are passed to.
#include "slang/read_views.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "slang/ir_text.h"
#include "slang/lexed_text.h"
#include "slang/tokens.h"

namespace kf::gen {

namespace {

using ir::Text;

struct ViewParameter {
    std::string name;
    bool is_read = true;                                      ///< nothing else is done with it here
    std::vector<std::pair<std::string, std::size_t>> passed;  ///< to parameters of functions
};

/// The parameters of each function of a name.
using ViewParameters = std::vector<std::vector<ViewParameter>>;

/// What the library's views are asked without being written.
bool only_reads(std::string_view method) {
    for (const std::string_view view : {"TensorView.", "DiffTensorView."}) {
        if (method.starts_with(view))
            return is_one_of(method.substr(view.size()), "load", "load_once", "loadOnce", "load_uniform",
                             "loadUniform", "operator[].get", "size", "dims", "stride");
    }
    return false;
}

bool is_number(Text type) {
    for (const Text word : {"Float", "Double", "Half", "Int", "UInt", "Bool", "Vec(", "Mat("}) {
        if (type.starts_with(word)) return true;
    }
    return false;
}

class ViewReader {
public:
    ViewReader(Text code, const std::set<std::string>& own) : module_(ir::parse(code)), own_(own) {}

    void add_to(std::map<std::string, ViewParameters>& all) const {
        for (const ir::Function& function : module_.functions) {
            const std::string name = name_of(function.generic.empty() ? function.id : function.generic);
            if (name.empty() || function.blocks.empty()) continue;
            all[name].push_back(parameters_of(function));
        }
    }

private:
    /// What a generic gives, and what that gives.
    [[nodiscard]] Text innermost(Text id) const {
        for (auto inner = module_.generics.find(id); inner != module_.generics.end();
             inner = module_.generics.find(id))
            id = inner->second;
        return id;
    }

    [[nodiscard]] std::string name_of(Text id) const {
        const auto found = module_.names.find(innermost(id));
        return found == module_.names.end() ? std::string() : std::string(found->second);
    }

    /// Its derivative does with what it is given what the user wrote.
    [[nodiscard]] bool has_own_derivative(Text id) const {
        const auto is_in = [&](const std::set<Text>& functions) {
            return functions.contains(id) || functions.contains(innermost(id));
        };
        const std::string name = name_of(id);
        return (is_in(module_.backward) || is_in(module_.forward)) &&
               (own_.contains(name.substr(name.rfind('.') + 1)) || !is_in(module_.differentiated));
    }

    [[nodiscard]] std::vector<ViewParameter> parameters_of(const ir::Function& function) const {
        std::vector<ViewParameter> parameters;
        std::map<Text, std::size_t> held;  // values that are a parameter or a part of it
        const bool by_hand = has_own_derivative(function.generic.empty() ? function.id : function.generic);
        for (const ir::BlockParameter& parameter : function.blocks.front().parameters) {
            held[parameter.id] = parameters.size();
            const auto name = module_.names.find(parameter.id);
            ViewParameter& added = parameters.emplace_back();
            if (name != module_.names.end()) added.name = name->second;
            added.is_read = !by_hand;
        }
        for (const ir::Block& block : function.blocks) {
            for (const ir::Instruction& one : block.instructions) {
                // What is no code of Slang's names parameters in its own way.
                if (one.name.find("Asm") != Text::npos)
                    for (ViewParameter& parameter : parameters) parameter.is_read = false;
                for (std::size_t i = 0; i < one.operands.size(); ++i) {
                    const auto found = held.find(one.operands[i]);
                    if (found != held.end()) use(one, i, found->second, parameters[found->second], held);
                }
            }
        }
        return parameters;
    }

    void use(const ir::Instruction& one, std::size_t operand, std::size_t index, ViewParameter& parameter,
             std::map<Text, std::size_t>& held) const {
        if (one.name == "call") {
            const Text callee = ir::head_of(one.callee);
            if (has_own_derivative(callee) && !only_reads(name_of(callee))) parameter.is_read = false;
            parameter.passed.emplace_back(name_of(callee), operand);
        } else if (is_one_of(one.name, "get_field", "getElement", "load", "get_field_addr",
                             "getElementPtr")) {
            if (operand == 0 && !is_number(one.type)) held[one.id] = index;
        } else {
            parameter.is_read = false;
        }
    }

    ir::Module module_;
    const std::set<std::string>& own_;
};

/// Adds the last names of functions whose attributes name a derivative of the user's.
void add_own_derivatives(std::string_view source, std::set<std::string>& names) {
    const LexedText text(source);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_one_of(text[at], "BackwardDerivative", "ForwardDerivative") || text[at + 1] != "(") continue;
        // "f" of "…)] [Differentiable] T f<T>(T x)": before the parenthesis, and what is generic.
        std::size_t open = text.closing(at + 1) + 1;
        while (open < text.size() && !is_one_of(text[open], "(", ";", "{"))
            open = text[open] == "[" ? text.closing(open) + 1 : open + 1;
        for (std::size_t name = open; name > at; --name) {
            if (text[name] == "<" || text[name] == "(") names.emplace(text[name - 1]);
        }
    }
}

/// By functions' and parameters' names. `own`: the last names of functions with own derivatives.
std::map<std::string, std::set<std::string>> read_views(std::span<const std::string> codes,
                                                        const std::set<std::string>& own) {
    std::map<std::string, ViewParameters> all;
    for (const std::string& code : codes) ViewReader(code, own).add_to(all);
    const auto is_read_by = [&](const std::string& name, std::size_t index) {
        const auto found = all.find(name);
        if (found == all.end()) return only_reads(name);
        return std::all_of(found->second.begin(), found->second.end(),
                           [&](const auto& one) { return index < one.size() && one[index].is_read; });
    };
    for (bool shrinks = true; shrinks;) {
        shrinks = false;
        for (auto& named : all) {
            for (std::vector<ViewParameter>& parameters : named.second) {
                for (ViewParameter& one : parameters) {
                    if (!one.is_read ||
                        std::all_of(one.passed.begin(), one.passed.end(),
                                    [&](const auto& to) { return is_read_by(to.first, to.second); }))
                        continue;
                    one.is_read = false;
                    shrinks = true;
                }
            }
        }
    }
    std::map<std::string, std::set<std::string>> read;
    for (const auto& [name, overloads] : all) {
        std::set<std::string> written;
        for (const auto& parameters : overloads) {
            for (const ViewParameter& one : parameters) (one.is_read ? read[name] : written).insert(one.name);
        }
        for (const std::string& one : written) read[name].erase(one);
    }
    return read;
}

}  // namespace

void note_read_views(Module& module, std::span<const std::string> codes) {
    std::set<std::string> own;
    for (const auto& source : module.sources) add_own_derivatives(source.second, own);
    const std::map<std::string, std::set<std::string>> read = read_views(codes, own);
    const auto note = [&](std::vector<Function>& functions) {
        for (Function& function : functions) {
            const auto found = read.find(function.name);
            for (Parameter& parameter : function.parameters)
                parameter.only_read = found != read.end() && found->second.contains(parameter.name);
        }
    };
    note(module.functions);
    for (NamedModule& named : module.modules) note(named.functions);
}

}  // namespace kf::gen
