// Structs as trees of leaves.
#include "plan/structs.h"

#include <algorithm>

#include "diagnostic/suggest.h"
#include "plan/host_structs.h"
#include "plan/kinds/buffer.h"
#include "plan/kinds/whole_tensor.h"
#include "plan/memory_layout.h"
#include "plan/types.h"

namespace kf::gen {

namespace {

using manifest::Form;
using manifest::ParameterTree;
using manifest::Role;

/// Fields lie this deep at most, as artifacts allow.
constexpr int max_nesting = 6;
/// The limit of nesting for what is given field by field and element by element.
constexpr int max_given_nesting = 12;
/// The most arguments that an array may become which is given element by element.
constexpr std::size_t max_elements = 256;
/// The most scalars of one argument, or one field; then the most bytes of one struct.
constexpr std::int64_t max_scalars = 4096;
constexpr std::int64_t max_struct = 1 << 20;

std::int64_t round_up(std::int64_t value, std::int64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

Type array_of(const Type& element, std::int64_t extent) {
    Type array;
    array.kind = TypeKind::array;
    array.extent = extent;
    array.element = {element};
    array.scalar = element.scalar;
    array.differentiable = element.differentiable;
    array.name = element.name + "[" + std::to_string(extent) + "]";
    return array;
}

}  // namespace

std::vector<Field> fields_of(const Type& type) {
    std::vector<Field> fields;
    if (type.kind == TypeKind::array) {
        for (std::int64_t i = 0; i < type.extent; ++i)
            fields.push_back({manifest::element_name(i), type.element.front(), false});
        return fields;
    }
    if (type.kind != TypeKind::vector) return type.fields;
    Type scalar;
    scalar.kind = TypeKind::scalar;
    scalar.scalar = type.scalar;
    scalar.differentiable = type.differentiable;
    scalar.name = to_string(type.scalar);
    for (std::int64_t i = 0; i < type.columns; ++i) {
        fields.push_back({std::string(1, "xyzw"[i]), scalar, false});
    }
    return fields;
}

namespace {

/// Where the walk through one parameter is.
struct Place {
    std::string name;  ///< "ray.origin"
    std::string path;  ///< from the parameter on, with [] for each array of structs: ".spheres[].center"
    bool no_diff = false;
    bool no_diff_tensors = false;  ///< a tensor's gradient lies beside it, whatever holds it
    int depth = 0;
    std::string plain_struct = {};  ///< the first one around that isn't IDifferentiable
};

/// The struct that is passed by value or in a tensor, and where in it the walk is.
struct StructPlace {
    Form form = Form::value;
    std::int64_t size = 0;                   ///< bytes of one element of the host's
    std::int64_t offset = 0;                 ///< bytes
    std::vector<std::int64_t> extents;       ///< of the arrays of structs around
    std::vector<std::int64_t> distances;     ///< bytes between their elements
    std::vector<std::int64_t> spacing = {};  ///< scalars between the elements of this field; empty: packed
};

class TreeFeeder {
public:
    TreeFeeder(const TreeTarget& target, std::int64_t first) : target_(target), first_(first) {}

    Outcome<FedTree> feed_all(const KindSpec& kind) {
        tree_.host = walk(kind, target_.parameter.type,
                          {target_.parameter.argument, "", target_.no_diff, target_.no_diff_tensors, 0});
        tree_.host.name = target_.parameter.argument;
        if (!errors_.empty()) return errors_;
        return std::move(tree_);
    }

    /// Whether a struct that lies in memory, where pointers are numbers, is one on the host too.
    bool has_layout_in_memory(const Type& type) {
        Type memory;
        memory.kind = TypeKind::buffer;
        tensor_ = &memory;
        return can_be_laid_out({}, type, {});
    }

private:
    std::int64_t next() const { return first_ + static_cast<std::int64_t>(tree_.leaves.size()); }

