// Puts the changes of a text together.
#include "slang/workarounds/module_text.h"

#include <utility>

#include "slang/brackets.h"

namespace kf::gen {

namespace {

constexpr std::string_view added = "kf_added_";

}  // namespace

ModuleText::ModuleText(std::string module)
    : original(std::move(module)), tokens(tokenise(original)), text(original) {}

void ModuleText::restart(std::string other) {
    original = std::move(other);
    tokens = tokenise(original);
    text = original;
}

void ModuleText::insert(const Insertions& more) {
    for (const auto& [offset, inserted] : more) insertions[offset] += inserted;
}

void ModuleText::insert_once(std::size_t offset, const std::string& statement) {
    std::string& statements = insertions[offset];
    if (statements.find(statement) == std::string::npos) statements += statement;
}

Insertions ModuleText::numbered() const {
    Insertions all;
    int number = 0;
    for (const auto& [offset, inserted] : insertions) {
        std::string& result = all[offset];
        for (const char c : inserted) {
            if (c == own_number) {
                result += std::to_string(++number);
            } else {
                result += c;
            }
        }
    }
    return all;
}

std::string ModuleText::changed() const { return with_insertions(text, tokens, numbered()); }

std::string added_name(std::string_view what, std::string_view original) {
    return std::string(added).append(what) + "_" + std::to_string(hash_of(original));
}

bool is_added_name(std::string_view function, std::string_view what) {
    return function.starts_with(added) && function.substr(added.size()).starts_with(what);
}

}  // namespace kf::gen
