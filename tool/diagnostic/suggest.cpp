// "Did you mean …?": the known word nearest to an unknown one.
#include "diagnostic/suggest.h"

#include <algorithm>

#include "core/join.h"

namespace kf::gen {
namespace {

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return result;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Damerau's distance over three rows: the one before last is for swapped neighbours.
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
    }
    return row[b.size()];
}

std::optional<std::string> closest(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string wanted = lower(word);
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(wanted, lower(candidate));
        // A candidate that shares no letter with the word is no slip, however short both are.
        if (distance < best_distance && distance < std::max(wanted.size(), candidate.size())) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::vector<std::string> suggestion_notes(std::string_view word, std::string_view what,
                                          const std::vector<std::string>& candidates) {
    std::vector<std::string> notes;
    if (const auto near = closest(word, candidates)) {
        notes.push_back("did you mean '" + *near + "'?");
    }
    if (!candidates.empty()) {
        notes.push_back(std::string(what) + ": " + join(candidates));
    }
    return notes;
}

}  // namespace kf::gen