    void fail(const KindSpec& kind, std::string id, std::string message,
              std::vector<std::string> notes = {}) {
        errors_.push_back(
            {Severity::error, std::move(id), kind.location, std::move(message), std::move(notes)});
    }

    static std::string subject(const std::string& name) { return "argument '" + name + "'"; }

    ParameterTree walk(const KindSpec& given, const Type& type, const Place& place) {
        if (is_given_by_elements(given, type)) return walk_elements(given, type, place);
        const std::optional<KindSpec> elements = kind_of_elements(given, type);
        if (!elements) return walk_parameter(given, type, place);
        const std::size_t first = tree_.leaves.size();
        ParameterTree parameter = walk_parameter(*elements, type, place);
        for (std::size_t i = first; i < tree_.leaves.size(); ++i) tree_.leaves[i].from_buffer = true;
        return parameter;
    }

    ParameterTree walk_parameter(const KindSpec& kind, const Type& type, const Place& place) {
        if (kind.kind == Kind::fields) return walk_fields(kind, type, place);
        if (type.kind == TypeKind::buffer && !type.element.empty() && holds_structs(type.element.front()))
            return buffer_of_structs(kind, type, place);
        if (type.kind == TypeKind::tensor && holds_structs(type.element.front()))
            return tensor_of_structs(kind, type, place);
        if (!holds_structs(type)) return leaf(kind, type, place);
        return whole(kind, type, place);
    }

    ParameterTree leaf(const KindSpec& given, const Type& type, const Place& place) {
        KindSpec kind = given;
        kind.element = without_enum(given.element, type);
        ParameterTree parameter;
        parameter.leaf = next();
        KindTarget leaf_target = target_.parameter;
        leaf_target.argument = place.name;
        leaf_target.type = type;
        if (target_.values_are_read && kind.kind != Kind::tensor) leaf_target.role = Role::in;
        const bool says_itself =
            type.kind == TypeKind::tensor || type.kind == TypeKind::pointer || is_resource(type);
        if (says_itself && place.depth > 0) {
            if (leaf_target.role == Role::out) {
                fail(kind, "type-not-supported",
                     subject(place.name) + ": a function can't make a '" + type.name +
                         "', nor a struct or an array that holds one",
                     {"make the parameter inout: its tensors are given, and its other fields written"});
                return parameter;
            }
            // A tensor in an inout struct says itself whether it is written; other fields are.
            if (leaf_target.role == Role::inout) leaf_target.role = Role::in;
        }
        Outcome<manifest::Argument> fed = feed(kind, leaf_target);
        if (!fed) {
            errors_.insert(errors_.end(), fed.errors().begin(), fed.errors().end());
            return parameter;
        }
        PlannedArgument planned;
        planned.host = std::move(fed.value());
        const std::int64_t scalars =
            std::max(scalar_count(planned.host.element.extents), scalar_count(planned.host.trailing));
        if (scalars > max_scalars) {
            fail(kind, "type-not-supported",
                 subject(place.name) + ": '" + type.name + "' from '" + kind.spelling + "' makes " +
                     (scalars == most_scalars ? "at least " : "") + std::to_string(scalars) +
                     " scalars; one argument, or one field, has at most " + std::to_string(max_scalars),
                 {"make the parameter a Tensor of lower rank, which takes any number"});
            return parameter;
        }
        planned.type = type;
        planned.element_name = kind.element.empty() ? kind_name(type) : kind.element;
        const std::string called = with_enum(planned.element_name, type);
        if (called != slang_name(planned.host.element)) planned.host.type = called;
        planned.host.members = innermost_of(type).members;
        planned.is_result = target_.is_result;
        const bool tensor =
            (type.kind == TypeKind::tensor && tensor_ == nullptr) || type.kind == TypeKind::texture;
        planned.no_diff = tensor ? place.no_diff_tensors : place.no_diff;
        if (!place.no_diff_tensors) planned.plain_struct = place.plain_struct;
        planned.location = kind.location;
        planned.path = place.path;
        tree_.leaves.push_back(std::move(planned));
        const bool overwrites = !kind.accumulate.empty() && kind.accumulate.front().overwrite;
        tree_.grads.push_back({kind.grad, overwrites});
        return parameter;
    }

