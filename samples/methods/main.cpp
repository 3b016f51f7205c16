// Calls the methods of Slang structs: on one object, on tensors of objects, and on objects of tensors.
#include <iostream>

#include "methods.h"
#include "print.h"

namespace {

using methods::Particle;
using methods::ParticleFields;
using methods::Scaler;
using methods::ScalerFields;

std::string text(const kf::Tensor<kf::float2, 1>& vectors) { return to_string(vectors.view<float, 2>()); }

std::string text(const kf::float2& vector) {
    std::ostringstream stream;
    stream << '[' << vector.x << ',' << vector.y << ']';
    return stream.str();
}

void scale(const kf::Device& device, const methods::Module& module) {
    const Scaler scaler{10};
    const auto numbers = device.tensor<float>({1, 2, 3, 4});
    scaler.scale_value(module, numbers);
    std::cout << "[1,2,3,4] scaled by 10 = " << to_string(numbers) << '\n';

    // A constructor over a tensor makes a tensor of objects.
    const auto scalers = module.make_scalers(device.tensor<float>({1, 2, 3, 4}));
    module.Scaler_scale_value(scalers, numbers);
    std::cout << "and by [1,2,3,4] = " << to_string(numbers) << '\n';

    // One object whose field is a tensor; it gets the field's gradient.
    const ScalerFields fields{device.tensor<float>({1, 2, 3, 4}).with_grads()};
    const auto result = fields.scaled(module, numbers);
    module.Scaler_scaled.backward(fields, numbers, result);
    std::cout << "again = " << to_string(result) << " with the gradient " << to_string(fields.scale.grad())
              << '\n';
    std::cout << "10 and 2 combined = " << Scaler::combined(module, 10.F, 2.F) << '\n';
}

void move_array_of_structs(const kf::Device& device, const methods::Module& module) {
    const auto particles =
        device.tensor<Particle>({Particle{{0, 0}, {1, 2}}, Particle{{1, 1}, {1, 2}}}).with_grads();
    const auto later = module.Particle_position_at(particles, 0.5F);
    module.Particle_position_at.backward(particles, 0.5F, later);
    std::cout << "array of structs: " << text(later) << '\n';
    // A particle's gradient is a particle: its position's stands first.
    const auto gradient = particles.grad().view<float, 2>();
    std::cout << "  gradients: " << to_string(gradient.slice(1, 0, 2)) << ' '
              << to_string(gradient.slice(1, 2, 4)) << '\n';
    // A method that changes its object writes what is in tensors.
    module.Particle_update_position(particles, 0.5F);
    std::cout << "  moved: " << to_string(particles.view<float, 2>().slice(1, 0, 2)) << '\n';
}

void move_structure_of_arrays(const kf::Device& device, const methods::Module& module) {
    const auto position = device.tensor<kf::float2>({{0, 0}, {1, 1}}).with_grads();
    const auto velocity = device.tensor<kf::float2>({{1, 2}, {1, 2}}).with_grads();
    const ParticleFields particles{position, velocity};
    const auto later = particles.position_at(module, 0.5F);
    module.Particle_position_at.backward(particles, 0.5F, later);
    std::cout << "structure of arrays: " << text(later) << '\n';
    std::cout << "  gradients: " << text(position.grad()) << ' ' << text(velocity.grad()) << '\n';
    particles.update_position(module, 0.5F);
    std::cout << "  moved: " << text(position) << '\n';
}

// One velocity does for all; its gradient is the sum of theirs.
void move_mixed(const kf::Device& device, const methods::Module& module) {
    const auto position = device.tensor<kf::float2>({{0, 0}, {1, 1}}).with_grads();
    kf::Diff<kf::float2> velocity{{1, 2}, {}};
    const auto later = ParticleFields{position, velocity.value}.position_at(module, 0.5F);
    module.Particle_position_at.backward({position, velocity}, 0.5F, later);
    std::cout << "mixed: " << text(later) << '\n';
    std::cout << "  gradients: " << text(position.grad()) << ' ' << text(velocity.grad) << '\n';
    ParticleFields{position, velocity.value}.update_position(module, 0.5F);
    std::cout << "  moved: " << text(position) << '\n';
}

}  // namespace

int main() {
    const kf::Device device = kf::Device::open();
    const methods::Module module(device);
    scale(device, module);
    move_array_of_structs(device, module);
    move_structure_of_arrays(device, module);
    move_mixed(device, module);
}
