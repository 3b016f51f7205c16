// From a planned call to the signatures of its C++ member functions.
#include "emit/cpp_methods.h"

#include <algorithm>
#include <utility>

#include "emit/element.h"
#include "emit/names.h"
#include "plan/generators.h"

namespace kf::gen {
namespace {

using manifest::Argument;
using manifest::ArgumentKind;
using manifest::Gradient;
using manifest::Role;

bool is_value(const Argument& argument) { return argument.kind == ArgumentKind::value; }

bool is_output(const Argument& argument) {
    return argument.role == Role::out || argument.role == Role::result;
}

std::string tensor_type(const PlannedArgument& argument) {
    return "kf::Tensor<" + cpp_type(argument.element_name) + ", " + std::to_string(argument.host.rank) + ">";
}

/// "kf::Grid<2>": what the host gives for a generator.
std::string generator_type(const Argument& argument) {
    switch (argument.generator) {
        case manifest::Generator::grid: return "kf::Grid<" + std::to_string(argument.rank) + ">";
        case manifest::Generator::range: return "kf::Range";
        case manifest::Generator::wang_hash: return "kf::WangHash";
        default: return "kf::RandFloat";
    }
}

bool is_generator(const Argument& argument) { return argument.kind == ArgumentKind::generator; }

/// Builds the methods of one call.
class Builder {
public:
    Builder(const PlannedCall& call, std::size_t index)
        : call_(call), index_(index), names_(cpp_argument_names(call)) {}

    std::vector<CppMethod> build() {
        const Argument* result = nullptr;
        bool reads_back = false;
        bool writes = false;
        bool outs = false;
        bool updates = false;
        for (const PlannedArgument& argument : call_.arguments) {
            const Argument& host = argument.host;
            if (host.role == Role::result) result = &host;
            reads_back = reads_back || (host.role != Role::in && is_value(host));
            writes = writes || host.role == Role::out || host.role == Role::inout;
            outs = outs || host.role == Role::out;
            updates = updates || host.role == Role::inout;
        }
        const bool gives_tensor = result != nullptr && !is_value(*result);
        for (const CppMethodKind kind : {CppMethodKind::call, CppMethodKind::append_to}) {
            if (kind == CppMethodKind::append_to && reads_back) continue;
            methods_.push_back(forward(kind, false));
            methods_.back().nodiscard = result != nullptr && !writes;
            if (gives_tensor) methods_.push_back(forward(kind, true));
            if (outs) {
                methods_.push_back(gathering(kind));
                methods_.back().nodiscard = !updates;
            }
        }
        if (call_.has_backward) {
            methods_.push_back(backward(CppMethodKind::call));
            if (can_record_backward()) methods_.push_back(backward(CppMethodKind::append_to));
        }
        return std::move(methods_);
    }

private:
    CppMethod start(CppMethodKind kind, bool is_backward) const {
        CppMethod method;
        method.kind = kind;
        method.backward = is_backward;
        method.call = index_;
        method.result = "void";
        if (kind == CppMethodKind::append_to) add(method, "kf::Encoder&", "encoder");
        return method;
    }

    static void add(CppMethod& method, std::string type, std::string name, std::string value = {}) {
        method.types.push_back(std::move(type));
        method.names.push_back(std::move(name));
        method.defaults.push_back(std::move(value));
    }

    CppMethod forward(CppMethodKind kind, bool give_result) const {
        CppMethod method = start(kind, false);
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            const PlannedArgument& planned = call_.arguments[i];
            const Argument& argument = planned.host;
            const std::string& name = names_[i];
            if (is_generator(argument)) {
                method.arguments.push_back(add_generator(method, argument, name));
                continue;
            }
            const std::string type = cpp_type(planned.element_name);
            switch (argument.role) {
                case Role::in:
                    add(method, is_value(argument) ? type : "const " + tensor_type(planned) + "&", name);
                    method.arguments.push_back("Arg::in(" + name + ")");
                    break;
                case Role::inout:
                    add(method, is_value(argument) ? type + "&" : "const " + tensor_type(planned) + "&",
                        name);
                    method.arguments.push_back("Arg::inout(" + name + ")");
                    break;
                case Role::out:
                    add(method,
                        is_value(argument) ? type + "&" : "const kf::Out<" + tensor_type(planned) + ">&",
                        name);
                    method.arguments.push_back("Arg::out(" + name + ")");
                    break;
                case Role::result: add_result(method, planned, give_result, i); break;
            }
        }
        if (!give_result) add_shape(method, true);
        return method;
    }

    /// The call that returns its out parameters, after the result, instead of writing to what is given.
    CppMethod gathering(CppMethodKind kind) const {
        CppMethod method = forward(kind, false);
        const CppMethod plain = std::exchange(method, start(kind, false));
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            const PlannedArgument& planned = call_.arguments[i];
            const bool value = is_value(planned.host);
            const std::string type = value ? cpp_type(planned.element_name) : tensor_type(planned);
            method.arguments.push_back(plain.arguments[i]);
            if (is_output(planned.host)) {
                method.outputs.push_back({type, names_[i], i, value});
                method.arguments.back() = value ? "Arg::out(result." + names_[i] + ")" : "Arg::none()";
                continue;
            }
            const auto at = std::find(plain.names.begin(), plain.names.end(), names_[i]);
            if (at != plain.names.end())
                add(method, plain.types[static_cast<std::size_t>(at - plain.names.begin())], names_[i]);
        }
        std::stable_partition(method.outputs.begin(), method.outputs.end(),
                              [](const CppOutput& output) { return output.name == "result"; });
        if (method.outputs.size() == 1) {
            const CppOutput& only = method.outputs.front();
            method.result = only.type;
            method.result_at = only.at;
            if (only.is_value) {
                method.local = only.type;
                method.arguments[only.at] = "Arg::out(result)";
            }
        }
        add_shape(method, false);
        return method;
    }

