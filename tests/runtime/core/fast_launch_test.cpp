// Random calls: what the fast way launches is what the general binder does, and what it leaves is untouched.
#include <kf/kf.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "core/fast_launch.h"
#include "core/kinds/questions.h"
#include "core/module_state.h"
#include "core/tensor_state.h"
#include "runtime/core/bind_fixture.h"
#include "runtime/core/fake_images.h"

namespace kf::test {
namespace {

using detail::Arg;
using detail::LaunchRequest;
using detail::PassKind;

class Random {
public:
    explicit Random(std::uint32_t seed) : engine_(seed) {}
    std::int64_t up_to(std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>(0, last)(engine_);
    }
    bool one_in(std::int64_t n) { return up_to(n - 1) == 0; }
    template <class T>
    T of(std::initializer_list<T> choices) {
        return choices.begin()[up_to(static_cast<std::int64_t>(choices.size()) - 1)];
    }

private:
    std::mt19937 engine_;
};

/// Adds the kernels of a pass to the manifest's only call.
Pass add_kernels(Manifest& manifest, const Call& call, PassKind pass, bool exact) {
    Pass made;
    for (const Variant variant : {Variant::contiguous, Variant::strided}) {
        Kernel kernel;
        kernel.name = "kernel " + std::to_string(manifest.kernels.size());
        kernel.group_size = {64, 1, 1};
        kernel.exact = exact;
        kernel.source_hash = kernel.name;
        Image image;
        image.format = "fake";
        image.bytes = std::vector{std::byte{1}, static_cast<std::byte>(manifest.kernels.size())};
        kernel.images.push_back(image);
        set_records(kernel, call, {pass, variant, exact});
        (variant == Variant::contiguous ? made.contiguous : made.strided) =
            static_cast<std::int64_t>(manifest.kernels.size());
        manifest.kernels.push_back(kernel);
    }
    return made;
}

/// A call of arguments of many kinds. A few aren't consistent, and no module has them.
class RandomCall {
public:
    explicit RandomCall(Random& random) : random_(random), rank_(random.up_to(3)) {}

    Manifest make() {
        std::vector<Argument> arguments;
        const std::int64_t inputs = 1 + random_.up_to(3);
        for (std::int64_t i = 0; i < inputs; ++i) arguments.push_back(input("a" + std::to_string(i)));
        for (std::int64_t i = random_.up_to(1); i >= 0; --i) {
            arguments.push_back(output("r" + std::to_string(i)));
        }
        ManifestBuilder builder;
        builder.add("f", arguments, true, rank_);
        Manifest manifest = builder.get();
        Call& call = manifest.functions[0].calls[0];
        call.strict_broadcasting = random_.one_in(8);
        call.has_fused = true;
        call.fused = add_kernels(manifest, call, PassKind::fused, false);
        if (random_.one_in(2)) call.deterministic = add_kernels(manifest, call, PassKind::backward, true);
        if (random_.one_in(4)) call.forward.contiguous = -1;
        if (random_.one_in(8)) call.backward.strided = -1;
        return manifest;
    }

private:
    Argument input(const std::string& name) {
        switch (random_.up_to(8)) {
            case 0: return with_gradient(value(name));
            case 1:
                return value(name,
                             random_.of({ScalarType::boolean, ScalarType::int8, ScalarType::float64,
                                         ScalarType::float16, ScalarType::int32}),
                             random_.one_in(2) ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{});
            case 2: return generator(name);
            case 3: return some_texture(name);
            default: return some_tensor(name);
        }
    }

    Argument generator(const std::string& name) {
        const auto kind = random_.of({GeneratorKind::grid, GeneratorKind::range, GeneratorKind::thread_id,
                                      GeneratorKind::call_id, GeneratorKind::wang_hash});
        std::int64_t rank = kind == GeneratorKind::call_id ? rank_ : 1;
        if (kind == GeneratorKind::grid) rank = 1 + random_.up_to(std::max<std::int64_t>(0, rank_ - 1));
        const auto scalar = kind == GeneratorKind::wang_hash
                                ? ScalarType::uint32
                                : random_.of({ScalarType::int32, ScalarType::int64});
        Argument argument =
            value(name, scalar, rank > 1 ? std::vector<std::int64_t>{rank} : std::vector<std::int64_t>{});
        argument.kind = kinds::Generator{kind};
        argument.rank = kind == GeneratorKind::wang_hash ? 0 : rank;
        argument.call_rank = kind == GeneratorKind::grid || kind == GeneratorKind::range ? rank : 0;
        return argument;
    }

