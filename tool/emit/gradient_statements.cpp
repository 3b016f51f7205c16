// Gradients that flow out.
#include "emit/gradient_statements.h"

#include "core/block_records.h"
#include "emit/element_statements.h"
#include "emit/loops.h"
#include "plan/types.h"

namespace kf::gen {

using manifest::RecordKind;

namespace {

/// The statements with which one call, or run, adds to a sum, and with which the sum ends up in memory.
struct SumStatements {
    std::string add;
    std::string finish;
};

/// Where a call's gradient goes.
struct GradientPlace {
    std::string gradient;       ///< where the call leaves it
    std::string offset;         ///< in the gradient, in scalars
    std::string shared_offset;  ///< among the sums
    std::vector<std::string> strides;
    std::vector<std::string> shared_strides;
    bool scratch = false;  ///< sums lie beside the gradient
};

std::string sum_name(const ArgumentText& x) { return "kf_sum_" + x.id; }

std::string sum_type(const ArgumentText& x) {
    return x.host.element.scalar == ScalarType::float64 ? "double" : "float";
}

/// An offset in sums as one in what a sum is made of.
std::string in_words(const ArgumentText& x, const std::string& sums) {
    if (!x.sums_exactly() || sums == "0") return sums;
    const std::string words = std::to_string(manifest::exact_words(x.host.element.scalar));
    return sums == "1" ? words : sums + " * " + words;
}

/// The mode, for one call: where the first of those that share an element counts, others have none.
std::string mode_of_call(Body& body, const ArgumentText& x) {
    std::string mode = x.mode();
    if (x.host.accumulate != manifest::Accumulate::first || !x.kernel.strided || x.kernel.call.rank == 0)
        return mode;
    std::string name = "kf_mode_" + x.id;
    body.add_local("const uint", name, x.is_first(RecordKind::grad_out) + " ? " + mode + " : kf.grad_none");
    return name;
}

GradientPlace place_gradient(Body& body, const ArgumentText& x, const std::string& gradient) {
    GradientPlace place{gradient, "0", "0", x.trailing_strides(RecordKind::grad_out), {}, x.has_scratch()};
    place.shared_strides = place.scratch ? x.dense_strides() : place.strides;
    for (std::string& stride : place.shared_strides) stride = in_words(x, stride);
    if (!x.kernel.strided) {
        place.offset = times("kf_call", x.pitch());
    } else if (x.host.call_rank > 0 || is_pushed(x.host)) {
        place.offset = body.add_offset(x, "kf_gradat_", RecordKind::grad_out);
        if (!place.scratch) {
            place.shared_offset = place.offset;
        } else if (x.host.call_rank > 0) {
            place.shared_offset = body.add_offset(x, "kf_scratchat_", RecordKind::sums);
        }
        if (!x.kernel.rows) place.shared_offset = in_words(x, place.shared_offset);
    }
    return place;
}

SumStatements sum_along_rows(Body& body, const ArgumentText& x, const GradientPlace& place) {
    const std::string sum = sum_name(x);
    const std::string kept = "kf_d_" + x.id;
    const std::string old = "kf_old_" + x.id;
    const RowText text =
        row_text(body, x, x.scalar(), x.pointer(x.address(RecordKind::grad_out), place.offset));
    body.keep(text.type(), kept);
    body.keep(text.type(), old);
    body.results.emplace_back(kept + "[kf_u] = " + place.gradient);
    const std::string mode = x.mode();
    const std::string sums =
        "uint64_t(" + x.address(place.scratch ? RecordKind::sums : RecordKind::grad_out) + ")";
    body.row_gradients.emplace_back(View::Object{{"name", x.id},
                                                 {"mode", mode},
                                                 {"row_at", place.shared_offset},
                                                 {"sums", sums},
                                                 {"step", body.step(x)}});
    body.run_loads.emplace_back(text.read_old(sum, old, mode));
    return {text.add(sum, kept, old, mode),
            sum + ".finish<" + x.kernel.group_size() + ">(kf_thread.x, " + mode + ", " + sums + ")"};
}

/// Returns the statements that add the gradients of a run's calls.
std::string add_of_run(Body& body, const ArgumentText& x, const GradientPlace& place,
                       const std::string& mode) {
    const std::string kept = "kf_d_" + x.id;
    const Run& calls = x.kernel.run;
    const std::string run = std::to_string(body.run);
    const std::string where = mode + ", " + x.address(RecordKind::grad_out) + ", kf_first, " +
                              calls.step(x.kernel.call.group_size[0]) + ")";
    if (moves_quads(body, x)) {
        keep_quads(body, x, kept);
        body.results.emplace_back(kept + ".set(kf_u, " + place.gradient + ")");
        return "kf.add_quads<" + x.scalar() + ", " + sum_type(x) + ", " + run + ">(" + sum_name(x) + ", " +
               kept + ", " + where;
    }
    body.keep("vector<" + x.scalar() + ", " + std::to_string(x.scalars()) + ">", kept);
    body.results.emplace_back(kept + "[kf_u] = " + place.gradient);
    const std::string beside = calls.beside > 1 ? ", " + std::to_string(calls.beside) : "";
    return sum_name(x) + ".add_run<" + run + beside + ">(" + kept + ", " + where;
}

SumStatements sum_in_runs(Body& body, const ArgumentText& x, const GradientPlace& place,
                          const std::string& mode, const std::string& shared) {
    const std::string sum = sum_name(x);
    return {body.run > 1 ? add_of_run(body, x, place, mode)
                         : sum + ".add_one(" + place.gradient + ", " + mode + ", " +
                               x.address(RecordKind::grad_out) + ", kf_call)",
            sum + ".finish<" + x.kernel.group_size() + ">(kf_thread.x, " + mode + ", " + shared + ", " +
                in_words(x, "1") + ")"};
}

SumStatements sum_by_scalars(const ArgumentText& x, const GradientPlace& place, const std::string& mode,
                             const std::string& shared) {
    const std::string sum = sum_name(x);
    return {
        x.loop(sum + ".add_scalar(" + x.flat_index() + ", " + x.subscripted(place.gradient) + ", " + mode +
               ", " + x.pointer(x.address(RecordKind::grad_out), place.offset + along(place.strides)) + ", " +
               x.pointer(shared, place.shared_offset + along(place.shared_strides)) + ")"),
        "if (kf.is_everywhere(" + x.mode() + ")) " +
            x.loop(sum + ".finish_scalar<" + x.kernel.group_size() + ">(" + x.flat_index() +
                   ", kf_thread.x, " + x.mode() + ", " +
                   x.pointer(shared, "0" + along(place.shared_strides)) + ")")};
}

SumStatements sum_in_turn(Body& body, const ArgumentText& x, const GradientPlace& place,
                          const std::string& mode, const std::string& shared) {
    const std::string sum = sum_name(x);
    const std::string stride = place.strides.empty() ? "1" : place.strides[0];
    const std::string shared_stride = place.shared_strides.empty() ? "1" : place.shared_strides[0];
    const std::string own =
        mode + ", " + x.pointer(x.address(RecordKind::grad_out), place.offset) + ", " + stride;
    std::string add;
    if (x.kernel.strided) {
        add = sum + ".add(" + place.gradient + ", " + own + ", " + x.pointer(shared, place.shared_offset) +
              ", " + shared_stride + ")";
    } else {
        const std::string old = "kf_old_" + x.id;
        body.add_local("let", old, sum + ".load_old(" + own + ")");
        add = sum + ".add_flat(" + place.gradient + ", " + old + ", " + own + ")";
    }
    return {add, sum + ".finish<" + x.kernel.group_size() + ">(kf_thread.x, " + x.mode() + ", " + shared +
                     ", " + shared_stride + ")"};
}

SumStatements sum_statements(Body& body, const ArgumentText& x, const GradientPlace& place) {
    if (x.kernel.rows) return sum_along_rows(body, x, place);
    const std::string mode = mode_of_call(body, x);
    const std::string shared = x.address(place.scratch ? RecordKind::sums : RecordKind::grad_out);
    if (x.kernel.run.length > 1) return sum_in_runs(body, x, place, mode, shared);
    if (is_looped(x.planned)) return sum_by_scalars(x, place, mode, shared);
    return sum_in_turn(body, x, place, mode, shared);
}

void add_scratch(Body& body, const ArgumentText& x, const std::vector<std::string>& strides) {
    View::List dimensions;
    const bool apart = x.kernel.strided || !x.host.spacing.empty();
    for (std::size_t i = x.host.trailing.size(); apart && i-- > 0;) {
        dimensions.emplace_back(
            View::Object{{"extent", std::to_string(x.host.trailing[i])}, {"stride", strides[i]}});
    }
    add_call_dimensions(dimensions, x);
    add_scratch_walk(body, x, dimensions, apart);
}

/// Each gradient's sums are taken up by other subgroups, so that none waits for another's memory.
std::string scratch_start(const Body& body, const KernelContext& kernel) {
    const std::size_t threads = kernel.call.group_threads();
    const std::size_t thread = manifest::usual_lanes * body.scratches.size() % threads;
    if (thread == 0) return "kf_thread.x";
    return "(kf_thread.x + " + std::to_string(thread) + ") % " + std::to_string(threads);
}

/// Whether the gradient is that of an input before, which another thread may be adding to: it is the very
/// same view then.
View::List meeting(Body& body, const std::string& target) {
    std::string text;
    for (const std::string& before : body.scratch_targets)
        text += (text.empty() ? "" : " || ") + ("uint64_t(" + target + ") == uint64_t(" + before + ")");
    body.scratch_targets.push_back(target);
    return text.empty() ? View::List() : View::List{text};
}

}  // namespace

void add_gradient(Body& body, const ArgumentText& x, const std::string& gradient) {
    const bool rows = x.kernel.rows;
    const bool integer = !is_floating(x.host.element.scalar);
    const GradientPlace place = place_gradient(body, x, gradient);
    const SumStatements sum = sum_statements(body, x, place);
    body.gradients.emplace_back(View::Object{
        {"name", x.id},
        {"accumulator", rows               ? "RowGradient"
                        : x.sums_exactly() ? "ExactGradient"
                        : integer          ? "IntegerSum"
                                           : "Gradient"},
        {"types", x.scalar() + (integer ? "" : ", " + sum_type(x))},
        {"count", std::to_string(x.scalars())},
        {"more",
         rows ? ", " + std::to_string(x.kernel.run.length) + (x.sums_exactly() ? ", true" : ", false") : ""},
        {"finish", sum.finish}});
    body.adds.emplace_back(sum.add);
    if (place.scratch) add_scratch(body, x, place.strides);
}

void add_scratch_walk(Body& body, const ArgumentText& x, const View::List& dimensions, bool by_dimension) {
    body.scratches.emplace_back(View::Object{
        {"meets", meeting(body, x.address(RecordKind::grad_out))},
        {"start", scratch_start(body, x.kernel)},
        {"count", x.record(RecordKind::sums) + ".count"},
        {"target", x.address(RecordKind::grad_out)},
        {"scratch", x.address(RecordKind::sums)},
        {"at", by_dimension ? "kf_at" : "kf_scalar"},
        {"is_strided", by_dimension},
        {"dimensions", dimensions},
        {"add", x.sums_exactly() ? "add_exact_sum<" + x.scalar() + ", " + sum_type(x) + ">" : "add_rounded"},
        {"sums", in_words(x, "kf_scalar")}});
}

void add_call_dimensions(View::List& dimensions, const ArgumentText& x) {
    for (std::size_t i = x.host.map.size(); x.kernel.strided && i-- > 0;) {
        const std::int64_t d = x.host.map[i];
        const std::string extent = x.stride(RecordKind::sums, d) + " == 0 ? 1 : " + x.kernel.extent(d);
        dimensions.emplace_back(
            View::Object{{"extent", extent}, {"stride", x.stride(RecordKind::grad_out, d)}});
    }
}

}  // namespace kf::gen
