// Artifacts whose manifests were altered and signed anew: what still loads reads and writes nothing but the
// tensors that it is given. KF_FUZZ_MUTATIONS says how many are tried, KF_FUZZ_FUNCTIONS of how many
// functions, KF_FUZZ_SEED which, and KF_FUZZ_ARTIFACTS of which files.
#include <gmock/gmock.h>
#include <kf/device.h>
#include <kf/error.h>
#include <kf/module.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "check/argument_data.h"
#include "check/trial.h"
#include "core/artifact.h"
#include "core/module_state.h"
#include "core/sha256.h"

namespace kf::check {
namespace {

using manifest::Manifest;
using nlohmann::json;

/// What became of a mutation. A fault is a crash, a hang, an error that is none of the runtime's, something
/// written beside a tensor, or what lies beside one found in an output.
enum class Outcome : int { pending, refused, refused_call, same, other_values, fault };

/// A function by itself, with its kernels.
Manifest only(const Manifest& whole, std::size_t index) {
    Manifest part = whole;
    part.functions = {whole.functions[index]};
    part.functions.front().jvp = -1;
    part.functions.front().choices.clear();
    part.functions.front().chosen.clear();
    auto& calls = part.functions.front().calls;
    if (calls.size() > 2) calls.resize(2);
    part.kernels.clear();
    std::map<std::int64_t, std::int64_t> moved;
    for (manifest::Call& call : calls) {
        for (manifest::Pass* pass : {&call.forward, &call.forward_deterministic, &call.backward,
                                     &call.deterministic, &call.fused, &call.fused_deterministic}) {
            for (std::int64_t* kernel : {&pass->contiguous, &pass->strided, &pass->rows}) {
                if (*kernel < 0) continue;
                const auto [known, is_new] =
                    moved.emplace(*kernel, static_cast<std::int64_t>(part.kernels.size()));
                if (is_new) part.kernels.push_back(whole.kernels[static_cast<std::size_t>(*kernel)]);
                *kernel = known->second;
            }
        }
    }
    return part;
}

std::vector<std::uint8_t> bytes_of(std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return {first, first + bytes.size()};
}

/// Every place in a document but the images' bytes.
void collect(json& node, const std::string& key, std::vector<std::pair<std::string, json*>>& places) {
    if (key == "blobs") return;
    places.emplace_back(key, &node);
    if (node.is_object()) {
        for (auto& [name, value] : node.items()) collect(value, name, places);
    } else if (node.is_array()) {
        for (json& value : node) collect(value, key, places);
    }
}

/// What a manifest may say there.
std::vector<std::string> words_of(const std::string& key) {
    static const std::map<std::string, std::vector<std::string>> words{
        {"role", {"in", "out", "inout", "result"}},
        {"kind", {"value", "tensor", "generator"}},
        {"generator", {"none", "call_id", "thread_id", "grid", "range", "wang_hash", "rand_float"}},
        {"scalar", {"bool", "int8", "int32", "int64", "uint16", "uint32", "float16", "float32", "float64"}},
        {"access", {"none", "read", "write", "read_write", "add"}},
        {"gradient", {"never", "automatic", "required"}},
        {"accumulate", {"automatic", "none", "sum", "first", "push"}},
        {"form", {"leaf", "value", "tensor", "fields"}},
        {"variant", {"contiguous", "strided", "rows"}},
        {"passing", {"value", "uniform", "address"}},
        {"records",
         {"launch", "walk", "shape", "counter", "value", "data", "step", "strides", "grad_in", "grad_out",
          "sums", "extents", "grid", "hash", "random"}}};
    const auto found = words.find(key);
    return found == words.end() ? std::vector<std::string>{"", "x", "float[4]", "spirv", "vulkan"}
                                : found->second;
}

/// Changes one value to another that a manifest might have there.
class Mutator {
public:
    Mutator(json body, std::uint64_t seed) : body_(std::move(body)), random_(seed) {}

