// Lists the modules by their workarounds.
#include "tool/slang/workarounds/fault_cases.h"

#include <array>

#include "slang/workarounds/constructed_structs.h"
#include "slang/workarounds/elements.h"
#include "slang/workarounds/folded_vectors.h"
#include "slang/workarounds/inout_constants.h"
#include "slang/workarounds/loop_limits.h"
#include "slang/workarounds/loop_scalars.h"
#include "slang/workarounds/loop_starts.h"
#include "slang/workarounds/nested_loops.h"
#include "slang/workarounds/no_diff_calls.h"
#include "slang/workarounds/remainders.h"
#include "slang/workarounds/scalar_parameters.h"
#include "slang/workarounds/stored_parts.h"
#include "slang/workarounds/tuple_parts.h"
#include "slang/workarounds/while_loops.h"
#include "slang/workarounds/written_scalars.h"
#include "slang/workarounds/written_values.h"

namespace kf::gen {

namespace {

constexpr std::array cases = {
    FaultCase{&constructed_structs, "Nested", R"(
import other;
[Differentiable] float f(Out o) { return o.in.x * o.in.x * o.in.k; }
float measured(float x, int i, int j)
{
    Out o = Out(x);
    var p = diffPair(o);
    bwd_diff(f)(p, 1);
    return p.d.in.x;
}
)",
              "6", R"(
module other;
public struct Out : IDifferentiable { public In in; public __init(float x) { in = In(x); } }
public struct In : IDifferentiable
{
    public float x; public no_diff int k;
    public __init(float x) { this.x = x; k = 3; }
}
)"},
    FaultCase{&constructed_structs, "ByAnInterface", R"(
import other;
[Differentiable] float f(Outer.Out<float> o) { return o.in.x * o.in.x * o.in.k; }
float measured(float x, int i, int j)
{
    Outer.Out<float> o = Outer.Out<float>(x);
    var p = diffPair(o);
    bwd_diff(f)(p, 1);
    return p.d.in.x;
}
)",
              "6", R"(
module other;
public interface IThing : IDifferentiable {}
public struct In<T : __BuiltinFloatingPointType> : IThing where T : IDifferentiable
{
    public T x; public no_diff int k;
    public __init(T x) { this.x = x; k = 3; }
}
public struct Outer
{
    public struct Out<T : __BuiltinFloatingPointType> : IThing where T : IDifferentiable
    {
        public In<T> in; public __init(T x) { in = In<T>(x); }
    }
}
)"},
    FaultCase{&elements, "VectorAtTwoIndices", R"(
[Differentiable] float f(float3 p, int i, int j) { return p[i] + p[j]; }
float measured(float x, int i, int j)
{
    var p = diffPair(float3(x));
    bwd_diff(f)(p, i, j, 1);
    return p.d[i];
}
)",
              "2"},
    FaultCase{&elements, "ArrayInALoop", R"(
[Differentiable] float f(float p[3])
{
    float sum = 0;
    [MaxIters(3)] for (int k = 0; k < 3; ++k) sum += p[k] * p[min(k + 1, 2)];
    return sum;
}
float measured(float x, int i, int j)
{
    float p[3] = { x, x, x };
    var pair = diffPair(p);
    bwd_diff(f)(pair, 1);
    return pair.d[i + j];
}
)",
              "3"},
    FaultCase{&tuple_parts, "AComponent", R"(
[Differentiable] float f(float x)
{
    Tuple<float, float3> t = makeTuple(x, float3(2 * x));
    if (x > 0) t._1.z = x * x;
    return t._0 * t._1.z + t._1.x;
}
)",
              "5"},
    FaultCase{&tuple_parts, "BehindAStore", R"(
[Differentiable] float f(float x)
{
    Tuple<float, float3> t = makeTuple(x, float3(2 * x));
    t._1 = t._1;
    t._1.z *= x;
    t._1[1] = t._1.z + x;
    return t._0 * t._1.z + t._1.y;
}
)",
              "11"},
    FaultCase{&tuple_parts, "FieldsAndCalls", R"(
struct Pair : IDifferentiable { float a; float3 v; }
struct Two : IDifferentiable { Tuple<float, Pair> t; }
[Differentiable] void scale(inout float a, inout float3 v, float by) { a = a * by; v.y = by; }
[Differentiable] float f(float x)
{
    Two two;
    two.t = makeTuple(x, Pair(x, float3(x)));
    scale(two.t._1.a, two.t._1.v, x);
    two.t._1.v.z = x * x;
    return two.t._1.a * two.t._1.v.y + two.t._1.v.z;
}
)",
              "5"},
    FaultCase{&remainders, "AScalar", R"(
[Differentiable] float f(float x) { return x < 0 ? x : fmod(7.5, x + 1); }
)",
              "-3"},
    FaultCase{&remainders, "OfEveryShape", R"(
[Differentiable] T whole<T : __BuiltinFloatingPointType>(T x, T y) { return fmod<T>(x, y); }
[Differentiable] float f(float x)
{
    float3 v = fmod(float3(5, 7.5, -9), float3(x + 1)) + fmod(x * float3(3), 2);
    float2x2 m = fmod(float2x2(4), float2x2(x + 0.5));
    return v.x + v.y + v.z + m[1][0] + whole(2.5, x);
}
)",
              "4"},
    FaultCase{&remainders, "AMacro", R"(
#define REST(a, b) fmod(a, \
                        b)
