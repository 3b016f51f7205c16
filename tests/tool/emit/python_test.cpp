// The generated Python: its text, and that mypy --strict takes the stub and judges its users rightly.
#include "emit/python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "tool/emit/plans.h"
#include "tool/emit/scratch.h"

namespace kf::gen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PythonFiles modules_of(const Plan& plan) {
    auto files = emit_python(plan);
    if (files) return files.value();
    for (const Diagnostic& error : files.errors()) ADD_FAILURE() << format_text(error);
    return {};
}

/// With every signature on one line: where one is broken is the formatter's matter.
std::string unwrapped(const std::string& stub) {
    const std::string joined = std::regex_replace(stub, std::regex("\\n +"), " ");
    return std::regex_replace(std::regex_replace(joined, std::regex("\\( "), "("), std::regex(",? \\)"), ")");
}

TEST(Python, LoadsTheArtifactBesideTheModule) {
    const std::string module = modules_of(testing::polynomial()).module;
    EXPECT_THAT(module,
                HasSubstr("_kf.load_module(_Path(__file__).with_name(\"polynomial.kfa\"), __name__)\n"));
    EXPECT_THAT(module,
                HasSubstr("#: a * x * x + b * x + c.\npolynomial = _module.function(\"polynomial\")\n"));
    EXPECT_THAT(module, HasSubstr("__all__ = [\"polynomial\"]\n"));
}

TEST(Python, MakesOneOverloadOfTensorsOfAnyRank) {
    const std::string stub = unwrapped(modules_of(testing::polynomial()).stub);
    const std::string stream = "stream: Stream | None = None";
    EXPECT_THAT(stub,
                HasSubstr("def __call__(self, a: DiffValue, b: DiffValue, c: DiffValue, x: DiffValue, *, " +
                          stream + ") -> float:"));
    EXPECT_THAT(stub, HasSubstr("x: DiffTensorValue, *, out: None = None, " + stream + ") -> kf.Tensor:"));
    EXPECT_THAT(stub,
                HasSubstr("x: DiffTorchTensor[_Tensor], *, out: None = None, " + stream + ") -> _Tensor:"));
    EXPECT_THAT(stub, HasSubstr("x: DiffTorchValue, *, out: _Out, " + stream + ") -> _Out: ..."));
}

TEST(Python, SaysWhetherThereIsABackwardPass) {
    const std::string stub = modules_of(testing::everything()).stub;
    EXPECT_THAT(stub, HasSubstr("    def backward(self) -> _SplitBackward: ..."));
    EXPECT_THAT(stub, Not(HasSubstr("_FillBackward")));
}

TEST(Python, NamesTuplesOfResults) {
    EXPECT_THAT(modules_of(testing::everything()).stub,
                HasSubstr("class _SplitResult(NamedTuple, Generic[_Tensor]):\n    result: _Tensor\n"
                          "    whole: _Tensor\n    total: _Tensor\n"));
}

TEST(Python, RenamesKeywordsAndReservedNames) {
    const std::string stub = modules_of(testing::everything()).stub;
    EXPECT_THAT(stub, HasSubstr("        lambda_: "));
    EXPECT_THAT(stub, HasSubstr("        out_: "));
    EXPECT_THAT(stub, HasSubstr("        _encoder: kf.Encoder,\n        /,\n"));
}

TEST(Python, EscapesWhatWouldEndADocstring) {
    Plan plan = testing::polynomial();
    plan.functions[0].doc = "Says \"\"\" and C:\\path and ends with \"";
    const std::string stub = modules_of(plan).stub;
    EXPECT_THAT(stub, HasSubstr(R"("""Says \"\"\" and C:\\path and ends with \")"
                                "\n"));
}

/// Checked by mypy: assert_type() fails where the stub says something else, and each ignored error must be
/// one.
constexpr const char* user_code = R"(
import numpy as np
from typing_extensions import assert_type

import everything
import kernelfunctions as kf
import polynomial

x = kf.Tensor.from_numpy(np.zeros(4, np.float32)).with_grads()
array = np.zeros(4, np.float32)
encoder = kf.default_device().encoder()

assert_type(polynomial.polynomial(2, 8, -1, x), kf.Tensor)
assert_type(polynomial.polynomial(2, 8, -1, x=[1, 2]), kf.Tensor)
assert_type(polynomial.polynomial(2, 8, -1, 3.0), float)
assert_type(polynomial.polynomial.call(2, 8, -1, 3), float)
assert_type(polynomial.polynomial(kf.differentiable(2.0), 8, -1, x), kf.Tensor)
assert_type(polynomial.polynomial(a=2, b=8, c=-1, x=x, out=x), kf.Tensor)
filled = polynomial.polynomial(2, 8, -1, x, out=array)
filled = array
polynomial.polynomial.backward(2, kf.differentiable(8.0), -1, x, x)
polynomial.polynomial.backward.call(2, kf.differentiable(8.0), -1, x, out=x)
polynomial.polynomial.append_to(encoder, 2, 8, -1, x, out=x)
polynomial.polynomial.backward.append_to(encoder, 2, 8, -1, x, x)

assert_type(everything.split(x, None, x).result, kf.Tensor)
assert_type(everything.split(x, total=x).whole, kf.Tensor)
assert_type(everything.split(1.0, total=2.0).whole, float)
assert_type(everything.normalize(x), kf.Tensor)
assert_type(everything.any_of.backward, None)
assert_type(everything.fill(2, shape=[2, 3]), kf.Tensor)
assert_type(everything.negate(True), bool)
assert_type(everything.negate(2.0), float)
everything.normalize([1, 2, 3])
everything.delete(x, lambda_=2, out_=1, result=2.0, encoder=1, args=2, backward=2, self_=2, errno=1)
everything.delete.append_to(encoder, x, 1, 2, 3, 4, 5, 6, 7, 8)

polynomial.polynomial(2, 8, -1)  # type: ignore[call-overload]
polynomial.polynomial(2, 8, -1, object())  # type: ignore[call-overload]
polynomial.polynomial(2, 8, -1, d=x)  # type: ignore[call-overload]
polynomial.polynomial(x, 8, -1, x)  # type: ignore[call-overload]
everything.any_of.backward(x)  # type: ignore[misc]
)";

TEST(PythonChecked, MypyTakesTheStubsAndTheirUsers) {
    testing::ScratchFolder folder;
    for (const Plan& plan : {testing::polynomial(), testing::everything()}) {
        const PythonFiles files = modules_of(plan);
        folder.write(plan.name + ".py", files.module);
        folder.write(plan.name + ".pyi", files.stub);
    }
    folder.write("user.py", user_code);
    const std::string mypy =
        "MYPYPATH=" KF_SOURCE_DIR "/runtime/python:. " KF_PYTHON
        " -m mypy --strict --follow-imports=silent --no-error-summary --cache-dir mypy_cache ";
    EXPECT_EQ(folder.complaints(mypy + "polynomial.pyi everything.pyi user.py"), "");
    // The modules themselves, without the stubs that hide them.
    EXPECT_EQ(folder.complaints("mkdir plain && cp *.py plain && rm plain/user.py && cd plain && " + mypy +
                                "polynomial.py everything.py"),
              "");
}

}  // namespace
}  // namespace kf::gen