    json mutated() {
        std::vector<std::pair<std::string, json*>> places;
        collect(body_, "", places);
        for (std::size_t changes = 1 + draw(8) / 7; changes > 0; --changes) {
            auto& [key, node] = places[draw(places.size())];
            change(key, *node, places);
            places.clear();
            collect(body_, "", places);
        }
        return body_;
    }

private:
    std::size_t draw(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

    void change(const std::string& key, json& node,
                const std::vector<std::pair<std::string, json*>>& places) {
        // Another value of the same key, or one of a key that is a word of the same kind.
        if (draw(3) == 0) {
            std::vector<json> others;
            for (const auto& [name, other] : places) {
                if (name == key && other->type() == node.type() && *other != node) others.push_back(*other);
            }
            if (!others.empty()) {
                node = others[draw(others.size())];
                return;
            }
        }
        if (node.is_boolean()) {
            node = !node.get<bool>();
        } else if (node.is_number()) {
            const auto value = static_cast<std::uint64_t>(node.get<std::int64_t>());  // which wraps
            const auto number = [](std::uint64_t wrapped) { return static_cast<std::int64_t>(wrapped); };
            const std::array<std::int64_t, 12> numbers{
                number(value + 1), number(value - 1),     0,         -1,       1, 2, 4, number(value * 2),
                number(value + 4), std::int64_t{1} << 31, INT64_MAX, INT64_MIN};
            node = numbers.at(draw(numbers.size()));
        } else if (node.is_string()) {
            const auto words = words_of(key);
            node = words[draw(words.size())];
        } else if (key == "resources" && node.empty()) {
            node.push_back({{"name", "table"}, {"kind", "buffer"}, {"writes", false}, {"stride", 4}});
        } else if (node.is_array()) {
            change_array(node);
        } else if (node.is_object() && !node.empty()) {
            auto at = node.begin();
            std::advance(at, static_cast<std::ptrdiff_t>(draw(node.size())));
            node.erase(at);
        }
    }

    void change_array(json& node) {
        const std::size_t at = node.empty() ? 0 : draw(node.size());
        const auto place = [&](std::size_t i) { return node.begin() + static_cast<std::ptrdiff_t>(i); };
        if (node.empty()) {
            node.push_back(static_cast<std::int64_t>(draw(4)));
        } else if (draw(3) == 0) {
            node.erase(place(at));
        } else if (draw(2) == 0) {
            node.insert(place(draw(node.size() + 1)), json(node[at]));
        } else {
            std::swap(node[at], node[draw(node.size())]);
        }
    }

    json body_;
    std::mt19937_64 random_;
};

std::vector<std::byte> signed_anew(const json& body, const json& images) {
    const std::vector<std::uint8_t> bytes = json::to_cbor(body);
    const auto digest = sha256(std::as_bytes(std::span(bytes)));
    const json document = {{"format", "kernelfunctions artifact"},
                           {"abi", manifest::abi_version},
                           {"sha256", json::binary({digest.begin(), digest.end()})},
                           {"body", json::binary(bytes)},
                           {"images", images}};
    const std::vector<std::uint8_t> whole = json::to_cbor(document);
    const auto view = std::as_bytes(std::span(whole));
    return {view.begin(), view.end()};
}

/// What running all calls of a module gave: outputs and gradients, or what kept it from running.
struct Ran {
    std::vector<double> values;
    bool finite = true;
    bool refused = false;
    std::string fault;
};

class Runner {
public:
    explicit Runner(Device device) : device_(std::move(device)) {}
    [[nodiscard]] const Device& device() const { return device_; }