    Argument some_texture(const std::string& name) {
        if (random_.one_in(5)) return sampler(name, random_.one_in(4));
        const std::string format = random_.one_in(3) ? "rgba8" : "";
        if (rank_ < 2 || random_.one_in(3)) return texture(name, format);
        Argument argument = texels(name, rank_ == 2 ? format : "");
        if (rank_ == 3 && random_.one_in(3)) argument.map = {2, 0};
        return argument;
    }

    Argument some_tensor(const std::string& name) {
        const auto scalar = random_.of({ScalarType::float32, ScalarType::float32, ScalarType::float16,
                                        ScalarType::int32, ScalarType::float64});
        const std::int64_t feeds = random_.one_in(3) ? random_.up_to(rank_) : rank_;
        Argument argument =
            tensor(name, feeds, scalar,
                   random_.one_in(4) ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{});
        if (random_.one_in(5)) {  // its last dimension makes a vector
            argument.rank += 1;
            argument.trailing.insert(argument.trailing.begin(), 2);
        }
        if (feeds == 2 && rank_ == 2 && random_.one_in(6)) argument.map = {1, 0};
        if (scalar >= ScalarType::float16 && random_.one_in(2)) {
            argument = with_gradient(argument, random_.one_in(6) ? Gradient::required : Gradient::automatic);
            argument.overwrite = random_.one_in(6);
            argument.accumulate = random_.of({Accumulate::automatic, Accumulate::sum, Accumulate::none});
        }
        if (random_.one_in(8)) argument.kind = kinds::Tensor{true};
        return argument;
    }

    Argument output(const std::string& name) {
        Argument argument = some_tensor(name);
        argument.gradient = Gradient::never;
        argument.overwrite = false;
        argument.accumulate = random_.one_in(4) ? Accumulate::sum : Accumulate::automatic;
        if (argument.accumulate == Accumulate::automatic && !random_.one_in(8) &&
            argument.call_rank < rank_) {
            argument = tensor(name, rank_, argument.element.scalar);
        }
        return as(random_.one_in(4) ? Role::inout : Role::result, argument);
    }

    Random& random_;
    std::int64_t rank_;
};

/// What a call is given, and the memory behind it.
class RandomArguments {
public:
    RandomArguments(Random& random, const Device& device, const Call& call, PassKind pass)
        : random_(random), device_(device), call_(call), pass_(pass) {
        for (std::int64_t d = 0; d < call.rank; ++d) {
            shape_.push_back(random.of<std::int64_t>({1, 1, 2, 3, 5, 8, random.one_in(20) ? 0 : 4}));
        }
        const bool tidy = random.one_in(2);
        for (const Argument& argument : call.arguments) add(argument, tidy);
    }

