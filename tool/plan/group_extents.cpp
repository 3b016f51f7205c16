// Group sizes that are products of numbers and constants.
#include "plan/group_extents.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/choose_constants.h"

namespace kf::gen {

namespace {

std::optional<std::int64_t> number_of(std::string_view text) {
    while (text.ends_with('u') || text.ends_with('U')) text.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// "taps" and "2" of "(taps*2)".
std::vector<std::string> factors_of(std::string text) {
    std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
    std::vector<std::string> factors(1);
    for (const char c : text) {
        if (c == '*') {
            factors.emplace_back();
        } else {
            factors.back() += c;
        }
    }
    return factors;
}

/// "ns.taps" of "ns::taps".
std::string dotted(std::string name) {
    for (std::size_t at = name.find("::"); at != std::string::npos; at = name.find("::"))
        name.replace(at, 2, ".");
    return name;
}

/// Multiplies by what the factor is; false where that isn't known.
bool multiply(manifest::GroupExtent& extent, const std::string& factor, std::string scope,
              const LinkTime& link) {
    const auto by_number = [&](const std::string& text) {
        const std::int64_t number = number_of(text).value_or(0);
        extent.factor *= number;
        return number > 0;
    };
    if (number_of(factor)) return by_number(factor);
    const std::string name = dotted(factor);
    while (true) {
        const std::size_t dot = scope.rfind('.');
        scope.resize(dot == std::string::npos ? 0 : dot);
        const std::string whole = scope.empty() ? name : scope + "." + name;
        if (const LinkConstant* given = link.constant(whole)) {
            if (given->is_kept()) {
                extent.constants.push_back(link.number_of(*given));
                return true;
            }
            return by_number(given->value);
        }
        const auto usual = link.defaults.find(whole);
        if (usual != link.defaults.end()) return by_number(usual->second);
        if (scope.empty()) return false;
    }
}

}  // namespace

std::optional<manifest::GroupExtents> group_extents(const std::vector<std::string>& text,
                                                    const std::string& function, const LinkTime& link) {
    if (text.empty() || text.size() > 3) return std::nullopt;
    manifest::GroupExtents extents(3);
    for (std::size_t i = 0; i < text.size(); ++i) {
        for (const std::string& factor : factors_of(text[i]))
            if (!multiply(extents[i], factor, function, link)) return std::nullopt;
    }
    return extents;
}

bool is_chosen(const manifest::GroupExtents& extents) {
    return std::ranges::any_of(extents,
                               [](const manifest::GroupExtent& one) { return !one.constants.empty(); });
}

std::optional<LinkedGroup> linked_group(const std::vector<std::string>& text, const std::string& function,
                                        const LinkTime& link) {
    std::optional<manifest::GroupExtents> extents = group_extents(text, function, link);
    if (!extents) return std::nullopt;
    LinkedGroup group{detail::group_size_with(*extents, link.default_values()), {}};
    if (is_chosen(*extents)) group.extents = std::move(*extents);
    return group;
}

}  // namespace kf::gen
