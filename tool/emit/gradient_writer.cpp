// Gradients that flow out.
#include "emit/gradient_writer.h"

#include "core/block_slots.h"
#include "plan/types.h"

namespace kf::gen {

using manifest::SlotKind;

std::string GradientWriter::mode_of_call() {
    std::string mode = args(SlotKind::grad_mode);
    if (host().accumulate != manifest::Accumulate::first || !strided_ || call_.rank == 0) return mode;
    std::string name = "kf_mode_" + argument_id(host());
    add_local("const uint", name, is_first(SlotKind::grad_out_stride) + " ? " + mode + " : kf.grad_none");
    return name;
}

void GradientWriter::add_gradient(const std::string& gradient) {
    const std::string id = argument_id(host());
    const bool scratch = needs_scratch(host(), pass_, sums_);
    const std::vector<std::string> own_strides = trailing_strides(SlotKind::grad_out_trailing_stride);
    std::vector<std::string> shared_strides = scratch ? dense_strides() : own_strides;
    for (std::string& stride : shared_strides) stride = in_words(stride);
    std::string offset = "0";
    std::string shared_offset = "0";
    if (!strided_) {
        offset = times("kf_call", pitch());
    } else if (host().call_rank > 0 || is_pushed(host())) {
        offset = add_offset("kf_gradat_" + id, grad_out_strides.call);
        shared_offset = offset;
        if (scratch)
            shared_offset =
                host().call_rank > 0 ? add_offset("kf_scratchat_" + id, SlotKind::scratch_stride) : "0";
        if (!rows_) shared_offset = in_words(shared_offset);
    }
    const std::string mode = mode_of_call();
    const std::string target = args(SlotKind::grad_out);
    const std::string shared = args(scratch ? SlotKind::scratch : SlotKind::grad_out);
    const std::string size = std::to_string(call_.group_size[0]);
    const bool is_integer = !is_floating(host().element.scalar);
    std::string add;
    std::string finish;
    if (rows_) {
        add = add_row_gradient(gradient, offset, shared_offset, finish);
    } else if (whole_run_.length > 1) {
        if (run_ > 1) {
            const std::string kept = "kf_d_" + id;
            if (moves_quads()) {
                keep_quads(kept);
                results_.emplace_back(View::Object{{"statement", kept + ".set(kf_u, " + gradient + ")"}});
            } else {
                keep("vector<" + to_string(host().element.scalar) + ", " +
                         std::to_string(scalar_count(host().trailing)) + ">",
                     kept);
                results_.emplace_back(View::Object{{"statement", kept + "[kf_u] = " + gradient}});
            }
            const std::string run = std::to_string(run_);
            const std::string where = mode + ", " + args(SlotKind::grad_out) + ", kf_first, " +
                                      whole_run_.step(call_.group_size[0]) + ")";
            add = moves_quads()
                      ? "kf.add_quads<" + to_string(host().element.scalar) + ", " + sum_type() + ", " + run +
                            ">(kf_sum_" + id + ", " + kept + ", " + where
                      : "kf_sum_" + id + ".add_run<" + run +
                            (whole_run_.beside > 1 ? ", " + std::to_string(whole_run_.beside) : "") + ">(" +
                            kept + ", " + where;
        } else {
            add = "kf_sum_" + id + ".add_one(" + gradient + ", " + mode + ", " + args(SlotKind::grad_out) +
                  ", kf_call)";
        }
        finish = "kf_sum_" + id + ".finish<" + size + ">(kf_thread.x, " + mode + ", " + shared + ", " +
                 in_words("1") + ")";
    } else if (is_looped(*planned_)) {
        add = loop("kf_sum_" + id + ".add_scalar(" + flat_index() + ", " + subscripted(gradient) + ", " +
                   mode + ", " + pointer(target, offset + along(own_strides)) + ", " +
                   pointer(shared, shared_offset + along(shared_strides)) + ")");
        finish = "if (" + args(SlotKind::grad_mode) + " == kf.grad_everywhere) " +
                 loop("kf_sum_" + id + ".finish_scalar<" + size + ">(" + flat_index() + ", kf_thread.x, " +
                      pointer(shared, "0" + along(shared_strides)) + ")");
    } else {
        const std::string own_stride = own_strides.empty() ? "1" : own_strides[0];
        const std::string shared_stride = shared_strides.empty() ? "1" : shared_strides[0];
        const std::string own = mode + ", " + pointer(target, offset) + ", " + own_stride;
        if (strided_) {
            add = "kf_sum_" + id + ".add(" + gradient + ", " + own + ", " + pointer(shared, shared_offset) +
                  ", " + shared_stride + ")";
        } else {
            const std::string old = "kf_old_" + id;
            add_local("let", old, "kf_sum_" + id + ".load_old(" + own + ")");
            add = "kf_sum_" + id + ".add_flat(" + gradient + ", " + old + ", " + own + ")";
        }
        finish = "kf_sum_" + id + ".finish<" + size + ">(kf_thread.x, " + args(SlotKind::grad_mode) + ", " +
                 shared + ", " + shared_stride + ")";
    }
    gradients_.emplace_back(View::Object{
        {"name", id},
        {"accumulator", rows_            ? "RowGradient"
                        : sums_exactly() ? "ExactGradient"
                        : is_integer     ? "IntegerSum"
                                         : "Gradient"},
        {"more",
         rows_ ? ", " + std::to_string(whole_run_.length) + (sums_exactly() ? ", true" : ", false") : ""},
        {"types", to_string(host().element.scalar) + (is_integer ? "" : ", " + sum_type())},
        {"count", std::to_string(scalar_count(host().trailing))},
        {"finish", finish}});
    adds_.emplace_back(View::Object{{"statement", add}});
    if (scratch) add_scratch(own_strides);
}

std::string GradientWriter::add_row_gradient(const std::string& gradient, const std::string& offset,
                                             const std::string& shared_offset, std::string& finish) {
    const std::string id = argument_id(host());
    const std::string kept = "kf_d_" + id;
    const std::string old = "kf_old_" + id;
    const RowText text =
        row_text(to_string(host().element.scalar), pointer(args(SlotKind::grad_out), offset));
    keep(text.type(), kept);
    keep(text.type(), old);
    results_.emplace_back(View::Object{{"statement", kept + "[kf_u] = " + gradient}});
    const std::string mode = args(SlotKind::grad_mode);
    const bool scratch = needs_scratch(host(), pass_, sums_);
    const std::string sums = "uint64_t(" + args(scratch ? SlotKind::scratch : SlotKind::grad_out) + ")";
    row_gradients_.emplace_back(View::Object{
        {"name", id}, {"mode", mode}, {"row_at", shared_offset}, {"sums", sums}, {"step", step()}});
    finish = "kf_sum_" + id + ".finish<" + std::to_string(call_.group_size[0]) + ">(kf_thread.x, " + mode +
             ", " + sums + ")";
    run_loads_.emplace_back(View::Object{{"statement", text.read_old("kf_sum_" + id, old, mode)}});
    return text.add("kf_sum_" + id, kept, old, mode);
}

void GradientWriter::add_scratch(const std::vector<std::string>& own_strides) {
    View::List dimensions;
    const bool apart = strided_ || !host().spacing.empty();
    for (std::size_t i = host().trailing.size(); apart && i-- > 0;) {
        dimensions.emplace_back(
            View::Object{{"extent", std::to_string(host().trailing[i])}, {"stride", own_strides[i]}});
    }
    add_call_dimensions(dimensions);
    add_scratch_walk(dimensions, apart);
}

void GradientWriter::add_call_dimensions(View::List& dimensions) const {
    for (std::size_t i = host().map.size(); strided_ && i-- > 0;) {
        const std::int64_t d = host().map[i];
        const std::string extent =
            args(SlotKind::scratch_stride, d) + " == 0 ? 1 : " + argument_field(SlotKind::shape, -1, d);
        dimensions.emplace_back(
            View::Object{{"extent", extent}, {"stride", args(SlotKind::grad_out_stride, d)}});
    }
}

std::string GradientWriter::scratch_start() const {
    const std::size_t lanes = manifest::usual_lanes;
    const std::size_t turn = lanes * scratches_.size() % call_.group_size[0];
    if (turn == 0) return "kf_thread.x";
    return "(kf_thread.x + " + std::to_string(turn) + ") % " + std::to_string(call_.group_size[0]);
}

View::List GradientWriter::meeting() {
    const std::string target = args(SlotKind::grad_out);
    std::string text;
    for (const std::string& before : scratch_targets_)
        text += (text.empty() ? "" : " || ") + ("uint64_t(" + target + ") == uint64_t(" + before + ")");
    scratch_targets_.push_back(target);
    return text.empty() ? View::List() : View::List{View::Object{{"text", text}}};
}

void GradientWriter::add_scratch_walk(const View::List& dimensions, bool by_dimension) {
    scratches_.emplace_back(View::Object{
        {"meets", meeting()},
        {"start", scratch_start()},
        {"count", field(SlotKind::scratch_count)},
        {"target", field(SlotKind::grad_out)},
        {"scratch", field(SlotKind::scratch)},
        {"at", by_dimension ? "kf_at" : "kf_scalar"},
        {"is_strided", by_dimension},
        {"dimensions", dimensions},
        {"add", sums_exactly() ? "add_exact_sum<" + to_string(host().element.scalar) + ", " + sum_type() + ">"
                               : "add_rounded"},
        {"words", sums_exactly() ? " * " + std::to_string(exact_words()) : ""}});
}

std::string GradientWriter::in_words(const std::string& sums) const {
    if (!sums_exactly() || sums == "0") return sums;
    const std::string words = std::to_string(exact_words());
    return sums == "1" ? words : sums + " * " + words;
}

}  // namespace kf::gen
