// Reads numbers in ptxas's log: what stands before each word is how many there are.
#include "cuda/resources.h"

#include <charconv>

namespace kf::gen {

namespace {

/// The number before `unit`; 0 where the text doesn't have that.
std::int64_t count_of(std::string_view text, std::string_view unit) {
    const std::size_t at = text.find(unit);
    if (at == std::string_view::npos) return 0;
    const std::size_t before = text.find_last_not_of("0123456789", at == 0 ? 0 : at - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::int64_t count = 0;
    std::from_chars(text.data() + begin, text.data() + at, count);
    return count;
}

}  // namespace

std::optional<KernelResources> resources_of(const std::string& entry_point, std::string_view log) {
    const std::string title = "Function properties for " + entry_point + "\n";
    const std::size_t at = log.find(title);
    if (at == std::string_view::npos) return {};
    // "32 bytes stack frame, 108 bytes spill stores, 76 bytes spill loads", and in the next line
    // "ptxas info    : Used 80 registers, used 1 barriers, 1024 bytes smem, 404 bytes cmem[0]".
    std::string_view text = log.substr(at + title.size());
    text = text.substr(0, text.find("Function properties for "));
    const std::string_view memory = text.substr(0, text.find('\n'));
    return KernelResources{count_of(text, " registers"), count_of(memory, " bytes stack frame"),
                           count_of(memory, " bytes spill stores"), count_of(memory, " bytes spill loads"),
                           count_of(text, " bytes smem")};
}

bool spills(const std::string& entry_point, std::string_view log) {
    constexpr std::int64_t few_bytes = 32;
    const std::optional<KernelResources> resources = resources_of(entry_point, log);
    return resources && resources->spill_stores > few_bytes;
}

}  // namespace kf::gen
