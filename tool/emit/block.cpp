// The parameter block of one kernel.
#include "emit/block.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/block_records.h"
#include "core/kinds/questions.h"
#include "core/rows.h"
#include "emit/kinds/questions.h"
#include "emit/text.h"
#include "plan/host_call.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;
using manifest::Record;
using manifest::RecordKind;
using manifest::Role;
using manifest::Variant;

std::string storage_name(const manifest::Element& element) {
    if (element.scalar != ScalarType::boolean) return slang_name(element);
    return slang_name(manifest::Element{ScalarType::uint8, element.extents});
}

/// Spells the records of a block.
class BlockWriter {
public:
    BlockWriter(const PlannedCall& call, PassKind pass, Variant variant, Sums sums)
        : call_(call),
          host_(host_call(call)),
          use_{pass, variant, sums == Sums::exact},
          strided_(variant != Variant::contiguous),
          sums_(sums) {}

    std::vector<BlockField> write() const {
        std::vector<BlockField> fields;
        for (const Record& record : manifest::block_records(host_, use_)) {
            fields.push_back({type_of(record), name_of(record), record});
        }
        return fields;
    }

private:
    [[nodiscard]] const PlannedArgument& planned(const Record& record) const {
        return call_.arguments[static_cast<std::size_t>(record.argument)];
    }

    /// Returns the record's name in the manifest, with the argument that it is of: "grad_out_x".
    [[nodiscard]] std::string name_of(const Record& record) const {
        std::string name = manifest::record_names.at(static_cast<std::size_t>(record.kind));
        if (record.argument >= 0) name += "_" + argument_id(planned(record).host);
        return name;
    }

    [[nodiscard]] std::string type_of(const Record& record) const {
        const auto of_rank = [&](const std::string& name) {
            return "kf." + name + "<" + std::to_string(record.numbers()) + ">";
        };
        switch (record.kind) {
            case RecordKind::launch: return "kf.Launch";
            case RecordKind::walk: return of_rank("Walk");
            case RecordKind::shape: return of_rank("Shape");
            case RecordKind::counter: return "uint*";
            case RecordKind::value: return slang_name(manifest::widened_element(planned(record).host));
            case RecordKind::data:
                return memory(record, record.flagged ? "OrShared" : "", pointed_to(planned(record)));
            case RecordKind::step: return "uint";
            case RecordKind::strides: return of_rank("Strides");
            case RecordKind::grad_in: return memory(record, "", pointed_to(planned(record)));
            case RecordKind::grad_out:
                return memory(record, record.flagged ? "Gradient" : "",
                              to_string(planned(record).host.element.scalar));
            case RecordKind::sums:
                return memory(record, "Sums",
                              is_summed_exactly(planned(record).host, sums_) ? "uint64_t" : "float");
            case RecordKind::extents: return of_rank("Extents");
            case RecordKind::grid: return of_rank("Grid");
            case RecordKind::hash: return "kf.Hash";
            case RecordKind::random: return "kf.Random";
            case RecordKind::pointer: return "uint64_t";
            case RecordKind::reports: return "kf.Reports";
        }
        return {};
    }

    /// "kf.StridedGradient<float, 2>": with an address of `scalar`s.
    [[nodiscard]] static std::string memory(const Record& record, const std::string& what,
                                            const std::string& scalar) {
        if (record.numbers() == 0) return "kf.Dense" + what + "<" + scalar + ">";
        return "kf.Strided" + what + "<" + scalar + ", " + std::to_string(record.numbers()) + ">";
    }

    [[nodiscard]] std::string pointed_to(const PlannedArgument& argument) const {
        const ScalarType scalar = argument.host.element.scalar;
        if (strided_ || is_read_by_scalars(argument) || supply_of(argument.host) == Supply::view)
            return storage_name({scalar, {}});
        return storage_name({scalar, argument.host.trailing});
    }

    const PlannedCall& call_;
    manifest::Call host_;
    manifest::BlockUse use_;
    bool strided_;
    Sums sums_;
};

/// Whether calls that share elements of gradients along one dimension can lie in long rows along others.
bool may_have_rows(const PlannedCall& call) {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(call.rank), 0);
    for (const PlannedArgument& argument : call.arguments) {
        for (std::size_t k = 0; k < argument.host.map.size(); ++k) {
            std::int64_t& extent = extents[static_cast<std::size_t>(argument.host.map[k])];
            extent = std::max(extent, extent_in_element(argument.host, k));
        }
    }
    // The first dimension isn't in a row of its own calls: it is what rows differ in.
    std::int64_t longest = 1;
    for (std::size_t d = 1; d < extents.size(); ++d) {
        if (extents[d] == 0) return true;
        longest *= extents[d];
    }
    return longest >= shortest_row;
}

}  // namespace

