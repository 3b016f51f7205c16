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
#include "core/spirv_code.h"

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

constexpr std::size_t name_at = 3;  ///< in OpEntryPoint

std::vector<spirv::Instruction> entry_points_of(const spirv::Words& words) {
    std::vector<spirv::Instruction> found = spirv::instructions_of(words);
    std::erase_if(found, [](spirv::Instruction one) {
        // A name that doesn't end would be taken for more than the instruction has.
        return spirv::opcode_of(one) != spirv::op_entry_point || one.size() <= name_at ||
               spirv::text_of(one, name_at).size() == one.subspan(name_at).size_bytes();
    });
    return found;
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
    const spirv::Words words = spirv::module_of(code);
    for (const spirv::Instruction one : entry_points_of(words))
        names.emplace_back(spirv::text_of(one, name_at));
    return names;
}

std::vector<std::byte> with_entry_point(std::span<const std::byte> code, const std::string& name) {
    const spirv::Words words = spirv::module_of(code);
    const std::vector<spirv::Instruction> found = entry_points_of(words);
    if (found.size() != 1) return {};
    const spirv::Instruction entry = found.front();
    const std::size_t old_words = spirv::text_of(entry, name_at).size() / 4 + 1;
    spirv::Words named(name.size() / 4 + 1, 0);
    std::memcpy(named.data(), name.data(), name.size());
    spirv::Words operands(entry.begin() + 1, entry.begin() + name_at);
    spirv::put(operands, named);
    spirv::put(operands, entry.subspan(name_at + old_words));
    const std::span all(words);
    const auto at = static_cast<std::size_t>(entry.data() - words.data());
    spirv::Words result;
    spirv::put(result, all.first(at));
    spirv::put(result, spirv::op_entry_point, operands);
    spirv::put(result, all.subspan(at + entry.size()));
    const auto bytes = std::as_bytes(std::span(result));
    return {bytes.begin(), bytes.end()};
}

}  // namespace kf::manifest
