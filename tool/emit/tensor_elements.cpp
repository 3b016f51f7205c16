// Functions of the elements of tensors that kernels hand to the function.
#include "emit/tensor_elements.h"
#include "emit/kinds/questions.h"

#include <algorithm>
#include <vector>

#include "emit/block.h"
#include "emit/kernel_text.h"
#include "emit/loops.h"
#include "emit/render.h"
#include "emit_templates.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/structs.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Argument;

View::Object one(const std::string& statement) { return View::Object{{"statement", statement}}; }

/// Bools are stored as bytes, and a half3 in a matrix or an array is padded in CUDA source.
bool is_stored_otherwise(const Argument& argument) {
    const std::vector<std::int64_t>& extents = argument.trailing;
    if (argument.element.scalar == ScalarType::boolean) return !extents.empty();
    return argument.element.scalar == ScalarType::float16 && extents.size() > 1 && extents.back() == 3;
}

/// Elements that are read and written scalar by scalar: structs, and what is stored otherwise than declared.
class ElementFunctions {
public:
    ElementFunctions(const PlannedCall& call, PassKind pass, Sums sums)
        : call_(call), pass_(pass), sums_(sums) {}

    Outcome<std::string> write() {
        std::vector<const PlannedParameter*> structs;
        for (const PlannedParameter& parameter : call_.parameters) {
            if (holds_struct_tensor(parameter) && parameter.tangent_of < 0) structs.push_back(&parameter);
        }
        // A struct may be its own Differential, which knows of sums.
        for (const PlannedParameter* parameter : structs) {
            if (is_differentiable(parameter->type.form)) add_struct(*parameter, true);
        }
        // Structs that the function adds to know of sums, too.
        std::stable_partition(structs.begin(), structs.end(), [](const PlannedParameter* parameter) {
            return parameter->type.form == TensorForm::atomic;
        });
        for (const PlannedParameter* parameter : structs) add_struct(*parameter, false);
        bool any = !structs.empty();
        for (const PlannedArgument& argument : call_.arguments) {
            if (supply_of(argument.host) != Supply::view || argument.host.pitch != 0) continue;
            any = true;
            if (is_stored_otherwise(argument.host)) add_by_scalars(argument);
            if (argument.host.element.scalar != ScalarType::boolean &&
                (is_differentiable(argument.type.form) || argument.type.form == TensorForm::atomic))
                add_plain(argument);
        }
        if (!any) return std::string();
        return render("tensor_elements.slang.mustache", templates::tensor_elements_slang_mustache,
                      View(View::Object{{"elements", elements_}, {"plain", plain_}}));
    }

private:
    /// Whether an AtomicTensor of the function's own holds its elements as any tensor does.
    bool in_place() const { return pass_ == PassKind::forward; }
    std::string add_name() const { return in_place() ? "add_in_place" : "add_sum"; }
    std::string read_name() const { return in_place() ? "read" : "read_sum"; }
    std::string write_name() const { return in_place() ? "write" : "write_sum"; }

    static bool is_new(const std::string& type, std::vector<std::string>& known) {
        if (std::find(known.begin(), known.end(), type) != known.end()) return false;
        known.push_back(type);
        return true;
    }

    void add_plain(const PlannedArgument& argument) {
        const std::string type = declared_name(argument.type.element.front());
        if (!is_new(type, known_plain_)) return;
        // A struct's parts are summed one by one, but in place it is read and written as any element is.
        plain_.emplace_back(View::Object{{"type", type},
                                         {"add", add_name()},
                                         {"read", in_place() ? "kf_read_element" : "kf.read_sum"},
                                         {"write", in_place() ? "kf_write_element" : "kf.write_sum"}});
    }

    void add_by_scalars(const PlannedArgument& argument) {
        const std::string type = declared_name(argument.type.element.front());
        if (!is_new(type, known_)) return;
        start();
        add_leaf(argument, {}, false);
        finish(type);
    }

    void add_struct(const PlannedParameter& parameter, bool differential) {
        const Type& element = parameter.type.element.front();
        const std::string type = differential ? differential_name(element) : declared_name(element);
        if (!is_new(type, known_)) return;
        start();
        for (std::int64_t i = parameter.host.leaf; i < parameter.host.leaf + parameter.host.leaves; ++i) {
            const PlannedArgument& leaf = call_.arguments[static_cast<std::size_t>(i)];
            if (differential && !is_differentiable_leaf(leaf)) continue;
            add_leaf(leaf, leaf.path, differential || parameter.type.form == TensorForm::atomic);
        }
        finish(type);
    }