    /// Whether each element of an array is an argument of its own: what memory it leads to is no part of a
    /// value.
    static bool is_given_by_elements(const KindSpec& kind, const Type& type) {
        if (type.kind != TypeKind::array || type.element.size() != 1) return false;
        const TypeKind inner = innermost_of_arrays(type).kind;
        if (kind.kind == Kind::fields) return inner == TypeKind::structure || inner == TypeKind::vector;
        return is_resource(innermost_of_arrays(type)) || inner == TypeKind::tensor ||
               inner == TypeKind::pointer;
    }

    ParameterTree walk_elements(const KindSpec& kind, const Type& type, const Place& place) {
        ParameterTree parameter;
        parameter.form = Form::fields;
        parameter.type = declared_name(type.element.front()) + manifest::element_name(type.extent);
        parameter.leaf = next();
        parameter.extents = {type.extent};
        if (type.extent <= 0) {
            fail(kind, "type-not-supported",
                 subject(place.name) + ": '" + type.name +
                     "' is an array without a size, whose elements can't be passed one by one",
                 {"state how many there are"});
            return parameter;
        }
        if (!is_nested_little(kind, place)) return parameter;
        const std::size_t errors = errors_.size();
        const std::size_t first = tree_.leaves.size();
        // An error in one element is the same in all.
        for (std::int64_t i = 0; i < type.extent && errors_.size() == errors; ++i) {
            const std::string index = manifest::element_name(i);
            ParameterTree& made = parameter.fields.emplace_back(
                walk(kind, type.element.front(),
                     {place.name + index, place.path + index, place.no_diff, place.no_diff_tensors,
                      place.depth + 1, place.plain_struct}));
            made.name = index;
            if (tree_.leaves.size() - first <= max_elements) continue;
            fail(kind, "type-not-supported",
                 subject(place.name) + ": the elements of '" + type.name + "' make more than " +
                     std::to_string(max_elements) + " arguments, each of which is passed by itself",
                 {"put them into one buffer or tensor, and index it with another dimension"});
        }
        parameter.leaves = next() - parameter.leaf;
        return parameter;
    }

    bool is_nested_little(const KindSpec& kind, const Place& place) {
        if (place.depth <= max_given_nesting) return true;
        fail(kind, "struct-layout", subject(place.name) + ": structs and arrays nest too deeply");
        return false;
    }

    ParameterTree walk_fields(const KindSpec& kind, const Type& type, const Place& place) {
        ParameterTree parameter;
        parameter.form = Form::fields;
        parameter.type = kind_name(type);
        parameter.own = type.own;
        parameter.leaf = next();
        if (!is_nested_little(kind, place)) return parameter;
        if (type.kind != TypeKind::structure && type.kind != TypeKind::vector) {
            fail(kind, "argument-type",
                 subject(place.name) + ": \"fields\" can't feed a parameter of type '" + type.name +
                     "': only structs and vectors have fields");
            return parameter;
        }
        const std::vector<Field> fields = fields_of(type);
        std::vector<std::string> names;
        for (const Field& field : fields) names.push_back(field.name);
        for (const FieldSpec& given : kind.fields) {
            if (std::find(names.begin(), names.end(), given.name) != names.end()) continue;
            errors_.push_back(
                {Severity::error, "field-unknown", given.location,
                 subject(place.name) + ": type '" + type.name + "' has no field '" + given.name + "'",
                 suggestion_notes(given.name, "fields", names)});
        }
        if (type.inherits || type.no_diff_array) {
            refuse_whole(kind, type, place);
            return parameter;
        }
        if (fields.empty()) refuse_empty(kind, type, place);
        if (!has_usable_names(kind, type, place)) return parameter;
        for (const Field& field : fields) {
            const auto given = std::find_if(kind.fields.begin(), kind.fields.end(),
                                            [&](const FieldSpec& one) { return one.name == field.name; });
            if (given == kind.fields.end()) {
                fail(kind, "field-missing",
                     subject(place.name) + ": field '" + field.name + "' of '" + type.name +
                         "' has no kind in \"fields\"",
                     {"give it one: \"" + field.name + "\": \"value\""});
                continue;
            }
            ParameterTree& made = parameter.fields.emplace_back(
                walk(given->alternatives.front(), field.type, inside(place, type, field)));
            made.name = field.name;
        }
        parameter.leaves = next() - parameter.leaf;
        return parameter;
    }

