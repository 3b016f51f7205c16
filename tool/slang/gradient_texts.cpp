// Puts the changes together that each way round a fault of Slang's makes.
#include "slang/gradient_texts.h"

#include <utility>

#include "slang/insertions.h"
#include "slang/loop_starts.h"
#include "slang/scalar_gradients.h"
#include "slang/tokens.h"
#include "slang/workarounds/elements.h"
#include "slang/workarounds/loops.h"
#include "slang/workarounds/stored_parts.h"
#include "slang/workarounds/written_values.h"

namespace kf::gen {

std::string keep_gradients(std::string_view original) {
    // Before all: the others' #line directives would hide its lines.
    const std::string text = keep_loop_starts(original);
    const Tokens tokens = tokenise(text);
    // First: it may put braces around a statement.
    Insertions insertions = keep_written_gradients(text, tokens);
    for (auto& [offset, inserted] : keep_part_gradients(tokens)) {
        insertions[offset] += inserted;
    }
    for (auto& [offset, inserted] : keep_scalar_gradients(tokens)) {
        insertions[offset] += inserted;
    }
    LoopChanges loops = keep_loop_gradients(text, tokens);
    for (auto& [offset, inserted] : loops.insertions) {
        insertions[offset] += inserted;  // behind statements, which may stand before a loop
    }
    // Last: a loop's condition may begin with an element.
    for (auto& [offset, inserted] : keep_element_gradients(text, tokens)) {
        insertions[offset] += inserted;
    }
    return with_insertions(loops.text, tokens, std::move(insertions));
}

}  // namespace kf::gen
