// Writes the Slang module that gives link-time declarations their values.
#include "emit/values.h"

#include <algorithm>

#include "emit/kinds/constant.h"
#include "emit/render.h"
#include "emit_templates.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

std::string space_of(const std::string& name) {
    return name.substr(0, std::min(name.rfind('.'), name.size()));
}

/// `text` declares the last of the name's parts.
View declaration(const std::string& name, const std::string& text) {
    const bool inside = name.find('.') != std::string::npos;
    return View::Object{
        {"space", inside ? View::List{space_of(name)} : View::List()}, {"text", text}, {"ends", inside}};
}

std::string last_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

Outcome<std::string> emit_values(const LinkTime& link, const std::vector<std::string>& imports, bool keeps) {
    View::List declarations;
    for (const LinkConstant& constant : link.constants) {
        if (keeps && constant.is_kept()) continue;
        declarations.push_back(declaration(constant.name, "export static const " +
                                                              declared_name(constant.type) + " " +
                                                              last_name(constant.name) + " = " +
                                                              kinds::literal(constant.value, constant.type)));
    }
    for (const LinkType& type : link.types) {
        declarations.push_back(declaration(
            type.name, "export struct " + last_name(type.name) +
                           (type.interfaces.empty() ? "" : " : " + type.interfaces) + " = " + type.type));
    }
    if (declarations.empty()) return std::string();
    // Numbers need no imports, and without them there is less that could be ambiguous.
    const bool needs_imports =
        !link.types.empty() || std::any_of(link.constants.begin(), link.constants.end(),
                                           [](const LinkConstant& one) { return one.type.is_enum; });
    const View::List modules(imports.begin(), imports.end());
    return render("values.slang.mustache", templates::values_slang_mustache,
                  View(View::Object{{"imports", needs_imports ? modules : View::List()},
                                    {"declarations", std::move(declarations)}}));
}

}  // namespace kf::gen