    /// Returns the advice for a type of Slang's own whose parts the host can't see; null for other types.
    static const char* way_around(const Type& type) {
        if (type.name.starts_with("Optional<"))
            return "write a struct with a bool and the value, and make the Optional inside";
        if (type.name.starts_with("Tuple<"))
            return "write a struct with a field for each part, or pass the parts one by one";
        if (type.name.starts_with("DifferentialPair<"))
            return "write a struct with the value and its derivative, or pass them one by one, and make the "
                   "pair inside: diffPair(x, dx)";
        return nullptr;
    }

    void refuse_empty(const KindSpec& kind, const Type& type, const Place& place) {
        if (const char* const way = way_around(type)) {
            fail(kind, "type-not-supported",
                 subject(place.name) + ": type '" + type.name +
                     "' is Slang's own, which the host can neither pass nor get",
                 {way});
            return;
        }
        fail(kind, "type-not-supported",
             subject(place.name) + ": struct '" + type.name +
                 "' has no fields, so that there is nothing to pass",
             {"what has no state can be a type alone: make its methods static and the function generic, and "
              "name its type where the function is called, as in apply<" +
                  type.name + ">",
              "or give it a field that nothing reads: int unused;"});
    }

    /// A struct whose fields aren't all known.
    void refuse_whole(const KindSpec& kind, const Type& type, const Place& place) {
        if (type.inherits) {
            fail(kind, "struct-layout",
                 subject(place.name) + ": struct '" + type.name +
                     "' inherits from another struct, whose fields kfgen can't see",
                 {"make the other struct a field of it"});
        } else {
            fail(
                kind, "struct-layout",
                subject(place.name) + ": struct '" + type.name +
                    "' has a no_diff array with its extent behind its name, and Slang crashes when asked for "
                    "the layout",
                {"write the extent in the type, as in \"no_diff Array<float, 2> x;\""});
        }
    }

    /// Returns the field's name in kernels, which kf_own.slang adds for Slang's own that can't be set.
    static std::string name_in_kernels(const Type& type, const Field& field) {
        const bool is_added = type.own == OwnStruct::optional || type.own == OwnStruct::pair;
        return (is_added ? "kf_" : "") + field.name;
    }

    Place inside(const Place& place, const Type& type, const Field& field) const {
        const bool is_plain = type.kind == TypeKind::structure && !type.differentiable;
        return {place.name + "." + field.name,
                place.path + "." + name_in_kernels(type, field),
                place.no_diff || field.no_diff || !type.differentiable,
                place.no_diff_tensors || field.no_diff,
                place.depth + 1,
                is_plain && place.plain_struct.empty() ? type.name : place.plain_struct};
    }