    /// Throws what the runtime throws when it refuses to load.
    Ran run(std::span<const std::byte> artifact) const {
        Ran ran;
        const auto module = std::make_shared<detail::ModuleState>(
            device_, std::make_shared<const detail::LoadedArtifact>(
                         std::vector<std::byte>(artifact.begin(), artifact.end())));
        if (module->manifest().functions.empty()) return ran;
        const manifest::Function& function = module->manifest().functions.front();
        for (std::size_t c = 0; c < function.calls.size() && ran.fault.empty(); ++c) {
            for (const Case& chosen : cases_of(function, function.calls[c], {})) {
                try {
                    run_case({module, 0}, c, chosen, ran);
                } catch (const Error&) {
                    ran.refused = true;
                }
            }
        }
        return ran;
    }

private:
    static void run_case(const detail::FunctionRef& ref, std::size_t index, const Case& chosen, Ran& ran) {
        const manifest::Function& function = ref.module->manifest().functions.front();
        const manifest::Call& call = function.calls[index];
        std::mt19937_64 random(7);
        Arguments arguments = lay_out(function, call, chosen, {});
        fill(arguments, call, chosen, 0.1, 0.9, random);
        Trial trial(ref, index, arguments, Dims(chosen.shape), random);
        // The second time as a launch that is known.
        for (int again = 0; again < 2; ++again) {
            ran.finite = trial.run() && ran.finite;
            note(trial, ran);
        }
        using detail::PassKind;
        for (const auto& [pass, kind, exact] : {std::tuple{&call.backward, PassKind::backward, false},
                                                {&call.deterministic, PassKind::backward, true},
                                                {&call.fused, PassKind::fused, false},
                                                {&call.fused_deterministic, PassKind::fused, true}}) {
            if (!pass->is_built()) continue;
            for (int again = 0; again < 2; ++again) {
                trial.run_backward(kind, exact);
                note(trial, ran);
            }
            for (std::size_t i = 0; i < call.arguments.size(); ++i) {
                if (call.arguments[i].role == manifest::Role::in &&
                    call.arguments[i].gradient != manifest::Gradient::never) {
                    const std::vector<double> found = trial.gradients(i);
                    ran.values.insert(ran.values.end(), found.begin(), found.end());
                }
            }
        }
        run_made(ref, index, arguments, Dims(chosen.shape), ran);
    }

    /// The forward pass once more, with outputs that the runtime makes.
    static void run_made(const detail::FunctionRef& ref, std::size_t index, const Arguments& arguments,
                         const Dims& shape, Ran& ran) {
        using detail::Arg;
        const manifest::Call& call = ref.module->manifest().functions.front().calls[index];
        std::vector<GuardedTensor> tensors;
        std::vector<std::vector<std::byte>> given(arguments.items.size());
        tensors.reserve(arguments.items.size());
        std::vector<Arg> args;
        for (std::size_t i = 0; i < arguments.items.size(); ++i) {
            const ArgumentData& item = arguments.items[i];
            given[i] = item.bytes;
            if (item.kind == ArgumentData::Kind::nothing ||
                (item.kind == ArgumentData::Kind::tensor && !item.input)) {
                args.push_back(Arg::none());
            } else if (item.kind == ArgumentData::Kind::tensor) {
                tensors.emplace_back(ref.module->device(), item.element, item.shape, item.gapped);
                tensors.back().write(item.bytes);
                args.push_back(Arg::of(tensors.back().tensor()));
            } else if (item.kind == ArgumentData::Kind::generator) {
                args.push_back(Arg::make(Arg::Kind::generator, item.bytes.data(), nullptr, nullptr, nullptr));
            } else {
                args.push_back(Arg::make(Arg::Kind::value, item.input ? item.bytes.data() : nullptr,
                                         item.written ? given[i].data() : nullptr, nullptr, nullptr));
            }
        }
        detail::invoke(ref, index, detail::PassKind::forward, args, nullptr, &shape);
        for (std::size_t i = 0; i < args.size(); ++i) {
            const AnyTensor& made = args[i].allocated;
            if (!made) continue;
            std::vector<std::byte> bytes(static_cast<std::size_t>(made.size()) * made.element().size());
            made.read(bytes);
            for (std::size_t l = 0; l < arguments.leaves.size(); ++l) {
                const Leaf& leaf = arguments.leaves[l];
                if (leaf.item != i || call.arguments[l].role == manifest::Role::in) continue;
                for (const std::size_t at : leaf.positions) {
                    if (at + size_of(leaf.scalar) <= bytes.size())
                        ran.values.push_back(get(bytes, leaf.scalar, at));
                }
            }
        }
        for (const GuardedTensor& tensor : tensors) {
            if (!tensor.is_intact()) ran.fault = "wrote beside an input";
        }
    }

