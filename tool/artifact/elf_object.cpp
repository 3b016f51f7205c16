// An object file that holds an artifact's bytes, so that no compiler has to read them.
#include "artifact/elf_object.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace kf::gen {
namespace {

static_assert(std::endian::native == std::endian::little);  // both machines are

template <class T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

/// Appends sections to a file, and lists them in its header in the end.
class ElfFile {
public:
    explicit ElfFile(Elf64_Half machine) : text_(sizeof(Elf64_Ehdr), '\0'), machine_(machine) {
        add("", SHT_NULL, 0, 0, {});
    }

    Elf64_Shdr& add(std::string_view name, Elf64_Word type, Elf64_Xword flags, Elf64_Xword alignment,
                    std::string_view content) {
        align(std::max<std::size_t>(alignment, 1));
        Elf64_Shdr& section = sections_.emplace_back();
        section.sh_name = static_cast<Elf64_Word>(names_.size());
        section.sh_type = type;
        section.sh_flags = flags;
        section.sh_addralign = alignment;
        section.sh_offset = type == SHT_NULL ? 0 : text_.size();
        section.sh_size = content.size();
        names_.append(name).push_back('\0');
        text_.append(content);
        return section;
    }

    std::string finish() && {
        const std::string_view last = ".shstrtab";
        const std::string names = names_ + std::string(last) + '\0';
        add(last, SHT_STRTAB, 0, 1, names);
        align(alignof(Elf64_Shdr));
        Elf64_Ehdr header{};
        std::copy_n(ELFMAG, SELFMAG, header.e_ident);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_REL;
        header.e_machine = machine_;
        header.e_version = EV_CURRENT;
        header.e_shoff = text_.size();
        header.e_ehsize = sizeof header;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<Elf64_Half>(sections_.size());
        header.e_shstrndx = static_cast<Elf64_Half>(sections_.size() - 1);
        text_.replace(0, sizeof header, bytes_of(header));
        for (const Elf64_Shdr& section : sections_) text_ += bytes_of(section);
        return std::move(text_);
    }

private:
    void align(std::size_t alignment) {
        text_.resize((text_.size() + alignment - 1) / alignment * alignment, '\0');
    }

    std::string text_;
    Elf64_Half machine_;
    std::vector<Elf64_Shdr> sections_;
    std::string names_;
};

/// Says that nothing here keeps a program from being guarded: it has no code. Linkers guard programs all of
/// whose objects say so, against jumps to where none may lead (x86-64: and against other return addresses).
std::string guards(ElfMachine machine) {
    struct Note {
        Elf64_Nhdr header{4, 16, NT_GNU_PROPERTY_TYPE_0};
        std::array<char, 4> name{'G', 'N', 'U', '\0'};
        Elf64_Word property = 0;
        Elf64_Word size = 4;
        Elf64_Word guards = 3;  // IBT and SHSTK; BTI and PAC
        Elf64_Word padding = 0;
    };
    Note note;
    note.property = machine == ElfMachine::x86_64 ? 0xc0000002U : 0xc0000000U;
    return std::string(bytes_of(note));
}

}  // namespace

std::string elf_object(ElfMachine machine, std::string_view symbol, std::span<const std::byte> bytes) {
    ElfFile file(machine == ElfMachine::x86_64 ? EM_X86_64 : EM_AARCH64);
    constexpr Elf64_Half data_index = 1;
    constexpr Elf64_Word strings_index = 2;
    file.add(".rodata", SHT_PROGBITS, SHF_ALLOC, 16,
             {reinterpret_cast<const char*>(bytes.data()), bytes.size()});

    const std::string strings = '\0' + std::string(symbol) + '\0';
    file.add(".strtab", SHT_STRTAB, 0, 1, strings);

    std::array<Elf64_Sym, 2> symbols{};
    symbols[1].st_name = 1;
    symbols[1].st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT);
    symbols[1].st_other = STV_HIDDEN;
    symbols[1].st_shndx = data_index;
    symbols[1].st_size = bytes.size();
    Elf64_Shdr& table = file.add(".symtab", SHT_SYMTAB, 0, alignof(Elf64_Sym), bytes_of(symbols));
    table.sh_link = strings_index;
    table.sh_info = 1;  // the first symbol that isn't local
    table.sh_entsize = sizeof(Elf64_Sym);

    file.add(".note.gnu.property", SHT_NOTE, SHF_ALLOC, 8, guards(machine));
    file.add(".note.GNU-stack", SHT_PROGBITS, 0, 1, {});  // no executable stack
    return std::move(file).finish();
}

}  // namespace kf::gen
