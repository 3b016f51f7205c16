// Makes the signatures of a planned call's C++ member functions.
#include "emit/cpp_methods.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/items.h"
#include "core/roles.h"
#include "emit/element.h"
#include "emit/kinds/questions.h"
#include "emit/names.h"
#include "plan/structs.h"

namespace kf::gen {
namespace {

using manifest::Argument;
using manifest::Form;
using manifest::Gradient;
using manifest::Role;

constexpr std::string_view scalar_arg_name = "kf::ScalarArg<";

std::string scalar_arg(const std::string& type) { return std::string(scalar_arg_name) + type + ">"; }

bool is_scalar_arg(const std::string& type) { return type.starts_with(scalar_arg_name); }

/// Whether arguments of some types could go to both.
bool compete(const CppMethod& one, const CppMethod& other) {
    if (one.kind != other.kind || one.part != other.part || one.types.size() != other.types.size())
        return false;
    for (std::size_t i = 0; i < one.types.size(); ++i) {
        const bool scalars = is_scalar_arg(one.types[i]) && is_scalar_arg(other.types[i]);
        if (!scalars && one.types[i] != other.types[i]) return false;
    }
    return true;
}

/// Builds the methods of one call.
class Builder {
public:
    Builder(const PlannedCall& call, std::size_t index, const CppStructs& structs)
        : call_(call),
          index_(index),
          structs_(structs),
          parameters_(call.parameters),
          items_(host_items(call)),
          names_(cpp_argument_names(call, structs)) {}

    std::vector<CppMethod> build() {
        if (call_.is_jvp) return build_jvp();
        bool has_result = false;
        bool gives_tensor = false;
        bool reads_back = false;
        bool writes = false;
        bool outs = false;
        bool by_fields = false;
        bool updates = false;
        for (const PlannedParameter& parameter : parameters_) {
            if (parameter.role == Role::result) has_result = true;
            const bool output = is_only_written(parameter.role);
            // An output that comes field by field is given, to be written to.
            by_fields = by_fields || (output && parameter.host.form == Form::fields);
        }
        for (const PlannedArgument& item : items_) {
            const Argument& host = item.host;
            gives_tensor = gives_tensor || (host.role == Role::result && !passes_value(host));
            reads_back = reads_back || (host.role != Role::in && passes_value(host));
            writes = writes || host.role == Role::out || host.role == Role::inout;
            outs = outs || host.role == Role::out;
            updates = updates || host.role == Role::inout;
        }
        // A result that comes field by field is always returned.
        gives_tensor = gives_tensor && parameters_.back().host.form != Form::fields;
        for (const CppMethodKind kind : {CppMethodKind::call, CppMethodKind::append_to}) {
            if (kind == CppMethodKind::append_to && reads_back) continue;
            methods_.push_back(forward(kind, false));
            methods_.back().nodiscard = has_result && !writes;
            if (gives_tensor) methods_.push_back(forward(kind, true));
            if (outs && !by_fields) {
                methods_.push_back(gathering(kind));
                methods_.back().nodiscard = !updates;
            }
        }
        if (call_.has_backward) {
            methods_.push_back(backward(CppMethodKind::call));
            if (can_record_backward()) methods_.push_back(backward(CppMethodKind::append_to));
        }
        for (const CppMethodKind kind : {CppMethodKind::call, CppMethodKind::append_to}) {
            const bool recorded = kind == CppMethodKind::append_to;
            if (!call_.has_fused || (recorded && (reads_back || !can_record_backward()))) continue;
            methods_.push_back(forward(kind, false, CppPart::fused));
            if (gives_tensor) methods_.push_back(forward(kind, true, CppPart::fused));
        }
        return std::move(methods_);
    }

private:
    CppMethod start(CppMethodKind kind, CppPart part) const {
        CppMethod method;
        method.kind = kind;
        method.part = part;
        method.call = index_;
        method.result = "void";
        if (kind == CppMethodKind::append_to) add(method, "kf::Encoder&", "encoder");
        return method;
    }

    static void add(CppMethod& method, std::string type, std::string name) {
        method.types.push_back(std::move(type));
        method.names.push_back(std::move(name));
    }

