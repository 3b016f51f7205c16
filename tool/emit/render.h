// Fills a Mustache template strictly: a hole without a value, or a value without a hole, is an error.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "diagnostic/diagnostic.h"
#include "emit/view.h"

namespace kf::gen {

/// Templates by the names that others include them by. They may include each other, but not themselves.
using Partials = std::map<std::string_view, std::string_view>;

/// The text of `source` with every hole filled. `view` is an object. A name is looked up in the innermost
/// object first, then in those around it; {{.}} is a list's item itself. Nothing is escaped, and lines that
/// hold nothing but section tags or a comment vanish. A partial stands alone in its line, {{>name}}, and gets
/// that line's indentation. Other delimiters are not taken.
///
/// Errors ("internal-template", located in `name`) are slips in kfgen itself, not in its input: a tag
/// without a value or with one of the wrong kind, a value or a partial that no tag uses, a section that isn't
/// closed. Their lines count those of partials, too.
Outcome<std::string> render(std::string_view name, std::string_view source, const View& view,
                            const Partials& partials = {});

}  // namespace kf::gen