    /// A struct, or an array of structs, that the host passes by value or in a tensor.
    ParameterTree whole(const KindSpec& kind, const Type& type, const Place& place) {
        if (kind.kind != Kind::value && kind.kind != Kind::tensor) {
            fail(kind, "kind-not-supported",
                 subject(place.name) + ": kind '" + kind.spelling + "' can't feed struct '" + type.name + "'",
                 {"kinds that can: value, tensor[rank], {\"fields\": {…}}"});
            return {};
        }
        // The last dimensions of a tensor of its elements are those of the array.
        const Type* named = &type;
        int taken = 0;
        for (; !kind.element.empty() && kind.element != named->name; ++taken) {
            if (kind.kind != Kind::tensor || named->kind != TypeKind::array) {
                fail(kind, "argument-type",
                     subject(place.name) + ": '" + kind.spelling + "' can't feed a parameter of type '" +
                         type.name + "'",
                     {R"(a struct is given as value, tensor[rank] or {"fields": {…}}; on the host, )"
                      "view() reads a tensor of numbers as one of structs"});
                return {};
            }
            named = &named->element.front();
        }
        if (taken > kind.rank) {
            fail(kind, "argument-rank",
                 subject(place.name) + ": '" + kind.spelling + "' has rank " + std::to_string(kind.rank) +
                     ", but a parameter of type '" + type.name + "' needs at least rank " +
                     std::to_string(taken));
            return {};
        }
        if (!can_be_laid_out(kind, type, place)) return {};
        if (const std::int64_t size = layout_of(type).size; size > max_struct) {
            fail(kind, "struct-layout",
                 subject(place.name) + ": a '" + type.name + "' is " + std::to_string(size) +
                     " bytes long; at most " + std::to_string(max_struct) + " can be passed",
                 {"make what is large in it a Tensor parameter"});
            return {};
        }
        if (const std::string member = unwritten_of_output(kind, type); !member.empty()) {
            fail(kind, "host-struct",
                 subject(place.name) + ": the call would make a tensor of '" + innermost_of(type).host->type +
                     "', whose " + member + " no kernel writes, since Slang's '" + innermost_of(type).name +
                     "' lacks it",
                 {"make the parameter inout, so that the host gives the tensor; or give Slang's struct that "
                  "field"});
            return {};
        }
        KindSpec each = kind;
        each.element.clear();
        each.rank -= taken;
        StructPlace around{
            kind.kind == Kind::value ? Form::value : Form::tensor, layout_of(type).size, 0, {}, {}};
        ParameterTree parameter = walk_whole(each, type, place, around);
        parameter.offset = 0;
        return parameter;
    }

    [[nodiscard]] std::string unwritten_of_output(const KindSpec& kind, const Type& type) const {
        const Role role = target_.parameter.role;
        const bool made = kind.kind == Kind::tensor && (role == Role::out || role == Role::result);
        return made && innermost_of(type).host ? unwritten_member(type) : std::string();
    }

    /// A parameter that is a tensor of structs itself: each of its leaves is one of a field's type.
    ParameterTree tensor_of_structs(const KindSpec& kind, const Type& type, const Place& place) {
        if (place.depth > 0) {
            fail(kind, "type-not-supported",
                 subject(place.name) + ": a '" + type.name +
                     "' in a struct or an array can't be passed by this version of "
                     "kfgen; make it a parameter of its own");
            return {};
        }
        KindTarget leaf_target = target_.parameter;
        // A scalar stands in for the element: only the tensor around it is checked here.
        Type& element = leaf_target.type.element.front();
        element = Type();
        element.kind = TypeKind::scalar;
        if (auto failure = check_tensor_parameter(kind, leaf_target)) {
            errors_.push_back(std::move(*failure));
            return {};
        }
        tensor_ = &type;
        Place inner = place;
        inner.no_diff = place.no_diff_tensors;
        ParameterTree parameter = whole(kind, type.element.front(), inner);
        tensor_ = nullptr;
        return parameter;
    }

