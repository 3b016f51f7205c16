// Merging of overloads that type checkers can't tell apart.
#include "emit/python_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kf::gen {
namespace {

constexpr PythonTypes bools = python_bool;
constexpr PythonTypes ints = python_bool | python_int;
constexpr PythonTypes floats = python_bool | python_int | python_float;
constexpr PythonTypes vectors = python_sequence;
constexpr PythonTypes tensors = python_sequence | python_tensor;

PythonSignature signature(std::vector<PythonTypes> types, const std::string& result, std::size_t call) {
    PythonSignature made;
    for (std::size_t i = 0; i < types.size(); ++i)
        made.parameters.push_back({std::string(1, char('a' + i)), types[i]});
    made.results = {result};
    made.calls = {call};
    return made;
}

TEST(PythonSignature, SpellsTypes) {
    EXPECT_EQ(python_spelling(bools), "BoolValue");
    EXPECT_EQ(python_spelling(ints), "IntValue");
    EXPECT_EQ(python_spelling(floats), "FloatValue");
    EXPECT_EQ(python_spelling(floats | python_differentiable), "DiffValue");
    EXPECT_EQ(python_spelling(vectors | python_differentiable), "DiffVectorValue");
    EXPECT_EQ(python_spelling(floats | tensors), "FloatValue | TorchValue[_Tensor]");
    EXPECT_EQ(python_spelling(python_tensor), "kf.Tensor | TorchTensor[_Tensor]");
    EXPECT_EQ(python_spelling(tensors | python_diff_tensor), "DiffTorchValue[_Tensor]");
}

TEST(PythonSignature, SpellsFormsOfPyTorch) {
    EXPECT_EQ(taken_in_form("DiffTorchValue[_Tensor] | _RayValue[_Tensor]", TorchForm::none),
              "DiffTensorValue | _RayValue[Never]");
    EXPECT_EQ(taken_in_form("kf.Tensor | TorchTensor[_Tensor]", TorchForm::none), "kf.Tensor");
    EXPECT_EQ(taken_in_form("kf.Tensor | TorchTensor[_Tensor]", TorchForm::any), "kf.Tensor | TorchTensor");
    EXPECT_EQ(returned_in_form("_TensorsResult[_Tensor] | _Tensor", TorchForm::none),
              "_TensorsResult[kf.Tensor] | kf.Tensor");
    EXPECT_FALSE(returns_tensor("_TensorsResult"));
}

TEST(PythonSignature, LeavesOutWhatAWiderOneSays) {
    const auto separated =
        separate_overloads({signature({ints}, "float", 0), signature({floats}, "float", 1)});
    ASSERT_EQ(separated.size(), 1U);
    EXPECT_EQ(separated[0].parameters[0].types, floats);
}

TEST(PythonSignature, LeavesDistinctOverloadsAlone) {
    const auto separated =
        separate_overloads({signature({floats}, "float", 0), signature({tensors}, "kf.Tensor", 1)});
    EXPECT_EQ(separated.size(), 2U);
}

TEST(PythonSignature, MergesTensorsOfDifferentRank) {
    const auto separated =
        separate_overloads({signature({tensors}, "kf.Tensor", 0), signature({tensors}, "kf.Tensor", 1)});
    ASSERT_EQ(separated.size(), 1U);
    EXPECT_THAT(separated[0].calls, testing::ElementsAre(0, 1));
}

TEST(PythonSignature, KeepsTheExactResultForTensorsBesideVectors) {
    const auto separated =
        separate_overloads({signature({vectors}, "array", 0), signature({tensors}, "kf.Tensor", 1)});
    ASSERT_EQ(separated.size(), 2U);
    EXPECT_EQ(separated[0].parameters[0].types, python_tensor);
    EXPECT_THAT(separated[0].results, testing::ElementsAre("kf.Tensor"));
    EXPECT_EQ(separated[1].parameters[0].types, tensors);
    EXPECT_THAT(separated[1].results, testing::ElementsAre("array", "kf.Tensor"));
}

TEST(PythonSignature, PutsNarrowerOverloadsFirst) {
    const auto separated = separate_overloads({signature({ints}, "int", 0), signature({bools}, "bool", 1)});
    ASSERT_EQ(separated.size(), 2U);
    EXPECT_EQ(separated[0].parameters[0].types, bools);
}

TEST(PythonSignature, MergesNumbersWhoseResultsContradict) {
    const auto separated = separate_overloads({signature({ints}, "int", 0), signature({floats}, "float", 1)});
    ASSERT_EQ(separated.size(), 1U);
    EXPECT_THAT(separated[0].results, testing::ElementsAre("float"));
}

TEST(PythonSignature, TellsApartByTheNumberOfInputs) {
    const auto separated =
        separate_overloads({signature({floats}, "float", 0), signature({floats, floats}, "int", 1)});
    EXPECT_EQ(separated.size(), 2U);
}

TEST(PythonSignature, GoesByPlaceWhereNamesDiffer) {
    auto other = signature({tensors}, "kf.Tensor", 1);
    other.parameters[0].name = "z";
    const auto separated = separate_overloads({signature({tensors}, "kf.Tensor", 0), other});
    ASSERT_EQ(separated.size(), 1U);
    EXPECT_EQ(separated[0].parameters[0].name, "");
}

}  // namespace
}  // namespace kf::gen