#define NAMED fmod
#define OF(f, a, b) f(a, b)
#define TWICE(a) ((a) + (a))
[Differentiable] float f(float x)
{
    return REST(7.5, x + 1) + NAMED(7.5, x + 1) + OF(fmod, 7.5, x + 1) + TWICE(fmod(7.5, x + 1));
}
)",
              "-15"},
    FaultCase{&no_diff_calls, "ACall", R"(
[Differentiable] float square(float x) { return x * x; }
[Differentiable] float f(float x) { return no_diff(square(x)) + x; }
)",
              "1"},
    FaultCase{&no_diff_calls, "OfEveryKind", R"(
#define HELD(x) no_diff(square(x))
#define SUM(a, b) ((a) + (b))
struct Pair : IDifferentiable { float a; float2 b; }
struct Plain { float a; int b; }
[Differentiable] float square(float x) { return x * x; }
[Differentiable] Pair pair(float x) { return Pair(x, float2(x * x)); }
[Differentiable] int count(float x) { return int(x); }
[Differentiable] float[2] two(float x) { float r[2] = { x, x }; return r; }
[Differentiable] T same<T : IDifferentiable>(T x) { return x; }
[Differentiable] T generic<T : __BuiltinFloatingPointType>(T x) { return no_diff same<T>(x * x) + x; }
Plain plain(float x) { return Plain(x, 3); }
bool large(float x) { return x > 0; }
[Differentiable] float f(no_diff float unused, float x, no_diff float2 other)
{
    Pair p = no_diff(pair(x));
    Plain q = no_diff(plain(x));
    if (no_diff(large(x)) && x < no_diff(square(no_diff(square(x + 2))))) p.a += no_diff square(x);
    return x + p.a + p.b.y + q.a + q.b + (no_diff(pair(x))).b.x + no_diff(count(x)) + generic<float>(x) +
           (no_diff(two(x)))[0] + HELD(x) + SUM(no_diff(square(x)), no_diff(square(x))) - no_diff(sin(x));
}
float measured(float x, int i, int j)
{
    var p = diffPair(x);
    bwd_diff(f)(1, p, float2(1), 1);
    return p.d;
}
)",
              "2"},
    FaultCase{&stored_parts, "AnElementInABranch", R"(
[Differentiable] float f(float x)
{
    float2 a[2] = { float2(x), float2(x) };
    if (x > 0) a[0] = 3 * a[0];
    a[0] = float2(1);
    a[1].x = 2 * x;
    return a[1].y;
}
)",
              "1"},
    FaultCase{&stored_parts, "APartBeforeAnElement", R"(
[Differentiable] float f(float x)
{
    float2 a[2] = { float2(x), float2(x) };
    a[1].x = 2 * x;
    a[0] = float2(1);
    return a[1].y;
}
)",
              "1"},
    FaultCase{&stored_parts, "AFieldBeforeAStruct", R"(
struct S : IDifferentiable { float u; float v; }
[Differentiable] float f(float x)
{
    S a[2] = { S(x, x), S(x, x) };
    a[1].u = 2 * x;
    a[0] = S(1, 1);
    return a[1].v;
}
)",
              "1"},
    FaultCase{&written_values, "AFieldInALoop", R"(
struct S : IDifferentiable { float a; }
[Differentiable] void g(float x, out float c) { c = x * x; }
[Differentiable] float f(float x)
{
    S s;
    float sum = 0;
    g(x, s.a);
    [MaxIters(3)] for (int i = 0; i < 3; ++i) sum += s.a;
    return sum;
}
)",
              "6"},
    FaultCase{&written_values, "AnElementInSomeIterations", R"(
[Differentiable] void g(float x, out float c) { c = x * x; }
[Differentiable] float f(float x)
{
    float sum = 0;
    [MaxIters(3)] for (int i = 1; i <= 3; ++i)
    {
        float a[2];
        g(x * i, a[0]);
        if (i != 2) sum += a[0];
    }
    return sum;
}
)",
              "20"},
    FaultCase{&written_scalars, "AScalarInALoop", R"(
[Differentiable] void g(float x, out float c) { c = x * x; }
[Differentiable] float f(float x)
{
    float c, sum = 0;
    g(x, c);
    [MaxIters(3)] for (int i = 0; i < 3; ++i) sum += c;
    return sum;
}
)",
              "6"},
    FaultCase{&written_scalars, "AScalarInSomeIterations", R"(
[Differentiable] void g(float x, out float c) { c = x * x; }
[Differentiable] float f(float x)
{
    float sum = 0;
    [MaxIters(3)] for (int i = 1; i <= 3; ++i)
    {
        float c;
        g(x * i, c);
        if (i != 2) sum += c;
    }
    return sum;
}
)",
              "20"},
    FaultCase{&inout_constants, "AScalar", R"(
[Differentiable] float drain(inout float held) { float r = held * held; held = 0; return r; }
[Differentiable] float f(float x)
{
    float held = x;
    float r = drain(held);
    return r + 5 * held;
}
)",
              "2"},
    FaultCase{&inout_constants, "AVector", R"(
[Differentiable] float drain(inout float2 held) { float r = dot(held, held); held = float2(1); return r; }
[Differentiable] float f(float x)
{
    float2 held = float2(x);
    float r = drain(held);
    return r + 5 * held.x;
}
)",
              "4"},
    FaultCase{&loop_scalars, "AProduct", R"(
[Differentiable] float3 f(float x, float3 v)
{
    float s = 1 + x;
    [MaxIters(4)] for (int i = 0; i < 3; ++i) s = s * (1 + x);
    return s * v;
}
float measured(float x, int i, int j)
{
    var p = diffPair(x);
    var v = diffPair(float3(1, 2, 3));
    bwd_diff(f)(p, v, float3(1));
    return v.d.y;
}
)",
              "16"},
    FaultCase{&scalar_parameters, "AProduct", R"(
[Differentiable] float3 f(float a, float3 v) { return a * v; }
float measured(float x, int i, int j)
{
    var a = diffPair(x);
    var v = diffPair(float3(1, 2, 3));
    bwd_diff(f)(a, v, float3(1));
    return a.d;
}
)",
              "6"},
    FaultCase{&scalar_parameters, "ARecurrence", R"(
[Differentiable] float3 f(float a, float3 b)
{
    float3 s = b;
    [MaxIters(4)] for (int i = 0; i < 3; i++) s = s * a + b;
    return s;
}
float measured(float x, int i, int j)
{
    var a = diffPair(x);
    var b = diffPair(float3(1, 2, 3));
    bwd_diff(f)(a, b, float3(1));
    return a.d;
}
)",
              "36"},
    FaultCase{&loop_limits, "AGenericCount", R"(
[Differentiable] float g<let N : int>(float x)
{
    [MaxIters(4)] for (int i = 0; i < N; i++) { x *= x; }
    return x;
}
[Differentiable] float f(float x) { return g<5>(x); }
)",
              "refused"},
    FaultCase{&nested_loops, "AShortLoopInALongOne", R"(
[Differentiable] float f(float x)
{
    float s = x;
    [MaxIters(8)] for (int i = 0; i < 8; ++i)
    {
        [MaxIters(2)] for (int j = 0; j < 2; ++j) s = s * (1.25 - 0.25 * s) + 0.01 * i * x;
    }
    return s;
}
)",
              "0.19"},
    FaultCase{&while_loops, "ABreak", R"(
[Differentiable] float f(float x)
{
    float s = x;
    int i = 0;
    [MaxIters(5)] while (i < 5)
    {
        ++i;
        s = s * x;
        if (i == 3) break;
    }
    return s;
}
)",
              "4"},
    FaultCase{&while_loops, "AContinue", R"(
[Differentiable] float f(float x)
{
    float s = x;
    int i = 0;
    [MaxIters(5)] while (i < 5)
    {
        ++i;
        if (i == 3) continue;
        s = s * x;
    }
    return s;
}
)",
              "5"},
    FaultCase{&while_loops, "TwoConditions", R"(
[Differentiable] float f(float x)
{
    int i = 0;
    float s = x;
    [MaxIters(5)] while (i < 2 && s <= 1.2)
    {
        ++i;
        s = s * x;
    }
    return s;
}
)",
              "3"},
    FaultCase{&while_loops, "ALoopWithin", R"(
[Differentiable] float f(float x)
{
    int i = 0;
    [MaxIters(2)] while (i < 2)
    {
        ++i;
        [MaxIters(2)] for (int j = 0; j < 2; ++j) x *= x;
    }
    return x;
}
)",
              "16"},
    FaultCase{&loop_starts, "AnArgument", R"(
[Differentiable] float f(float x, int first)
{
    float s = 0;
    [MaxIters(9)] for (int i = first; i < 5; ++i) s += x * i * s + x;
    return s;
}
float measured(float x, int i, int j)
{
    var p = diffPair(x);
    bwd_diff(f)(p, i, 1);
    return p.d;
}
)",
              "254"},
    FaultCase{&folded_vectors, "APartOfAnElement", R"(
[Differentiable] float f(float x)
{
    float3 p[2] = { float3(x), float3(x) };
    [MaxIters(1)] for (int i = 0; i < 1; ++i) p[i] = 0.5 * p[i];
    p[0] = x * p[0];
    p[1].x = x;
    return p[0].x;
}
)",
              "1"},
};

}  // namespace

std::span<const FaultCase> fault_cases() { return cases; }

}  // namespace kf::gen