    /// A parameter that is a buffer of structs: its fields' leaves are one resource.
    ParameterTree buffer_of_structs(const KindSpec& kind, const Type& type, const Place& place) {
        if (const std::string other = host_layout_text(type.element.front()); !other.empty()) {
            fail(kind, "type-not-supported", subject(place.name) + ": in a '" + type.name + "' " + other,
                 {host_layout_cure});
            return {};
        }
        KindTarget leaf_target = target_.parameter;
        leaf_target.argument = place.name;
        leaf_target.type = type;
        Type& element = leaf_target.type.element.front();
        const bool bools = holds_bool(element);
        // A scalar stands in for the element: only the buffer around it is fed here.
        element = Type();
        element.kind = TypeKind::scalar;
        if (bools) element.scalar = ScalarType::boolean;
        if (const Outcome<manifest::Argument> fed = feed(without_element(kind), leaf_target); !fed) {
            errors_.insert(errors_.end(), fed.errors().begin(), fed.errors().end());
            return {};
        }
        if (type.element.front().kind == TypeKind::array) {
            fail(kind, "type-not-supported",
                 subject(place.name) + ": a '" + type.name +
                     "' of arrays can't be passed by this version of kfgen",
                 {"put the array into a struct"});
            return {};
        }
        KindSpec tensor = kind;
        tensor.kind = Kind::tensor;
        tensor.rank = 1;
        tensor_ = &type;
        const std::size_t first = tree_.leaves.size();
        ParameterTree parameter = whole(tensor, type.element.front(), place);
        tensor_ = nullptr;
        for (std::size_t i = first; i < tree_.leaves.size(); ++i) tree_.leaves[i].path = place.path;
        return parameter;
    }

    static KindSpec without_element(KindSpec kind) {
        kind.element.clear();
        return kind;
    }

    /// Python mangles or uses such names, and C++ reserves them.
    bool has_usable_names(const KindSpec& kind, const Type& type, const Place& place) {
        for (const Field& field : type.fields) {
            // Slang keeps bit fields in fields of its own.
            if (field.name.starts_with("$")) {
                fail(kind, "struct-layout",
                     subject(place.name) + ": struct '" + type.name +
                         "' has bit fields, which hosts can't be given",
                     {"make them whole fields, or one integer that methods take apart"});
                return false;
            }
            if (!field.name.starts_with("__")) continue;
            fail(kind, "struct-layout",
                 "field '" + place.name + "." + field.name + "' of struct '" + type.name +
                     "' can't be a field in C++ and Python, which keep names that begin with two underscores "
                     "for themselves",
                 {"rename it in the Slang source"});
            return false;
        }
        return true;
    }

    /// Returns the advice about a field of a type that has no layout on the host.
    static std::string advice(const Type& type) {
        if (type.kind == TypeKind::tensor) {
            return "give the struct field by field, {\"fields\": {…}}, where the tensor has a kind of its "
                   "own";
        }
        if (type.kind == TypeKind::pointer) {
            return "give the struct field by field, {\"fields\": {…}}, where the pointer has the kind "
                   "'pointer'";
        }
        if (type.kind == TypeKind::buffer) {
            return "give the struct field by field, {\"fields\": {…}}, where the buffer has a kind of its "
                   "own";
        }
        if (type.kind == TypeKind::texture || type.kind == TypeKind::sampler) {
            return "give the struct field by field, {\"fields\": {…}}, where it has the kind '" +
                   (type.kind == TypeKind::texture ? texture_kind(type) : "sampler") + "'";
        }
        if (type.kind == TypeKind::resource) return notes_of_refused(type).front();
        return "make it a field of one of these types, and convert it in Slang";
    }

    /// Whether it is a pointer whose address the host has as a number.
    [[nodiscard]] bool takes_addresses(const Type& type) const {
        return type.kind == TypeKind::pointer && (tensor_ == nullptr || tensor_->kind == TypeKind::buffer);
    }