    void add_shape(CppMethod& method, bool outs_given) const {
        if (!needs_shape(outs_given)) return;
        UniqueNames names({names_.begin(), names_.end()});
        method.shape = names.claim("shape");
        method.extents = names.claim("extents");
        add(method, "const kf::Shape<" + std::to_string(call_.rank) + ">&", method.shape);
    }

    static std::string add_generator(CppMethod& method, const Argument& argument, const std::string& name) {
        if (!has_host_value(argument)) return "Arg::none()";
        add(method, "const " + generator_type(argument) + "&", name);
        return "Arg::in(" + name + ")";
    }

    /// Whether some dimension of the call is given by no tensor, generator or batched value.
    [[nodiscard]] bool needs_shape(bool outs_given) const {
        std::vector<bool> fed(static_cast<std::size_t>(call_.rank), false);
        for (const PlannedArgument& argument : call_.arguments) {
            if (argument.host.role == Role::result || (argument.host.role == Role::out && !outs_given))
                continue;
            for (const std::int64_t dimension : argument.host.map)
                fed[static_cast<std::size_t>(dimension)] = true;
        }
        return std::find(fed.begin(), fed.end(), false) != fed.end();
    }

    static void add_result(CppMethod& method, const PlannedArgument& planned, bool give, std::size_t at) {
        method.result_at = at;
        if (give) {
            add(method, "const kf::Out<" + tensor_type(planned) + ">&", "result");
            method.arguments.emplace_back("Arg::out(result)");
        } else if (is_value(planned.host)) {
            method.result = method.local = cpp_type(planned.element_name);
            method.arguments.emplace_back("Arg::out(result)");
        } else {
            method.result = tensor_type(planned);
            method.arguments.emplace_back("Arg::none()");
        }
    }

    /// A recorded backward pass must have a tensor to write gradients to, and no host value to write.
    [[nodiscard]] bool can_record_backward() const {
        bool has_target = false;
        for (const PlannedArgument& argument : call_.arguments) {
            const Argument& host = argument.host;
            if (is_output(host) || host.gradient == Gradient::never) continue;
            if (is_value(host) && host.gradient == Gradient::required) return false;
            has_target = has_target || !is_value(host);
        }
        return has_target;
    }

    CppMethod backward(CppMethodKind kind) const {
        CppMethod method = start(kind, true);
        method.arguments.assign(call_.arguments.size(), "Arg::none()");
        for (std::size_t i = 0; i < call_.arguments.size(); ++i) {
            const PlannedArgument& planned = call_.arguments[i];
            const Argument& argument = planned.host;
            const bool output = is_output(argument);
            if (is_generator(argument)) {
                method.arguments[i] = add_generator(method, argument, names_[i]);
                continue;
            }
            if (output && !argument.differentiable) continue;
            const bool wants =
                output || (kind == CppMethodKind::call && argument.gradient != Gradient::never);
            const std::string type = cpp_type(planned.element_name);
            if (!is_value(argument))
                add(method, "const " + tensor_type(planned) + "&", names_[i]);
            else if (wants)
                add(method, "kf::DiffArg<" + type + ">", names_[i], output ? "{}" : "");
            else
                add(method, type, names_[i]);
            method.arguments[i] = "Arg::in(" + names_[i] + ")";
        }
        keep_trailing_defaults(method);
        return method;
    }

    static void keep_trailing_defaults(CppMethod& method) {
        bool trailing = true;
        for (auto value = method.defaults.rbegin(); value != method.defaults.rend(); ++value) {
            trailing = trailing && !value->empty();
            if (!trailing) value->clear();
        }
    }

    const PlannedCall& call_;
    std::size_t index_;
    std::vector<std::string> names_;
    std::vector<CppMethod> methods_;
};

}  // namespace

std::string CppMethod::name() const { return kind == CppMethodKind::call ? "operator()" : "append_to"; }

std::string CppMethod::twin_name() const {
    return kind == CppMethodKind::call ? "try_call" : "try_append_to";
}

std::vector<std::string> CppMethod::parameters(bool with_defaults) const {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const bool value = with_defaults && !defaults[i].empty();
        list.push_back(types[i] + " " + names[i] + (value ? " = " + defaults[i] : ""));
    }
    return list;
}

std::vector<CppMethod> cpp_methods(const PlannedCall& call, std::size_t index) {
    return Builder(call, index).build();
}

std::vector<std::string> cpp_argument_names(const PlannedCall& call) {
    UniqueNames names;
    std::vector<std::string> list;
    for (const PlannedArgument& argument : call.arguments) {
        const bool is_result = argument.host.role == Role::result;
        list.push_back(names.claim(is_result ? "result" : cpp_identifier(argument.host.name)));
    }
    return list;
}

}  // namespace kf::gen
