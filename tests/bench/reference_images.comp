// The kernels on images written by hand for Vulkan, one for each definition.
#version 450
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 16, local_size_y = 16) in;

#ifdef FILL
layout(push_constant) uniform Block { vec4 color; };
layout(set = 1, binding = 0, rgba32f) uniform writeonly image2D filled;

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, imageSize(filled)))) return;
    imageStore(filled, pixel, color);
}
#endif

#ifdef BLUR
const int radius = 8;
const int side = 16;
const int row = side + 2 * radius + 1;

layout(push_constant) uniform Block { int is_column; };
layout(set = 1, binding = 0) uniform texture2D image;
layout(set = 1, binding = 1, rgba32f) uniform writeonly image2D blurred;
layout(set = 1, binding = 2, std430) readonly buffer Weights { float weights[]; };

shared vec4 tile[side * row];

void main() {
    ivec2 size = textureSize(image, 0);
    ivec2 thread = ivec2(gl_LocalInvocationID.xy);
    int along = is_column != 0 ? thread.y : thread.x;
    int beside = is_column != 0 ? thread.x : thread.y;
    ivec2 step = is_column != 0 ? ivec2(0, 1) : ivec2(1, 0);
    ivec2 first = ivec2(gl_WorkGroupID.xy) * side + step.yx * beside;
    for (int i = along; i < side + 2 * radius; i += side)
        tile[beside * row + i] = texelFetch(image, clamp(first + step * (i - radius), ivec2(0), size - 1), 0);
    barrier();

    ivec2 pixel = first + step * along;
    if (any(greaterThanEqual(pixel, size))) return;
    vec4 sum = vec4(0);
    for (int i = 0; i <= 2 * radius; ++i) sum += weights[i] * tile[beside * row + along + i];
    imageStore(blurred, pixel, sum);
}
#endif
