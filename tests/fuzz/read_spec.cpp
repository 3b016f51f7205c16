// Reads the text of a spec, as `kfgen` does before it looks at any other file.
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "fuzz/readers.h"
#include "spec/parse.h"
#include "spec/supported.h"

namespace kf::fuzz {

void read_spec(std::span<const std::byte> text) {
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
    const auto outcome = gen::parse_spec(view, "folder/fuzz.kf.json");
    if (outcome.ok()) {
        (void)gen::check_supported(outcome.value());
        if (gen::parse_spec(view, "folder/fuzz.kf.json").value() == outcome.value()) return;
        std::cerr << "the spec is read differently the second time\n";
        std::abort();
    }
    bool is_explained = !outcome.errors().empty();
    for (const gen::Diagnostic& error : outcome.errors()) {
        is_explained = is_explained && !error.id.empty() && !error.message.empty() && error.location.line > 0;
        if (gen::parse_json(gen::format_json(error)) == error) continue;
        std::cerr << "an error isn't the same as JSON: " << gen::format_text(error) << '\n';
        std::abort();
    }
    if (is_explained) return;
    std::cerr << "the spec is refused without a message and a place\n";
    std::abort();
}

}  // namespace kf::fuzz
