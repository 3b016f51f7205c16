// Compares what is given for enums with their members.
#include "core/enum_values.h"

#include <kf/error.h>

#include <algorithm>
#include <cstring>

#include "core/host_scalars.h"
#include "core/parameter_tree.h"
#include "core/roles.h"

namespace kf::detail {

using manifest::Argument;

namespace {

/// The bits of a scalar, sign extended where its type has a sign.
std::int64_t bits_of(ScalarType scalar, const std::byte* at) {
    const auto load = [at](auto value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<std::int64_t>(value);
    };
    switch (scalar) {
        case ScalarType::int8: return load(std::int8_t{});
        case ScalarType::int16: return load(std::int16_t{});
        case ScalarType::int32: return load(std::int32_t{});
        case ScalarType::uint8: return load(std::uint8_t{});
        case ScalarType::uint16: return load(std::uint16_t{});
        case ScalarType::uint32: return load(std::uint32_t{});
        case ScalarType::int64:
        case ScalarType::uint64: return load(std::int64_t{});
        default: return 0;
    }
}

/// The bits of a member's value as a scalar has them, however Slang tells it.
std::int64_t bits_of(ScalarType scalar, std::int64_t member) {
    std::byte bytes[sizeof member];  // NOLINT: the lowest first, as on all machines that this runs on
    std::memcpy(bytes, &member, sizeof member);
    return bits_of(scalar, bytes);
}

std::string number_text(ScalarType scalar, std::int64_t bits) {
    return scalar == ScalarType::uint64 ? std::to_string(static_cast<std::uint64_t>(bits))
                                        : std::to_string(bits);
}

bool is_value(const Argument& argument, std::int64_t bits) {
    std::int64_t known = 0;
    for (const auto& [name, value] : argument.members) {
        const std::int64_t member = bits_of(argument.element.scalar, value);
        if (member == bits) return true;
        known |= member;
    }
    return argument.flags && (bits & ~known) == 0;
}

}  // namespace

std::vector<manifest::EnumValue> enum_values(const manifest::Call& call) {
    std::vector<manifest::EnumValue> values;
    for (std::size_t item = 0; item < call.items.size(); ++item) {
        const std::int64_t first = call.items[item].leaf;
        for (std::int64_t leaf = first; leaf < first + call.items[item].leaves; ++leaf) {
            const Argument& argument = call.arguments[static_cast<std::size_t>(leaf)];
            if (!argument.members.empty() && passes_value(argument) && !is_only_written(argument.role))
                values.push_back({item, static_cast<std::size_t>(leaf)});
        }
    }
    return values;
}

std::string_view enum_name(const Argument& argument) {
    return std::string_view(argument.type).substr(0, argument.type.find('['));
}

std::string members_text(const Argument& argument) {
    std::string text;
    for (const auto& [name, value] : argument.members) {
        text += (text.empty() ? "" : ", ") + name + " = " +
                number_text(argument.element.scalar, bits_of(argument.element.scalar, value));
    }
    return text;
}

void check_enum_value(const std::string& function, const Argument& argument, const std::byte* scalars,
                      const std::vector<std::int64_t>& strides) {
    for_each_scalar(argument, strides, [&](const auto& index, std::int64_t at) {
        const std::int64_t bits = bits_of(argument.element.scalar, scalars + at);
        if (is_value(argument, bits)) return;
        std::string name = argument.name;
        for (const std::int64_t i : index) name += manifest::element_name(i);
        throw ArgumentError(ErrorCode::value_range,
                            function + ": argument '" + name +
                                "': " + number_text(argument.element.scalar, bits) + " is no value of " +
                                std::string(enum_name(argument)) +
                                (argument.flags ? ", nor are its bits: " : ": ") + members_text(argument));
    });
}

void check_enum_values(const std::string& function, const manifest::Call& call, std::span<const Arg> args) {
    if (args.size() != call.items.size()) return;
    for (const auto& [item, leaf] : call.enum_values) {
        const Argument& argument = call.arguments[leaf];
        if (args[item].kind != Arg::Kind::value || args[item].value == nullptr) continue;
        const bool is_whole = call.items[item].form == manifest::Form::leaf;
        check_enum_value(function, argument,
                         static_cast<const std::byte*>(args[item].value) + (is_whole ? 0 : argument.offset),
                         host_strides(argument));
    }
}

}  // namespace kf::detail
