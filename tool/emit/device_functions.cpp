// Chooses the functions of a device header and writes the Slang that its code comes from.
#include "emit/device_functions.h"

#include <algorithm>
#include <map>
#include <optional>

#include "emit/adapter.h"
#include "emit/backward_operand.h"
#include "emit/kernel_text.h"
#include "emit/names.h"
#include "emit/render.h"
#include "emit/tensor_argument.h"
#include "emit/values.h"
#include "emit_templates.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Role;

constexpr const char* gradient_ending = "_grad";
constexpr const char* tangent_ending = "_tangent";

Diagnostic refusal(const PlannedFunction& function, const PlannedCall& call, const std::string& why,
                   const std::string& cure) {
    return {Severity::error,
            "device-header",
            call.location,
            "'" + function.name + "' can't be a function of the device header: " + why,
            {cure}};
}

/// Remembers the structs that a type is made of, by their names in C++; returns one that another struct has.
std::optional<std::string> add_structs(const Type& type, std::map<std::string, std::string>& known) {
    if (const Type* element = elements_of(type)) return add_structs(*element, known);
    if (type.kind == TypeKind::array) return add_structs(type.element.front(), known);
    if (type.kind != TypeKind::structure) return std::nullopt;
    const auto [before, is_new] = known.emplace(device_type(type), type.name);
    if (before->second != type.name) return before->second;
    if (!is_new) return std::nullopt;
    for (const Field& field : type.fields) {
        if (auto other = add_structs(field.type, known)) return other;
    }
    return std::nullopt;
}

/// Errors of a function that has no form in a header.
Diagnostics refusals(const PlannedFunction& function, const PlannedCall& call) {
    Diagnostics errors;
    const auto refuse = [&](const std::string& why, const std::string& cure) {
        errors.push_back(refusal(function, call, why, cure));
    };
    if (call.dispatch != manifest::Dispatch::elements)
        refuse("it is a kernel by itself", "put it into a spec without \"outputs\": [\"cuda_header\"]");
    for (const PlannedGlobal& global : call.globals)
        refuse("it reads the global parameter '" + global.name + "', which hosts set", "make it a parameter");
    for (const PlannedParameter& parameter : call.parameters) {
        const bool result = parameter.role == Role::result;
        const std::string name = result ? "its result" : "its parameter '" + parameter.host.name;
        if (const auto refused = refused_by_devices(parameter.type)) {
            refuse(name +
                       (result ? (refused->path.empty() ? "" : "'s '" + refused->path.substr(1) + "'")
                               : refused->path + "'") +
                       " is " + refused->reason,
                   refused->cure);
        }
    }
    return errors;
}

/// Returns the ending of a part's name.
std::string ending_of(DevicePart part) {
    switch (part) {
        case DevicePart::backward: return "_bwd";
        case DevicePart::forward: return "_fwd";
        default: return "";
    }
}

/// Whether the spec asks for it.
bool is_wanted(const PlannedCall& call, DevicePart part) {
    switch (part) {
        case DevicePart::backward: return call.has_backward || call.has_fused;
        case DevicePart::forward: return call.has_jvp;
        default: return true;
    }
}

/// The call that the part's code makes: fwd_diff() takes functions that say so.
PlannedCall called_as(const PlannedCall& call, DevicePart part) {
    PlannedCall made = call;
    made.is_jvp = part == DevicePart::forward;
    return made;
}

std::string cpp_name(const PlannedFunction& function, const PlannedCall& call) {
    // A constructor has its struct's name, which a header can't have twice.
    const std::string name = call.member == Member::constructor ? "make_" + function.name : function.name;
    return cpp_identifier(name);
}

/// Returns what tells a call's function from its overloads: "shading.f(int, Color)".
std::string slang_signature(const PlannedCall& call) {
    std::string types;
    for (const PlannedParameter& parameter : call.parameters) {
        if (parameter.role == Role::result) continue;
        types += (types.empty() ? "" : ", ") + parameter.type.name;
    }
    return call.module + "." + call.function + "(" + types + ")";
}

