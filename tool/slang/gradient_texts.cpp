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

namespace {

void add(Insertions& all, const Insertions& more) {
    for (const auto& [offset, inserted] : more) all[offset] += inserted;
}

}  // namespace

std::string keep_gradients(std::string_view original) {
    // Before all: the others' #line directives would hide its lines.
    const std::string text = keep_loop_starts(original);
    const Tokens tokens = tokenise(text);
    // First: it may put braces around a statement.
    Insertions insertions = keep_written_gradients(text, tokens);
    add(insertions, keep_part_gradients(tokens));
    add(insertions, keep_scalar_gradients(tokens));
    const LoopChanges loops = keep_loop_gradients(text, tokens);
    add(insertions, loops.insertions);  // behind statements, which may stand before a loop
    // Last: a loop's condition may begin with an element.
    add(insertions, keep_element_gradients(text, tokens));
    return with_insertions(loops.text, tokens, std::move(insertions));
}

}  // namespace kf::gen
