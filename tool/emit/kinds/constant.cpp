// Constants.
#include "emit/kinds/constant.h"

#include "core/join.h"
#include "plan/types.h"

namespace kf::gen::kinds {

std::string literal(const std::string& text, const Type& type) {
    const bool is_wide = type.scalar == ScalarType::int64 || type.scalar == ScalarType::uint64;
    std::string number = text;
    if (is_floating(type.scalar) && text.find_first_of(".e") == std::string::npos) number += ".0";
    if (type.scalar == ScalarType::float64) number += "L";
    if (is_wide) number += type.scalar == ScalarType::int64 ? "LL" : "ULL";
    if (type.scalar == ScalarType::uint32) number += "U";
    // The least integers are no literals: minus is applied to what stands behind it.
    if (text == "-2147483648") number += "LL";
    if (text == "-9223372036854775808") number = "-9223372036854775807LL - 1LL";
    if (type.is_enum) return type.name + "(" + to_string(type.scalar) + "(" + number + "))";
    const bool is_plain = type.scalar == ScalarType::boolean ||
                          (type.scalar == ScalarType::int32 && number == text) ||
                          type.scalar == ScalarType::float32 || type.scalar == ScalarType::float64;
    return is_plain ? number : to_string(type.scalar) + "(" + number + ")";
}

namespace {

/// Takes the next scalars, from `at` on.
std::string spelled(const Constant& constant, const Type& type, std::size_t& at) {
    std::vector<std::string> parts;
    switch (type.kind) {
        case TypeKind::array:
            for (std::int64_t i = 0; i < type.extent; ++i)
                parts.push_back(spelled(constant, type.element.front(), at));
            return "{ " + join(parts) + " }";
        case TypeKind::vector:
        case TypeKind::matrix: {
            Type scalar;
            scalar.kind = TypeKind::scalar;
            scalar.scalar = type.scalar;
            for (std::int64_t i = 0; i < type.rows * type.columns; ++i)
                parts.push_back(literal(constant.scalars.at(at++), scalar));
            return declared_name(type) + "(" + join(parts) + ")";
        }
        default: return literal(constant.scalars.at(at++), type);
    }
}

}  // namespace

std::optional<MadeValue> made_value(const Constant& constant, const MadeUse& use) {
    std::size_t at = 0;
    return MadeValue{spelled(constant, use.planned.type, at), {}, {}};
}

std::string cpp_passed_type(const Constant&, const PlannedArgument&, const CppStructs&) { return "kf::Made"; }

PythonTypes python_types(const Constant&, const PlannedArgument&, bool) { return 0; }

std::string described(const Constant& constant, const PlannedArgument&) {
    return "in, " + constant_text(constant);
}

}  // namespace kf::gen::kinds
