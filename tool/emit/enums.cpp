// Collects enums from arguments and the fields of structs.
#include "emit/enums.h"

#include <algorithm>

#include "emit/items.h"
#include "plan/types.h"

namespace kf::gen {
namespace {

class EnumCollector {
public:
    explicit EnumCollector(const Plan& plan) : plan_(plan) {}

    void add(const Type& type) {
        const std::string name = host_enum(type);
        const auto known = [&](const UsedEnum& one) { return one.name == name; };
        if (name.empty() || std::ranges::any_of(used, known)) return;
        const Type& inner = innermost_of(type);
        const bool flags =
            std::ranges::find(plan_.flag_enums, enum_last_name(inner)) != plan_.flag_enums.end();
        used.push_back({name, inner.scalar, flags, inner.members});
        for (auto& [member, value] : used.back().members) value = kept_value(inner.scalar, value);
    }

    std::vector<UsedEnum> used = {};

private:
    static std::int64_t kept_value(ScalarType scalar, std::int64_t value) {
        switch (scalar) {
            case ScalarType::int8: return static_cast<std::int8_t>(value);
            case ScalarType::int16: return static_cast<std::int16_t>(value);
            case ScalarType::int32: return static_cast<std::int32_t>(value);
            case ScalarType::uint8: return static_cast<std::uint8_t>(value);
            case ScalarType::uint16: return static_cast<std::uint16_t>(value);
            case ScalarType::uint32: return static_cast<std::uint32_t>(value);
            default: return value;
        }
    }

    const Plan& plan_;
};

}  // namespace

std::string host_enum(const Type& type) {
    const Type& inner = innermost_of(type);
    return inner.is_enum && !inner.members.empty() ? inner.name : "";
}

std::vector<UsedEnum> used_enums(const Plan& plan, bool host_structs) {
    EnumCollector collector(plan);
    for (const PlannedFunction& function : plan.functions) {
        for (const PlannedCall& call : function.calls) {
            for (const PlannedArgument& item : host_items(call))
                if (has_host_value(item.host)) collector.add(item.type);
        }
    }
    for (const UsedStruct& used : used_structs(plan)) {
        if (used.type.host && !host_structs) continue;
        for (const Field& field : used.type.fields) collector.add(field.type);
    }
    return std::move(collector.used);
}

std::string value_text(const UsedEnum& used, std::int64_t value) {
    return used.scalar == ScalarType::uint64 ? std::to_string(static_cast<std::uint64_t>(value))
                                             : std::to_string(value);
}

}  // namespace kf::gen