    static void note(const Trial& trial, Ran& ran) {
        if (trial.overrun() != nullptr) ran.fault = "wrote beside '" + trial.overrun()->name + "'";
        const std::vector<double> found = trial.outputs();
        ran.values.insert(ran.values.end(), found.begin(), found.end());
    }

    Device device_;
};

constexpr std::size_t most_mutations = 1 << 20;

/// What parent and workers share.
struct Board {
    std::size_t next = 0;
    std::array<Outcome, most_mutations> outcomes{};
};

/// Where "function 'f': argument 'x': a rank" stops to be about this artifact.
std::string reason_of(const std::string& message) {
    const std::size_t end = message.rfind("; ");
    const std::string text = message.substr(0, end);
    const std::size_t colon = text.rfind(": ");
    std::string reason = colon == std::string::npos ? text : text.substr(colon + 2);
    return reason.substr(0, std::min<std::size_t>(reason.find(" '"), 60));
}

/// So many tests share the mutations, and may run beside each other.
constexpr std::size_t parts = 2;

/// Its parameter is which part of the mutations a test tries.
class ArtifactFuzz : public testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override {
        const char* given = std::getenv("KF_FUZZ_ARTIFACTS");
        std::istringstream list(given == nullptr ? KF_ARTIFACTS : given);
        for (std::string path; std::getline(list, path, ':');) {
            const Manifest whole = artifact::read(artifact::read_file(path));
            for (std::size_t f = 0; f < whole.functions.size(); ++f) {
                bases_.push_back(artifact::write(only(whole, f)));
            }
        }
        ASSERT_FALSE(bases_.empty());
        // Kernels take a while to be made ready.
        const std::size_t most = setting("KF_FUZZ_FUNCTIONS", 8);
        std::mt19937_64 random(setting("KF_FUZZ_SEED", 1));
        std::shuffle(bases_.begin(), bases_.end(), random);
        if (bases_.size() > most) bases_.resize(most);
    }

    static std::uint64_t setting(const char* name, std::uint64_t otherwise) {
        const char* text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    }

    /// Runs in a process of its own: mutations from board.next to before `end`, of `count` in all. Mutations
    /// of one base follow each other.
    [[noreturn]] void work(Board& board, std::size_t end, std::size_t count, std::uint64_t seed) const {
        const Runner runner(Device::open("vulkan"));
        const std::size_t each = this->each(count);
        std::size_t at = bases_.size();
        Ran expected;
        json body;
        json images;
        std::shared_ptr<detail::ModuleState> kept;  // and its kernels
        std::map<std::string, int> reasons;
        for (; board.next < end; ++board.next) {
            const std::size_t i = board.next;
            if (at != i / each) {
                ::alarm(600);  // its kernels are compiled
                at = i / each;
                kept = std::make_shared<detail::ModuleState>(
                    runner.device(), std::make_shared<const detail::LoadedArtifact>(bases_[at]));
                expected = runner.run(bases_[at]);
                body = body_of(bases_[at]);
                images = json::from_cbor(bytes_of(bases_[at])).at("images");
            }
            ::alarm(120);
            std::string said;
            board.outcomes.at(i) = judge(runner, expected, Mutator(body, seed + i).mutated(), images, said);
            if (board.outcomes.at(i) == Outcome::refused) ++reasons[reason_of(said)];
            if (board.outcomes.at(i) == Outcome::fault)
                std::cerr << "mutation " << i << ": " << said << ": " << changes_of(i, count, seed) << '\n';
        }
        for (const auto& [reason, times] : reasons) std::cout << times << " refused: " << reason << '\n';
        std::cout.flush();
        ::_exit(0);
    }

