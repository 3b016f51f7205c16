// Describes the modules that calls name, and lists the functions of all.
#include "slang/named_modules.h"

#include <slang.h>

#include <algorithm>
#include <cctype>

#include "slang/reflect.h"

namespace kf::gen {

namespace {

using slang::DeclReflection;

/// Whether calls use this name: those of operators and constructors don't, and nobody misses these.
bool is_plain(const char* name) {
    return name != nullptr && (std::isalpha(static_cast<unsigned char>(*name)) != 0 || *name == '_');
}

void add_names(DeclReflection& declaration, const std::string& prefix, std::vector<std::string>& names) {
    for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
        DeclReflection* child = declaration.getChild(index);
        if (child->getKind() == DeclReflection::Kind::Generic) child = child->asGeneric()->getInnerDecl();
        // Slang throws when an unsupported declaration is asked for its name.
        const auto kind = child != nullptr ? child->getKind() : DeclReflection::Kind::Unsupported;
        const bool function = kind == DeclReflection::Kind::Func;
        const bool holds = kind == DeclReflection::Kind::Struct || kind == DeclReflection::Kind::Namespace;
        if ((!function && !holds) || !is_plain(child->getName())) continue;
        const std::string name = prefix + child->getName();
        if (holds) {
            add_names(*child, name + ".", names);
        } else if (std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
}

/// Whether the function may be one of the module's.
bool begins_with_module(const std::string& function, const NamedModule& module) {
    std::string prefix;
    for (const char c : function.substr(0, function.find('<'))) {
        const bool separator = c == '.' || c == ':';
        if (separator && !prefix.empty() && prefix.back() != '.') {
            if (module.is_meant_by(prefix)) return true;
            prefix += '.';
        } else if (!separator) {
            prefix += c;
        }
    }
    return false;
}

}  // namespace

void add_named_modules(const Session& session, const std::vector<std::string>& functions, Sources& sources,
                       const std::vector<MacroEntry>& entries, Module& module) {
    for (const FileModule& one : session.file_modules()) {
        NamedModule named{one.name, one.path, one.import_name, {}};
        add_names(*one.module->getModuleReflection(), {}, named.function_names);
        const bool meant = std::any_of(functions.begin(), functions.end(), [&](const std::string& function) {
            return begins_with_module(function, named);
        });
        if (meant) {
            Module described =
                describe_modules(session.slang(), {one.module}, sources, session.sizes(), entries);
            named.functions = std::move(described.functions);
            named.shared = std::move(described.shared);
            for (StructText& text : described.structs) {
                const bool known =
                    std::any_of(module.structs.begin(), module.structs.end(),
                                [&](const StructText& other) { return other.name == text.name; });
                if (!known) module.structs.push_back(std::move(text));
            }
        }
        module.modules.push_back(std::move(named));
    }
}

}  // namespace kf::gen
