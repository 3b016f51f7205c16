// Lays out a table of two structs.
#include "plan/host_table.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "plan/structs.h"

namespace kf::gen {

namespace {

void add_members(const CppType& record, std::int64_t start, bool is_public,
                 std::vector<HostMember>& members) {
    for (const CppField& field : record.fields) {
        if (field.name.empty()) {
            add_members(field.type, start + field.offset, is_public && field.is_public, members);
            continue;
        }
        members.push_back({field.name, &field.type, start + field.offset, field.location,
                           is_public && field.is_public, field.is_bit_field});
    }
}

using Row = std::array<std::string, 7>;

/// How many columns of a terminal UTF-8 text takes.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; }));
}

Row row_of(const HostMember& member) {
    return {"",
            "",
            "",
            member.name,
            member.type->name,
            std::to_string(member.offset),
            member.location.file.empty() ? "" : format_place(member.location)};
}

}  // namespace

std::vector<HostMember> members_of(const CppType& record) {
    std::vector<HostMember> members;
    add_members(record, 0, true, members);
    return members;
}

std::vector<std::string> layout_table(const Type& slang, const CppType& record,
                                      const std::vector<HostMember>& members, const std::vector<int>& pairs) {
    std::vector<Row> rows{
        {"Slang: " + slang.name, "type", "offset", "C++: " + record.name, "type", "offset", ""}};
    const StructLayout layout = layout_of(slang);
    for (std::size_t i = 0; i < slang.fields.size(); ++i) {
        Row row = pairs[i] < 0 ? Row() : row_of(members[static_cast<std::size_t>(pairs[i])]);
        row[0] = slang.fields[i].name;
        row[1] = slang.fields[i].type.name;
        row[2] = std::to_string(layout.offsets[i]);
        rows.push_back(std::move(row));
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
        if (std::find(pairs.begin(), pairs.end(), static_cast<int>(m)) == pairs.end() &&
            members[m].name.find('.') == std::string::npos)
            rows.push_back(row_of(members[m]));
    }
    rows.push_back({"size", "", std::to_string(layout.size), "size", "", std::to_string(record.size), ""});
    std::array<std::size_t, 7> widths{};
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), width(row.at(i)));
    }
    std::vector<std::string> lines;
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) line += i == 3 ? " | " : "  ";
            const std::string blanks(widths.at(i) - width(row.at(i)), ' ');
            const bool is_number = i == 2 || i == 5;
            line += is_number ? blanks + row.at(i) : row.at(i) + blanks;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace kf::gen
