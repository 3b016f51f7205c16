// What is set of a function's globals, among the arguments of a call.
#include "core/given_globals.h"

#include <string>
#include <variant>
#include <vector>

#include "core/items.h"
#include "core/parameter_tree.h"

namespace kf::detail {
namespace {

/// Puts what is set of a global, or of its fields, where the call has them; `at` counts items. Leaves `name`
/// as it was.
void give_global(const GlobalValues& values, const manifest::ParameterTree& parameter, std::string& name,
                 std::span<Arg> args, std::size_t& at) {
    if (parameter.form == manifest::Form::fields) {
        const std::size_t size = name.size();
        for (const manifest::ParameterTree& field : parameter.fields) {
            manifest::append_field(name, field.name);
            give_global(values, field, name, args, at);
            name.resize(size);
        }
        return;
    }
    const std::size_t item = at++;
    if (item >= args.size() || args[item].kind != Arg::Kind::absent) return;
    const GlobalValues::Value* value = values.find(name);
    if (value == nullptr) return;
    if (const auto* bytes = std::get_if<std::vector<std::byte>>(value)) {
        args[item] = Arg::make(Arg::Kind::value, bytes->data(), nullptr, nullptr, nullptr);
    } else if (const auto* address = std::get_if<GlobalValues::Address>(value)) {
        args[item] = Arg::make(Arg::Kind::pointer, &address->number, nullptr, nullptr, &address->memory);
    } else if (const auto* texture = std::get_if<AnyTexture>(value)) {
        args[item] = Arg::of(*texture);
    } else if (const auto* sampler = std::get_if<Sampler>(value)) {
        args[item] = Arg::of(*sampler);
    } else {
        args[item] = Arg::of(std::get<AnyTensor>(*value));
    }
}

}  // namespace

void give_globals(const GlobalValues& globals, const manifest::Call& call, std::span<Arg> args) {
    std::size_t item = 0;
    std::string name;  // one for all: calls with globals allocate once for them, at most
    for (const manifest::ParameterTree& parameter : call.parameters) {
        if (manifest::is_global(parameter.name)) {
            name.assign(parameter.name, manifest::global_prefix.size());
            give_global(globals, parameter, name, args, item);
        } else {
            item += manifest::item_count(parameter);
        }
    }
}

}  // namespace kf::detail
