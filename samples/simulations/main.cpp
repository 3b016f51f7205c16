// Bodies that attract each other, and a cloth that falls over a ball, by structured and constant buffers.
// buffers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include "simulations.h"

namespace {

using simulations::Body;
using simulations::Particle;

void say(const char* what, bool right) { std::cout << what << ": " << (right ? "yes" : "no") << '\n'; }

/// Vectors of doubles, for plain code to compare with.
using Vector = std::array<double, 3>;

Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator*(const Vector& a, double k) { return {a[0] * k, a[1] * k, a[2] * k}; }
Vector operator-(const Vector& a, const Vector& b) { return a + b * -1; }
double length(const Vector& a) { return std::hypot(a[0], a[1], a[2]); }
Vector wide(const kf::float3& a) { return {a.x, a.y, a.z}; }

constexpr std::uint32_t count = 100;
constexpr int body_steps = 20;
const simulations::Gravity gravity{.count = count, .strength = 0.05F, .softening = 0.1F, .time_step = 0.01F};

void check_bodies(const std::vector<Body>& start, const std::vector<Body>& moved) {
    std::vector<Vector> positions;
    std::vector<Vector> velocities;
    for (const Body& body : start) {
        positions.push_back(wide(body.position));
        velocities.push_back(wide(body.velocity));
    }
    for (int step = 0; step < body_steps; ++step) {
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t other = 0; other < count; ++other) {
                const Vector way = positions[other] - positions[i];
                const double distance = std::hypot(length(way), gravity.softening);
                velocities[i] = velocities[i] + way * (start[other].mass / std::pow(distance, 3) *
                                                       gravity.strength * gravity.time_step);
            }
        for (std::size_t i = 0; i < count; ++i)
            positions[i] = positions[i] + velocities[i] * gravity.time_step;
    }
    double worst = 0;
    double worst_velocity = 0;
    for (std::size_t i = 0; i < count; ++i) {
        worst = std::max(worst, length(wide(moved[i].position) - positions[i]));
        worst_velocity = std::max(worst_velocity, length(wide(moved[i].velocity) - velocities[i]));
    }
    say("bodies as by plain code", worst < 1e-3);
    say("  their velocities too", worst_velocity < 1e-3);
}

/// 100 bodies on a spiral.
void move_bodies(const kf::Device& device, const simulations::Module& module) {
    std::vector<Body> bodies;
    for (std::uint32_t i = 0; i < count; ++i) {
        const float angle = 0.3F * static_cast<float>(i);
        const float radius = 1 + angle / 10;
        bodies.push_back(
            {.position = {radius * std::cos(angle), radius * std::sin(angle), radius * angle / 30},
             .mass = static_cast<float>(1 + i % 3),
             .velocity = {-std::sin(angle), std::cos(angle), 0}});
    }
    simulations::Globals globals;
    globals.gravity = gravity;
    const auto move = module.move_bodies.set(globals).threads(count);
    kf::RWBuffer<Body> before(device, bodies);
    kf::RWBuffer<Body> after = device.empty<Body>({count});
    for (int step = 0; step < body_steps; ++step) {
        move(before, after);
        std::swap(before, after);
    }
    check_bodies(bodies, before.to_vector());
}

constexpr int width = 20;
constexpr int height = 15;
constexpr int cloth_steps = 40;
constexpr int rounds = 4;
const simulations::Cloth cloth{.size = {width, height},
                               .spacing = 0.1F,
                               .time_step = 0.01F,
                               .gravity = {0, -9.81F, 0},
                               .damping = 0.02F,
                               .ball = {0.95F, -0.6F, 0.5F},
                               .radius = 0.3F};

/// How a particle's links move it.
Vector correction(const std::vector<Vector>& positions, int row, int column) {
    Vector sum{};
    for (const auto& [down, right] : {std::pair{0, -1}, {0, 1}, {-1, 0}, {1, 0}}) {
        const int other_row = row + down;
        const int other_column = column + right;
        if (other_row < 0 || other_row >= height || other_column < 0 || other_column >= width) continue;
        const Vector link = positions[other_row * width + other_column] - positions[row * width + column];
        sum = sum + link * ((other_row == 0 ? 1.0 : 0.5) * (1 - cloth.spacing / length(link)));
    }
    return sum * 0.25;
}

void check_cloth(const std::vector<Particle>& start, const std::vector<Particle>& hung) {
    std::vector<Vector> positions;
    for (const Particle& particle : start) positions.push_back(wide(particle.position));
    std::vector<Vector> previous = positions;
    const Vector ball = wide(cloth.ball);
    for (int step = 0; step < cloth_steps; ++step) {
        for (std::size_t i = width; i < positions.size(); ++i) {
            const Vector way = (positions[i] - previous[i]) * (1 - cloth.damping);
            previous[i] = positions[i];
            positions[i] = positions[i] + way + wide(cloth.gravity) * (cloth.time_step * cloth.time_step);
        }
        for (int round = 0; round < rounds; ++round) {
            const std::vector<Vector> old = positions;
            for (int row = 1; row < height; ++row)
                for (int column = 0; column < width; ++column) {
                    Vector& position = positions[row * width + column];
                    position = position + correction(old, row, column);
                    const Vector from_ball = position - ball;
                    if (length(from_ball) < cloth.radius)
                        position = ball + from_ball * (cloth.radius / length(from_ball));
                }
        }
    }
    double worst = 0;
    int touching = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const Vector found = wide(hung[i].position);
        worst = std::max(worst, length(found - positions[i]));
        touching += length(found - ball) < cloth.radius + 1e-4 ? 1 : 0;
    }
    say("cloth as by plain code", worst < 1e-3);
    say("  it lies on the ball", touching > 10);
}

/// A cloth of 20 × 15 particles.
void drop_cloth(const kf::Device& device, const simulations::Module& module) {
    std::vector<Particle> particles;
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            const kf::float3 place{0.1F * static_cast<float>(column), 0, 0.1F * static_cast<float>(row)};
            particles.push_back({place, place});
        }
    simulations::Globals globals;
    globals.cloth = cloth;
    const auto fall = module.fall.set(globals).threads(width, height);
    const auto relax = module.relax.set(globals).threads(width, height);
    kf::RWBuffer<Particle> before(device, particles);
    kf::RWBuffer<Particle> after = device.empty<Particle>({before.size()});
    for (int step = 0; step < cloth_steps; ++step) {
        fall(before);
        for (int round = 0; round < rounds; ++round) {
            relax(before, after);
            std::swap(before, after);
        }
    }
    check_cloth(particles, before.to_vector());
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const simulations::Module module(device);
    move_bodies(device, module);
    drop_cloth(device, module);
}