/// Writes one function: its parameters in C++, and its text in Slang.
class FunctionWriter {
public:
    FunctionWriter(const PlannedFunction& function, const PlannedCall& call, DevicePart part,
                   std::string slang_name) {
        made_.function = &function;
        made_.call = &call;
        made_.part = part;
        made_.name = cpp_name(function, call) + ending_of(part);
        made_.slang_name = std::move(slang_name);
    }

    /// "f(float3, const Ray&, ": what tells functions apart in C++. Once it is written.
    [[nodiscard]] const std::string& signature() const { return signature_; }

    DeviceFunction write() {
        const PlannedCall& call = *made_.call;
        for (const PlannedParameter& parameter : call.parameters) {
            const std::string id = std::to_string(count_++);
            const bool object = call.member == Member::method && id == "0";
            const std::string name = parameter.role == Role::result ? "result"
                                     : object                       ? claim("self")
                                                                    : claim(parameter.host.name);
            if (is_bound(parameter.type)) {
                add_bound(parameter, name, id);
            } else if (made_.part == DevicePart::backward) {
                add_backward(parameter, name, id);
            } else if (made_.part == DevicePart::forward && has_derivative(parameter)) {
                add_pair(parameter, name, id);
            } else {
                add_value(parameter, name, id);
            }
        }
        made_.parameters.insert(made_.parameters.end(), gradients_.begin(), gradients_.end());
        signature_ = made_.name + "(" + signature_ + gradient_types_;
        const CallOperands operands{result_, operands_, operands_};
        const PassKind pass = made_.part == DevicePart::backward ? PassKind::backward : PassKind::forward;
        for (const std::string& statement : call_statements(called_as(call, made_.part), pass, operands))
            before_.push_back(statement);
        before_.insert(before_.end(), after_.begin(), after_.end());
        made_.statements = std::move(before_);
        return std::move(made_);
    }

private:
    std::string claim(const std::string& name) { return names_.claim(cpp_identifier(name)); }

    /// A value of the Slang function's, and its parts where it has some.
    void add_value(const PlannedParameter& parameter, const std::string& name, const std::string& id) {
        const std::string local = "kf_arg_" + id;
        before_.push_back(declared_name(parameter.type) + " " + local);
        pass_leaves(parameter.type, name, local, parameter.role, false);
        add_operand(parameter, name, local);
    }

    /// The C++ parameter of a value, or the result, and what the call is given for it.
    void add_operand(const PlannedParameter& parameter, const std::string& name, const std::string& local) {
        if (parameter.role == Role::result) {
            result_ = local + " = ";
            made_.result = device_result(parameter.type);
            return;
        }
        made_.parameters.push_back(device_parameter(parameter.type, name, parameter.role));
        signature_ += device_parameter(parameter.type, "", parameter.role) + ", ";
        operands_.push_back(local);
    }

    /// Adds an argument that Slang's code is given in a place of its parameter list; returns its name there.
    std::string pass(const std::string& way, const std::string& expression, const std::string& type) {
        made_.passed.push_back({way, expression, type});
        return "kf_p_" + std::to_string(made_.passed.size() - 1);
    }

