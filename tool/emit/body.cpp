// Statements that several arguments' text has, and the view that templates take of all.
#include "emit/body.h"

#include <algorithm>
#include <numeric>

#include "core/block_records.h"
#include "emit/checked_arguments.h"
#include "emit/kernel_text.h"
#include "emit/kinds/questions.h"
#include "emit/run.h"

namespace kf::gen {

using manifest::RecordKind;

namespace {

/// The call's index along each dimension, taken off the flat index from the last one on.
View::List call_indices(const KernelContext& kernel) {
    View::List views;
    const bool by_tiles = tile_width(kernel.call) > 0;
    for (std::int64_t d = kernel.call.rank - 1; d >= 0; --d) {
        const bool is_column = by_tiles && d + 1 == kernel.call.rank;
        views.emplace_back(
            View::Object{{"name", index_name(d)},
                         {"value", is_column ? "kf_column"
                                   : d == 0  ? "kf_rest"
                                             : "kf.take_dimension(kf_rest, " + kernel.extent(d) + ")"}});
    }
    return views;
}

}  // namespace

void Body::add_local(const std::string& type, const std::string& name, const std::string& initial,
                     const std::string& fill) {
    locals.emplace_back(View::Object{{"type", type},
                                     {"name", name},
                                     {"initial", initial.empty() ? View::List() : View::List{initial}},
                                     {"fills", fill.empty() ? View::List() : View::List{fill}}});
}

void Body::add_local(const std::string& type, const std::string& name, const View::List& fills) {
    locals.emplace_back(
        View::Object{{"type", type}, {"name", name}, {"initial", View::List()}, {"fills", fills}});
}

void Body::keep(const std::string& type, const std::string& name) {
    kept.emplace_back(
        View::Object{{"type", type}, {"name", name}, {"array", "[" + std::to_string(run) + "]"}});
}

std::string Body::add_offset(const ArgumentText& argument, const std::string& prefix, RecordKind memory) {
    std::string name = prefix + argument.id;
    if (!is_new(name)) return name;
    const KernelContext& kernel = argument.kernel;
    std::vector<std::int64_t> dimensions = argument.host.map;
    if (memory == RecordKind::grad_out && is_pushed(argument.host)) {
        dimensions.resize(static_cast<std::size_t>(kernel.call.rank));
        std::iota(dimensions.begin(), dimensions.end(), 0);
    }
    std::sort(dimensions.begin(), dimensions.end());
    std::string value;
    for (const std::int64_t d : dimensions) {
        row_offsets[d].emplace_back(View::Object{{"name", name}, {"stride", argument.stride(memory, d)}});
        value += (value.empty() ? "" : " + ") + index_name(d) + " * " + argument.stride(memory, d);
    }
    View::Object offset{{"name", name}};
    if (!kernel.rows) offset.emplace("value", value);
    offsets.emplace_back(offset);
    return name;
}

std::string Body::step(const ArgumentText& argument) {
    std::string scalars = std::to_string(argument.scalars());
    if (argument.host.call_rank == 0) return "0";
    if (!has_step(argument.host)) return scalars;
    std::string name = "kf_step_" + argument.id;
    if (is_new(name)) {
        steps.emplace_back(
            View::Object{{"name", name}, {"value", "int(" + argument.step() + ") * " + scalars}});
    }
    return name;
}

View::Object Body::view(const KernelContext& kernel) const {
    const bool by_index = !kernel.rows && kernel.has_indices();
    View::List calls = sets;
    for (const std::string& one : call_statements(kernel.call, kernel.pass, {result, passed, primal}))
        calls.emplace_back(one);
    if (checks_accesses(kernel.call)) calls.emplace_back("kf.end_checks()");
    View::Object view{
        {"has_indices", by_index},
        {"rest", std::string(tile_width(kernel.call) > 0 ? "kf_row" : "kf_call")},
        {"indices", by_index ? call_indices(kernel) : View::List()},
        {"offsets", kernel.rows ? View::List() : offsets},
        {"locals", locals},
        {"calls", calls},
        {"reports", kernel.call.reports() && kernel.call.dispatch == manifest::Dispatch::elements}};
    if (run == 1) {
        View::List all = stores;
        all.insert(all.end(), adds.begin(), adds.end());
        view.emplace("results", all);
        return view;
    }
    const bool generates =
        kernel.call.reports() ||
        std::any_of(kernel.call.arguments.begin(), kernel.call.arguments.end(),
                    [](const PlannedArgument& argument) { return counts_calls(argument.host); });
    view.emplace("shared", shared);
    view.emplace("kept", kept);
    view.emplace("run_loads", run_loads);
    view.emplace("has_loads", !loads.empty());
    view.emplace("loads", loads);
    view.emplace("generates", generates);
    view.emplace("results", results);
    view.emplace("has_stores", !stores.empty());
    view.emplace("stores", stores);
    view.emplace("run_stores", run_stores);
    view.emplace("adds", adds);
    return view;
}

bool Body::is_new(const std::string& name) {
    if (std::find(declared_.begin(), declared_.end(), name) != declared_.end()) return false;
    declared_.push_back(name);
    return true;
}

}  // namespace kf::gen
