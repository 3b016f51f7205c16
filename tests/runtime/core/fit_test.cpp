// Trees of what is given, against overloads that take them: costs, picks and refusals.
#include "core/fit.h"

#include <deque>
#include <map>
#include <random>

#include "core/conversion_costs.h"
#include "core/resolve.h"
#include "runtime/core/bind_fixture.h"

namespace {

using namespace kf;
using namespace kf::test;
using detail::ArgShape;
using detail::Candidate;
using detail::Refusal;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Shape = ArgShape::Kind;

/// What somebody gives: numbers, or an object, or a list of such.
class Tree final : public detail::Given {
public:
    Tree() = default;
    Tree(Shape kind, ScalarType scalar, Dims shape = {}) : shape_{kind, scalar, shape} {}

    static Tree whole(Dims shape = {}) { return {Shape::weak, ScalarType::int64, shape}; }
    static Tree real(Dims shape = {}) { return {Shape::weak, ScalarType::float64, shape}; }
    static Tree truth() { return {Shape::weak, ScalarType::boolean}; }
    static Tree tensor(Dims shape, ScalarType scalar = ScalarType::float32) {
        return {Shape::tensor, scalar, shape};
    }
    static Tree array(Dims shape, ScalarType scalar = ScalarType::float32) {
        return {Shape::array, scalar, shape};
    }
    static Tree object(std::vector<std::pair<std::string, Tree>> fields, std::string type = {}) {
        Tree tree;
        for (auto& [name, field] : fields) tree.fields_.emplace(name, std::move(field));
        tree.is_object_ = true;
        tree.class_ = std::move(type);
        return tree;
    }
    static Tree list(std::vector<Tree> elements) {
        Tree tree;
        for (Tree& one : elements) tree.elements_.push_back(std::move(one));
        tree.is_list_ = true;
        return tree;
    }
    /// A tensor of structs.
    static Tree structs(std::string type, Dims shape) {
        Tree tree = tensor(shape);
        tree.class_ = std::move(type);
        tree.is_structs_ = true;
        return tree;
    }
    static Tree nothing() {
        Tree tree;
        tree.is_nothing_ = true;
        return tree;
    }
    static Tree too_large() {
        Tree tree = whole();
        tree.is_too_large_ = true;
        return tree;
    }

    [[nodiscard]] int reads() const { return reads_; }