    /// One that is itself what stands for an item.
    static void add_whole(CppMethod& method, std::string type, const std::string& name) {
        add(method, std::move(type), name);
        method.places.push_back(name);
    }

    /// `place`: of what stands for an item.
    [[nodiscard]] CppItem item_at(std::size_t at, CppItem::How how, std::string place) const {
        return {how, std::move(place), passes_value(items_[at].host)};
    }

    static CppItem::How how(Role role) {
        return role == Role::in      ? CppItem::How::in
               : role == Role::inout ? CppItem::How::inout
                                     : CppItem::How::out;
    }

    /// Runs over the parameters; `at` counts their items.
    template <class Visit>
    void for_each_parameter(Visit visit) const {
        std::size_t at = 0;
        for (const PlannedParameter& parameter : parameters_) {
            visit(parameter, at);
            at += manifest::item_count(parameter.host);
        }
    }

    [[nodiscard]] std::string type_of(std::size_t item) const { return structs_.type(items_[item]); }
    /// Returns the type that holds an item's elements, or its texels.
    [[nodiscard]] std::string tensor_of(std::size_t item) const {
        const bool is_texture = manifest::passed_as(items_[item].host) == manifest::HostPassing::texture;
        return is_texture ? passed_type(item) : structs_.tensor_type(items_[item]);
    }
    [[nodiscard]] std::string passed_type(std::size_t item) const {
        return cpp_passed_type(items_[item], structs_);
    }

    /// How a host value that isn't a struct is taken.
    [[nodiscard]] std::string given_type(std::size_t item) const {
        return items_[item].host.element.extents.empty() ? scalar_arg(type_of(item)) : type_of(item);
    }

    /// `part`: the function's own, or the fused pass, whose inputs may carry gradients.
    CppMethod forward(CppMethodKind kind, bool give_result, CppPart part = CppPart::function) const {
        CppMethod method = start(kind, part);
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            if (parameter.host.form == Form::fields) {
                add_fields(method, parameter, at, kind);
                return;
            }
            const std::string& name = names_[at];
            const Role role = items_[at].host.role;
            if (!passes_elements(items_[at].host) && !is_only_written(role)) {
                method.items.push_back(add_source(method, at));
                return;
            }
            if (role == Role::result) {
                add_result(method, give_result, at);
                return;
            }
            const bool value = passes_value(items_[at].host);
            const bool structure = holds_structs(items_[at].type);
            const std::string type = type_of(at);
            const std::string tensor = "const " + tensor_of(at) + "&";
            // An object that is given by value as `this` is only read.
            if (role == Role::in) {
                const std::string full = part == CppPart::fused ? backward_type(kind, at) : type;
                const std::string plain = structure ? "const " + type + "&" : given_type(at);
                const std::string passed = "const " + passed_type(at) + "&";
                add_whole(method, !value ? passed : full == type ? plain : full, name);
            } else if (role == Role::inout) {
                add_whole(method, value ? type + "&" : tensor, name);
            } else {
                add_whole(method, value ? type + "&" : "const kf::Out<" + tensor_of(at) + ">&", name);
            }
            method.items.push_back(item_at(at, how(role), name));
        });
        if (!give_result) add_shape(method, true);
        return method;
    }

