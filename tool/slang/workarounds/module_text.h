// A module's text, and what workarounds change in it for Slang.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "slang/insertions.h"
#include "slang/tokens.h"

namespace kf::gen {

/// Stands in an insertion for a number: each gets its own, from 1 on, in the order of the text.
inline constexpr char own_number = '\x01';

/// Each workaround adds to what those before it have changed. `tokens` refer to `original`, so it stays where
/// it is.
struct ModuleText {
    explicit ModuleText(std::string module);
    ModuleText(const ModuleText&) = delete;
    ModuleText& operator=(const ModuleText&) = delete;

    std::string original;
    Tokens tokens;
    std::string text;  ///< as long as `original`: what is replaced has the same length
    Insertions insertions;

    /// Takes another text instead of the original one; nothing may have been changed in that.
    void restart(std::string other);

    /// Puts these behind what is put there already.
    void insert(const Insertions& more);

    /// Puts the statement behind what is put at the offset already, unless it is there.
    void insert_once(std::size_t offset, const std::string& statement);

    /// Returns the insertions with their numbers.
    [[nodiscard]] Insertions numbered() const;

    /// Returns the text for Slang: see with_insertions().
    [[nodiscard]] std::string changed() const;
};

/// Returns the name of a function that a workaround adds to a module of this text, which no other module has:
/// "kf_added_kept_1234".
[[nodiscard]] std::string added_name(std::string_view what, std::string_view original);

/// Tells whether a function's name is such a one; `what`: of that workaround, or of any.
[[nodiscard]] bool is_added_name(std::string_view function, std::string_view what = {});

}  // namespace kf::gen