    const ArgShape* as_elements(const Call&, const Argument&, bool by_value, Refusal* why) override {
        ++reads_;
        const bool is_value = shape_.kind == Shape::weak || shape_.kind == Shape::array;
        if (!is_structs_ && !is_object_ && !is_list_ && (is_value || !by_value)) return &shape_;
        if (why != nullptr) *why = {ErrorCode::type_mismatch, "numbers are needed"};
        return nullptr;
    }
    bool holds(ScalarType scalar, Refusal* why) override {
        if (!is_too_large_ || size_of(scalar) > 1) return true;
        if (why != nullptr) *why = {ErrorCode::value_range, "300 doesn't fit"};
        return false;
    }
    bool is_nothing() override { return is_nothing_; }
    bool is_object(bool) override { return is_object_; }
    Given* field(const ParameterTree& structure, std::size_t i) override {
        ++reads_;
        const auto found = fields_.find(structure.fields[i].name);
        return found == fields_.end() ? nullptr : &found->second;
    }
    std::string other_field(const ParameterTree& structure) override {
        for (const auto& [name, value] : fields_) {
            const std::string& own = name;
            const auto is_it = [&](const ParameterTree& field) { return field.name == own; };
            if (std::none_of(structure.fields.begin(), structure.fields.end(), is_it)) return "'" + own + "'";
        }
        return {};
    }
    bool is_of_other_class(const ParameterTree& structure) override {
        return !class_.empty() && class_ != structure.type;
    }
    std::optional<std::size_t> length(bool, bool) override {
        return is_list_ ? std::optional(elements_.size()) : std::nullopt;
    }
    Given& element(std::size_t i) override { return elements_[i]; }
    void each_element(const std::function<bool(Given&)>& visit) override {
        for (Tree& one : elements_)
            if (!visit(one)) return;
    }
    const Dims* as_structs(const Call&, const ParameterTree& structure, bool& is_list,
                           Refusal* why) override {
        is_list = is_list_;
        if (is_structs_ && class_ == structure.type) return &shape_.shape;
        if (why != nullptr) *why = {ErrorCode::type_mismatch, "structs are needed"};
        return nullptr;
    }
    [[nodiscard]] std::string text() const override { return is_object_ ? "{…}" : "…"; }
    [[nodiscard]] std::string type_text() const override { return is_object_ ? "an object" : "a thing"; }

private:
    ArgShape shape_;
    std::map<std::string, Tree> fields_;
    std::deque<Tree> elements_;
    std::string class_;
    bool is_object_ = false;
    bool is_list_ = false;
    bool is_structs_ = false;
    bool is_nothing_ = false;
    bool is_too_large_ = false;
    int reads_ = 0;
};

/// A parameter: an argument, or a struct of others.
struct Parameter {
    std::string name;
    Form form = Form::leaf;
    std::string type;
    std::vector<Parameter> fields;
    Argument argument;
    std::vector<std::int64_t> extents;
};

Parameter leaf(Argument argument) { return {argument.name, Form::leaf, {}, {}, argument, {}}; }
Parameter structure(std::string name, Form form, std::string type, std::vector<Parameter> fields,
                    std::vector<std::int64_t> extents = {}) {
    return {std::move(name), form, std::move(type), std::move(fields), {}, std::move(extents)};
}

ParameterTree add_tree(Call& call, const Parameter& parameter, const std::string& path, std::int64_t rank) {
    ParameterTree tree;
    tree.name = parameter.name;
    tree.form = parameter.form;
    tree.type = parameter.type;
    tree.leaf = static_cast<std::int64_t>(call.arguments.size());
    tree.extents = parameter.extents;
    if (parameter.form == Form::leaf) {
        call.arguments.push_back(parameter.argument);
        call.arguments.back().name = path;
        if (rank >= 0) call.arguments.back().rank = rank;
    }
    for (const Parameter& field : parameter.fields) {
        tree.fields.push_back(
            add_tree(call, field, field_path(path, field.name), parameter.form == Form::tensor ? 1 : rank));
    }
    tree.leaves = static_cast<std::int64_t>(call.arguments.size()) - tree.leaf;
    return tree;
}

Call overload(const std::vector<Parameter>& parameters) {
    Call call;
    for (const Parameter& one : parameters) call.parameters.push_back(add_tree(call, one, one.name, -1));
    call.items = items_of(call.parameters);
    return call;
}

class Overloads {
public:
    explicit Overloads(std::vector<std::vector<Parameter>> overloads) {
        function_.name = "f";
        for (const auto& one : overloads) function_.calls.push_back(overload(one));
    }

