// Walks the declarations of modules for variables that their texts declare as global parameters.
#include "slang/settable_globals.h"

#include <slang.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "slang/declaration.h"
#include "slang/global_parameters.h"
#include "slang/types.h"

namespace kf::gen {

namespace {

using slang::DeclReflection;
using slang::Modifier;

class GlobalWalker {
public:
    GlobalWalker(const Session& session, Sources& sources) : session_(&session), sources_(&sources) {}

    void walk_module(const FileModule& module) {
        module_ = &module;
        types_.reset();
        walk(*module.module->getModuleReflection(), {});
    }
    std::vector<GlobalParameter> take() { return std::move(found_); }

private:
    /// What a file says of its globals.
    struct File {
        std::vector<GlobalPlace> places;
        std::optional<SourceText> text;
    };

    void walk(DeclReflection& parent, const std::string& scope) {
        for (unsigned index = 0; index < parent.getChildrenCount(); ++index) {
            DeclReflection& child = *parent.getChild(index);
            switch (child.getKind()) {
                case DeclReflection::Kind::Variable: add(child, scope); break;
                case DeclReflection::Kind::Namespace:
                    walk(child, (scope.empty() ? "" : scope + ".") + child.getName());
                    break;
                // Slang has no other kind for the declarations of a file that is included.
                case DeclReflection::Kind::Unsupported: walk(child, scope); break;
                case DeclReflection::Kind::Struct:
                    // A cbuffer's members are globals of their own.
                    if (std::string_view(child.getName()).starts_with("SLANG_ParameterGroup"))
                        walk(child, scope);
                    break;
                default: break;
            }
        }
    }

    void add(DeclReflection& declaration, const std::string& scope) {
        slang::VariableReflection* variable = declaration.asVariable();
        const Location place = place_of(session_->slang(), declaration);
        if (variable == nullptr || variable->findModifier(Modifier::Static) != nullptr || place.file.empty())
            return;
        const File& file = file_of(place.file);
        const auto known =
            std::find_if(file.places.begin(), file.places.end(), [&](const GlobalPlace& other) {
                return other.line == place.line && other.column == place.column;
            });
        const auto is_same = [&](const GlobalParameter& other) { return other.location == place; };
        if (known == file.places.end() || std::any_of(found_.begin(), found_.end(), is_same)) return;
        slang::TypeReflection* type = variable->getType();
        const auto kind = type->getKind();
        if (kind == slang::TypeReflection::Kind::ParameterBlock ||
            kind == slang::TypeReflection::Kind::ConstantBuffer) {
            type = type->getElementType();
        }
        if (!types_) types_.emplace(*module_->module->getLayout(), session_->sizes());
        Type described = types_->describe(type);
        Type* inner = &described;
        while (inner->kind == TypeKind::array && !inner->element.empty()) inner = &inner->element.front();
        if (inner->kind == TypeKind::texture)
            inner->texture.format =
                stated_format(file.text->declaration_at(place.line, place.column).attributes);
        found_.push_back({(scope.empty() ? "" : scope + ".") + declaration.getName(), std::move(described),
                          place, file.text->declaration_at(place.line, place.column).doc, scope,
                          module_->name, known->id});
    }

    const File& file_of(const std::string& path) {
        const auto [known, is_new] = files_.try_emplace(path);
        if (!is_new) return known->second;
        if (const std::string* text = sources_->find(path)) {
            known->second.places = global_places(*text);
            if (!known->second.places.empty()) known->second.text.emplace(*text);
        }
        return known->second;
    }

    const Session* session_;
    Sources* sources_;
    const FileModule* module_ = nullptr;
    std::optional<TypeDescriber> types_;  ///< the module's
    std::map<std::string, File> files_;
    std::vector<GlobalParameter> found_;
};

}  // namespace

std::vector<GlobalParameter> settable_globals(const Session& session, Sources& sources) {
    GlobalWalker walker(session, sources);
    for (const FileModule& one : session.file_modules()) walker.walk_module(one);
    return walker.take();
}

}  // namespace kf::gen