    /// The call that returns its out parameters, after the result, instead of writing to what is given.
    CppMethod gathering(CppMethodKind kind) const {
        const CppMethod plain = forward(kind, false);
        CppMethod method = start(kind, CppPart::function);
        method.items = plain.items;
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            if (is_only_written(parameter.role)) {
                const bool value = passes_value(items_[at].host);
                method.outputs.push_back({value ? type_of(at) : tensor_of(at), names_[at], at, value});
                return;
            }
            const std::string name = manifest::root_of(names_[at]);
            const auto found = std::find(plain.names.begin(), plain.names.end(), name);
            if (found == plain.names.end()) return;
            add(method, plain.types[static_cast<std::size_t>(found - plain.names.begin())], name);
            for (const std::string& place : plain.places)
                if (manifest::root_of(place) == name) method.places.push_back(place);
        });
        std::stable_partition(method.outputs.begin(), method.outputs.end(),
                              [](const CppOutput& output) { return output.name == "result"; });
        const bool one = method.outputs.size() == 1;
        for (const CppOutput& output : method.outputs) {
            const std::string place = one ? "result" : "result." + output.name;
            method.places.push_back(place);
            method.items[output.at] =
                item_at(output.at, output.is_value ? CppItem::How::out : CppItem::How::made, place);
        }
        if (one) method.result = method.outputs.front().type;
        add_shape(method, false);
        return method;
    }

    void add_shape(CppMethod& method, bool outs_given) const {
        if (!needs_shape(outs_given)) return;
        UniqueNames names(parameter_names());
        method.shape = names.claim("shape");
        add(method, "const kf::Shape<" + std::to_string(call_.rank) + ">&", method.shape);
    }

    /// Returns the parameters' names, which those that are given field by field share with their items.
    [[nodiscard]] std::set<std::string> parameter_names() const {
        std::set<std::string> taken;
        for (const std::string& name : names_) taken.insert(manifest::root_of(name));
        return taken;
    }

    /// Adds the item that the kernel makes values from.
    CppItem add_source(CppMethod& method, std::size_t item) const {
        if (!has_host_value(items_[item].host)) return {};
        add_whole(method, "const " + passed_type(item) + "&", names_[item]);
        return item_at(item, CppItem::How::in, names_[item]);
    }

    /// Whether some dimension of the call is given by no tensor, generator or batched value.
    [[nodiscard]] bool needs_shape(bool outs_given) const {
        if (call_.dispatch != manifest::Dispatch::elements) return false;
        std::vector<bool> fed(static_cast<std::size_t>(call_.rank), false);
        for (const PlannedArgument& argument : call_.arguments) {
            if (argument.host.role == Role::result || (argument.host.role == Role::out && !outs_given))
                continue;
            for (const std::int64_t dimension : argument.host.map)
                fed[static_cast<std::size_t>(dimension)] = true;
        }
        return std::find(fed.begin(), fed.end(), false) != fed.end();
    }

    void add_result(CppMethod& method, bool give, std::size_t at) const {
        const bool value = passes_value(items_[at].host);
        if (give) {
            add(method, "const kf::Out<" + tensor_of(at) + ">&", "result");
        } else {
            method.result = value ? type_of(at) : tensor_of(at);
        }
        method.places.emplace_back("result");
        method.items.push_back(item_at(at, give || value ? CppItem::How::out : CppItem::How::made, "result"));
    }

    // ---- what is given field by field

    /// "RayFields<kf::Tensor<kf::float3, 1>, kf::float3>"; `leaf` names an item's type.
    template <class Leaf>
    [[nodiscard]] std::string fields_type(const manifest::ParameterTree& parameter, const Type& type,
                                          std::size_t& at, Leaf leaf) const {
        if (parameter.form != Form::fields) return leaf(at++);
        const std::vector<Field> fields = fields_of(type);
        if (type.kind == TypeKind::array) {
            std::string element;
            for (std::size_t i = 0; i < parameter.fields.size(); ++i)
                element = fields_type(parameter.fields[i], fields[i].type, at, leaf);
            return "std::array<" + element + ", " + std::to_string(type.extent) + ">";
        }
        std::string arguments;
        for (std::size_t i = 0; i < parameter.fields.size(); ++i) {
            arguments += (i == 0 ? "" : ", ") + fields_type(parameter.fields[i], fields[i].type, at, leaf);
        }
        return structs_.fields_template(type) + "<" + arguments + ">";
    }

    void add_fields(CppMethod& method, const PlannedParameter& parameter, std::size_t at,
                    CppMethodKind kind) const {
        std::size_t end = at;
        bool writes_values = false;
        const std::string type = fields_type(parameter.host, parameter.type, end, [&](std::size_t item) {
            const Argument& host = items_[item].host;
            writes_values = writes_values || (passes_value(host) && host.role != Role::in);
            if (method.part == CppPart::fused && host.role == Role::in) return backward_type(kind, item);
            return passed_type(item);
        });
        const bool returned = parameter.role == Role::result;
        if (returned) {
            method.result = type;
        } else {
            add(method, (writes_values ? "" : "const ") + type + "&", manifest::root_of(names_[at]));
        }
        for (; at < end; ++at) {
            const Argument& host = items_[at].host;
            method.places.push_back(names_[at]);
            if (!has_host_value(host)) {
                method.items.emplace_back();
                continue;
            }
            const bool made = returned && !passes_value(host);
            method.items.push_back(item_at(at, made ? CppItem::How::made : how(host.role), names_[at]));
        }
    }

    /// A recorded backward pass must have a tensor to write gradients to, and no host value to write.
    [[nodiscard]] bool can_record_backward() const {
        bool has_target = false;
        for (const PlannedArgument& item : items_) {
            const Argument& host = item.host;
            if (is_only_written(host.role) || host.gradient == Gradient::never) continue;
            if (passes_value(host) && host.gradient == Gradient::required) return false;
            has_target = has_target || !passes_value(host);
        }
        return has_target;
    }

    /// How a backward pass takes an item.
    [[nodiscard]] std::string backward_type(CppMethodKind kind, std::size_t item) const {
        const Argument& host = items_[item].host;
        if (!passes_value(host)) return passed_type(item);
        const bool wants = is_only_written(host.role)
                               ? host.differentiable
                               : kind == CppMethodKind::call && host.gradient != Gradient::never;
        return wants ? "kf::DiffArg<" + type_of(item) + ">" : type_of(item);
    }

    /// Returns the type of a gradient that flows in; from an output by value it is only read.
    [[nodiscard]] std::string flowing_type(CppMethodKind kind, std::size_t item) const {
        const Argument& host = items_[item].host;
        const bool wants = passes_value(host) && is_only_written(host.role) && host.differentiable;
        return wants ? "kf::OutputArg<" + type_of(item) + ">" : backward_type(kind, item);
    }

    CppMethod backward(CppMethodKind kind) const {
        CppMethod method = start(kind, CppPart::backward);
        method.items.resize(items_.size());
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            const bool fields = parameter.host.form == Form::fields;
            const std::size_t end = at + manifest::item_count(parameter.host);
            const bool output = is_only_written(parameter.role);
            bool any = !output;
            for (std::size_t i = at; i < end; ++i) any = any || items_[i].host.differentiable;
            if (!any) return;
            if (!fields && !passes_elements(items_[at].host)) {
                method.items[at] = add_source(method, at);
                if (has_host_value(items_[at].host)) method.optional = 0;
                return;
            }
            std::size_t item = at;
            const std::string type = fields_type(parameter.host, parameter.type, item, [&](std::size_t leaf) {
                return fields ? backward_type(kind, leaf) : flowing_type(kind, leaf);
            });
            const bool value = !fields && passes_value(items_[at].host);
            const bool by_reference = !value || (type == type_of(at) && holds_structs(items_[at].type));
            const std::string name = fields ? manifest::root_of(names_[at]) : names_[at];
            const std::string by_value = type == type_of(at) ? given_type(at) : type;
            add(method, by_reference ? "const " + type + "&" : by_value, name);
            method.optional = output && value ? method.optional + 1 : 0;
            for (std::size_t i = at; i < end; ++i) {
                method.places.push_back(names_[i]);
                if (!has_host_value(items_[i].host)) continue;
                if (!is_only_written(items_[i].host.role) || items_[i].host.differentiable)
                    method.items[i] = item_at(i, CppItem::How::in, names_[i]);
            }
        });
        return method;
    }

    // ---- forward derivatives

    std::vector<CppMethod> build_jvp() const {
        const bool reads_back = std::any_of(items_.begin(), items_.end(), [](const PlannedArgument& item) {
            return item.host.role != Role::in && passes_value(item.host);
        });
        std::vector<CppMethod> methods{jvp(CppMethodKind::call)};
        if (!reads_back) methods.push_back(jvp(CppMethodKind::append_to));
        return methods;
    }

    CppMethod jvp(CppMethodKind kind) const {
        CppMethod method = start(kind, CppPart::jvp);
        method.nodiscard = true;
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            if (parameter.tangent_of >= 0) return;
            std::size_t item = at;
            const std::string type = fields_type(parameter.host, parameter.type, item,
                                                 [&](std::size_t leaf) { return passed_type(leaf); });
            const bool fields = parameter.host.form == Form::fields;
            const Argument& host = items_[at].host;
            if (is_only_written(parameter.role)) {
                method.outputs.push_back({type, root(at), at, fields || passes_value(host)});
                return;
            }
            if (!fields && !has_host_value(host)) return;
            // A method that may change its object only reads what is given of it by value.
            const auto first = items_.begin() + static_cast<std::ptrdiff_t>(at);
            const auto end = first + static_cast<std::ptrdiff_t>(manifest::item_count(parameter.host));
            const bool writes = std::any_of(
                first, end, [](const PlannedArgument& one) { return one.host.role == Role::inout; });
            method.nodiscard = method.nodiscard && !writes;
            const bool scalar = !writes && !fields && passes_value(host) && !holds_structs(items_[at].type);
            const bool by_value = scalar && !has_tangent(parameter);
            const std::string full = has_tangent(parameter) ? "kf::Dual<" + type + ">" : type;
            const bool changes = std::any_of(first, end, [](const PlannedArgument& one) {
                return one.host.role == Role::inout && passes_value(one.host);
            });
            add(method, by_value ? full : changes ? full + "&" : "const " + full + "&", root(at));
            const std::size_t items = manifest::item_count(parameter.host);
            if (!has_tangent(parameter)) {
                add_places(method, "", at, items);
                return;
            }
            for (const char* member : {".value", ".tangent"}) add_places(method, member, at, items);
        });
        method.nodiscard = method.nodiscard && !method.outputs.empty();
        std::stable_partition(method.outputs.begin(), method.outputs.end(),
                              [](const CppOutput& output) { return output.name == "result"; });
        for (const char* member : {".value", ".tangent"}) {
            for (const CppOutput& output : method.outputs) {
                for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
                    if (at != output.at) return;
                    const std::string own = method.outputs.size() > 1 ? "." + output.name : "";
                    for (std::size_t i = 0; i < manifest::item_count(parameter.host); ++i)
                        method.places.push_back(std::string("result") + member + own + path_in(at, at + i));
                });
            }
        }
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            for (std::size_t i = 0; i < manifest::item_count(parameter.host); ++i)
                pass_dual(method, parameter, at, at + i);
        });
        add_shape(method, false);
        return method;
    }

    /// Adds "ray.value.pos" and so on: the places of a parameter's items in one of a Dual's members.
    void add_places(CppMethod& method, const std::string& member, std::size_t at, std::size_t items) const {
        for (std::size_t i = at; i < at + items; ++i)
            method.places.push_back(root(at) + member + path_in(at, i));
    }

    /// ".pos": an item in the parameter whose first is at `first`.
    [[nodiscard]] std::string path_in(std::size_t first, std::size_t item) const {
        return names_[item].substr(root(first).size());
    }

    /// The name of the C++ parameter that an item belongs to.
    [[nodiscard]] std::string root(std::size_t item) const { return manifest::root_of(names_[item]); }

    [[nodiscard]] bool has_tangent(const PlannedParameter& parameter) const {
        const std::int64_t index = &parameter - parameters_.data();
        return std::any_of(parameters_.begin(), parameters_.end(),
                           [&](const PlannedParameter& other) { return other.tangent_of == index; });
    }

    /// How a parameter of a forward derivative passes one of its items, the first being at `first`.
    void pass_dual(CppMethod& method, const PlannedParameter& parameter, std::size_t first,
                   std::size_t item) const {
        const Argument& host = items_[item].host;
        const bool tangent = parameter.tangent_of >= 0;
        method.items.emplace_back();
        const bool nothing = tangent && host.role == Role::in && !host.differentiable;
        if (nothing || !has_host_value(host)) return;
        // Tangents lie in the member beside what they belong to.
        std::size_t primal = first;
        const PlannedParameter* owner = &parameter;
        if (tangent) {
            owner = &parameters_[static_cast<std::size_t>(parameter.tangent_of)];
            primal = first_item(*owner);
        }
        const std::string path = names_[primal + item - first].substr(root(primal).size());
        const std::string member = tangent ? ".tangent" : has_tangent(*owner) ? ".value" : "";
        if (owner->role == Role::in || owner->role == Role::inout) {
            method.items.back() = item_at(item, how(host.role), root(primal) + member + path);
            return;
        }
        const std::string place = std::string("result") + (tangent ? ".tangent" : ".value") +
                                  (method.outputs.size() > 1 ? "." + root(primal) : "") + path;
        method.items.back() =
            item_at(item, passes_value(host) ? CppItem::How::out : CppItem::How::made, place);
    }

    [[nodiscard]] std::size_t first_item(const PlannedParameter& wanted) const {
        std::size_t first = 0;
        for_each_parameter([&](const PlannedParameter& parameter, std::size_t at) {
            if (&parameter == &wanted) first = at;
        });
        return first;
    }

    const PlannedCall& call_;
    std::size_t index_;
    const CppStructs& structs_;
    std::vector<PlannedParameter> parameters_;
    std::vector<PlannedArgument> items_;
    std::vector<std::string> names_;
    std::vector<CppMethod> methods_;
};