    /// A buffer, or a tensor whole, which the function takes as it is: its gradients lie in it.
    void add_bound(const PlannedParameter& parameter, const std::string& name, const std::string& id) {
        const auto& leaf = made_.call->arguments.at(static_cast<std::size_t>(parameter.host.leaf)).host;
        const Type& declared = parameter.type;
        const bool is_tensor = declared.kind == TypeKind::tensor;
        const Type type = is_tensor ? of_rank(declared, leaf.inner_rank) : declared;
        made_.parameters.push_back(device_parameter(type, name, Role::in));
        signature_ += device_parameter(type, "", Role::in) + ", ";
        if (!is_tensor) {
            operands_.push_back(pass("buffer", name, declared_name(type)));
            return;
        }
        const std::string rank = std::to_string(type.extent);
        const std::string extents = pass("in", name + ".shape", "Array<uint, " + rank + ">");
        const std::string strides = pass("in", name + ".strides", "Array<int64_t, " + rank + ">");
        const auto view = [&](const std::string& field) {
            const std::string address = pass("in", "(unsigned long long)" + name + "." + field, "uint64_t");
            std::string local = "kf_view_" + id + "_" + field;
            before_.push_back("const kf.View<" + rank + "> " + local + " = { " + address + ", " + extents +
                              ", " + strides + " }");
            return local;
        };
        TensorViews views;
        views.data = view("data");
        const bool both = declared.form == TensorForm::diff_read_write;
        const bool has_gradient = is_differentiable(declared.form) && !parameter.no_diff;
        if (has_gradient && made_.part != DevicePart::function) {
            views.grad_in = view(both ? "grad_in" : "grad");
            views.grad_out = both ? view("grad_out") : views.grad_in;
        }
        std::string local = "kf_arg_" + id;
        before_.push_back("const " + declared_name(declared) + " " + local + " = " +
                          tensor_initializer(declared, views, made_.part != DevicePart::backward));
        operands_.push_back(std::move(local));
    }

    /// How `fwd_diff` takes what has a tangent: see BodyWriter::add_pair().
    void add_pair(const PlannedParameter& parameter, const std::string& name, const std::string& id) {
        const Type& type = parameter.type;
        const Role role = parameter.role == Role::result ? Role::out : parameter.role;
        const std::string pair = "kf_pair_" + id;
        const std::string tangent = claim(name + tangent_ending);
        if (is_read(role)) {
            const std::string local = "kf_arg_" + id;
            const std::string of_local = "kf_grad_" + id;
            before_.push_back(declared_name(type) + " " + local);
            pass_leaves(type, name, local, role, false, pair + ".p");
            before_.push_back(differential_name(type) + " " + of_local);
            pass_leaves(type, tangent, of_local, role, true, pair + ".d");
            before_.push_back("var " + pair + " = kf.paired(" + local + ", " + of_local + ")");
        } else {
            before_.push_back("DifferentialPair<" + declared_name(type) + "> " + pair);
            pass_leaves(type, name, pair + ".p", role, false);
            pass_leaves(type, tangent, pair + ".d", role, true);
        }
        gradients_.push_back(device_parameter(type, tangent, role));
        gradient_types_ += device_parameter(type, "", role) + ", ";
        add_operand(parameter, name, pair);
    }

    void add_backward(const PlannedParameter& parameter, const std::string& name, const std::string& id) {
        const Type& type = parameter.type;
        const std::string paired = "kf_pair_" + id;
        const std::string gradient = has_derivative(parameter) ? claim(name + gradient_ending) : "";
        // The gradient of what the function writes flows in, and of what it reads flows out.
        const Role flow = parameter.role == Role::inout ? Role::inout
                          : is_read(parameter.role)     ? Role::out
                                                        : Role::in;
        const auto part = [&](Source source, bool is_paired) {
            const bool is_gradient = source == Source::gradient;
            std::string local = (is_gradient ? "kf_grad_" : "kf_arg_") + id;
            before_.push_back((is_gradient ? differential_name(type) : declared_name(type)) + " " + local);
            if (is_gradient) {
                pass_leaves(type, gradient, local, flow, true, is_paired ? paired + ".d" : "");
            } else {
                pass_leaves(type, name, local, Role::in, false);
                made_.parameters.push_back(device_parameter(type, name, Role::in));
                signature_ += device_parameter(type, "", Role::in) + ", ";
            }
            return local;
        };
        const auto pair = [&](const std::string& parts) -> const std::string& {
            before_.push_back("var " + paired + " = kf.paired(" + parts + ")");
            if (flow == Role::out) pass_leaves(type, gradient, paired + ".d", flow, true);
            return paired;
        };
        if (auto operand = backward_operand(parameter.role, has_derivative(parameter), part, pair))
            operands_.push_back(std::move(*operand));
        if (!has_derivative(parameter)) return;
        gradients_.push_back(device_parameter(type, gradient, flow));
        gradient_types_ += device_parameter(type, "", flow) + ", ";
    }