    /// `null`: arguments that aren't given.
    std::size_t pick(std::vector<Tree> given, std::vector<std::size_t> null = {}) {
        given_ = std::move(given);
        list_.clear();
        for (Tree& one : given_) list_.push_back(&one);
        for (const std::size_t i : null) list_[i] = nullptr;
        std::vector<Candidate> candidates;
        for (const Call& call : function_.calls) candidates.push_back({&call, list_});
        return detail::resolve({function_, candidates});
    }
    /// -1: it can't be taken.
    int cost(std::size_t call, Tree given) {
        given_ = {std::move(given)};
        list_ = {&given_.front()};
        return detail::fit_cost({function_.calls.at(call), list_}).value_or(-1);
    }
    [[nodiscard]] const Tree& given(std::size_t i) const { return given_.at(i); }
    [[nodiscard]] const Function& function() const { return function_; }

private:
    Function function_;
    std::vector<Tree> given_;
    std::vector<detail::Given*> list_;
};

Parameter number(std::string name, ScalarType scalar = ScalarType::float32,
                 std::vector<std::int64_t> extents = {}) {
    return leaf(value(std::move(name), scalar, std::move(extents)));
}
Parameter numbers(std::string name, std::int64_t rank, ScalarType scalar = ScalarType::float32,
                  std::vector<std::int64_t> extents = {}) {
    return leaf(test::tensor(std::move(name), rank, scalar, std::move(extents)));
}

TEST(Fit, CostsOfArguments) {
    using enum ScalarType;
    struct Case {
        const char* what;
        Parameter parameter;
        Tree given;
        int cost;
    };
    Argument out = value("x");
    out.role = Role::out;
    const std::vector<Parameter> xs{number("x", float32, {2}), number("x", float32, {3})};
    std::vector<Case> cases;
    const auto add_case = [&](const char* what, Parameter parameter, Tree given, int cost) {
        cases.push_back({what, std::move(parameter), std::move(given), cost});
    };
    add_case("int for int", number("x", int32), Tree::whole(), 0);
    add_case("int for long", number("x", int64), Tree::whole(), detail::scalar_cost);
    add_case("int for uint8", number("x", uint8), Tree::whole(), 6 * detail::scalar_cost);
    add_case("int for float", number("x"), Tree::whole(), detail::to_floating_cost);
    add_case("int for double", number("x", float64), Tree::whole(),
             detail::to_floating_cost + detail::scalar_cost);
    add_case("float for float", number("x"), Tree::real(), 0);
    add_case("float for half", number("x", float16), Tree::real(), 2 * detail::scalar_cost);
    add_case("float for int", number("x", int32), Tree::real(), -1);
    add_case("bool for int", number("x", int32), Tree::truth(), -1);
    add_case("bool for bool", number("x", boolean), Tree::truth(), 0);
    add_case("int for bool", number("x", boolean), Tree::whole(), -1);
    // Ranges are a matter of conversion: the binder says more.
    add_case("300 for int8", number("x", int8), Tree::too_large(), 6 * detail::scalar_cost);
    add_case("list for float2", xs[0], Tree::real({2}), 0);
    add_case("list for float3", xs[1], Tree::real({2}), detail::wrong_extent_cost);
    add_case("number for float2", xs[0], Tree::real(), detail::repeated_cost);
    add_case("int for float2", xs[0], Tree::whole(), detail::repeated_cost + detail::to_floating_cost);
    add_case("array for float", number("x"), Tree::array({}), 0);
    add_case("double array for float", number("x"), Tree::array({}, float64), -1);
    add_case("tensor for float", number("x"), Tree::tensor({}), -1);
    add_case("tensor", numbers("x", 1), Tree::tensor({3}), 0);
    add_case("tensor of rank 2", numbers("x", 1), Tree::tensor({3, 3}), -1);
    add_case("tensor of int", numbers("x", 1), Tree::tensor({3}, int32), -1);
    add_case("list for tensor", numbers("x", 1), Tree::whole({3}), detail::to_floating_cost);
    add_case("number for tensor of rank 0", numbers("x", 0), Tree::real(), detail::last_resort_cost);
    add_case("float2 tensor", numbers("x", 1, float32, {2}), Tree::tensor({5, 2}), 0);
    add_case("float2 tensor of 3", numbers("x", 1, float32, {2}), Tree::tensor({5, 3}),
             detail::wrong_extent_cost);
    add_case("object for float", number("x"), Tree::object({}), -1);
    add_case("array for output", leaf(out), Tree::array({}), 0);
    // A tensor takes an output's value afterwards.
    add_case("tensor for output", leaf(out), Tree::tensor({}), 0);
    for (Case& one : cases)
        EXPECT_EQ(Overloads({{one.parameter}}).cost(0, std::move(one.given)), one.cost) << one.what;
}

TEST(Fit, FieldsCostWhatArgumentsDo) {
    using enum ScalarType;
    const Parameter disc =
        structure("s", Form::value, "Disc", {number("r", int32), number("size", float32, {2})});
    Overloads f({{disc}});
    const auto cost = [&](Tree r, Tree size) {
        return f.cost(0, Tree::object({{"r", std::move(r)}, {"size", std::move(size)}}));
    };
    EXPECT_EQ(cost(Tree::whole(), Tree::real({2})), 0);
    EXPECT_EQ(cost(Tree::whole(), Tree::whole({2})), detail::to_floating_cost);
    EXPECT_EQ(cost(Tree::whole(), Tree::real()), detail::repeated_cost);
    EXPECT_EQ(cost(Tree::array({}, int32), Tree::array({2})), 0);
    EXPECT_EQ(cost(Tree::real(), Tree::real({2})), -1);
    EXPECT_EQ(cost(Tree::whole(), Tree::real({3})), -1) << "of structs nobody says more";
    EXPECT_EQ(cost(Tree::whole(), Tree::tensor({2})), -1);
    EXPECT_EQ(cost(Tree::whole(), Tree::array({2}, float64)), -1);
    EXPECT_EQ(cost(Tree::too_large(), Tree::real({2})), 0);
    EXPECT_EQ(f.cost(0, Tree::object({{"r", Tree::whole()}})), -1);
    EXPECT_EQ(f.cost(0, Tree::object({{"r", Tree::whole()}, {"size", Tree::real()}, {"q", Tree::real()}})),
              -1);
    EXPECT_EQ(f.cost(0, Tree::list({})), -1);
    EXPECT_EQ(f.cost(0, Tree::object({{"r", Tree::whole()}, {"size", Tree::real({2})}}, "Ball")),
              detail::unlikely_cost);
}

TEST(Fit, ListsOfStructs) {
    // Extents of arrays around are the leaves' first.
    Overloads f({{structure("s", Form::tensor, "Disc", {number("r")})},
                 {structure("s", Form::value, "Disc", {number("r", ScalarType::float32, {2})}, {2})}});
    const auto disc = [](Tree r) { return Tree::object({{"r", std::move(r)}}); };
    EXPECT_EQ(f.cost(0, Tree::structs("Disc", {5})), 0);
    EXPECT_EQ(f.cost(0, Tree::structs("Disc", {5, 5})), -1);
    EXPECT_EQ(f.cost(0, Tree::structs("Ball", {5})), -1);
    EXPECT_EQ(f.cost(0, Tree::list({disc(Tree::real()), disc(Tree::real())})), 0);
    // The dearest counts, however many there are.
    EXPECT_EQ(f.cost(0, Tree::list({disc(Tree::whole()), disc(Tree::real()), disc(Tree::whole())})),
              detail::to_floating_cost);
    EXPECT_EQ(f.cost(0, Tree::list({disc(Tree::real()), disc(Tree::truth())})), -1);
    EXPECT_EQ(f.cost(1, Tree::list({disc(Tree::real()), disc(Tree::real())})), 0);
    EXPECT_EQ(f.cost(1, Tree::list({disc(Tree::real())})), -1);
    EXPECT_EQ(f.cost(1, disc(Tree::real())), -1);
}

TEST(Fit, ClassesAndFieldsTellStructsApart) {
    const auto struct_of = [](const char* type, Parameter field) {
        return std::vector{structure("s", Form::value, type, {std::move(field)})};
    };
    Overloads f({struct_of("Disc", number("r")), struct_of("Ball", number("r")),
                 struct_of("Slab", number("size", ScalarType::float32, {2})),
                 struct_of("Coin", number("value", ScalarType::int32)),
                 struct_of("Note", number("value", ScalarType::float32))});
    const auto pick = [&](const char* field, Tree value, const char* type = "") {
        return f.pick({Tree::object({{field, std::move(value)}}, type)});
    };
    EXPECT_EQ(pick("r", Tree::real(), "Ball"), 1U);
    EXPECT_EQ(pick("r", Tree::real(), "Disc"), 0U);
    EXPECT_EQ(pick("size", Tree::real({2})), 2U);
    // As f(int) and f(float) would be told apart.
    EXPECT_EQ(pick("value", Tree::whole()), 3U);
    EXPECT_EQ(pick("value", Tree::real()), 4U);
    // Of another struct, which nothing here takes, it has the fields.
    EXPECT_EQ(pick("size", Tree::real({2}), "Plate"), 2U);
    expect_error(ErrorCode::no_overload,
                 AllOf(HasSubstr("f: argument 's': {…} (an object) could be a Disc or a Ball"),
                       HasSubstr("give objects of the class that is meant")),
                 [&] { pick("r", Tree::real()); });
    expect_error(ErrorCode::no_overload,
                 AllOf(HasSubstr("f: no overload takes (an object); candidates:\n  f(s: Disc)\n"
                                 "    argument 's': Disc has no field 'q'; it has r\n  f(s: Ball)\n"),
                       HasSubstr("argument 's': Slab has no field 'q'; it has size")),
                 [&] { pick("q", Tree::real()); });
    expect_error(ErrorCode::no_overload,
                 HasSubstr("    argument 's.size': … has shape [3], the field's float32"),
                 [&] { pick("size", Tree::real({3})); });
    // Both would do, and neither is its class.
    expect_error(ErrorCode::no_overload,
                 AllOf(HasSubstr("argument 's': a Disc is needed, not {…}"),
                       HasSubstr("argument 's': a Ball is needed, not {…}")),
                 [&] { pick("r", Tree::real(), "Plate"); });
}

TEST(Fit, OnlyWhatAStructHoldsIsSaidAlone) {
    Overloads f({{structure("s", Form::value, "Disc", {number("r", ScalarType::int8)})}, {numbers("s", 1)}});
    expect_error(ErrorCode::unknown_name, testing::Eq("f: argument 's': Disc has no field 'q'; it has r"),
                 [&] {
                     f.pick({Tree::object({{"q", Tree::real()}})});
                 });
    expect_error(ErrorCode::value_range, testing::Eq("f: argument 's.r': 300 doesn't fit"), [&] {
        f.pick({Tree::object({{"r", Tree::too_large()}})});
    });
}

TEST(Fit, FieldByField) {
    const auto ray = [](Parameter pos, Parameter dir) {
        return std::vector{structure("ray", Form::fields, "Ray", {std::move(pos), std::move(dir)})};
    };
    Overloads f({ray(numbers("pos", 1), numbers("dir", 1)),
                 ray(numbers("pos", 1), number("dir")),
                 {structure("ray", Form::value, "Ray", {number("pos"), number("dir")})}});
    const auto pick = [&](Tree pos, Tree dir) {
        return f.pick({Tree::object({{"pos", std::move(pos)}, {"dir", std::move(dir)}})});
    };
    EXPECT_EQ(pick(Tree::tensor({3}), Tree::tensor({3})), 0U);
    EXPECT_EQ(pick(Tree::tensor({3}), Tree::real()), 1U);
    EXPECT_EQ(pick(Tree::real(), Tree::real()), 2U);
    Tree given = Tree::object({{"pos", Tree::tensor({3})}, {"dir", Tree::nothing()}});
    const Call& call = f.function().calls[0];
    std::vector<detail::Given*> list{&given};
    const detail::Misfit misfit = detail::explain_misfit({call, list});
    EXPECT_EQ(misfit.refusal.text, "argument 'ray.dir': not given");
    EXPECT_EQ(error_id(misfit.refusal.code), error_id(ErrorCode::missing_argument));
}

TEST(Fit, IsLookedAtAsDeepAsItMatters) {
    Overloads one({{structure("s", Form::value, "Disc", {number("r")})}});
    EXPECT_EQ(one.pick({Tree::object({{"r", Tree::truth()}})}), 0U) << "the packer says what is wrong";
    EXPECT_EQ(one.given(0).reads(), 0);
}

TEST(Fit, ListsOfParameters) {
    Function f;
    f.name = "f";
    f.calls = {overload({number("a"), number("b", ScalarType::int32)}),
               overload({number("a", ScalarType::int32), number("c")}), overload({number("a")})};
    std::vector<Tree> given;
    std::vector<detail::Given*> list;
    const Refusal refused{ErrorCode::type_mismatch, "2 positional arguments where at most 1 are taken (a)"};
    const auto pick = [&](Tree a, Tree b, bool third = false) {
        given = {std::move(a), std::move(b)};
        list = {&given[0], &given[1]};
        const std::vector<Candidate> candidates{{&f.calls[0], list, 0, 0, third ? &refused : nullptr},
                                                {&f.calls[1], list, 1, 0, third ? &refused : nullptr},
                                                {&f.calls[2], list, 2, 0, &refused}};
        return detail::resolve({f, candidates});
    };
    EXPECT_EQ(pick(Tree::real(), Tree::whole()), 0U);
    EXPECT_EQ(pick(Tree::whole(), Tree::real()), 1U);
    expect_error(
        ErrorCode::no_overload,
        AllOf(HasSubstr("several overloads take these arguments: name them; candidates:"),
              HasSubstr("\n  f(a: float, b: int)\n  f(a: int, c: float)"), Not(HasSubstr("f(a: float)"))),
        [&] { pick(Tree::whole(), Tree::whole()); });
    expect_error(ErrorCode::no_overload,
                 AllOf(HasSubstr("no overload takes these arguments; candidates:"),
                       HasSubstr("\n  f(a: float, b: int)\n    argument 'b': expected int, found a floating"),
                       HasSubstr("\n  f(a: float)\n    2 positional arguments")),
                 [&] { pick(Tree::real(), Tree::real()); });
    expect_error(ErrorCode::no_overload, HasSubstr("\n  f(a: float)\n    2 positional arguments"),
                 [&] { pick(Tree::real(), Tree::real(), true); });
}

TEST(Fit, FewerOutputsLeftOutAreNearer) {
    Function f;
    f.name = "f";
    Argument out = value("y");
    out.role = Role::out;
    f.calls = {overload({number("x"), leaf(out)}), overload({number("x")})};
    Tree x = Tree::real();
    std::vector<detail::Given*> both{&x, nullptr};
    std::vector<detail::Given*> one{&x};
    const std::vector<Candidate> candidates{{&f.calls[0], both, 0, 1}, {&f.calls[1], one, 1, 0}};
    EXPECT_EQ(detail::resolve({f, candidates}), 1U);
}

// Against a search that knows nothing but the costs' table.

constexpr std::array scalars{ScalarType::boolean, ScalarType::int8,    ScalarType::int32,
                             ScalarType::uint32,  ScalarType::float32, ScalarType::float64};

int plain_cost(const Parameter& parameter, const ArgShape& given, bool field) {
    const Argument& argument = parameter.argument;
    const bool is_tensor = passes_tensor(argument);
    const auto& extents = argument.element.extents;
    const std::size_t dims = static_cast<std::size_t>(argument.rank) + extents.size();
    if (given.kind == Shape::tensor && !is_tensor) return -1;
    int cost = 0;
    if (given.kind == Shape::weak) {
        const bool to_float = is_floating(argument.element.scalar);
        if ((given.scalar == ScalarType::boolean) != (argument.element.scalar == ScalarType::boolean))
            return -1;
        if (given.scalar == ScalarType::float64 && !to_float) return -1;
        const std::map<ScalarType, int> order{{ScalarType::int32, 0},   {ScalarType::uint32, 2},
                                              {ScalarType::int8, 6},    {ScalarType::float32, 0},
                                              {ScalarType::float64, 1}, {ScalarType::boolean, 0}};
        cost = order.at(argument.element.scalar) + (to_float && given.scalar == ScalarType::int64 ? 20 : 0);
        if (given.shape.empty() && !is_tensor && extents.size() == 1) return cost + 50;
        if (is_tensor && argument.rank == 0) cost += 100;
    } else if (given.scalar != argument.element.scalar) {
        return -1;
    } else if (given.kind == Shape::array && is_tensor && argument.rank == 0) {
        cost += 100;
    }
    if (given.shape.size() != dims) return -1;
    const bool ends = extents.empty() || given.shape[dims - 1] == extents.front();
    if (!ends && field) return -1;
    return cost + (ends ? 0 : 1000);
}

TEST(Fit, AgreesWithAnExhaustiveSearch) {
    std::mt19937 random(17);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    const auto some_parameter = [&](const std::string& name, bool field) {
        std::vector<std::int64_t> extents;
        if (below(3) == 0) extents.push_back(2 + static_cast<std::int64_t>(below(2)));
        const ScalarType scalar = scalars[below(scalars.size())];
        return field || below(2) == 0 ? number(name, scalar, extents)
                                      : numbers(name, static_cast<std::int64_t>(below(3)), scalar, extents);
    };
    const auto some_shape = [&] {
        ArgShape shape{static_cast<Shape>(1 + below(3)), scalars[below(scalars.size())], {}};
        if (shape.kind == Shape::weak)
            shape.scalar = std::array{ScalarType::boolean, ScalarType::int64, ScalarType::float64}[below(3)];
        for (std::size_t d = below(4); d > 0; --d)
            shape.shape.push_back(2 + static_cast<std::int64_t>(below(2)));
        return shape;
    };
    // Mostly what the parameter takes.
    const auto shape_for = [&](const Parameter& parameter) {
        if (below(12) == 0) return some_shape();
        const Argument& argument = parameter.argument;
        ArgShape shape{
            static_cast<Shape>(1 + below(passes_tensor(argument) ? 3 : 2)), argument.element.scalar, {}};
        if (shape.kind == Shape::weak && shape.scalar != ScalarType::boolean)
            shape.scalar =
                is_floating(shape.scalar) && below(2) == 0 ? ScalarType::float64 : ScalarType::int64;
        if (shape.kind == Shape::weak && !passes_tensor(argument) && below(3) == 0) return shape;
        for (std::int64_t d = 0; d < argument.rank; ++d) shape.shape.push_back(2);
        for (const std::int64_t extent : argument.element.extents) shape.shape.push_back(extent);
        return shape;
    };
    int picked = 0;
    int refused = 0;
    int ambiguous = 0;
    for (int trial = 0; trial < 1500; ++trial) {
        // Each overload takes a number or a tensor, and a struct of two fields; all structs have one class.
        std::vector<std::vector<Parameter>> list;
        for (std::size_t c = 1 + below(6); c > 0; --c) {
            list.push_back(
                {some_parameter("x", false),
                 structure("s", Form::value, "S", {some_parameter("a", true), some_parameter("b", true)})});
        }
        // Some differ in a vector's length alone.
        if (below(2) == 0) {
            list.push_back(list.front());
            const ScalarType scalar = list.front()[0].argument.element.scalar;
            list.back()[0] = number("x", scalar, {2 + static_cast<std::int64_t>(below(2))});
        }
        const std::vector<Parameter>& meant = list[below(list.size())];
        const std::array shapes{shape_for(meant[0]), shape_for(meant[1].fields[0]),
                                shape_for(meant[1].fields[1])};
        std::vector<int> costs;
        for (const auto& parameters : list) {
            const int x = plain_cost(parameters[0], shapes[0], false);
            const int a = plain_cost(parameters[1].fields[0], shapes[1], true);
            const int b = plain_cost(parameters[1].fields[1], shapes[2], true);
            costs.push_back(x < 0 || a < 0 || b < 0 ? -1 : x + a + b);
        }
        if (list.size() == 1) continue;  // the packer looks at those
        const auto is_less = [](int one, int two) { return two < 0 ? one >= 0 : one >= 0 && one < two; };
        const auto best =
            static_cast<std::size_t>(std::min_element(costs.begin(), costs.end(), is_less) - costs.begin());
        // Of equal ones a single number must not mean vectors of several lengths; the first is taken else.
        bool open = false;
        for (std::size_t c = 0; c < list.size(); ++c) {
            open = open ||
                   (costs[c] == costs[best] && shapes[0].kind == Shape::weak && shapes[0].shape.empty() &&
                    !(list[c][0].argument.element == list[best][0].argument.element));
        }
        Overloads f(list);
        const auto tree = [](const ArgShape& shape) { return Tree(shape.kind, shape.scalar, shape.shape); };
        std::optional<std::size_t> found;
        std::string text;
        try {
            found = f.pick(
                {tree(shapes[0]), Tree::object({{"a", tree(shapes[1])}, {"b", tree(shapes[2])}}, "S")});
        } catch (const ArgumentError& error) {
            text = error.what();
        }
        if (costs[best] < 0) {
            EXPECT_FALSE(found) << trial;
            EXPECT_THAT(text, Not(HasSubstr("could be"))) << trial;
            ++refused;
        } else if (open) {
            EXPECT_THAT(text, HasSubstr("give every component")) << trial;
            ++ambiguous;
        } else {
            EXPECT_EQ(found, best) << trial << text;
            ++picked;
        }
    }
    EXPECT_GT(picked, 100);
    EXPECT_GT(refused, 100);
    EXPECT_GT(ambiguous, 3);
}

}  // namespace
