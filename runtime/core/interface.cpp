// What a kernel's code relies on, in a few words that are part of its entry point's name.
#include "core/interface.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "core/block_records.h"
#include "core/kinds/questions.h"
#include "core/roles.h"
#include "core/sha256.h"
#include "core/spirv.h"

namespace kf::manifest {
namespace {

constexpr std::size_t digits = 16;

class Writer {
public:
    void number(std::int64_t value) { text_ += std::to_string(value) + ' '; }
    void numbers(const std::vector<std::int64_t>& values) {
        number(static_cast<std::int64_t>(values.size()));
        for (const std::int64_t value : values) number(value);
    }
    void text(const char* value) { text_ += std::string(value) + ' '; }
    template <class Enum>
    void word(Enum value) {
        number(static_cast<std::int64_t>(value));
    }
    [[nodiscard]] std::string digest() const { return hex_digest(text_).substr(0, digits); }

private:
    std::string text_;
};

bool is_of_gradients(RecordKind kind) { return kind == RecordKind::grad_in || kind == RecordKind::grad_out; }

/// Writes the fields that an argument's kind has.
struct KindWriter {
    Writer& writer;

    void operator()(const char*, bool value) const { writer.number(value ? 1 : 0); }
    void operator()(const char*, std::int64_t value) const { writer.number(value); }
    void operator()(const char*, const std::string& text) const { writer.text(text.c_str()); }
    void operator()(const char*, const std::vector<std::string>& texts) const {
        writer.number(static_cast<std::int64_t>(texts.size()));
        for (const std::string& text : texts) writer.text(text.c_str());
    }
    template <class Enum, class Words>
    void operator()(const char*, Enum value, const Words&) const {
        writer.word(value);
    }
};

void write_argument(const Argument& argument, bool has_gradients, Writer& writer) {
    writer.number(static_cast<std::int64_t>(argument.kind.index()));
    std::visit([&](const auto& kind) { kind.each_field(kind, KindWriter{writer}); }, argument.kind);
    writer.word(argument.role);
    writer.word(argument.element.scalar);
    writer.numbers(argument.trailing);
    writer.number(argument.inner_rank);
    writer.number(argument.pitch);
    writer.numbers(argument.pitch == 0 ? std::vector<std::int64_t>() : argument.spacing);
    writer.number(shares_place(argument) ? argument.offset : 0);
    if (has_gradients) {
        writer.number(is_pushed(argument) ? 1 : 0);
        writer.number(argument.accumulate == Accumulate::first ? 1 : 0);
    }
}

/// Writes what a texture or a sampler is to the code, behind what all resources have.
void write_slot(const ResourceSlot& slot, Writer& writer) {
    writer.word(slot.dimension);
    writer.number(slot.is_array ? 1 : 0);
    writer.text(slot.format.c_str());
    writer.text(slot.texel.c_str());
    writer.number(slot.samplers);
    writer.number(slot.is_comparison ? 1 : 0);
}

/// Calls visit(first word, count) for each instruction; false when they are not whole.
template <class Visit>
bool each_instruction(const std::vector<std::uint32_t>& words, Visit visit) {
    if (words.size() < spirv::header_words || words[0] != spirv::magic) return false;
    for (std::size_t at = spirv::header_words; at < words.size();) {
        const std::size_t count = words[at] >> 16U;
        if (count == 0 || count > words.size() - at) return false;
        visit(at, count);
        at += count;
    }
    return true;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> code) {
    std::vector<std::uint32_t> words(code.size() % 4 == 0 ? code.size() / 4 : 0);
    if (!words.empty()) std::memcpy(words.data(), code.data(), code.size());
    return words;
}

struct EntryPoint {
    std::size_t at = 0;
    std::size_t count = 0;
    std::string name;
};

std::vector<EntryPoint> entry_points_of(const std::vector<std::uint32_t>& words) {
    std::vector<EntryPoint> found;
    const bool whole = each_instruction(words, [&](std::size_t at, std::size_t count) {
        if ((words[at] & 0xFFFFU) != spirv::op_entry_point || count < 4) return;
        std::string name((count - 3) * 4, '\0');
        std::memcpy(name.data(), &words[at + 3], name.size());
        found.push_back({at, count, name.substr(0, name.find('\0'))});
    });
    return whole ? found : std::vector<EntryPoint>();
}

}  // namespace

std::string interface_of(const Call& call, const Kernel& kernel, bool exact) {
    Writer writer;
    if (call.dispatch != Dispatch::elements)
        writer.text(dispatch_names.at(static_cast<std::size_t>(call.dispatch)));
    writer.word(kernel.variant);
    for (const std::uint32_t extent : kernel.group_size) writer.number(extent);
    writer.number(kernel.calls_per_thread);
    std::set<std::int64_t> arguments;
    std::set<std::int64_t> with_gradients;
    std::set<std::int64_t> with_sums;
    for (const Record& record : kernel.records) {
        writer.word(record.kind);
        writer.number(record.argument);
        writer.numbers(record.dimensions);
        writer.number(record.trailing);
        writer.number(record.flagged ? 1 : 0);
        if (record.argument < 0) continue;
        arguments.insert(record.argument);
        if (is_of_gradients(record.kind)) with_gradients.insert(record.argument);
        if (record.kind == RecordKind::sums) with_sums.insert(record.argument);
    }
    for (const std::int64_t i : arguments) {
        const Argument& argument = call.arguments[static_cast<std::size_t>(i)];
        write_argument(argument, with_gradients.contains(i), writer);
        // Halves have sums beside them in either way, of other sizes.
        if (exact && with_sums.contains(i) && is_summed(argument)) writer.text("exact");
    }
    for (const ResourceSlot& slot : kernel.resources) {
        writer.word(slot.kind);
        writer.number(slot.writes ? 1 : 0);
        writer.number(slot.stride);
        if (slot.kind != ResourceKind::buffer) write_slot(slot, writer);
    }
    return writer.digest();
}

std::string with_interface(const std::string& entry_point, const std::string& interface) {
    return entry_point + "_" + interface;
}

bool has_interface(const std::string& entry_point, const std::string& interface) {
    return entry_point.ends_with("_" + interface);
}

std::vector<std::string> spirv_entry_points(std::span<const std::byte> code) {
    std::vector<std::string> names;
    for (EntryPoint& found : entry_points_of(words_of(code))) names.push_back(std::move(found.name));
    return names;
}

std::vector<std::byte> with_entry_point(std::span<const std::byte> code, const std::string& name) {
    const std::vector<std::uint32_t> words = words_of(code);
    const std::vector<EntryPoint> found = entry_points_of(words);
    if (found.size() != 1) return {};
    const EntryPoint& entry = found.front();
    const std::size_t old_words = entry.name.size() / 4 + 1;
    std::vector<std::uint32_t> named(name.size() / 4 + 1, 0);
    std::memcpy(named.data(), name.data(), name.size());
    const auto place = [&](std::size_t at) { return words.begin() + static_cast<std::ptrdiff_t>(at); };
    std::vector<std::uint32_t> result(words.begin(), place(entry.at + 3));
    const std::size_t count = entry.count - old_words + named.size();
    result[entry.at] = static_cast<std::uint32_t>(count << 16U) | spirv::op_entry_point;
    result.insert(result.end(), named.begin(), named.end());
    result.insert(result.end(), place(entry.at + 3 + old_words), words.end());
    const auto bytes = std::as_bytes(std::span(result));
    return {bytes.begin(), bytes.end()};
}

}  // namespace kf::manifest