    std::vector<Arg> args() {
        std::vector<Arg> made;
        std::size_t next = 0;
        for (const Argument& argument : call_.arguments) {
            const std::size_t i = next++;
            if (textures_[i]) {
                made.push_back(Arg::of(textures_[i]));
            } else if (passes_sampler(argument)) {
                made.push_back(Arg::of(random_.one_in(12) ? comparison_ : sampler_));
            } else if (tensors_[i]) {
                made.push_back(Arg::of(tensors_[i]));
            } else if (passes_value(argument)) {
                made.push_back(Arg::make(Arg::Kind::value, numbers_.data(), nullptr, nullptr, nullptr));
            } else if (passed_as(argument) == HostPassing::generator) {
                made.push_back(
                    Arg::make(Arg::Kind::generator, generators_[i].data(), nullptr, nullptr, nullptr));
            } else {
                made.push_back(Arg::none());
            }
        }
        return made;
    }

private:
    void add(const Argument& argument, bool tidy) {
        AnyTensor& made = tensors_.emplace_back();
        generators_.emplace_back();
        textures_.emplace_back();
        if (passes_texture(argument)) return add_texture(argument);
        if (passed_as(argument) == HostPassing::generator) return add_generator(argument);
        if (!passes_tensor(argument)) return;
        const bool absent = !test::is_input(argument) && random_.one_in(3);
        if (absent) return;
        Dims extents;
        for (std::size_t k = 0; k < static_cast<std::size_t>(argument.rank); ++k) {
            const bool feeds = k < argument.map.size();
            const std::int64_t extent = feeds ? shape_[static_cast<std::size_t>(argument.map[k])]
                                              : argument.trailing[k - argument.map.size()];
            const bool broadcast = feeds && argument.role == Role::in && random_.one_in(tidy ? 12 : 5);
            extents.push_back(broadcast || (feeds && !tidy && random_.one_in(40)) ? 1 : extent);
        }
        if (argument.role == Role::in && random_.one_in(4)) {
            for (std::size_t k = 0; k < argument.map.size(); ++k) extents[k] = 1;
        }
        made = like_another(argument, extents);
        if (!made) made = place(argument, extents, tidy);
        const bool floating = is_floating(argument.element.scalar);
        if (floating && runs_backward(pass_) && !random_.one_in(5))
            made = with_gradients(argument, made, tidy);
    }

    void add_texture(const Argument& argument) {
        if (random_.one_in(4)) {  // another's, or a mip of it
            for (const AnyTexture& other : textures_) {
                if (other)
                    textures_.back() =
                        random_.one_in(2) ? other : other.mip(random_.up_to(other.shape().mips - 1));
            }
            if (textures_.back()) return;
        }
        TextureShape shape;
        shape.extents = {4, 4};
        for (std::size_t k = 0; k < argument.map.size(); ++k) {
            const std::int64_t extent = shape_[static_cast<std::size_t>(argument.map[k])];
            shape.extents[k] = extent == 0 || random_.one_in(5) ? 1 : extent;
        }
        const bool is_written = argument.role != Role::in || writes_elements(argument);
        shape.format = is_written != random_.one_in(12) ? TextureFormat::rgba8 : TextureFormat::rg16f;
        shape.mips = std::min<std::int64_t>(2, most_mips(shape.extents));
        shape.writable = is_written != random_.one_in(12);
        textures_.back() = AnyTexture::empty(device_, shape);
        if (shape.mips == 1 || !random_.one_in(6)) return;
        textures_.back() = textures_.back().mips(0, 2);
    }

    /// The very tensor of an argument before, or nothing.
    AnyTensor like_another(const Argument& argument, const Dims& extents) {
        for (const AnyTensor& other : tensors_) {
            if (other && other.shape() == extents && other.element() == element_type(argument.element) &&
                random_.one_in(4)) {
                return other.without_grads();
            }
        }
        return {};
    }

    AnyTensor place(const Argument& argument, const Dims& extents, bool tidy) {
        const ElementType element = element_type(argument.element);
        Dims room = extents;
        const bool is_apart = !tidy && random_.one_in(4) && !extents.empty();
        const bool is_turned = !tidy && random_.one_in(5) && extents.size() == 2;
        const bool is_shared = !tidy && random_.one_in(6) && argument.role == Role::in;
        if (is_shared) {
            for (std::size_t k = 0; k < argument.map.size(); ++k) room[k] = 1;
            return AnyTensor::empty(device_, element, room).broadcast_to(extents);
        }
        if (is_turned) room = {extents[1], extents[0]};
        if (!room.empty()) room[0] += is_apart || random_.one_in(2) ? random_.up_to(3) : 0;
        const std::size_t last = room.empty() ? 0 : room.size() - 1;
        if (is_apart) room[last] *= 2;
        AnyTensor made = AnyTensor::empty(device_, element, room);
        if (is_apart) made = made.slice(static_cast<std::int64_t>(last), 0, room[last], 2);
        if (is_turned) made = made.transpose(std::array<std::int64_t, 2>{1, 0});
        for (std::size_t k = 0; k < extents.size(); ++k) {
            const std::int64_t rest = made.shape()[k] - extents[k];
            const std::int64_t start = rest > 0 ? random_.up_to(rest) : 0;
            if (rest != 0) made = made.slice(static_cast<std::int64_t>(k), start, start + extents[k]);
        }
        return made;
    }

