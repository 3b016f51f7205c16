// What the path tracer shows, with the tree of boxes around its triangles.
#pragma once

#include <vector>

#include "path_tracer.h"

namespace scenes {

using path_tracer::Camera;
using path_tracer::Light;
using path_tracer::Material;
using path_tracer::Node;
using path_tracer::Sphere;
using path_tracer::Triangle;

enum MaterialKind : std::uint32_t { diffuse, metal, glass };

struct Scene {
    Light light;
    kf::float3 sky;
    kf::float3 ground;
    std::vector<Sphere> spheres;
    std::vector<Triangle> triangles;
    std::vector<Node> nodes;  ///< around the triangles
    std::vector<Material> materials;
};

/// A ring, three balls and a chessboard under a lamp.
Scene make_scene();

/// A lamp, 2 × 2 and 5 above a floor, both with the same color, and nothing else.
Scene make_lamp_and_floor(float color, float emission);

/// A ball of a material under a sky of brightness 1 on all sides.
Scene make_ball(const Material& material);

/// A camera for pictures of that size that are `angle` degrees high.
Camera make_camera(const kf::float3& position, const kf::float3& target, double angle, const kf::uint2& size);

/// A camera on a circle around the scene; `turn` goes from 0 to 1.
Camera orbit(double turn, const kf::uint2& size);

/// What functions are set to: the scene, in buffers of the device, and where it is seen from.
path_tracer::Globals globals_of(const kf::Device& device, const Scene& scene, const Camera& camera);

}  // namespace scenes
