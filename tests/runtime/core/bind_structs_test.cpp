// What the binder says of structs that are given whole: the argument and its struct, not a field.
#include "runtime/core/bind_fixture.h"

namespace kf::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A float3 and a float, 16 bytes.
constexpr std::int64_t pitch = 4;

std::vector<Argument> fields(const std::string& name, Role role = Role::in) {
    Argument place = with_gradient(tensor(name + ".place", 1, ScalarType::float32, {3}));
    Argument speed = with_gradient(tensor(name + ".speed", 1));
    speed.offset = 12;
    for (Argument* argument : {&place, &speed}) {
        argument->pitch = pitch;
        if (role != Role::in) *argument = as(role, *argument);
    }
    return {place, speed};
}

ParameterTree whole(const std::string& name, std::int64_t first) {
    ParameterTree parameter;
    parameter.name = name;
    parameter.type = "Car";
    parameter.form = Form::tensor;
    parameter.leaf = first;
    parameter.leaves = 2;
    parameter.size = 16;
    return parameter;
}

/// race(car, {other, scale}) -> result; `other` is in a struct that is given field by field.
ManifestBuilder race(bool strict = false) {
    std::vector<Argument> arguments = fields("car");
    for (const Argument& argument : fields("pair.other")) arguments.push_back(argument);
    arguments.push_back(value("pair.scale"));
    for (const Argument& argument : fields("result", Role::result)) arguments.push_back(argument);
    ManifestBuilder builder;
    builder.add("race", arguments);
    Call& call = builder.get().functions.front().calls.front();
    call.strict_broadcasting = strict;
    ParameterTree pair;
    pair.name = "pair";
    pair.form = Form::fields;
    pair.leaf = 2;
    pair.leaves = 3;
    pair.fields = {whole("other", 2), ParameterTree()};
    pair.fields[1].name = "scale";
    pair.fields[1].leaf = 4;
    call.parameters = {whole("car", 0), pair, whole("result", 5)};
    call.items = items_of(call.parameters);
    return builder;
}

/// A tensor of `count` structs as its two fields, `step` structs apart.
std::vector<Given> cars(std::int64_t count, std::int64_t step = 1, std::uint64_t address = 4096) {
    return {Given::tensor(at(address, {count, 3}, {step * pitch, 1})),
            Given::tensor(at(address + 12, {count}, {step * pitch}))};
}

std::vector<Given> given_structs(const std::vector<Given>& car, const std::vector<Given>& other,
                                 const std::vector<Given>& result) {
    std::vector<Given> all = car;
    all.insert(all.end(), other.begin(), other.end());
    all.push_back(Given::value());
    all.insert(all.end(), result.begin(), result.end());
    return all;
}

const std::vector<Given> none{Given::none(), Given::none()};

TEST(BindStructs, AreNamedWhereTheirShapesDisagree) {
    ManifestBuilder builder = race();
    expect_error(ErrorCode::shape_mismatch,
                 AllOf(StartsWith("race: argument 'pair.other': dimension 0 of shape [2]: extent 2"),
                       HasSubstr("extent 3 of argument 'car' (")),
                 [&] { forward(builder.get(), given_structs(cars(3), cars(2), none)); });
    expect_error(
        ErrorCode::shape_mismatch,
        AllOf(StartsWith("race: argument 'result': an output is never broadcast: dimension 0 of shape [1]"),
              HasSubstr("expected extent 3 of argument 'car', found 1")),
        [&] { forward(builder.get(), given_structs(cars(3), cars(1, 1, 8192), cars(1, 1, 16384))); });
    ManifestBuilder strict = race(true);
    expect_error(ErrorCode::shape_mismatch,
                 AllOf(StartsWith("race: argument 'pair.other': broadcasting is forbidden"),
                       HasSubstr("dimension 0 of shape [1]: expected extent 3 of argument 'car'")),
                 [&] { forward(strict.get(), given_structs(cars(3), cars(1), none)); });
}

TEST(BindStructs, AreNamedWhereSomethingElseIsGiven) {
    ManifestBuilder builder = race();
    expect_error(ErrorCode::missing_argument,
                 testing::StrEq("race: argument 'car': expected Car tensor[1], found nothing"),
                 [&] { forward(builder.get(), given_structs(none, cars(3), none)); });
    expect_error(ErrorCode::type_mismatch,
                 testing::StrEq("race: argument 'pair.other': expected Car tensor[1], found a value"), [&] {
                     forward(builder.get(), given_structs(cars(3), {Given::value(), Given::value()}, none));
                 });
}

TEST(BindStructs, AreNamedWhereGradientsAreMissingOrWrong) {
    ManifestBuilder builder = race();
    expect_error(ErrorCode::missing_gradient,
                 AllOf(HasSubstr("give one of 'car', 'pair.other' one"), Not(HasSubstr("place"))), [&] {
                     backward(builder.get(), given_structs(cars(3), cars(3, 1, 8192), cars(3, 1, 16384)));
                 });
    std::vector<Given> car = cars(3);
    car[0] = car[0].out(at(32768, {2, 3}, {pitch, 1}));
    expect_error(ErrorCode::shape_mismatch,
                 testing::StrEq("race: argument 'car': its gradient has shape [2], it has shape [3]"),
                 [&] { backward(builder.get(), given_structs(car, cars(3, 1, 8192), cars(3, 1, 16384))); });
}

TEST(BindStructs, AreShownWithStridesInStructs) {
    ManifestBuilder builder = race();
    for (Argument& argument : builder.get().functions.front().calls.front().arguments)
        if (auto* tensor = std::get_if<kinds::Tensor>(&argument.kind)) tensor->contiguous_only = true;
    expect_error(ErrorCode::layout_mismatch,
                 AllOf(StartsWith("race: argument 'car': expected a contiguous tensor"),
                       HasSubstr("found shape [3] with strides [2]")),
                 [&] { forward(builder.get(), given_structs(cars(3, 2), cars(3, 1, 8192), none)); });
    EXPECT_NO_THROW(forward(builder.get(), given_structs(cars(0, 2), cars(0, 1, 8192), none)));
}

}  // namespace
}  // namespace kf::test
