// JSON with places: a document whose values and keys know where they were written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

enum class JsonType : std::uint8_t { null, boolean, integer, number, string, array, object };

/// "a string", "an object" … for messages.
std::string_view json_type_phrase(JsonType type);

struct JsonMember;

/// A value. Numbers and literals keep the text they were written with.
struct JsonNode {
    JsonType type = JsonType::null;
    std::string text;                 ///< of strings: decoded; of numbers and literals: as written
    std::vector<JsonNode> items;      ///< of arrays
    std::vector<JsonMember> members;  ///< of objects, in the order written, keys unique
    Location location;

    /// The member's value, or null when the object has no such key.
    [[nodiscard]] const JsonNode* find(std::string_view key) const;
    [[nodiscard]] bool is_true() const { return type == JsonType::boolean && text == "true"; }
};

struct JsonMember {
    std::string key;
    Location location;  ///< of the key
    JsonNode value;
};

/// Parses JSON in UTF-8, which may have comments: // to the end of the line, and /* */. Columns count code
/// points. Errors: "spec-syntax" (the first one only: what follows it means nothing) and every
/// "spec-duplicate-key".
Outcome<JsonNode> parse_json(std::string_view text, const std::string& file);

}  // namespace kf::gen
