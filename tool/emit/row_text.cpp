// Calls of what kf_rows.slang and kf_runs.slang offer.
#include "emit/row_text.h"

namespace kf::gen {

std::string RowText::type() const { return "vector<" + scalar + ", " + std::to_string(count) + ">"; }

std::string RowText::ragged(const std::string& run) const {
    return "kf.ragged<" + scalar + ", " + std::to_string(count) + ", " + run + ">(" + row + ", " + step + ")";
}

std::string RowText::read(const std::string& name, const std::string& optional) const {
    std::string text = "kf.load_run(" + name + ", " + row + ", " + step + ", kf_first, kf_end, kf_quads)";
    if (optional.empty()) return text;
    return "if (" + optional + " != nullptr) " + text + "; else kf.fill_run(" + name + ", " + type() + "(1))";
}

std::string RowText::write(const std::string& name) const {
    return "kf.store_run(" + name + ", " + row + ", kf_first, kf_end, kf_quads)";
}

std::string RowText::read_old(const std::string& sum, const std::string& name,
                              const std::string& mode) const {
    return sum + ".load_old(" + name + ", " + mode + ", " + row + ", " + step +
           ", kf_first, kf_end, kf_quads)";
}

std::string RowText::add(const std::string& sum, const std::string& gradients, const std::string& old,
                         const std::string& mode) const {
    return sum + ".add_run(" + gradients + ", " + old + ", " + mode + ", " + row +
           ", kf_first, kf_end, kf_quads)";
}

}  // namespace kf::gen