/// Adds the names of what the host gives for it: one, or one for each field.
void add_names(const manifest::ParameterTree& parameter, const Type& type, const std::string& name,
               const CppStructs& structs, std::vector<std::string>& list) {
    if (parameter.form != Form::fields) {
        list.push_back(name);
        return;
    }
    const std::vector<Field> fields = fields_of(type);
    for (std::size_t i = 0; i < parameter.fields.size(); ++i) {
        const std::string& member =
            type.kind == TypeKind::array ? fields[i].name : structs.member_names_of(type).fields[i];
        add_names(parameter.fields[i], fields[i].type, manifest::field_path(name, member), structs, list);
    }
}

}  // namespace

std::string CppMethod::name() const { return kind == CppMethodKind::call ? "operator()" : "append_to"; }

std::vector<std::string> CppMethod::parameters() const {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < types.size(); ++i) list.push_back(types[i] + " " + names[i]);
    return list;
}

std::vector<CppMethod> cpp_methods(const PlannedCall& call, std::size_t index, const CppStructs& structs) {
    std::vector<CppMethod> methods = Builder(call, index, structs).build();
    std::size_t items = 0;
    for (const PlannedGlobal& global : call.globals) items += manifest::item_count(global.parameter.host);
    // Globals have no place among the arguments: their values are those that .set() was given.
    for (CppMethod& method : methods) method.items.insert(method.items.end(), items, CppItem());
    return methods;
}

