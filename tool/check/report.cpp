// How a check of gradients is printed.
#include "check/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/join.h"
#include "output/columns.h"

namespace kf::check {
namespace {

using gen::counted;
using gen::padded;

std::string number(double value, const char* format = "%.4g") {
    std::array<char, 40> text{};
    (void)std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string details(const InputReport& input) {
    switch (input.status) {
        case Status::no_gradient:
        case Status::not_checked: return input.why_not;
        case Status::not_run: return {};
        case Status::not_smooth:
            return "differences depend on the step at " +
                   (input.compared == 0 ? std::string("each") : std::to_string(input.unsure)) + " of " +
                   counted(input.unsure + input.compared, "place");
        case Status::not_finite:
            return "infinities or NaN at every try, with numbers of all sizes: state --range or --shape";
        case Status::wrong:
            return "at " + input.place + ": gradient " + number(input.gradient) + ", differences " +
                   number(input.differences) + " +- " + number(input.uncertainty, "%.1e") + " (" + input.how +
                   "); " + std::to_string(input.wrong) + " of " + std::to_string(input.compared) + " wrong";
        case Status::not_exercised:
            return "gradient and differences are 0 at each of " + counted(input.compared, "place") +
                   (input.steps ? ": results change with it by steps alone"
                                : ", and no other value of it changed a result: state --range or --shape");
        case Status::unused: return "no result depends on it";
        case Status::right: break;
    }
    return "largest error " + number(input.largest_error, "%.1e") + " at " + input.place + " (" + input.how +
           "), " + std::to_string(input.compared) + " compared" +
           (input.unsure > 0 ? ", " + std::to_string(input.unsure) + " not smooth" : "");
}

/// "mode = off, on; n = 0, 1, 3 (not 100000)", and what gave no results.
std::string tried_text(const CallReport& call) {
    std::string tried;
    std::string in_vain;
    for (const Tried& one : call.tried) {
        std::string values = join(one.values);
        if (!one.not_given.empty()) values += " (not " + join(one.not_given) + ")";
        tried += (tried.empty() ? "  tried: " : "; ") + one.name + " = " + values;
        if (one.not_finite.empty()) continue;
        in_vain += (in_vain.empty() ? "  infinities or NaN, at times or always: " : "; ") + one.name + " = " +
                   join(one.not_finite);
    }
    return (tried.empty() ? "" : tried + "\n") + (in_vain.empty() ? "" : in_vain + "\n");
}

/// "x from 100.5 to 987.2, y from 0.1 to 0.9".
std::string searched_text(const CallReport& call) {
    std::string text;
    for (const Searched& one : call.searched) {
        text += (text.empty() ? "  compared for " : ", ") + one.name + " from " + number(one.low) + " to " +
                number(one.high);
    }
    return text.empty() ? "" : text + ": other numbers gave infinities or NaN\n";
}

/// Whether there is a gradient to compare, and it wasn't.
bool is_open(const InputReport& input) {
    switch (input.status) {
        case Status::not_smooth:
        case Status::not_finite:
        case Status::not_run:
        case Status::not_checked: return true;
        case Status::right:
        case Status::wrong:
        case Status::not_exercised:
        case Status::unused:
        case Status::no_gradient: return false;
    }
    return false;
}

/// Why a report without a wrong gradient isn't right, if that is for what it doesn't compare.
std::string not_passed_text(const Report& report) {
    if (!report.has_compared()) {
        const bool any = std::any_of(report.calls.begin(), report.calls.end(), [](const CallReport& call) {
            return !call.failure.empty() || std::any_of(call.inputs.begin(), call.inputs.end(), is_open);
        });
        return std::string("  not passed: nothing was compared") +
               (any ? "\n"
                    : R"(: no call has a gradient, which "backward": true asks for)"
                      "\n");
    }
    const std::vector<std::string> functions = report.not_passed();
    if (functions.empty()) return {};
    return "  not passed: gradients of " + join(functions) +
           " were not compared: give them what they need, or leave them out with --except\n";
}

/// "the loop in 'f' at scene.slang:12 ran more often than its [MaxIters(8)] says".
std::string past_limit_text(const std::vector<PastLimit>& loops) {
    const bool many = loops.size() > 1;
    std::string text = many ? "one of these loops ran more often than its limit says: " : "";
    for (const PastLimit& loop : loops) {
        text += &loop == &loops.front() ? "" : ", ";
        text += "the loop " + (loop.function.empty() ? "" : "in '" + loop.function + "' ") + "at " +
                std::filesystem::path(loop.file).filename().string() + ":" + std::to_string(loop.line);
        text += (many ? " with [MaxIters(" : " ran more often than its [MaxIters(") + loop.limit +
                (many ? ")]" : ")] says");
    }
    return text + ": gradients may lack iterations; raise the limit to the largest count that calls may have";
}

bool is_empty_check(const InputReport& input) {
    return input.status == Status::not_exercised && !input.steps;
}

nlohmann::ordered_json json_of_loops(const std::vector<std::vector<PastLimit>>& past_limits) {
    auto made = nlohmann::ordered_json::array();
    for (const std::vector<PastLimit>& loops : past_limits) {
        auto together = nlohmann::ordered_json::array();
        for (const PastLimit& loop : loops) {
            together.push_back({{"file", loop.file},
                                {"line", loop.line},
                                {"function", loop.function},
                                {"limit", loop.limit}});
        }
        made.push_back(std::move(together));
    }
    return made;
}

}  // namespace

const char* status_name(Status status) {
    switch (status) {
        case Status::right: return "right";
        case Status::wrong: return "WRONG";
        case Status::not_exercised: return "not exercised";
        case Status::unused: return "unused";
        case Status::not_smooth: return "not smooth";
        case Status::not_finite: return "not finite";
        case Status::not_run: return "not run";
        case Status::not_checked: return "not checked";
        case Status::no_gradient: return "no gradient";
    }
    return "";
}

std::int64_t Report::count(Status status) const {
    std::int64_t total = 0;
    for (const CallReport& call : calls) {
        total += std::count_if(call.inputs.begin(), call.inputs.end(),
                               [&](const InputReport& input) { return input.status == status; });
    }
    return total;
}

std::vector<std::string> Report::not_passed() const {
    std::vector<std::string> functions;
    for (const CallReport& call : calls) {
        if (!call.failure.empty() || std::none_of(call.inputs.begin(), call.inputs.end(), is_open)) continue;
        if (std::find(functions.begin(), functions.end(), call.function) == functions.end())
            functions.push_back(call.function);
    }
    return functions;
}

bool Report::has_compared() const {
    return count(Status::right) + count(Status::wrong) + count(Status::not_exercised) +
               count(Status::unused) >
           0;
}

bool Report::is_right() const {
    return has_compared() && not_passed().empty() && count(Status::wrong) == 0 &&
           std::all_of(calls.begin(), calls.end(), [](const CallReport& call) {
               return call.failure.empty() && call.past_limits.empty() &&
                      std::none_of(call.inputs.begin(), call.inputs.end(), is_empty_check);
           });
}

std::string text_of(const Report& report) {
    std::string text =
        report.module + " on " + report.device + ", seed " + std::to_string(report.seed) + "\n";
    for (const CallReport& call : report.calls) {
        text += "\n" + call.overload + "\n";
        if (!call.failure.empty()) text += "  FAILED       " + call.failure + "\n";
        for (const std::vector<PastLimit>& loops : call.past_limits) {
            text += "  WRONG        " + past_limit_text(loops) + "\n";
        }
        std::size_t width = 0;
        for (const InputReport& input : call.inputs) width = std::max(width, input.name.size());
        for (const InputReport& input : call.inputs) {
            const std::string said = details(input);
            text += "  " + padded(input.name, width) + "  " +
                    padded(status_name(input.status), said.empty() ? 0 : 11) + (said.empty() ? "" : "  ") +
                    said + "\n";
        }
        text += tried_text(call) + searched_text(call);
    }
    const std::int64_t empty = report.count(Status::not_exercised);
    const std::int64_t past = std::count_if(report.calls.begin(), report.calls.end(),
                                            [](const CallReport& call) { return !call.past_limits.empty(); });
    const std::int64_t unused = report.count(Status::unused);
    text += "\n" + counted(report.count(Status::right), "input") + " right, " +
            std::to_string(report.count(Status::wrong)) + " wrong, " +
            std::to_string(report.count(Status::not_smooth) + report.count(Status::not_finite) +
                           report.count(Status::not_run) + report.count(Status::not_checked)) +
            " not comparable, " + (past > 0 ? counted(past, "call") + " past a loop's limit, " : "") +
            (empty > 0 ? std::to_string(empty) + " not exercised, " : "") +
            (unused > 0 ? std::to_string(unused) + " unused, " : "") +
            std::to_string(report.count(Status::no_gradient)) + " without a gradient; " +
            std::to_string(report.kernels - static_cast<std::int64_t>(report.kernels_not_run.size())) +
            " of " + counted(report.kernels, "backward kernel") + " run\n";
    for (const std::string& kernel : report.kernels_not_run) text += "  not run: " + kernel + "\n";
    for (const std::string& derivative : report.not_compared) text += "  not compared: " + derivative + "\n";
    return text + not_passed_text(report);
}

std::string json_of(const Report& report) {
    using Json = nlohmann::ordered_json;
    Json calls = Json::array();
    for (const CallReport& call : report.calls) {
        Json inputs = Json::array();
        for (const InputReport& input : call.inputs) {
            Json one{{"name", input.name}, {"status", status_name(input.status)}};
            if (!input.why_not.empty()) {
                one["why"] = input.why_not;
            } else {
                one["compared"] = input.compared;
                one["wrong"] = input.wrong;
                one["not_smooth"] = input.unsure;
                if (input.status == Status::not_exercised) one["steps"] = input.steps;
            }
            if (input.compared > 0) {
                one["largest_error"] = {{"relative", input.largest_error},
                                        {"place", input.place},
                                        {"how", input.how},
                                        {"gradient", input.gradient},
                                        {"differences", input.differences},
                                        {"uncertainty", input.uncertainty}};
            }
            inputs.push_back(std::move(one));
        }
        Json one{{"function", call.function}, {"overload", call.overload}, {"backward", call.has_backward}};
        if (!call.failure.empty()) one["failure"] = call.failure;
        one["inputs"] = std::move(inputs);
        Json tried = Json::array();
        for (const Tried& given : call.tried) {
            tried.push_back({{"name", given.name},
                             {"values", given.values},
                             {"not_finite", given.not_finite},
                             {"not_given", given.not_given}});
        }
        one["tried"] = std::move(tried);
        for (const Searched& range : call.searched)
            one["searched"].push_back({{"name", range.name}, {"low", range.low}, {"high", range.high}});
        if (!call.past_limits.empty()) one["past_limits"] = json_of_loops(call.past_limits);
        calls.push_back(std::move(one));
    }
    return Json{{"module", report.module},
                {"device", report.device},
                {"seed", report.seed},
                {"right", report.is_right()},
                {"calls", std::move(calls)},
                {"backward_kernels", report.kernels},
                {"kernels_not_run", report.kernels_not_run},
                {"not_compared", report.not_compared},
                {"not_passed", report.not_passed()}}
               .dump(2) +
           "\n";
}

}  // namespace kf::check
