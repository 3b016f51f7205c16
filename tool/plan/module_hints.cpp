// Finds a function's name in the modules that are imported.
#include "plan/module_hints.h"

#include <algorithm>

#include "core/join.h"
#include "diagnostic/suggest.h"
#include "spec/names.h"

namespace kf::gen {

std::vector<std::string> module_notes(const CallSpec& call, const Module& module, bool begins_known) {
    std::vector<std::string> notes;
    const std::string name = plain_name(call.function);
    for (const NamedModule& one : module.modules) {
        const auto& names = one.function_names;
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        notes.push_back("the imported module '" + one.name + "' has one: write \"" + one.name + "." +
                        call.function + "\"");
    }
    const std::vector<std::string> parts = name_parts(call.function);
    if (!notes.empty() || begins_known || parts.size() < 2 || module.modules.empty()) return notes;
    std::vector<std::string> names;
    std::vector<std::string> spellings;
    for (const NamedModule& one : module.modules) {
        names.push_back(one.name);
        spellings.insert(spellings.end(), {one.name, name_parts(one.name).back()});
    }
    const std::string& last = parts.back();
    const std::string meant = plain_name(call.function).substr(0, name.size() - last.size() - 1);
    const auto near = closest(meant, spellings);
    notes.push_back("'" + meant + "' is no struct or namespace of theirs, and no module that they import" +
                    (near ? "; did you mean '" + *near + "." + last + "'?" : "") +
                    "; modules: " + join(names));
    notes.push_back("write 'import " + meant + ";' in one of the modules for the functions of " + meant +
                    ".slang");
    return notes;
}

}  // namespace kf::gen
