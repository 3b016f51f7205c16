// Launches that were bound before: the same call with other addresses and values is made without binding.
#pragma once

#include <kf/invoke.h>
#include <kf/options.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/bind.h"
#include "core/driver.h"
#include "core/fast_launch.h"
#include "core/texture_rules.h"

namespace kf::detail {

class DeviceState;
class ModuleState;

/// What decides how a call is bound, of its arguments: all but where tensors lie and what values are. A
/// struct that is passed whole is one of them. Points into the arguments.
class LaunchKey {
public:
    /// A tensor or its gradient, with the bytes that it may touch: [low, high).
    struct View {
        const std::shared_ptr<driver::Allocation>* allocation;
        std::uint64_t address;
        std::uint64_t low;
        std::uint64_t high;
    };
    enum Part : std::uint8_t { data, grad_in, grad_out };
    static constexpr std::size_t max_arguments = 16;

    // Made for every call: what a key doesn't use is neither cleared nor looked at.
    LaunchKey() {}  // NOLINT(modernize-use-equals-default,cppcoreguidelines-pro-type-member-init)

    /// Reads a call. Returns false if it isn't remembered: a value is to come back, or too much is to
    /// compare.
    bool read(const manifest::Call& call, std::span<const Arg> arguments, PassKind pass,
              const Options& options);

    [[nodiscard]] std::span<const Arg> arguments() const { return arguments_; }
    [[nodiscard]] std::span<const std::uint64_t> words() const { return std::span(words_).first(count_); }
    [[nodiscard]] static std::size_t index(std::size_t argument, Part part) { return 3 * argument + part; }
    [[nodiscard]] const View& view(std::size_t index) const { return views_[index]; }

private:
    bool add(std::uint64_t word);
    bool add_view(const AnyTensor& tensor, View& view);
    bool add_data(const AnyTensor& tensor, View& view);
    bool add_texture(const manifest::Call& call, std::size_t i, const Arg& arg);

    std::span<const Arg> arguments_;
    std::size_t count_ = 0;
    std::array<std::uint64_t, 192> words_;
    std::array<View, 3 * max_arguments> views_;
};

/// A bound launch. Immutable.
struct KnownLaunch {
    struct Address {
        std::size_t view = 0;     ///< LaunchKey::index
        std::size_t offset = 0;   ///< in the block
        std::uint64_t field = 0;  ///< bytes into each struct that the tensor holds
    };
    struct Value {
        std::size_t argument = 0;
        std::size_t offset = 0;  ///< in the block
        std::size_t field = 0;   ///< bytes into the struct that is given
        ElementType element;
    };
    struct Output {
        std::size_t argument = 0;
        ElementType element;
        Dims shape;
        bool is_zeroed = false;    ///< first
        bool stored_once = false;  ///< by kernels, each element
    };
    /// A number in the block that leads into temporary memory.
    struct Place {
        std::size_t offset = 0;  ///< in the block
        std::uint64_t at = 0;    ///< in the memory
    };
    struct Zeroed {
        std::size_t argument = 0;
        bool is_gradient = false;  ///< else its elements are
    };
    struct Use {
        std::size_t view = 0;
        bool writes = false;
    };
    /// A resource of the kernel's, as it is given.
    struct Resource {
        Arg::Kind kind = Arg::Kind::tensor;  ///< a buffer, a texture or a sampler
        std::size_t argument = 0;
        TextureRules texture;
    };

    std::vector<std::uint64_t> key;
    std::shared_ptr<driver::Kernel> kernel;
    driver::Grid grid{};
    std::vector<std::byte> block;  ///< the parameters, in which these are written anew:
    std::vector<Address> addresses;
    std::vector<Value> values;
    std::vector<Output> outputs;      ///< to allocate
    std::vector<Resource> resources;  ///< the kernel's, in order
    bool writes_textures = false;
    std::vector<Zeroed> zeroed;  ///< of given tensors, before the launch
    TemporaryPlan temporary;     ///< nothing of it is read back
    std::vector<Place> places;   ///< in temporary memory
    std::vector<Use> uses;       ///< of given tensors; what is written must share no byte with the rest
};

/// A module's launches: the last few of each call and pass. Thread-safe.
class LaunchCache {
public:
    explicit LaunchCache(const manifest::Manifest& manifest);

    /// Makes the call if one like it was made before, as invoke() does. What it can't be sure of it leaves to
    /// the binder: false.
    bool launch(const LaunchRequest& request, const LaunchKey& key);

    /// Keeps a launch that copied nothing in or out.
    void remember(const FunctionRef& function, std::size_t call, const BindRequest& request,
                  const Binding& binding, const LaunchKey& key, std::shared_ptr<driver::Kernel> kernel,
                  std::span<const std::byte> block, const manifest::BlockLayout& layout);

private:
    static constexpr std::size_t kept = 16;
    struct Slot {
        std::mutex mutex;
        std::vector<std::shared_ptr<const KnownLaunch>> launches;  ///< at most `kept`
        std::size_t next = 0;                                      ///< to give its place, once they are
    };

    Slot* find(const FunctionRef& function, std::size_t call, PassKind pass);

    std::vector<std::vector<std::array<std::unique_ptr<Slot>, 3>>> slots_;  ///< by function, call and pass
};

}  // namespace kf::detail