    void start() {
        for (View::List* list : {&reads_, &writes_, &fills_, &adds_, &sum_reads_, &sum_writes_})
            list->clear();
    }

    void finish(const std::string& type) {
        elements_.emplace_back(View::Object{{"type", type},
                                            {"reads", reads_},
                                            {"writes", writes_},
                                            {"fills", fills_},
                                            {"adds", adds_},
                                            {"sum_reads", sum_reads_},
                                            {"sum_writes", sum_writes_}});
    }

    /// `summed`: some tensor adds to such elements.
    void add_leaf(const PlannedArgument& planned, const std::string& path, bool summed) {
        const Argument& leaf = planned.host;
        const std::string scalar = to_string(leaf.element.scalar);
        const std::string value = subscripted("kf_v" + path, leaf.trailing);
        const auto all = [&](const std::string& statement) {
            return one(loop_over(leaf.trailing, statement));
        };
        const std::string at = place("kf_at", leaf);
        const Type& inner = innermost_of(planned.type);
        const auto to = [&](const std::string& type, const std::string& text) {
            return inner.is_enum ? type + "(" + text + ")" : text;
        };
        reads_.emplace_back(all(value + " = " + to(inner.name, "kf.read<" + scalar + ">(" + at + ")")));
        writes_.emplace_back(all("kf.write<" + scalar + ">(" + at + ", " + to(scalar, value) + ")"));
        fills_.emplace_back(all(value + " = " + to(inner.name, scalar + "(kf_value)")));
        if (!summed) return;
        const bool apart = needs_scratch(leaf, pass_, sums_);
        const std::string sum = apart ? place_apart(leaf) : place("kf_sum.address", leaf);
        const auto named = [&](const std::string& name) { return "kf." + name + "<" + scalar + ">("; };
        adds_.emplace_back(all(named(add_name()) + sum + ", " + value + ", kf_adders)"));
        sum_reads_.emplace_back(all(value + " = " + named(read_name()) + sum + ")"));
        sum_writes_.emplace_back(all(named(write_name()) + sum + ", " + value + ")"));
        if (!apart) return;
        const std::string next = "kf_apart += kf.bytes_apart(kf_sum.elements * " +
                                 std::to_string(scalar_count(leaf.trailing) * sum_bytes(leaf)) + ")";
        for (View::List* list : {&adds_, &sum_reads_, &sum_writes_}) list->emplace_back(one(next));
    }

    std::int64_t sum_bytes(const Argument& leaf) const {
        return sums_ == Sums::exact ? 8 * manifest::exact_words(leaf.element.scalar) : 4;
    }

    /// The scalar that the loops are at, in an element that starts at `base`.
    static std::string place(const std::string& base, const Argument& leaf) {
        if (leaf.trailing.empty())
            return leaf.offset == 0 ? base : base + " + " + std::to_string(leaf.offset);
        std::vector<std::string> strides = dense_strides(leaf.trailing);
        for (std::size_t i = 0; i < leaf.spacing.size(); ++i) strides[i] = std::to_string(leaf.spacing[i]);
        return base + " + uint64_t(" + std::to_string(leaf.offset) + " + (" + along(strides).substr(3) +
               ") * " + std::to_string(manifest::scalar_bytes(leaf.element.scalar)) + ")";
    }

    std::string place_apart(const Argument& leaf) const {
        return "kf_apart + uint64_t((kf_sum.element * " + std::to_string(scalar_count(leaf.trailing)) +
               along(dense_strides(leaf.trailing)) + ") * " + std::to_string(sum_bytes(leaf)) + ")";
    }

    const PlannedCall& call_;
    PassKind pass_;
    Sums sums_;
    std::vector<std::string> known_;
    std::vector<std::string> known_plain_;
    View::List elements_;
    View::List plain_;
    View::List reads_;
    View::List writes_;
    View::List fills_;
    View::List adds_;
    View::List sum_reads_;
    View::List sum_writes_;
};

}  // namespace

Outcome<std::string> tensor_element_functions(const PlannedCall& call, PassKind pass, Sums sums) {
    return ElementFunctions(call, pass, sums).write();
}

}  // namespace kf::gen
