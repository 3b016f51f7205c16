// The data that a template is filled with: strings, booleans, lists and objects.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kf::gen {

/// A plain value. Strings fill {{name}}; booleans, lists and objects steer {{#name}} and {{^name}}.
class View {
public:
    using List = std::vector<View>;
    using Object = std::map<std::string, View>;

    View(const char* text) : content_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
    View(std::string text) : content_(std::move(text)) {}    // NOLINT(google-explicit-constructor)
    View(bool condition) : content_(condition) {}            // NOLINT(google-explicit-constructor)
    View(List items) : content_(std::move(items)) {}         // NOLINT(google-explicit-constructor)
    View(Object members) : content_(std::move(members)) {}   // NOLINT(google-explicit-constructor)

    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&content_); }
    [[nodiscard]] const bool* condition() const { return std::get_if<bool>(&content_); }
    [[nodiscard]] const List* list() const { return std::get_if<List>(&content_); }
    [[nodiscard]] const Object* object() const { return std::get_if<Object>(&content_); }

private:
    std::variant<std::string, bool, List, Object> content_;
};

}  // namespace kf::gen
