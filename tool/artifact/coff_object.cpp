// An object file for Windows' linkers that holds an artifact's bytes, so that no compiler has to read them.
#include "artifact/coff_object.h"

#include <concepts>

namespace kf::gen {
namespace {

// The numbers of Microsoft's "PE Format".
constexpr std::uint16_t machine_amd64 = 0x8664;
constexpr std::uint16_t machine_arm64 = 0xaa64;
constexpr std::uint32_t header_size = 20;
constexpr std::uint32_t section_header_size = 40;
constexpr std::uint32_t section_flags = 0x0000'0040U     // initialized data
                                        | 0x0000'1000U   // COMDAT
                                        | 0x0050'0000U   // 16-byte alignment
                                        | 0x4000'0000U;  // readable
constexpr std::uint8_t class_external = 2;
constexpr std::uint8_t class_static = 3;
constexpr std::uint8_t select_any = 2;

/// Appends numbers in little-endian order, without padding.
class Writer {
public:
    template <std::unsigned_integral T>
    Writer& number(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            text_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xffU));
        return *this;
    }
    /// A name of at most 8 bytes.
    Writer& name(std::string_view name) {
        text_.append(name).append(8 - name.size(), '\0');
        return *this;
    }
    Writer& bytes(std::string_view bytes) {
        text_.append(bytes);
        return *this;
    }
    std::string finish() && { return std::move(text_); }

private:
    std::string text_;
};

}  // namespace

std::string coff_object(CoffMachine machine, std::string_view symbol, std::span<const std::byte> bytes) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const std::uint32_t data_start = header_size + section_header_size;
    constexpr std::uint16_t section = 1;
    const std::string_view section_name = ".rdata";

    Writer file;
    file.number(machine == CoffMachine::x86_64 ? machine_amd64 : machine_arm64)
        .number<std::uint16_t>(1)  // sections
        .number<std::uint32_t>(0)  // no date
        .number(data_start + size)
        .number<std::uint32_t>(3)   // entries of the table of symbols
        .number<std::uint16_t>(0)   // no header of programs
        .number<std::uint16_t>(0);  // flags

    file.name(section_name)
        .number<std::uint32_t>(0)  // size and
        .number<std::uint32_t>(0)  // place in memory: of programs
        .number(size)
        .number(data_start)
        .number<std::uint32_t>(0)  // no relocations
        .number<std::uint32_t>(0)  // no line numbers
        .number<std::uint16_t>(0)
        .number<std::uint16_t>(0)
        .number(section_flags);
    file.bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});

    // The section's symbol, with how linkers choose; the next one is what they choose by.
    file.name(section_name)
        .number<std::uint32_t>(0)
        .number(section)
        .number<std::uint16_t>(0)
        .number(class_static)
        .number<std::uint8_t>(1);  // more of it follows:
    file.number(size)
        .number<std::uint16_t>(0)
        .number<std::uint16_t>(0)
        .number<std::uint32_t>(0)  // no checksum
        .number<std::uint16_t>(0)  // no other section
        .number(select_any)
        .bytes(std::string_view("\0\0\0", 3));

    constexpr std::uint32_t name_start = 4;  // behind the size of the strings
    file.number<std::uint32_t>(0)
        .number(name_start)
        .number<std::uint32_t>(0)
        .number(section)
        .number<std::uint16_t>(0)
        .number(class_external)
        .number<std::uint8_t>(0);
    file.number(static_cast<std::uint32_t>(name_start + symbol.size() + 1))
        .bytes(symbol)
        .number<std::uint8_t>(0);
    return std::move(file).finish();
}

}  // namespace kf::gen
