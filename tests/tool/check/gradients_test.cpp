// Real kernels on every device: right derivatives pass, wrong ones don't, and all specs' gradients are right.
#include "check/gradients.h"

#include <gmock/gmock.h>
#include <kf/device.h>
#include <kf/error.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "core/artifact.h"

namespace kf::check {
namespace {

using testing::HasSubstr;

/// Whether the device runs what is in the artifact; one without CUDA images doesn't run on CUDA.
std::optional<Report> report_of(const std::string& path, const std::string& device, Settings settings = {}) {
    settings.device = device;
    try {
        return check_gradients(artifact::read_file(path), settings);
    } catch (const ArtifactError& error) {
        if (error.code() == ErrorCode::artifact_no_image) return std::nullopt;
        throw;
    }
}

const InputReport* find(const CallReport& call, const std::string& name) {
    for (const InputReport& input : call.inputs) {
        if (input.name == name) return &input;
    }
    return nullptr;
}

class Derivatives : public testing::Test {
protected:
    void SetUp() override {
        if (devices().empty()) GTEST_SKIP() << "no device";
    }

    /// Runs `judge(call)` for each call of each device's report.
    template <class Visit>
    static void for_each_call(const Settings& settings, Visit visit) {
        int served = 0;
        for (const DeviceInfo& device : devices()) {
            const auto report = report_of(KF_DERIVATIVES, device.id, settings);
            if (!report) continue;
            ++served;
            SCOPED_TRACE(text_of(*report));
            EXPECT_FALSE(report->is_right());
            for (const CallReport& call : report->calls) visit(call);
        }
        EXPECT_GT(served, 0);
    }
};

TEST_F(Derivatives, EveryMistakeIsFoundAndNothingElse) {
    const std::map<std::string, std::string> wrong_inputs = {
        {"factor", "x"}, {"sign", "k"},  {"missing", "k"}, {"deaf", "x"},
        {"wrong", "x"},  {"slope", "x"}, {"slight", "x"},  {"branch", "x"}};
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        Settings settings;
        settings.seed = seed;
        std::set<std::string> found;
        for_each_call(settings, [&](const CallReport& call) {
            const auto mistake = wrong_inputs.find(call.function.substr(0, call.function.find('_')));
            for (const InputReport& input : call.inputs) {
                const bool wrong = mistake != wrong_inputs.end() && mistake->second == input.name &&
                                   input.status != Status::no_gradient;
                EXPECT_EQ(input.status == Status::wrong, wrong) << call.overload << ", " << input.name;
                if (wrong) found.insert(call.function);
            }
        });
        EXPECT_EQ(found.size(), 20U);
    }
}

TEST_F(Derivatives, WhatCanNotBeComparedIsSaid) {
    for_each_call({}, [](const CallReport& call) {
        const InputReport& x = *find(call, call.function == "every_reason" ? "twice" : "x");
        if (call.function == "never") {
            EXPECT_EQ(x.status, Status::not_finite);
        } else if (call.function == "rough") {
            EXPECT_EQ(x.status, Status::not_smooth);
        } else if (call.function == "past_the_end") {
            EXPECT_THAT(call.failure, HasSubstr("past the end of 'y'"));
            EXPECT_EQ(x.status, Status::not_run);
        } else if (call.function == "bent" || call.function == "positive" || call.function == "rectify" ||
                   call.function == "half_of_them") {
            EXPECT_EQ(x.status, Status::right) << call.function;
        } else if (call.function == "forward_only") {
            EXPECT_EQ(x.why_not, "the call has no backward pass");
        } else {
            EXPECT_EQ(call.failure, "") << call.function;
        }
    });
}

TEST_F(Derivatives, TheArtifactSaysWhyThereIsNoGradient) {
    const std::map<std::string, std::string> reasons = {
        {"mixed.mass", "no_diff"},
        {"mixed.id", "integer type"},
        {"fixed", "no_diff"},
        {"on", "bool"},
        {"table", "a tensor that is read without derivatives"},
        {"left", "not among the inputs that the spec differentiates"},
        {"twice", "output: its gradient flows in"},
        {"mixed.position", ""},
        {"x", ""}};
    for_each_call({}, [&](const CallReport& call) {
        if (call.function != "every_reason") return;
        for (const auto& [name, reason] : reasons) {
            const InputReport* input = find(call, name);
            ASSERT_NE(input, nullptr) << name;
            EXPECT_EQ(input->why_not, reason) << name;
            EXPECT_EQ(input->status, reason.empty() ? Status::right : Status::no_gradient) << name;
        }
    });
}

TEST_F(Derivatives, WhatCanNotBeDrawnIsPassedOver) {
    const std::map<std::string, std::string> reasons = {
        {"through_addresses", "for 'row.values': the check has no memory for it to lead to"},
        {"of_bytes", "for 'bytes': the check can't know what its bytes stand for"},
        {"racing_launch",
         "the same launch gave other results the second time: its threads race, or go by the order in which "
         "they run"},
        {"wide_launch",
         "groups of 1024 x 1 x 1 threads would index more than 262144 elements of one tensor; say its "
         "extents, "
         "as by --shape wide_launch.x=256,4"}};
    std::set<std::string> found;
    for_each_call({}, [&](const CallReport& call) {
        const auto reason = reasons.find(call.function);
        if (reason == reasons.end()) return;
        found.insert(call.function);
        EXPECT_EQ(find(call, "x")->status, Status::not_checked) << call.function;
        EXPECT_EQ(find(call, "x")->why_not, reason->second) << call.function;
    });
    EXPECT_EQ(found.size(), reasons.size());
}

TEST_F(Derivatives, LaunchesAreCheckedToo) {
    Settings settings;
    settings.shapes = {{"wide_launch.x", {4, 3}}, {"wide_launch.y", {4, 3}}};
    std::set<std::string> right;
    for_each_call(settings, [&](const CallReport& call) {
        if (call.function.find("launch") == std::string::npos) return;
        for (const InputReport& input : call.inputs) {
            if (input.status == Status::right) right.insert(call.function + "." + input.name);
        }
    });
    EXPECT_THAT(right,
                testing::ElementsAre("right_launch.jvp.weight", "right_launch.jvp.x", "right_launch.weight",
                                     "right_launch.x", "wide_launch.x", "wrong_launch.k"));
}

TEST_F(Derivatives, WhatIsZeroEverywhereIsNotRight) {
    Settings settings;
    settings.except = {"idle.mixed.position"};
    for_each_call(settings, [](const CallReport& call) {
        if (call.function == "out_of_reach") {
            EXPECT_EQ(find(call, "k")->status, Status::not_exercised);
            EXPECT_FALSE(find(call, "k")->steps);
        } else if (call.function == "idle") {
            EXPECT_EQ(find(call, "k")->status, Status::unused);
            EXPECT_EQ(find(call, "mixed.position")->why_not, "left out by --except");
        } else if (call.function == "stepped") {
            EXPECT_EQ(find(call, "edge")->status, Status::not_exercised);
            EXPECT_TRUE(find(call, "edge")->steps);
        } else {
            for (const InputReport& input : call.inputs) {
                EXPECT_NE(input.status, Status::not_exercised) << call.overload << ", " << input.name;
            }
        }
    });
}

TEST_F(Derivatives, WhatWasTriedIsSaid) {
    std::map<std::string, std::string> tried;
    for_each_call({}, [&](const CallReport& call) {
        for (const Tried& one : call.tried) {
            std::string& text = tried[call.function + "." + one.name];
            text.clear();
            for (const std::string& value : one.values) text += value + " ";
        }
    });
    EXPECT_EQ(tried["branch_member.blend"], "keep square cube ");
    EXPECT_EQ(tried["branch_bools.wet"], "false true ");
    EXPECT_THAT(tried["branch_number.kind"], testing::ContainsRegex("^-1 0 1 .*76 77 78 $"));
    EXPECT_THAT(tried["branch_bound.count"], testing::ContainsRegex("^0 1 .*11 12 13 $"));
    EXPECT_THAT(tried["branch_tensor.kind"], HasSubstr(" 7 8 9 10 "));
    // No result depends on it.
    EXPECT_FALSE(tried.contains("idle.mixed.id"));
}

TEST_F(Derivatives, SettingsThatNameNothingAreRefused) {
    for (const DeviceInfo& device : devices()) {
        Settings settings;
        settings.except = {"right_flot"};
        EXPECT_THAT(
            [&] { (void)report_of(KF_DERIVATIVES, device.id, settings); },
            testing::AnyOf(testing::ThrowsMessage<ArgumentError>(HasSubstr("no function 'right_flot'")),
                           testing::Not(testing::Throws<Error>())));
        settings.except.clear();
        settings.shapes = {{"x", {1, 2, 3}}};
        EXPECT_THAT(
            [&] { (void)report_of(KF_DERIVATIVES, device.id, settings); },
            testing::AnyOf(testing::ThrowsMessage<ArgumentError>(HasSubstr("no tensor 'x' of 3 dimensions")),
                           testing::Not(testing::Throws<Error>())));
    }
}

/// "a:b", and on machines that carry generated artifacts those of KF_GPU_FOLDER.
std::vector<std::string> artifacts() {
    std::vector<std::string> paths;
    std::istringstream list(KF_ARTIFACTS);
    for (std::string path; std::getline(list, path, ':');) paths.push_back(path);
    return paths;
}

std::string name_of(const std::string& path) {
    const std::size_t start = path.rfind('/') + 1;
    return path.substr(start, path.rfind('.') - start);
}

class AllSpecs : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, AllSpecs, testing::ValuesIn(artifacts()),
                         [](const auto& one) { return name_of(one.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(AllSpecs);

/// None in a build without Python, whose tests generate them.
std::vector<std::string> fused_artifacts() {
    std::vector<std::string> paths = artifacts();
    std::erase_if(paths, [](const std::string& path) { return name_of(path) != "fused"; });
    return paths;
}

class FusedPasses : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, FusedPasses, testing::ValuesIn(fused_artifacts()),
                         [](const auto& one) { return name_of(one.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FusedPasses);

/// Backward kernels would find the gradients, but store no result.
TEST_P(FusedPasses, AreNoBackwardPasses) {
    manifest::Manifest manifest = artifact::read(artifact::read_file(GetParam()));
    for (manifest::Function& function : manifest.functions) {
        for (manifest::Call& call : function.calls) call.fused = call.backward;
    }
    EXPECT_THROW((void)artifact::write(manifest), ArtifactError);
}

TEST_P(AllSpecs, GradientsAreRight) {
    // Their derivatives are meant to be others, so that tests can tell who was called.
    const std::map<std::string, std::set<std::string>> others = {
        {"gradients", {"squashed", "twice_rough"}}, {"jvp", {"scaled"}}, {"fused", {"given"}}};
    // No result depends on it, but a load that whole subgroups share hides that.
    const std::set<std::string> not_exercised = {"each_once, all.power"};
    const std::string name = name_of(GetParam());
    Settings settings;
    if (name == "neural_texture") settings.shapes = {{"w0", {16, 21}}, {"w1", {16, 17}}, {"w2", {3, 17}}};
    for (const DeviceInfo& device : devices()) {
        const auto report = report_of(GetParam(), device.id, settings);
        if (!report) continue;
        SCOPED_TRACE(text_of(*report));
        for (const CallReport& call : report->calls) {
            const std::string function = call.function.substr(0, call.function.find(".jvp"));
            const bool other = others.contains(name) && others.at(name).contains(function);
            EXPECT_EQ(call.failure, "") << call.overload;
            for (const InputReport& input : call.inputs) {
                if (input.status == Status::no_gradient || input.status == Status::unused ||
                    input.status == Status::not_checked)
                    continue;
                const bool zero = not_exercised.contains(function + ", " + input.name);
                const Status expected =
                    zero ? Status::not_exercised : (other ? Status::wrong : Status::right);
                EXPECT_EQ(input.status, expected) << call.overload << ", " << input.name;
            }
        }
        EXPECT_THAT(report->kernels_not_run, testing::IsEmpty());
    }
}

}  // namespace
}  // namespace kf::check
