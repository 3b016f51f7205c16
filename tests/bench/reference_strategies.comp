// The kernels written by hand for Vulkan: those of reference.cu and reference_strategies.cu, in GLSL. One of
// POLYNOMIAL, ROWS, COLUMNS, INJECTIVE, HALF, STRUCTS, SUMS, GATHER, LOOKUP is defined. Loads of 16 bytes, registers along
// what is shared, then the subgroup, the group and one atomic; the last two make an atomic addition for each call.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_atomic_float : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require

const uint threads = 256;
layout(local_size_x = 256) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Quads { vec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Gradients { vec4 at[]; };
// Eight halves.
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer Halves { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer HalfGradients { uvec4 at[]; };
// A tensor of one half: the lower half of a word.
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Word { uint bits; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer HalfSums { float totals[3]; uint done; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Indices { int at[]; };
struct Ray { float origin[3]; float direction[3]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Rays { Ray at[]; };

layout(push_constant, scalar) uniform Block
{
#if defined(POLYNOMIAL)
    Floats a; Floats b; Quads x; Quads flow; Floats grad_a; Floats grad_b; Floats grad_c; Gradients grad_x;
#elif defined(ROWS)
    Quads x; Floats w; Quads flow; Gradients grad_x; Floats grad_w;
#elif defined(COLUMNS)
    Quads x; Quads w; Quads flow; Gradients grad_x; Floats grad_w;
#elif defined(INJECTIVE)
    Quads x; Quads w; Quads flow; Gradients grad_x; Gradients grad_w;
#elif defined(HALF)
    Word a; Word b; Halves x; Halves flow; HalfSums sums; Word grad_a; Word grad_b; Word grad_c; HalfGradients grad_x;
#elif defined(STRUCTS)
    Floats flow; Rays grad_rays;
#elif defined(SUMS)
    Quads x; Floats total;
#elif defined(GATHER)
    Floats x; Floats flow; Floats grad_w;
#elif defined(LOOKUP)
    Floats x; Indices index; Floats flow; Floats grad_table;
#endif
    uint count;    // of what a thread takes at a time
    uint rows;
    uint columns;  // of what a thread takes at a time
    float t;
};

shared float partial[threads];

/// The first thread of the group gets the sum.
float sum_group(float value)
{
    value = subgroupAdd(value);
    barrier();
    if (subgroupElect())
        partial[gl_SubgroupID] = value;
    barrier();
    float sum = 0;
    if (gl_LocalInvocationIndex == 0)
    {
        for (uint i = 0; i < gl_NumSubgroups; ++i)
            sum += partial[i];
    }
    return sum;
}

#if defined(POLYNOMIAL)
void main()
{
    const float va = a.at[0];
    const float vb = b.at[0];
    vec3 sum = vec3(0);
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * threads)
    {
        const vec4 v = x.at[i];
        const vec4 f = flow.at[i];
        sum += vec3(dot(f, v * v), dot(f, v), f.x + f.y + f.z + f.w);
        grad_x.at[i] += f * (2 * va * v + vb);
    }
    const float sa = sum_group(sum.x);
    const float sb = sum_group(sum.y);
    const float sc = sum_group(sum.z);
    if (gl_LocalInvocationIndex == 0)
    {
        atomicAdd(grad_a.at[0], sa);
        atomicAdd(grad_b.at[0], sb);
        atomicAdd(grad_c.at[0], sc);
    }
}
#elif defined(ROWS)
// A group for each row.
void main()
{
    const uint row = gl_WorkGroupID.x;
    const float scale = w.at[row];
    float sum = 0;
    for (uint i = gl_LocalInvocationIndex; i < columns; i += threads)
    {
        const uint place = row * columns + i;
        const vec4 f = flow.at[place];
        sum += dot(f, x.at[place]);
        grad_x.at[place] += f * scale;
    }
    sum = sum_group(sum);
    if (gl_LocalInvocationIndex == 0)
        atomicAdd(grad_w.at[row], sum);
}
#elif defined(COLUMNS)
const uint rows_each = 16;
const uint along = 64;
shared vec4 columns_of[threads];

// Groups of 4 by 64 threads: each thread goes down four columns.
void main()
{
    const uint across = (columns + along - 1) / along;
    const uint column = gl_WorkGroupID.x % across * along + gl_LocalInvocationIndex % along;
    const uint first = (gl_WorkGroupID.x / across * (threads / along) + gl_LocalInvocationIndex / along) * rows_each;
    vec4 sum = vec4(0);
    if (column < columns)
    {
        const vec4 scale = w.at[column];
        const uint end = min(rows, first + rows_each);
        for (uint row = first; row < end; ++row)
        {
            const uint place = row * columns + column;
            const vec4 f = flow.at[place];
            sum += f * x.at[place];
            grad_x.at[place] += f * scale;
        }
    }
    columns_of[gl_LocalInvocationIndex] = sum;
    barrier();
    if (gl_LocalInvocationIndex >= along || column >= columns)
        return;
    for (uint i = 1; i < threads / along; ++i)
        sum += columns_of[gl_LocalInvocationIndex + i * along];
    for (uint k = 0; k < 4; ++k)
        atomicAdd(grad_w.at[4 * column + k], sum[k]);
}
#elif defined(INJECTIVE)
void main()
{
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    const vec4 f = flow.at[i];
    const vec4 v = x.at[i];
    grad_x.at[i] += f * w.at[i];
    grad_w.at[i] += f * v;
}
#elif defined(HALF)
// The last group rounds the sums into the gradients and leaves sums and counter at 0 for the next call.
void main()
{
    const float va = unpackHalf2x16(a.bits).x;
    const float vb = unpackHalf2x16(b.bits).x;
    vec3 sum = vec3(0);
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * threads)
    {
        const uvec4 xs = x.at[i];
        const uvec4 flows = flow.at[i];
        uvec4 grads = grad_x.at[i];
        for (uint k = 0; k < 4; ++k)
        {
            const vec2 v = unpackHalf2x16(xs[k]);
            const vec2 f = unpackHalf2x16(flows[k]);
            sum += vec3(dot(f, v * v), dot(f, v), f.x + f.y);
            grads[k] = packHalf2x16(unpackHalf2x16(grads[k]) + f * (2 * va * v + vb));
        }
        grad_x.at[i] = grads;
    }
    const float sa = sum_group(sum.x);
    const float sb = sum_group(sum.y);
    const float sc = sum_group(sum.z);
    if (gl_LocalInvocationIndex != 0)
        return;
    atomicAdd(sums.totals[0], sa);
    atomicAdd(sums.totals[1], sb);
    atomicAdd(sums.totals[2], sc);
    if (atomicAdd(sums.done, 1, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease) + 1 != gl_NumWorkGroups.x)
        return;
    grad_a.bits = packHalf2x16(vec2(unpackHalf2x16(grad_a.bits).x + atomicExchange(sums.totals[0], 0.0), 0));
    grad_b.bits = packHalf2x16(vec2(unpackHalf2x16(grad_b.bits).x + atomicExchange(sums.totals[1], 0.0), 0));
    grad_c.bits = packHalf2x16(vec2(unpackHalf2x16(grad_c.bits).x + atomicExchange(sums.totals[2], 0.0), 0));
    sums.done = 0;
}
#elif defined(STRUCTS)
void main()
{
    const uint i = gl_GlobalInvocationID.x;
    if (i >= count)
        return;
    const float f = flow.at[i];
    Ray sum = grad_rays.at[i];
    for (uint k = 0; k < 3; ++k)
    {
        sum.origin[k] += f * float(k + 1);
        sum.direction[k] += f * float(k + 1) * t;
    }
    grad_rays.at[i] = sum;
}
#elif defined(SUMS)
// Of squares, to a total that is 0 before.
void main()
{
    float sum = 0;
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * threads)
    {
        const vec4 v = x.at[i];
        sum += dot(v, v);
    }
    sum = sum_group(sum);
    if (gl_LocalInvocationIndex == 0)
        atomicAdd(total.at[0], sum);
}
#elif defined(GATHER)
// All calls read one weight: an atomic addition each.
void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * threads)
        atomicAdd(grad_w.at[0], flow.at[i] * x.at[i]);
}
#elif defined(LOOKUP)
// Each call reads an element of its own choice.
void main()
{
    for (uint i = gl_GlobalInvocationID.x; i < count; i += gl_NumWorkGroups.x * threads)
        atomicAdd(grad_table.at[index.at[i]], flow.at[i] * x.at[i]);
}
#endif