    /// Every leaf has a host type; says which field has none.
    bool can_be_laid_out(const KindSpec& kind, const Type& type, const Place& place) {
        const Type& inner = innermost_of_arrays(type);
        if (inner.kind != TypeKind::structure) {
            if (element_of(type) || takes_addresses(type)) return true;
            fail(kind, "struct-layout",
                 "field '" + place.name + "' has type '" + type.name +
                     "', which has no layout on the host; expected a scalar, a vector of 2 to 4, a matrix, a "
                     "sized array of those, or a struct of those",
                 {advice(inner)});
            return false;
        }
        bool sized = true;
        for (const Type* array = &type; array != &inner; array = &array->element.front())
            sized = sized && array->extent > 0;
        if (!sized || place.depth > max_nesting) {
            fail(kind, "struct-layout",
                 "field '" + place.name + "' of type '" + type.name + "' has no layout on the host" +
                     (sized ? ": structs nest too deeply" : ": the array has no size"));
            return false;
        }
        if (inner.inherits || inner.no_diff_array || inner.fields.empty()) {
            if (inner.inherits || inner.no_diff_array)
                refuse_whole(kind, inner, place);
            else
                refuse_empty(kind, inner, place);
            return false;
        }
        if (!has_usable_names(kind, inner, place)) return false;
        return std::all_of(inner.fields.begin(), inner.fields.end(), [&](const Field& field) {
            return can_be_laid_out(kind, field.type, inside(place, inner, field));
        });
    }

    ParameterTree walk_whole(const KindSpec& kind, const Type& type, const Place& place,
                             const StructPlace& around) {
        if (!holds_structs(type)) return whole_leaf(kind, type, place, around);
        ParameterTree parameter;
        parameter.form = around.form;
        parameter.leaf = next();
        StructPlace here = around;
        Place there = place;
        for (const Type* array = &type; array->kind == TypeKind::array; array = &array->element.front()) {
            parameter.extents.push_back(array->extent);
            here.extents.push_back(array->extent);
            here.distances.push_back(layout_of(array->element.front()).size);
            there.path += "[]";
        }
        const Type& inner = innermost_of_arrays(type);
        const StructLayout layout = layout_of(inner);
        parameter.type = inner.name;
        parameter.own = inner.own;
        parameter.size = layout.size;
        for (std::size_t i = 0; i < inner.fields.size(); ++i) {
            const Field& field = inner.fields[i];
            StructPlace within = here;
            within.offset += layout.offsets[i];
            if (inner.host) within.spacing = inner.host->fields[i].spacing;
            ParameterTree& made = parameter.fields.emplace_back(
                walk_whole(kind, field.type, inside(there, inner, field), within));
            made.name = field.name;
            made.offset = layout.offsets[i];
        }
        parameter.leaves = next() - parameter.leaf;
        return parameter;
    }

    /// The number that the host has for an address: Slang converts between both, as between an enum and its
    /// integer.
    static Type as_number(const Type& pointer) {
        Type number;
        number.kind = TypeKind::scalar;
        number.scalar = ScalarType::uint64;
        number.is_enum = true;
        number.name = pointer.name;
        return number;
    }

    ParameterTree whole_leaf(const KindSpec& kind, const Type& type, const Place& place,
                             const StructPlace& around) {
        Type looped = type.kind == TypeKind::pointer ? as_number(type) : type;
        for (std::size_t i = around.extents.size(); i-- > 0;) looped = array_of(looped, around.extents[i]);
        if (!element_of(looped)) {
            fail(kind, "struct-layout",
                 "field '" + place.name +
                     "' has more than four extents, those of the arrays around it counted");
            return {};
        }
        const std::size_t before = tree_.leaves.size();
        Type fed = looped;
        if (tensor_ != nullptr) {
            fed = *tensor_;
            fed.element = {looped};
        }
        ParameterTree parameter = leaf(kind, fed, place);
        if (tree_.leaves.size() == before) return parameter;
        manifest::Argument& host = tree_.leaves.back().host;
        const std::int64_t scalar = manifest::scalar_bytes(host.element.scalar);
        host.offset = around.offset;
        host.address = type.kind == TypeKind::pointer;
        if (around.form == Form::tensor) host.pitch = around.size / scalar;
        if (around.extents.empty() && around.spacing.empty()) return parameter;
        for (const std::int64_t distance : around.distances) host.spacing.push_back(distance / scalar);
        const std::vector<std::int64_t>& extents = host.element.extents;
        host.spacing.insert(host.spacing.end(), around.spacing.begin(), around.spacing.end());
        for (std::size_t i = host.spacing.size(); i < extents.size(); ++i) {
            host.spacing.push_back(
                scalar_count({extents.begin() + static_cast<std::ptrdiff_t>(i) + 1, extents.end()}));
        }
        return parameter;
    }