    /// What mutation i changed, for messages.
    [[nodiscard]] std::string changes_of(std::size_t i, std::size_t count, std::uint64_t seed) const {
        const json body = body_of(bases_[i / each(count)]);
        std::string text = body.at("functions").at(0).at("name").get<std::string>() + ":";
        for (const json& change : json::diff(body, Mutator(body, seed + i).mutated())) {
            const bool binary = change.contains("value") && change.at("value").is_binary();
            text += " " + (binary ? change.at("path").get<std::string>() : change.dump().substr(0, 300));
        }
        return text;
    }

    /// How many mutations there are of one base.
    [[nodiscard]] std::size_t each(std::size_t count) const {
        return (count + bases_.size() - 1) / bases_.size();
    }

    /// With the lists that artifacts leave out while they are empty: mutations reach them, too.
    static json body_of(const std::vector<std::byte>& artifact) {
        json body = json::from_cbor(json::from_cbor(bytes_of(artifact)).at("body").get_binary());
        for (json& kernel : body.at("kernels")) {
            kernel["resources"] = json::array();
            for (json& layout : kernel.at("layouts")) layout["resource_places"] = json::array();
        }
        return body;
    }

    static Outcome judge(const Runner& runner, const Ran& expected, const json& body, const json& images,
                         std::string& said) {
        try {
            const Ran ran = runner.run(signed_anew(body, images));
            said = ran.fault;
            if (!ran.fault.empty()) return Outcome::fault;
            if (!ran.finite && expected.finite) {
                said = "an output isn't finite";
                return Outcome::fault;
            }
            if (ran.refused && !expected.refused) return Outcome::refused_call;
            return ran.values == expected.values ? Outcome::same : Outcome::other_values;
        } catch (const Error& error) {
            said = error.what();
            return Outcome::refused;
        } catch (const std::exception& error) {
            said = std::string("internal error: ") + error.what();
            return Outcome::fault;
        }
    }

    std::vector<std::vector<std::byte>> bases_;
};

TEST_P(ArtifactFuzz, WhatLoadsTouchesItsTensorsOnly) {
    const auto count = static_cast<std::size_t>(setting("KF_FUZZ_MUTATIONS", 400));
    const std::uint64_t seed = setting("KF_FUZZ_SEED", 1);
    ASSERT_LE(count, most_mutations);
    void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto& board = *new (memory) Board();
    const std::size_t begin = count * GetParam() / parts;
    const std::size_t end = count * (GetParam() + 1) / parts;
    board.next = begin;
    while (board.next < end) {
        std::cout.flush();
        const pid_t child = ::fork();
        if (child == 0) work(board, end, count, seed);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        ADD_FAILURE() << "mutation " << board.next << (hung ? " hangs" : " crashes") << ", status " << status
                      << ": " << changes_of(board.next, count, seed);
        board.outcomes.at(board.next++) = Outcome::fault;
    }
    std::array<int, 6> counts{};
    for (std::size_t i = begin; i < end; ++i) ++counts.at(static_cast<std::size_t>(board.outcomes.at(i)));
    std::cout << counts[1] << " refused when loaded, " << counts[2] << " when called, " << counts[3]
              << " ran the same, " << counts[4] << " gave other values, " << counts[5] << " faults\n";
    EXPECT_EQ(counts[0], 0);
    EXPECT_EQ(counts[5], 0);
    EXPECT_GT(counts[1], static_cast<int>((end - begin) / 4));
    EXPECT_GT(counts[3], 0);
    ::munmap(memory, sizeof(Board));
}

INSTANTIATE_TEST_SUITE_P(Parts, ArtifactFuzz, testing::Range(std::size_t{0}, parts));

}  // namespace
}  // namespace kf::check
