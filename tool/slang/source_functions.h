// Functions of modules by their text, and which of them a kernel reaches.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic/diagnostic.h"
#include "slang/lexed_text.h"

namespace kf::gen {

/// One definition: its lexemes from the first attribute to the brace that ends it.
struct SourceFunction {
    std::string name;  ///< its last one
    const std::string* file = nullptr;
    const LexedText* text = nullptr;
    std::size_t begin = 0;
    std::size_t body = 0;  ///< the opening brace
    std::size_t end = 0;
    bool differentiable = false;
    std::optional<Location> macro;  ///< of a definition within a macro: the directive

    [[nodiscard]] Location place(std::size_t index) const {
        return macro ? *macro : text->place(*file, index);
    }
};

class SourceFunctions {
public:
    /// Texts by their paths; they must outlive this.
    explicit SourceFunctions(const std::map<std::string, std::string>& sources);

    [[nodiscard]] const std::vector<SourceFunction>& all() const { return functions_; }

    /// Those whose names the kernel's text has, and so on through their own; overloads count as one, and
    /// what only has the name of one counts too.
    [[nodiscard]] std::vector<const SourceFunction*> reached_from(std::string_view kernel) const;

private:
    void read(const std::string& file, const LexedText& text, const std::optional<Location>& macro);

    std::vector<std::unique_ptr<LexedText>> texts_;
    std::vector<SourceFunction> functions_;
};

}  // namespace kf::gen