    /// Fills `local` before the call, and takes from it (or from `after`) what the call left there.
    void pass_leaves(const Type& type, const std::string& given_name, const std::string& local, Role role,
                     bool differential, const std::string& after = {}) {
        const bool array = given_name == "result" && type.kind == TypeKind::array;
        const std::string name = array ? "result.values" : given_name;
        for (const DeviceLeaf& leaf : device_leaves(type)) {
            if (differential && !leaf.differentiable) continue;
            const std::string slang = device_leaf_name(leaf);
            const std::string place = local + leaf.slang_path;
            const std::string left = (after.empty() ? local : after) + leaf.slang_path;
            const std::string way = role == Role::in ? "in" : role == Role::inout ? "inout" : "out";
            const std::string given = pass(way, name + leaf.cpp_path, slang);
            const bool is_enum = leaf.type.is_enum;
            const auto as = [&](const std::string& to, const std::string& value) {
                return is_enum ? to + "(" + value + ")" : value;
            };
            if (is_read(role)) before_.push_back(place + " = " + as(leaf.type.name, given));
            if (role != Role::in) after_.push_back(given + " = " + as(slang, left));
        }
    }

    DeviceFunction made_;
    UniqueNames names_{{"result", "kf"}};
    int count_ = 0;
    std::string signature_;
    std::string gradient_types_;
    std::string result_;
    std::vector<std::string> gradients_;  ///< or tangents: the parameters that come last
    std::vector<std::string> operands_;
    std::vector<std::string> before_;
    std::vector<std::string> after_;
};

}  // namespace

Outcome<std::vector<DeviceFunction>> device_functions(const Plan& plan) {
    std::vector<DeviceFunction> functions;
    std::map<std::string, std::string> known;    // the Slang function of each signature
    std::map<std::string, std::string> structs;  // the Slang name of each
    Diagnostics errors;
    for (const PlannedFunction& function : plan.functions) {
        if (function.is_hidden()) continue;
        for (const PlannedCall& call : function.calls) {
            Diagnostics refused = refusals(function, call);
            for (const PlannedParameter& parameter : call.parameters) {
                if (!refused.empty()) break;
                const bool is_array =
                    parameter.role == Role::result && parameter.type.kind == TypeKind::array;
                if (is_bound(parameter.type) || is_array)
                    structs.emplace(device_template(parameter.type), "the library's");
                if (const auto other = add_structs(parameter.type, structs))
                    refused.push_back(refusal(function, call,
                                              "it takes '" + parameter.type.name + "', and another one '" +
                                                  *other + "', which have one name in C++",
                                              "give one of the structs another name"));
            }
            if (!refused.empty()) {
                add_distinct(errors, std::move(refused));
                continue;
            }
            const std::string called = slang_signature(call);
            for (const DevicePart part : {DevicePart::function, DevicePart::backward, DevicePart::forward}) {
                if (!is_wanted(call, part)) continue;
                FunctionWriter writer(function, call, part, "kf_call_" + std::to_string(functions.size()));
                DeviceFunction made = writer.write();
                const auto [before, is_new] = known.emplace(writer.signature(), called + ending_of(part));
                if (is_new) {
                    functions.push_back(std::move(made));
                } else if (before->second != called + ending_of(part)) {
                    errors.push_back(refusal(
                        function, call, "another function '" + made.name + "' takes the same types in C++",
                        "give one of the calls another \"name\""));
                }
            }
        }
    }
    if (!errors.empty()) return errors;
    return functions;
}

