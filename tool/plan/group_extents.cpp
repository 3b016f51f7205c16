// Group sizes that are products of numbers and constants.
#include "plan/group_extents.h"

#include <algorithm>
#include <charconv>

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
    if (const auto number = number_of(factor)) {
        extent.factor *= *number;
        return *number > 0;
    }
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
            const auto value = number_of(given->value);
            extent.factor *= value.value_or(0);
            return value.value_or(0) > 0;
        }
        const auto usual = link.defaults.find(whole);
        if (usual != link.defaults.end()) {
            const auto value = number_of(usual->second);
            extent.factor *= value.value_or(0);
            return value.value_or(0) > 0;
        }
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
    return std::any_of(extents.begin(), extents.end(),
                       [](const manifest::GroupExtent& one) { return !one.constants.empty(); });
}

std::array<std::int64_t, 3> size_with(const manifest::GroupExtents& extents,
                                      const std::vector<std::string>& values) {
    constexpr std::int64_t too_many = std::int64_t{1} << 20;
    std::array<std::int64_t, 3> size{1, 1, 1};
    for (std::size_t i = 0; i < extents.size(); ++i) {
        size.at(i) = std::min(extents[i].factor, too_many);
        for (const std::int64_t number : extents[i].constants) {
            const std::int64_t value =
                number_of(values.at(static_cast<std::size_t>(number))).value_or(too_many);
            size.at(i) = std::min(size.at(i) * std::clamp<std::int64_t>(value, 0, too_many), too_many);
        }
    }
    return size;
}

}  // namespace kf::gen
