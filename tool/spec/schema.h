// The JSON Schema of the call spec, and the check of a document against it.
#pragma once

#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"
#include "spec/json.h"

namespace kf::gen {

/// The text of kernelfunctions.schema.json, which editors use too.
std::string_view spec_schema();

/// Every way in which `document` breaks `schema` (JSON text in draft 2020-12; the keywords that our
/// schema uses). An unhandled keyword throws std::logic_error: a schema must not promise more than
/// is checked. Our own keywords: "x-expected" says in words what a pattern wants, "x-error-id" names the
/// id to report, "format": "kf-kind" hands the string to parse_kind, "x-not-yet" marks for the reference
/// page what check_supported refuses.
Diagnostics validate(const JsonNode& document, std::string_view schema);

/// The schema as a reference page: docs/spec.md is this.
std::string schema_markdown(std::string_view schema);

}  // namespace kf::gen
