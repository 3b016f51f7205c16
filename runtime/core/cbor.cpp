// Reads CBOR (RFC 8949) where it lies, without copying texts and bytes.
#include "core/cbor.h"

#include <algorithm>

namespace kf::cbor {
namespace {

constexpr int max_depth = 40;                // of arrays and maps in a document; ours has fewer
constexpr std::size_t most_reserved = 1024;  // items, on a number's word alone

[[noreturn]] void fail() { throw Error("it is truncated, or isn't one CBOR document"); }

/// Whether the text is characters, each in its shortest form.
bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned first = byte(i);
        const std::size_t size = first < 0x80   ? 1
                                 : first < 0xC2 ? 0
                                 : first < 0xE0 ? 2
                                 : first < 0xF0 ? 3
                                 : first < 0xF5 ? 4
                                                : 0;
        if (size == 0 || size > text.size() - i) return false;
        for (std::size_t k = 1; k < size; ++k) {
            if ((byte(i + k) & 0xC0U) != 0x80) return false;
        }
        if (size > 2) {
            const unsigned second = byte(i + 1);
            const bool is_longer = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
            const bool is_surrogate = first == 0xED && second > 0x9F;
            if (is_longer || is_surrogate || (first == 0xF4 && second > 0x8F)) return false;
        }
        i += size;
    }
    return true;
}

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    Value document() {
        Value value = next(0);
        if (!rest_.empty()) fail();
        return value;
    }

private:
    // The first three bits of an item.
    static constexpr unsigned unsigned_integer = 0;
    static constexpr unsigned negative_integer = 1;
    static constexpr unsigned byte_string = 2;
    static constexpr unsigned text_string = 3;
    static constexpr unsigned array = 4;
    static constexpr unsigned map = 5;
    static constexpr unsigned simple = 7;

    struct Head {
        unsigned type = 0;
        unsigned detail = 0;
        std::uint64_t number = 0;
    };

    std::span<const std::byte> take(std::uint64_t size) {
        if (size > rest_.size()) fail();
        const auto taken = rest_.first(static_cast<std::size_t>(size));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }

    Head head() {
        const auto first = std::to_integer<unsigned>(take(1).front());
        Head read{first >> 5U, first & 31U, first & 31U};
        if (read.detail < 24) return read;
        if (read.detail > 27) fail();
        read.number = 0;
        for (const std::byte byte : take(std::uint64_t{1} << (read.detail - 24U))) {
            read.number = read.number << 8U | std::to_integer<std::uint64_t>(byte);
        }
        return read;
    }

    std::string_view text(std::uint64_t size) {
        const auto bytes = take(size);
        const std::string_view read(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (!is_utf8(read)) throw Error("a text isn't UTF-8");
        return read;
    }

    /// How many items follow; each takes a byte at least.
    std::size_t count(std::uint64_t number) const {
        if (number > rest_.size()) fail();
        return static_cast<std::size_t>(number);
    }

    Value next(int depth) {
        const Head read = head();
        const bool fits = read.number <= static_cast<std::uint64_t>(INT64_MAX);
        switch (read.type) {
            case unsigned_integer: return fits ? Value(static_cast<std::int64_t>(read.number)) : Value();
            case negative_integer: return fits ? Value(-1 - static_cast<std::int64_t>(read.number)) : Value();
            case byte_string: return Value(take(read.number));
            case text_string: return Value(text(read.number));
            case array: return next_array(count(read.number), depth + 1);
            case map: return next_map(count(read.number), depth + 1);
            case simple:
                if (read.detail == 20 || read.detail == 21) return Value(read.detail == 21);
                return {};
            default: fail();
        }
    }

    Value next_array(std::size_t size, int depth) {
        if (depth > max_depth) fail();
        Value::Array values;
        values.reserve(std::min(size, most_reserved));
        for (std::size_t i = 0; i < size; ++i) values.push_back(next(depth));
        return Value(std::move(values));
    }

    Value next_map(std::size_t size, int depth) {
        if (depth > max_depth) fail();
        Value::Map values;
        values.reserve(std::min(size, most_reserved));
        for (std::size_t i = 0; i < size; ++i) {
            const Head key = head();
            if (key.type != text_string) fail();
            const std::string_view name = text(key.number);
            if (i != 0 && values.back().first >= name) fail();
            values.emplace_back(name, next(depth));
        }
        return Value(std::move(values));
    }

    std::span<const std::byte> rest_;
};

}  // namespace

const Value* Value::find(std::string_view key) const {
    const Map& entries = map();
    const auto found = std::ranges::lower_bound(entries, key, {}, &Map::value_type::first);
    return found != entries.end() && found->first == key ? &found->second : nullptr;
}

const Value& Value::at(std::string_view key) const {
    if (const Value* value = find(key)) return *value;
    throw Error("there is no '" + std::string(key) + "'");
}

const Value& Value::at(std::size_t index) const {
    if (index < array().size()) return array()[index];
    throw Error("an array that is too short");
}

Value parse(std::span<const std::byte> bytes) { return Reader(bytes).document(); }

}  // namespace kf::cbor