    const TreeTarget& target_;
    std::int64_t first_;
    const Type* tensor_ = nullptr;  ///< the parameter whose elements' fields are being walked
    FedTree tree_;
    Diagnostics errors_;
};

/// A kind for every combination of its fields' alternatives, the last field's varying fastest.
std::vector<KindSpec> combinations(const KindSpec& kind) {
    std::vector<KindSpec> all{kind};
    for (std::size_t i = 0; i < kind.fields.size(); ++i) {
        std::vector<KindSpec> longer;
        for (const KindSpec& one : all) {
            for (const KindSpec& alternative : kind.fields[i].alternatives) {
                for (KindSpec& single : combinations(alternative)) {
                    longer.push_back(one);
                    longer.back().fields[i].alternatives = {std::move(single)};
                }
            }
        }
        all = std::move(longer);
    }
    return all;
}

void expand(std::vector<KindSpec>& alternatives) {
    std::vector<KindSpec> all;
    for (const KindSpec& kind : alternatives) {
        for (KindSpec& one : combinations(kind)) all.push_back(std::move(one));
    }
    alternatives = std::move(all);
}

}  // namespace

bool holds_structs(const Type& type) { return innermost_of_arrays(type).kind == TypeKind::structure; }

namespace {

/// Where sizes of what is too large anyway stop to grow.
constexpr std::int64_t most_bytes = std::int64_t{1} << 56;

}  // namespace

StructLayout layout_of(const Type& type) {
    StructLayout layout;
    if (type.kind == TypeKind::array) {
        layout = layout_of(type.element.front());
        layout.size =
            std::max<std::int64_t>(type.extent, 0) > most_bytes / std::max<std::int64_t>(layout.size, 1)
                ? most_bytes
                : layout.size * type.extent;
        layout.offsets.clear();
        return layout;
    }
    if (type.kind == TypeKind::pointer) {
        layout.alignment = layout.size = sizeof(std::uint64_t);
        return layout;
    }
    if (type.kind != TypeKind::structure) {
        const std::optional<manifest::Element> element = element_of(type);
        if (!element) return layout;
        layout.alignment = manifest::scalar_bytes(element->scalar);
        layout.size = layout.alignment * scalar_count(element->extents);
        return layout;
    }
    if (type.host) {
        layout = {type.host->size, type.host->alignment, {}};
        for (const HostStruct::Place& field : type.host->fields) layout.offsets.push_back(field.offset);
        return layout;
    }
    for (const Field& field : type.fields) {
        const StructLayout inner = layout_of(field.type);
        layout.offsets.push_back(round_up(layout.size, inner.alignment));
        layout.size = std::min(most_bytes, layout.offsets.back() + inner.size);
        layout.alignment = std::max(layout.alignment, inner.alignment);
    }
    layout.size = round_up(layout.size, layout.alignment);
    return layout;
}

bool is_host_struct_in_memory(const Type& type) {
    const TreeTarget nothing{};
    return holds_structs(type) && TreeFeeder(nothing, 0).has_layout_in_memory(type);
}

Outcome<FedTree> feed_tree(const KindSpec& kind, const TreeTarget& target, std::int64_t first) {
    return TreeFeeder(target, first).feed_all(kind);
}

CallSpec with_fields_expanded(CallSpec call) {
    for (ArgumentSpec& argument : call.arguments) expand(argument.alternatives);
    expand(call.result);
    expand(call.self);
    return call;
}

}  // namespace kf::gen
