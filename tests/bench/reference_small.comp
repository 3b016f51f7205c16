// The small kernels written by hand for Vulkan. One of ADD, add(a, b), and SMALL, y = a x² + b x + c, is defined.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Number { int value; };

#if defined(ADD)
layout(local_size_x = 1) in;
layout(push_constant, scalar) uniform Block { Number result; int a; int b; };

void main() { result.value = a + b; }
#else
layout(local_size_x = 128) in;
layout(push_constant, scalar) uniform Block { Floats y; Floats x; float a; float b; float c; uint count; };

void main()
{
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) y.at[i] = (a * x.at[i] + b) * x.at[i] + c;
}
#endif
