// Walks the declarations of every module that a session has loaded.
#include "slang/declared_globals.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "slang/session.h"

namespace kf::gen {

namespace {

using slang::DeclReflection;
using slang::Modifier;

struct Declared {
    slang::VariableReflection* variable = nullptr;
    std::string name;
    Location place;
    bool is_static = false;
    bool initialised = false;
};

class GlobalWalker {
public:
    explicit GlobalWalker(slang::ISession& session) : session_(&session) {
        for (slang::IModule* module : loaded_modules(session)) {
            const char* path = module->getFilePath();
            if (path != nullptr && std::string_view(path).starts_with(virtual_folder)) continue;
            walk(*module->getModuleReflection(), true);
            for (SlangInt32 file = 0; file < module->getDependencyFileCount(); ++file)
                files_.emplace_back(module->getDependencyFilePath(file));
        }
    }

    [[nodiscard]] const std::vector<Declared>& globals() const { return globals_; }
    [[nodiscard]] bool is_cbuffer(const std::string& name) const { return groups_.contains(name); }

    /// The path of a file that is named without its folder.
    [[nodiscard]] std::string path_of(const std::string& file) const {
        const std::filesystem::path name = std::filesystem::path(file).filename();
        const auto same = [&](const std::string& path) { return path == file; };
        if (std::any_of(files_.begin(), files_.end(), same)) return file;
        const auto named = std::find_if(files_.begin(), files_.end(), [&](const std::string& path) {
            return std::filesystem::path(path).filename() == name;
        });
        return named == files_.end() ? file : *named;
    }

private:
    /// `holds_globals`: what is declared in there, static or not; of a struct only what is static.
    void walk(DeclReflection& parent, bool holds_globals) {
        for (unsigned index = 0; index < parent.getChildrenCount(); ++index) {
            DeclReflection& child = *parent.getChild(index);
            switch (child.getKind()) {
                case DeclReflection::Kind::Variable: add(child, holds_globals); break;
                case DeclReflection::Kind::Namespace:
                case DeclReflection::Kind::Unsupported: walk(child, holds_globals); break;
                case DeclReflection::Kind::Struct: {
                    // A cbuffer's members are globals of their own.
                    constexpr std::string_view group = "SLANG_ParameterGroup_";
                    const std::string_view name = child.getName();
                    if (name.starts_with(group)) groups_.emplace(name.substr(group.size()));
                    walk(child, name.starts_with(group));
                    break;
                }
                case DeclReflection::Kind::Generic:
                    if (DeclReflection* inner = child.asGeneric()->getInnerDecl())
                        if (inner->getKind() == DeclReflection::Kind::Struct) walk(*inner, false);
                    break;
                default: break;
            }
        }
    }

    void add(DeclReflection& declaration, bool is_global) {
        slang::VariableReflection* variable = declaration.asVariable();
        Location place = place_of(*session_, declaration);
        if (variable == nullptr || place.line <= 0) return;
        const bool is_static = variable->findModifier(Modifier::Static) != nullptr;
        if (!is_static && !is_global) return;
        globals_.push_back(
            {variable, declaration.getName(), std::move(place), is_static, variable->hasDefaultValue()});
    }

    slang::ISession* session_;
    std::vector<Declared> globals_;
    std::set<std::string> groups_;  ///< the names of cbuffers
    std::vector<std::string> files_;
};

/// Those that it may be: more than one where namespaces or modules have the same name and the code doesn't
/// tell which is meant.
std::vector<const Declared*> find_declared(const std::vector<Declared>& globals, const Reached& one) {
    std::vector<const Declared*> named;
    for (const Declared& global : globals) {
        const bool fits =
            one.what == Reach::group_memory || global.is_static == (one.what == Reach::static_variable);
        if (fits && global.name == one.name) named.push_back(&global);
    }
    if (named.size() < 2) return named;
    // The ones that are declared where it is used come before others.
    std::vector<const Declared*> beside;
    for (const Declared* global : named)
        if (global->place.file == one.used.file) beside.push_back(global);
    if (!beside.empty()) return beside;
    // Without lines nothing tells.
    return one.used.file.empty() ? std::vector<const Declared*>() : named;
}

std::string trimmed_line(std::string_view text, std::int64_t line) {
    for (; line > 1 && text.find('\n') != std::string_view::npos; --line)
        text.remove_prefix(text.find('\n') + 1);
    text = text.substr(0, text.find('\n'));
    const std::size_t first = text.find_first_not_of(" \t");
    const std::size_t last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string()
                                           : std::string(text.substr(first, last - first + 1));
}

}  // namespace

void place_reached(slang::ISession& session, Sources& sources, std::vector<Reached>& reached) {
    const GlobalWalker walker(session);
    std::vector<Reached> placed;
    for (Reached& one : reached) {
        // What stands in the probe itself says nothing to a user.
        if (one.used.file.starts_with(virtual_folder)) one.used = {};
        if (!one.used.file.empty()) {
            one.used.file = walker.path_of(one.used.file);
            const std::string* text = sources.find(one.used.file);
            if (text != nullptr) one.line = trimmed_line(*text, one.used.line);
        }
        const std::string member = std::exchange(one.member, {});
        if (!member.empty() && walker.is_cbuffer(one.name)) one.name = member;
        if (is_known(placed, one)) continue;
        const bool is_variable = one.what == Reach::parameter || one.what == Reach::static_variable ||
                                 one.what == Reach::group_memory;
        const std::vector<const Declared*> declared =
            is_variable ? find_declared(walker.globals(), one) : std::vector<const Declared*>();
        if (declared.empty()) placed.push_back(one);
        for (const Declared* global : declared) {
            one.declared = global->place;
            one.initialised = global->initialised;
            placed.push_back(one);
            // Only parameters are for hosts to set, each of them.
            if (one.what != Reach::parameter) break;
        }
    }
    reached = std::move(placed);
}

}  // namespace kf::gen
