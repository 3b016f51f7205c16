// What only the source text says of a Slang declaration: its comment and its attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kf::gen {

struct DeclarationText {
    std::string doc;                      ///< the comment directly above, markers stripped, lines kept
    std::vector<std::string> attributes;  ///< "Differentiable", "BackwardDerivativeOf(f)": no blanks
};

/// The format of textures that attributes state, [format("r8")] or [[vk::image_format("r8")]]; else nothing.
[[nodiscard]] std::string stated_format(const std::vector<std::string>& attributes);

/// One Slang source file, split into tokens once.
class SourceText {
public:
    explicit SourceText(std::string text);
    /// Describes the declaration whose name is at `line` and `column` (from 1; columns count bytes).
    [[nodiscard]] DeclarationText declaration_at(std::int64_t line, std::int64_t column) const;
    /// Returns the "///<" comment behind a declaration that ends on that line, markers stripped.
    [[nodiscard]] std::string comment_behind(std::int64_t line, std::int64_t column) const;
    /// The source from there to the end of its line.
    [[nodiscard]] std::string_view text_at(std::int64_t line, std::int64_t column) const;
    /// Returns the name, without blanks, of the type whose extension, or interface (`keyword`), a declaration
    /// there is inside of; else nothing.
    [[nodiscard]] std::string type_around(std::int64_t line, std::int64_t column,
                                          std::string_view keyword) const;
    /// Whether the declaration of the parameter whose name is there has the word in front of the name.
    [[nodiscard]] bool is_marked(std::int64_t line, std::int64_t column, std::string_view word) const;
    /// The attributes of the parameter whose name is there, as DeclarationText has those of others.
    [[nodiscard]] std::vector<std::string> attributes_of(std::int64_t line, std::int64_t column) const;
    /// Returns the semantic of the parameter whose name is there, in capitals: "SV_GROUPID"; else nothing.
    [[nodiscard]] std::string semantic_of(std::int64_t line, std::int64_t column) const;
    /// Whether the function whose name is there is given a body.
    [[nodiscard]] bool has_body(std::int64_t line, std::int64_t column) const;

private:
    enum class Kind : std::uint8_t { code, comment, boundary };
    struct Token {
        Kind kind;
        std::size_t begin;
        std::size_t end;
        std::int64_t first_line;
        std::int64_t last_line;
        bool starts_line;  // nothing but blanks before it on its line
    };

    [[nodiscard]] std::string_view text_of(const Token& token) const;
    /// The first token of the declaration whose name the token is: of a parameter, behind the comma or
    /// bracket.
    [[nodiscard]] std::size_t first_of_declaration(std::size_t name) const;
    /// The token at a place in the source; how many there are where there is none.
    [[nodiscard]] std::size_t token_at(std::int64_t line, std::int64_t column) const;
    /// Finds the brace that is open around the token; how many tokens there are where none is.
    [[nodiscard]] std::size_t brace_around(std::size_t token) const;
    [[nodiscard]] std::string comment_above(std::size_t token) const;
    [[nodiscard]] std::vector<std::string> attributes_between(std::size_t first, std::size_t last) const;

    std::string text_;
    std::vector<Token> tokens_;
    std::vector<std::size_t> line_starts_;
};

}  // namespace kf::gen
