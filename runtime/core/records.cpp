// Where the members of records lie.
#include "core/records.h"

#include <cstddef>
#include <utility>

namespace kf::manifest {
namespace {

/// Places members one after the other.
class LayoutWriter {
public:
    LayoutWriter& add(const char* name, std::int64_t bytes, std::int64_t count = 1) {
        if (count == 0) return *this;
        layout_.end = (layout_.end + bytes - 1) / bytes * bytes;
        layout_.members.push_back({name, layout_.end});
        layout_.end += bytes * count;
        layout_.alignment = layout_.alignment > bytes ? layout_.alignment : bytes;
        return *this;
    }

    [[nodiscard]] RecordLayout take() { return std::move(layout_); }

private:
    RecordLayout layout_;
};

constexpr std::int64_t word = 4;
constexpr std::int64_t wide = 8;

static_assert(sizeof(HashRecord) == 8 && offsetof(RandomRecord, last) == 16 && sizeof(RandomRecord) == 20);

}  // namespace

RecordLayout record_layout(const Record& record) {
    LayoutWriter writer;
    const std::int64_t numbers = record.numbers();
    switch (record.kind) {
        case RecordKind::launch: writer.add("total", wide).add("groups", word); break;
        case RecordKind::walk:
            writer.add("rows", wide).add("tile_rows", wide).add("outer", wide, numbers);
            for (const char* name :
                 {"row_length", "tile_runs", "tiles_down", "tiles_along", "along_reciprocal"}) {
                writer.add(name, word);
            }
            break;
        case RecordKind::shape: writer.add("extents", wide, numbers); break;
        case RecordKind::value: break;
        case RecordKind::counter:
        case RecordKind::pointer: writer.add("", wide); break;
        case RecordKind::reports: writer.add("words", wide).add("launch", word); break;
        case RecordKind::step: writer.add("", word); break;
        case RecordKind::data:
            writer.add("data", wide).add("strides", wide, numbers).add("step", word, record.flagged ? 1 : 0);
            break;
        case RecordKind::grad_in: writer.add("data", wide).add("strides", wide, numbers); break;
        case RecordKind::grad_out:
            writer.add("data", wide).add("strides", wide, numbers).add("mode", word, record.flagged ? 1 : 0);
            break;
        case RecordKind::sums:
            writer.add("data", wide).add("count", wide).add("strides", wide, numbers);
            break;
        case RecordKind::strides: writer.add("strides", wide, numbers); break;
        case RecordKind::extents: writer.add("extents", word, numbers); break;
        case RecordKind::grid: writer.add("offsets", wide, numbers).add("strides", wide, numbers); break;
        case RecordKind::hash: writer.add("seed", word).add("warmup", word); break;
        case RecordKind::random:
            for (const char* name : {"seed", "warmup", "low", "span", "last"}) writer.add(name, word);
            break;
    }
    return writer.take();
}

}  // namespace kf::manifest
