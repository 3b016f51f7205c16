// Reads CBOR (RFC 8949) where it lies, without copying texts and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kf::cbor {

/// What isn't as it should be, for people.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A value of a document, which must outlive it. What asks for another type throws Error.
class Value {
public:
    using Array = std::vector<Value>;
    using Map = std::vector<std::pair<std::string_view, Value>>;

    /// A floating-point number, null and the like are values that nothing takes.
    Value() = default;
    template <class T>
    explicit Value(T value) : value_(std::move(value)) {}

    [[nodiscard]] bool boolean() const { return as<bool>("a bool"); }
    [[nodiscard]] std::int64_t integer() const { return as<std::int64_t>("a 64-bit integer"); }
    [[nodiscard]] std::string text() const { return std::string(as<std::string_view>("a text")); }
    [[nodiscard]] std::span<const std::byte> bytes() const {
        return as<std::span<const std::byte>>("a byte string");
    }
    [[nodiscard]] const Array& array() const { return as<Array>("an array"); }
    [[nodiscard]] const Map& map() const { return as<Map>("a map"); }

    /// Null where the map has no such key.
    [[nodiscard]] const Value* find(std::string_view key) const;
    [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
    [[nodiscard]] const Value& at(std::string_view key) const;
    [[nodiscard]] const Value& at(std::size_t index) const;

private:
    template <class T>
    [[nodiscard]] const T& as(const char* what) const {
        if (const T* value = std::get_if<T>(&value_)) return *value;
        throw Error(std::string("a value that isn't ") + what);
    }

    std::variant<std::monostate, bool, std::int64_t, std::string_view, std::span<const std::byte>, Array, Map>
        value_;
};

/// One document, all of `bytes`: of definite lengths, without tags, its maps' keys texts in ascending order,
/// which is how kfgen writes them. Throws Error.
[[nodiscard]] Value parse(std::span<const std::byte> bytes);

}  // namespace kf::cbor
