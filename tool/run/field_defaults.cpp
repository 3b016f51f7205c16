// Compiles a kernel that makes structs, and reads what it stores.
#include "run/field_defaults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emit/field_defaults.h"
#include "slang/spirv_constants.h"

namespace kf::gen {

namespace {

/// The numbers of fields, by field, as far as they are known.
using Found = std::vector<std::vector<std::optional<std::uint64_t>>>;

std::size_t count_of(const MadeStruct& made, const Field& field) {
    return made.may_have_default(field) ? number_count(field.type).value() : 0;
}

/// Returns nothing where Slang can't make all of the structs.
std::optional<std::vector<std::optional<std::uint64_t>>> numbers_of(const Plan& plan,
                                                                    const std::vector<MadeStruct>& structs,
                                                                    Compiler& compiler) {
    std::size_t count = 0;
    for (const MadeStruct& made : structs)
        for (const Field& field : made.type.fields) count += made.ways.size() * count_of(made, field);
    const Outcome<KernelSource> source = emit_field_defaults(plan, structs);
    if (!source) return std::nullopt;
    const Outcome<CompiledKernel> kernel = compiler.compile(source.value(), CodeTarget::spirv);
    if (!kernel) return std::nullopt;
    std::vector<std::optional<std::uint64_t>> numbers = stored_constants(kernel.value().code);
    return numbers.size() == count ? std::optional(std::move(numbers)) : std::nullopt;
}

/// One entry for each way that Slang could take, all structs' after each other.
std::vector<std::vector<Found>> ways_of(const Plan& plan, const std::vector<MadeStruct>& structs,
                                        Compiler& compiler) {
    const auto all = numbers_of(plan, structs, compiler);
    std::size_t next = 0;
    std::vector<std::vector<Found>> found;
    for (const MadeStruct& made : structs) {
        std::vector<Found>& ways = found.emplace_back();
        for (const std::string& way : made.ways) {
            // One that Slang refuses doesn't take the others' values.
            const auto own =
                all ? all : numbers_of(plan, {{made.type, {way}, made.has_constructors}}, compiler);
            if (!own) continue;
            std::size_t at = all ? next : 0;
            Found& fields = ways.emplace_back();
            for (const Field& field : made.type.fields) {
                const auto begin = own->begin() + static_cast<std::ptrdiff_t>(at);
                const std::size_t count = count_of(made, field);
                fields.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count));
                at += count;
            }
            if (all) next = at;
        }
    }
    return found;
}

/// The constant that those ways give the field which give it one; none where they give it several.
std::vector<std::uint64_t> default_of(const std::vector<Found>& ways, std::size_t field) {
    std::vector<std::uint64_t> value;
    for (const Found& way : ways) {
        std::vector<std::uint64_t> own;
        for (const std::optional<std::uint64_t>& number : way[field])
            if (number) own.push_back(*number);
        if (own.size() < way[field].size() || own.empty()) continue;
        if (!value.empty() && value != own) return {};
        value = std::move(own);
    }
    return value;
}

}  // namespace

Diagnostics add_field_defaults(Plan& plan, const Module& module, Compiler& compiler) {
    const std::vector<MadeStruct> structs = made_structs(plan, module.functions, module.globals);
    if (structs.empty()) return {};
    const std::vector<std::vector<Found>> found = ways_of(plan, structs, compiler);
    Diagnostics warnings;
    for (std::size_t i = 0; i < structs.size(); ++i) {
        const Type& type = structs[i].type;
        FieldDefaults& defaults = plan.defaults[type.name];
        for (std::size_t k = 0; k < type.fields.size(); ++k) {
            defaults.push_back(default_of(found[i], k));
            if (!defaults.back().empty() || !type.fields[k].has_default || structs[i].has_constructors)
                continue;
            warnings.push_back({Severity::warning,
                                "field-default",
                                {},
                                "the default value of '" + type.name + "." + type.fields[k].name +
                                    "' isn't known when kernels are generated: hosts must give the field",
                                {"a literal, a 'static const' or an expression of these is known"}});
        }
    }
    return warnings;
}

}  // namespace kf::gen