    AnyTensor with_gradients(const Argument& argument, const AnyTensor& tensor, bool tidy) {
        if (random_.one_in(3)) return tensor.with_grads(false);
        Argument own = argument;
        AnyTensor in = random_.one_in(3) ? AnyTensor() : place(own, tensor.shape(), tidy);
        own.role = Role::out;
        AnyTensor out = random_.one_in(4) ? AnyTensor() : place(own, tensor.shape(), tidy);
        if (random_.one_in(12)) out = tensor.without_grads();
        const AnyTensor made = tensor.with_grads(in, out);
        if (!random_.one_in(4)) return made;
        auto state = std::make_shared<detail::TensorState>(*made.state());
        state->grad_is_new = true;
        return AnyTensor(std::move(state));
    }

    void add_generator(const Argument& argument) {
        const auto kind = std::get<kinds::Generator>(argument.kind).generator;
        const auto extent = [&](std::int64_t k) {
            return random_.one_in(8)
                       ? 1
                       : shape_[static_cast<std::size_t>(argument.map[static_cast<std::size_t>(k)])];
        };
        auto& numbers = generators_.back();
        if (kind == GeneratorKind::range) {
            const std::int64_t step = random_.of<std::int64_t>({1, 2, -3, 0});
            const std::int64_t start = random_.up_to(9);
            numbers = {start, start + step * extent(0), step};
        } else if (kind == GeneratorKind::grid) {
            const std::int64_t big = random_.one_in(10) ? std::int64_t{1} << 31 : 7;
            for (std::int64_t k = 0; k < argument.rank; ++k) numbers.push_back(extent(k));
            for (std::int64_t k = 0; k < argument.rank; ++k)
                numbers.push_back(random_.of<std::int64_t>({0, big, -5}));
            for (std::int64_t k = 0; k < argument.rank; ++k)
                numbers.push_back(random_.of<std::int64_t>({1, 3, -2}));
        } else {
            numbers = {random_.up_to(1'000'000'000), random_.one_in(2) ? 1 : 0, 0};
        }
    }

    Random& random_;
    const Device& device_;
    const Call& call_;
    PassKind pass_;
    Dims shape_;
    std::vector<AnyTensor> tensors_;
    std::vector<AnyTexture> textures_;
    Sampler sampler_ = Sampler(SamplerOptions{});
    Sampler comparison_ = Sampler(SamplerOptions{.compare = Compare::less});
    std::vector<std::vector<std::int64_t>> generators_;
    std::array<double, 4> numbers_{1.5, -2, 0.25, 1e9};
};

/// What a driver was told, comparably.
struct Told {
    std::vector<std::string> commands;
    std::vector<Dims> made;

    bool operator==(const Told&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Told& told) {
    for (const std::string& command : told.commands) out << "  " << command << "\n";
    return out;
}

std::string text_of(const Command& command) {
    std::string text = command.what + " " + command.kernel;
    for (const std::uint32_t groups : command.groups) text += " " + std::to_string(groups);
    for (const std::byte byte : command.block) text += " " + std::to_string(std::to_integer<int>(byte));
    std::vector<std::pair<std::uint64_t, bool>> uses;
    for (const driver::Use& use : command.uses) uses.emplace_back(use.allocation->address, use.writes);
    std::sort(uses.begin(), uses.end());
    for (const auto& [address, writes] : uses) {
        text += (writes ? " writes " : " reads ") + std::to_string(address);
    }
    for (const driver::Resource& resource : command.resources) {
        if (const auto* image = std::get_if<driver::ImageBinding>(&resource)) {
            text += " image " + std::to_string(reinterpret_cast<std::uintptr_t>(image->image.get())) + " " +
                    std::to_string(image->range.first_mip) + " " + std::to_string(image->range.mips);
        } else if (const auto* sampler = std::get_if<driver::SamplerBinding>(&resource)) {
            text += " sampler " + std::to_string(reinterpret_cast<std::uintptr_t>(sampler->sampler.get()));
        }
    }
    return text;
}

class FastLaunchTest : public testing::Test {
protected:
    /// What comes of a call; nothing where `launch` leaves it alone.
    template <class Launch>
    std::optional<Told> run(LaunchRequest request, bool recorded, Launch launch) {
        const std::uint64_t next = fake->next_address();
        fake->commands.clear();
        Told told;
        fake->on_dispatch = [&](FakeDevice&, const Command& command) {
            told.commands.push_back(text_of(command));
        };
        bool launched = false;
        {
            std::optional<Encoder> encoder;
            if (recorded) request.encoder = &encoder.emplace(device.encoder());
            launched = launch(request);
            if (recorded) encoder->submit();
        }
        for (Arg& arg : request.arguments) {
            told.made.push_back(arg.allocated ? arg.allocated.shape() : Dims{-1});
            arg.allocated = {};
        }
        for (const Command& command : fake->commands) {
            if (command.what != "submit" && command.what != "dispatch") told.commands.push_back(command.what);
        }
        fake->set_next_address(next);
        if (launched) return told;
        EXPECT_TRUE(told.commands.empty());
        return std::nullopt;
    }

    /// What a call comes to: the driver's commands, or the error.
    std::pair<std::optional<Told>, std::string> outcome(const LaunchRequest& request, bool recorded) {
        try {
            return {run(request, recorded,
                        [](const LaunchRequest& r) {
                            detail::invoke(r.function, r.call, r.pass, r.arguments, r.encoder);
                            return true;
                        }),
                    ""};
        } catch (const Error& error) {
            for (Arg& arg : request.arguments) arg.allocated = {};
            return {std::nullopt, error.what()};
        }
    }
    /// A launch that is made from what was kept of the last one is like that.
    void expect_same_again(const LaunchRequest& request, bool recorded) {
        const auto first = outcome(request, recorded);
        const auto second = outcome(request, recorded);
        ASSERT_EQ(first.second, second.second);
        ASSERT_TRUE(first.first == second.first);
    }

    std::shared_ptr<FakeImages> fake = std::make_shared<FakeImages>();
    Device device = detail::make_device(fake);
};

TEST_F(FastLaunchTest, LaunchesWhatTheGeneralBinderDoes) {
    Random random(17);
    std::array<int, 3> fast{};
    int with_textures = 0;
    for (int round = 0; round < 250; ++round) {
        const Manifest manifest = RandomCall(random).make();
        std::vector<std::byte> artifact;
        try {
            artifact = artifact::write(manifest);
            (void)artifact::read(artifact);
        } catch (const ArtifactError&) {
            continue;
        }
        const Module module = Module::load(device, artifact);
        for (int i = 0; i < 24; ++i) {
            const auto pass = random.of({PassKind::forward, PassKind::backward, PassKind::fused});
            RandomArguments given(random, device, manifest.functions[0].calls[0], pass);
            const auto f = module.function("f").with({.deterministic = random.one_in(3)});
            std::vector<Arg> args = given.args();
            const LaunchRequest request{f, 0, pass, args};
            const bool recorded = random.one_in(3);
            const std::optional<Told> quick = run(request, recorded, detail::launch_fast);
            if (!quick) {
                expect_same_again(request, recorded);
                continue;
            }
            ++fast.at(static_cast<std::size_t>(pass));
            with_textures += manifest.functions[0].calls[0].resources.empty() ? 0 : 1;
            try {
                const std::optional<Told> general = run(request, recorded, [](const LaunchRequest& made) {
                    detail::launch_in_general(made);
                    return true;
                });
                ASSERT_TRUE(quick == general) << "round " << round << "\n"
                                              << *quick << "in general\n"
                                              << *general;
            } catch (const Error& error) {
                FAIL() << "round " << round << ": the general binder refuses it: " << error.what();
            }
        }
    }
    for (const int count : fast) EXPECT_GT(count, 100);
    EXPECT_GT(with_textures, 100);
}

}  // namespace
}  // namespace kf::test