void separate_scalars(std::vector<CppMethod>& methods) {
    const std::vector<CppMethod> plain = methods;
    for (CppMethod& method : methods) {
        for (std::size_t i = 0; i < method.types.size(); ++i) {
            if (!is_scalar_arg(method.types[i])) continue;
            const std::string own = method.types[i];
            std::set<std::string> others;
            for (const CppMethod& other : plain) {
                if (!compete(plain[static_cast<std::size_t>(&method - methods.data())], other)) continue;
                if (other.types[i] != own) others.insert(other.types[i]);
            }
            method.types[i].pop_back();
            for (const std::string& other : others) {
                const std::string_view inner = std::string_view(other).substr(scalar_arg_name.size());
                method.types[i] += ", " + std::string(inner.substr(0, inner.size() - 1));
            }
            method.types[i] += ">";
        }
    }
}

std::vector<std::string> cpp_argument_names(const PlannedCall& call, const CppStructs& structs) {
    UniqueNames names;
    std::vector<std::string> slang;
    for (const PlannedParameter& parameter : call.parameters) {
        if (parameter.role != manifest::Role::result) slang.push_back(parameter.host.name);
    }
    const std::vector<std::string> claimed = claim_names(names, slang, cpp_identifier);
    auto next = claimed.begin();
    std::vector<std::string> list;
    for (const PlannedParameter& parameter : call.parameters) {
        const bool is_result = parameter.role == manifest::Role::result;
        add_names(parameter.host, parameter.type, is_result ? names.claim("result") : *next++, structs, list);
    }
    return list;
}

}  // namespace kf::gen