namespace {

/// Returns the functions of tensors' elements that kf.slang calls; empty where there are no tensors.
Outcome<View::List> element_functions(const std::vector<DeviceFunction>& functions) {
    bool any = false;
    View::List plain;
    std::vector<std::string> known;
    for (const DeviceFunction& function : functions) {
        for (const PlannedParameter& parameter : function.call->parameters) {
            const Type& type = parameter.type;
            if (type.kind != TypeKind::tensor) continue;
            any = true;
            const std::string name = declared_name(type.element.front());
            const bool is_summed = is_differentiable(type.form) || type.form == TensorForm::atomic;
            if (!is_summed || std::find(known.begin(), known.end(), name) != known.end()) continue;
            known.push_back(name);
            plain.emplace_back(View::Object{{"type", name},
                                            {"add", "add_in_place"},
                                            {"read", "kf_read_element"},
                                            {"write", "kf_write_element"}});
        }
    }
    if (!any) return View::List();
    Outcome<std::string> text =
        render("tensor_elements.slang.mustache", templates::tensor_elements_slang_mustache,
               View(View::Object{{"elements", View::List()}, {"plain", std::move(plain)}}));
    if (!text) return text.errors();
    return View::List{text.value()};
}

}  // namespace

Outcome<KernelSource> emit_device_kernel(const Plan& plan, const std::vector<DeviceFunction>& functions) {
    KernelSource source;
    source.entry_point = "kf_device_functions";
    source.for_header = true;
    std::vector<std::string> imports;
    View::List views;
    View::List buffers;
    Outcome<View::List> elements = element_functions(functions);
    if (!elements) return elements.errors();
    if (!elements.value().empty()) imports = {"kf", "kf_exact"};
    for (const DeviceFunction& function : functions) {
        for (std::string& name : imports_of(plan, *function.call, {})) {
            if (std::find(imports.begin(), imports.end(), name) == imports.end())
                imports.push_back(std::move(name));
        }
        std::string parameters;
        std::string given;
        for (std::size_t i = 0; i < function.passed.size(); ++i) {
            const DevicePassed& one = function.passed[i];
            const std::string comma = i == 0 ? "" : ", ";
            if (one.way == "buffer") {
                const std::string field = "kf_b_" + std::to_string(buffers.size());
                buffers.emplace_back(View::Object{{"type", one.type}, {"name", field}});
                parameters += comma + one.type + " kf_p_" + std::to_string(i);
                given += comma + "kf_unused." + field;
                continue;
            }
            // All others by address, so that the code's parameters are pointers.
            parameters +=
                comma + (one.way == "out" ? "out " : "inout ") + one.type + " kf_p_" + std::to_string(i);
            given += comma + "((" + one.type + "*)4096ull)[0]";
        }
        views.emplace_back(
            View::Object{{"name", function.slang_name},
                         {"adapters", adapters(called_as(*function.call, function.part))},
                         {"signature_line", "void " + function.slang_name + "(" + parameters + ")"},
                         {"statements", View::List(function.statements.begin(), function.statements.end())},
                         {"given", given}});
    }
    Outcome<std::string> text =
        render("device_kernel.slang.mustache", templates::device_kernel_slang_mustache,
               View(View::Object{{"imports", View::List(imports.begin(), imports.end())},
                                 {"functions", std::move(views)},
                                 {"elements", std::move(elements.value())},
                                 {"buffers", std::move(buffers)},
                                 {"entry", source.entry_point}}));
    if (!text) return text.errors();
    source.text = std::move(text.value());
    if (functions.empty()) return source;
    const PlannedCall& first = *functions.front().call;
    source.origin = first.location;
    Outcome<std::string> values = emit_values(first.link, plan.imports);
    if (!values) return values.errors();
    source.values = std::move(values.value());
    source.conformances = first.link.conformances;
    return source;
}

}  // namespace kf::gen
