// Walks the declarations of every module that a session has loaded.
#include "slang/link_declarations.h"

#include <algorithm>
#include <string_view>

#include "slang/lexed_text.h"
#include "slang/session.h"
#include "slang/specialization_constants.h"
#include "slang/types.h"

namespace kf::gen {

namespace {

using slang::DeclReflection;
using slang::Modifier;

class LinkWalker {
public:
    LinkWalker(slang::ISession& session, Sources& sources) : session_(&session), sources_(&sources) {}

    void walk(DeclReflection& parent, const std::string& prefix, const TypeDescriber& types) {
        for (unsigned index = 0; index < parent.getChildrenCount(); ++index) {
            DeclReflection& child = *parent.getChild(index);
            switch (child.getKind()) {
                case DeclReflection::Kind::Namespace:
                    walk(child, prefix + child.getName() + ".", types);
                    break;
                // A file that the module includes.
                case DeclReflection::Kind::Unsupported: walk(child, prefix, types); break;
                case DeclReflection::Kind::Variable: add(child, prefix, types, false); break;
                case DeclReflection::Kind::Struct: add(child, prefix, types, true); break;
                default: break;
            }
        }
    }

    [[nodiscard]] std::vector<LinkDeclaration> take() { return std::move(found_); }

private:
    void add(DeclReflection& declaration, const std::string& prefix, const TypeDescriber& types,
             bool is_struct) {
        const bool is_left = declaration.findModifier(Modifier::Extern) != nullptr;
        const bool gives = declaration.findModifier(Modifier::Export) != nullptr;
        if ((!is_left && !gives) || declaration.getName() == nullptr) return;
        LinkDeclaration one;
        one.location = place_of(*session_, declaration);
        if (one.location.line <= 0) return;
        one.name = prefix + declaration.getName();
        one.gives = gives;
        if (is_struct) {
            read_struct(one);
        } else {
            slang::VariableReflection* variable = declaration.asVariable();
            if (variable == nullptr || variable->findModifier(Modifier::Static) == nullptr) return;
            one.type = types.describe(variable->getType());
            one.has_default = variable->hasDefaultValue();
            std::int64_t value = 0;
            if (one.has_default && SLANG_SUCCEEDED(variable->getDefaultValueInt(&value)))
                one.default_value = std::to_string(value);
            one.is_specialization = is_specialization(declaration.getName(), one.location);
        }
        const bool is_known = std::any_of(found_.begin(), found_.end(), [&](const LinkDeclaration& other) {
            return other.location == one.location;
        });
        if (!is_known) found_.push_back(std::move(one));
    }

    /// Slang is given link-time constants in their place.
    [[nodiscard]] bool is_specialization(const std::string& name, const Location& place) const {
        const std::string* source = sources_->find(place.file);
        if (source == nullptr) return false;
        const std::vector<SpecializationPlace> all = specialization_constants(*source);
        return std::find(all.begin(), all.end(), SpecializationPlace{name, place.line}) != all.end();
    }

    /// What reflection doesn't tell: `struct VAL : IVal, IOther = Val10;` from its name on.
    void read_struct(LinkDeclaration& one) const {
        const std::string* source = sources_->find(one.location.file);
        if (source == nullptr) return;
        const LexedText text(*source);
        std::size_t index = 0;
        while (index < text.size() && (text.place({}, index).line < one.location.line ||
                                       (text.place({}, index).line == one.location.line &&
                                        text.place({}, index).column < one.location.column))) {
            ++index;
        }
        for (++index; index < text.size() && text[index] != ";" && text[index] != "{"; ++index) {
            if (text[index] == "=") {
                one.has_default = true;
                return;
            }
            if (text[index] == ":" && one.interfaces.empty()) continue;
            one.interfaces += std::string(text[index]) + (text[index] == "," ? " " : "");
        }
    }

    slang::ISession* session_;
    Sources* sources_;
    std::vector<LinkDeclaration> found_;
};

}  // namespace

std::vector<LinkDeclaration> link_declarations(slang::ISession& session, Sources& sources) {
    LinkWalker walker(session, sources);
    for (slang::IModule* module : loaded_modules(session)) {
        const char* path = module->getFilePath();
        if (path == nullptr || std::string_view(path).starts_with(virtual_folder)) continue;
        walker.walk(*module->getModuleReflection(), {}, TypeDescriber(*module->getLayout()));
    }
    return walker.take();
}

}  // namespace kf::gen