std::string argument_id(const Argument& argument) {
    std::string id = argument.name;
    if (argument.role == Role::result) id.replace(0, std::string("result").size(), "return");
    if (argument.tangent_of >= 0)
        id = (argument.role == Role::in ? "kf_d_" : "kf_d_out_") + id.substr(id.find('.') + 1);
    return as_identifier(std::move(id));
}

bool is_looped(const PlannedArgument& argument) {
    // A vector of one has no scalar's form, and no name of its own on the host.
    const bool single = argument.type.kind == TypeKind::vector && argument.type.columns == 1;
    return single || argument.type.kind == TypeKind::matrix || argument.type.kind == TypeKind::array;
}

bool is_read_by_scalars(const PlannedArgument& argument) {
    const bool half3 = argument.host.element.scalar == ScalarType::float16 &&
                       argument.host.trailing == std::vector<std::int64_t>{3};
    return half3 || is_looped(argument) || argument.host.pitch != 0;
}

bool is_summed_exactly(const Argument& argument, Sums sums) {
    return sums == Sums::exact && is_summed(argument) && is_floating(argument.element.scalar);
}

bool needs_scratch(const Argument& argument, PassKind pass, Sums sums) {
    return manifest::needs_scratch(argument, pass, sums == Sums::exact);
}

std::int64_t leader_of(const PlannedCall& call, std::int64_t index, Part part, Sums sums) {
    return manifest::find_leader(
        call, index, part, sums == Sums::exact,
        [](const auto& planned) -> const auto& { return planned.host; }, is_differentiable_leaf);
}

std::vector<BlockField> block_fields(const PlannedCall& call, PassKind pass, Variant variant, Sums sums) {
    return BlockWriter(call, pass, variant, sums).write();
}

manifest::ResourceList resources_of(const PlannedCall& call) {
    return manifest::call_resources(host_call(call));
}

bool can_walk_rows(const PlannedCall& call, PassKind pass) {
    // The largest subgroup that there is: groups are made of whole ones.
    constexpr std::uint32_t most_lanes = 128;
    const bool plain = std::all_of(call.arguments.begin(), call.arguments.end(), [&](const auto& argument) {
        // Sums along rows are of floats, and know no calls' indices.
        const bool sums = !writes_gradient(argument.host, pass) ||
                          (is_summed(argument.host) && is_floating(argument.host.element.scalar));
        const bool is_view = supply_of(argument.host) == Supply::view;
        return !takes_first(argument.host, pass) && !is_looped(argument) && !is_view &&
               !counts_calls(argument.host) && argument.host.pitch == 0 && sums;
    });
    const bool structs =
        std::any_of(call.parameters.begin(), call.parameters.end(),
                    [](const auto& parameter) { return parameter.host.form != manifest::Form::leaf; });
    // Kernels that walk rows read every argument, and a tangent may be missing.
    return plain && !call.is_jvp && call.rank > 1 && may_have_rows(call) && !structs &&
           call.group_size[0] % most_lanes == 0 &&
           std::any_of(call.arguments.begin(), call.arguments.end(), [&](const auto& argument) {
               return writes_gradient(argument.host, pass) && argument.host.call_rank > 0 &&
                      (!call.strict_broadcasting || is_combined(argument.host));
           });
}

std::int64_t push_constant_bytes(const PlannedCall& call, const std::vector<Record>& records) {
    return manifest::push_constant_bytes(host_call(call), records);
}

const BlockField& field_of(const std::vector<BlockField>& fields, RecordKind kind, std::int64_t argument) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const BlockField& field) {
        return field.record.kind == kind && field.record.argument == argument;
    });
    if (found == fields.end()) throw std::logic_error("a kernel without the record that it reads");
    return *found;
}

std::string record_text(const std::vector<BlockField>& fields, RecordKind kind, std::int64_t argument) {
    return "kf_args." + field_of(fields, kind, argument).name;
}

std::string number_text(const BlockField& field, const std::string& list, std::int64_t dimension) {
    const std::vector<std::int64_t>& dimensions = field.record.dimensions;
    const auto found = std::find(dimensions.begin(), dimensions.end(), dimension);
    if (found == dimensions.end()) throw std::logic_error("a record without the number that a kernel reads");
    return "kf_args." + field.name + "." + list + "[" + std::to_string(found - dimensions.begin()) + "]";
}

}  // namespace kf::gen
