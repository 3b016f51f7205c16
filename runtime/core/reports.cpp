// What kernels report to the host while they run.
#include "core/reports.h"

#include <kf/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdio>
#include <optional>
#include <utility>

#include "core/join.h"
#include "core/loaded_artifact.h"
#include "core/pass_text.h"
#include "core/resource_list.h"

namespace kf::detail {
namespace {

// kf_reports.slang has the same.
constexpr std::size_t head = 7;
enum class Kind : std::uint32_t { line, assertion, index, access };

/// One report, in its words.
class Report {
public:
    explicit Report(std::span<const std::uint32_t> words) : words_(words) {}

    [[nodiscard]] Kind kind() const { return static_cast<Kind>(words_[1]); }
    [[nodiscard]] std::uint32_t launch() const { return words_[2]; }
    [[nodiscard]] std::array<std::uint32_t, 3> thread() const { return {words_[3], words_[4], words_[5]}; }
    [[nodiscard]] std::uint64_t call() const { return wide(words_, 3); }
    [[nodiscard]] std::uint32_t message() const { return words_[6]; }
    [[nodiscard]] std::span<const std::uint32_t> rest() const { return words_.subspan(head); }

    [[nodiscard]] static std::uint64_t wide(std::span<const std::uint32_t> words, std::size_t at) {
        return words[at] | std::uint64_t{words[at + 1]} << 32U;
    }

private:
    std::span<const std::uint32_t> words_;
};

std::string list_of(const std::vector<std::string>& numbers) { return "[" + join(numbers, ", ") + "]"; }

const manifest::Message* find_message(const ReportingCall& call, std::uint32_t number) {
    const auto& messages = call.artifact->manifest.messages;
    const auto found = std::ranges::find(messages, number, &manifest::Message::number);
    return found == messages.end() ? nullptr : &*found;
}

/// "[2, 3]": which of the launch's calls it is; of one that is launched by threads, the thread's index, x
/// first.
std::string index_text(const ReportingCall& call, const Report& report) {
    const manifest::Function& function = call.artifact->manifest.functions[call.function];
    std::vector<std::string> numbers;
    if (function.calls[call.call].dispatch != manifest::Dispatch::elements) {
        for (const std::uint32_t number : report.thread()) numbers.push_back(std::to_string(number));
        return "thread " + list_of(numbers);
    }
    std::uint64_t rest = report.call();
    for (std::size_t d = call.shape.size(); d-- > 0;) {
        const auto extent = static_cast<std::uint64_t>(std::max<std::int64_t>(call.shape[d], 1));
        numbers.insert(numbers.begin(), std::to_string(d == 0 ? rest : rest % extent));
        rest /= extent;
    }
    return numbers.empty() ? "" : list_of(numbers);
}

/// "scale, launch 3 [2, 3]"
std::string who(const ReportingCall& call, const Report& report) {
    const manifest::Function& function = call.artifact->manifest.functions[call.function];
    const std::string index = index_text(call, report);
    return pass_of(function.name, to_string(call.pass)) + ", launch " + std::to_string(report.launch()) +
           (index.empty() ? "" : " ") + index;
}

/// What is at the address, in the words of messages.
std::string name_at(const ReportingCall& call, std::uint64_t address) {
    const auto names_of = [&](const auto& is_meant) {
        std::vector<std::string> names;
        for (const ReportingCall::Memory& memory : call.memory) {
            if (is_meant(memory) && std::ranges::find(names, memory.name) == names.end())
                names.push_back(memory.name);
        }
        return names;
    };
    // Views of one tensor lie within each other, and a call of a batch has a part of its own.
    std::vector<std::string> names =
        names_of([&](const ReportingCall::Memory& memory) { return memory.low == address; });
    if (names.empty())
        names = names_of([&](const ReportingCall::Memory& memory) {
            return address > memory.low && address < memory.high;
        });
    return names.empty() ? "a tensor" : join(names, " or ");
}

/// "argument 'b'": the resource of this number, from 1 on, or of 0 those at the address.
std::string name_of_resource(const std::vector<manifest::ResourceSlot>& slots, const ReportingCall& call,
                             std::uint32_t number, std::uint64_t address) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool is_there = i < call.buffers.size() && call.buffers[i] == address && address != 0;
        if (number == 0 ? is_there : number == i + 1) names.push_back("argument '" + slots[i].name + "'");
    }
    return names.empty() ? "a buffer" : join(names, " or ");
}

/// What an access was of, and what a number of its index counts in the words of the argument: byte addresses
/// are reported by their words.
struct Accessed {
    std::string name;
    std::uint64_t unit = 1;
};

Accessed accessed(const ReportingCall& call, std::span<const std::uint32_t> words) {
    const manifest::Function& function = call.artifact->manifest.functions[call.function];
    const std::vector<manifest::ResourceSlot> slots = manifest::resource_slots(function.calls[call.call]);
    std::uint64_t number = words[3];
    const std::uint64_t address = Report::wide(words, 0);
    Accessed result{name_of_resource(slots, call, words[3], address), 1};
    if (number == 0) {  // CUDA's buffers
        const auto found = std::find(call.buffers.begin(), call.buffers.end(), address);
        number = static_cast<std::uint64_t>(found - call.buffers.begin()) + 1;
    }
    if (number > slots.size()) return result;
    const manifest::ResourceSlot& slot = slots[number - 1];
    if (slot.kind == manifest::ResourceKind::buffer && words[4] > static_cast<std::uint64_t>(slot.stride))
        result.unit = words[4] / static_cast<std::uint64_t>(slot.stride);
    return result;
}

Error index_error(const ReportingCall& call, const Report& report) {
    const std::span<const std::uint32_t> words = report.rest();
    const bool is_tensor = report.kind() == Kind::index;
    const Accessed what =
        is_tensor ? Accessed{name_at(call, Report::wide(words, 0)), 1} : accessed(call, words);
    const std::span<const std::uint32_t> numbers = words.subspan(is_tensor ? 3 : 5);
    std::vector<std::string> index;
    std::vector<std::string> extents;
    for (std::size_t d = 0; d < words[2]; ++d) {
        const auto unit = static_cast<std::int64_t>(what.unit);
        index.push_back(std::to_string(static_cast<std::int64_t>(Report::wide(numbers, 3 * d)) * unit));
        extents.push_back(std::to_string(numbers[3 * d + 2] * what.unit));
    }
    const manifest::Message* const site = find_message(call, report.message());
    return {ErrorCode::index_out_of_range,
            who(call, report) + ": " + what.name + ": index " + list_of(index) + " is outside of extents " +
                list_of(extents) + (site != nullptr ? ", at " + site->place : "") +
                "; the access was not made, and what the launch wrote is undefined"};
}

Error assertion_error(const ReportingCall& call, const Report& report) {
    const manifest::Message* const message = find_message(call, report.message());
    return {ErrorCode::assertion_failed,
            who(call, report) + ": " +
                (message != nullptr ? message->place + ": " + message->text : "an assertion") +
                " does not hold"};
}

// ---- Lines ----

/// One value that was printed.
struct Value {
    ScalarType type = ScalarType::int32;
    std::vector<std::uint64_t> scalars;
};

/// Takes the first of the arguments off; nothing where there are none.
std::optional<Value> take_value(std::span<const std::uint32_t>& arguments) {
    if (arguments.empty()) return std::nullopt;
    Value value{static_cast<ScalarType>(arguments[0] & 0xFFU), {}};
    const std::size_t count = arguments[0] >> 8U;
    if (arguments.size() < 1 + 2 * count) return std::nullopt;
    for (std::size_t i = 0; i < count; ++i) value.scalars.push_back(Report::wide(arguments, 1 + 2 * i));
    arguments = arguments.subspan(1 + 2 * count);
    return value;
}

template <class T>
std::string print(const std::string& conversion, T value) {
    const int size = std::snprintf(nullptr, 0, conversion.c_str(), value);
    if (size < 0) return {};
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    (void)std::snprintf(text.data(), text.size(), conversion.c_str(), value);
    text.pop_back();
    return text;
}

/// `flags`: of the conversion, with width and precision; `letter`: which it is.
std::string scalar_text(const std::string& flags, char letter, ScalarType type, std::uint64_t bits) {
    const bool is_float = std::string_view("fFeEgGaA").find(letter) != std::string_view::npos;
    if (is_float) {
        const double value = type == ScalarType::float64
                                 ? std::bit_cast<double>(bits)
                                 : double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
        return print("%" + flags + letter, value);
    }
    // A number with a sign and fewer bits was extended to 32 of them.
    std::uint64_t whole = bits;
    if (is_signed_integer(type) && type != ScalarType::int64)
        whole = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(bits)});
    if (letter == 'c') return print("%" + flags + "c", static_cast<int>(whole));
    if (letter == 'd' || letter == 'i') return print("%" + flags + "lld", static_cast<long long>(whole));
    if (letter == 'p') return print("%" + flags + "p", reinterpret_cast<void*>(whole));
    // What lies beyond the number's own bits isn't printed.
    const std::size_t bytes = std::max<std::size_t>(size_of(type), 1);
    if (bytes < 8) whole &= (std::uint64_t{1} << 8 * bytes) - 1;
    return print("%" + flags + "ll" + letter, static_cast<unsigned long long>(whole));
}

}  // namespace

std::string formatted(const std::string& format, std::span<const std::uint32_t> arguments) {
    std::string text;
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%') {
            text += format[at];
            continue;
        }
        if (at + 1 < format.size() && format[at + 1] == '%') {
            text += format[++at];
            continue;
        }
        std::string flags;
        ++at;
        while (at < format.size() &&
               std::string_view("-+ #0123456789.").find(format[at]) != std::string_view::npos)
            flags += format[at++];
        if (at + 1 < format.size() && format[at] == 'v') at += 2;  // how many components there are
        while (at < format.size() && std::string_view("hlzjt").find(format[at]) != std::string_view::npos)
            ++at;
        const std::optional<Value> value = take_value(arguments);
        if (at >= format.size() || !value) break;  // kfgen refused such a format
        std::vector<std::string> scalars;
        for (const std::uint64_t bits : value->scalars)
            scalars.push_back(scalar_text(flags, format[at], value->type, bits));
        text += join(scalars, ", ");
    }
    return text;
}

manifest::ReportsRecord Reports::add(ReportingCall call, bool runs_often) {
    const std::lock_guard lock(mutex_);
    if (++last_ == 0) last_ = 1;  // 0 is no launch's
    launches_[last_] = {std::move(call), runs_often};
    if (launches_.size() % most_launches == 0) {
        std::erase_if(launches_, [&](const auto& launch) {
            return !launch.second.runs_often && last_ - launch.first >= most_launches;
        });
    }
    return {buffer_->address, last_};
}

std::vector<std::uint32_t> Reports::read(driver::Device& driver) const {
    std::array<std::uint32_t, 2> counts{};
    driver.read_back(buffer_, 0, std::as_writable_bytes(std::span(counts)));
    if (counts[0] == 0 && counts[1] == 0) return {};
    // Copied and emptied as one: what others launch meanwhile comes before or after. CUDA has two commands
    // for it.
    const std::uint64_t size = words * sizeof(std::uint32_t);
    const std::shared_ptr<driver::Allocation> copy = driver.allocate(size);
    std::unique_ptr<driver::Recorder> recorder = driver.make_recorder();
    recorder->copy(copy, 0, buffer_, 0, size);
    recorder->fill(buffer_, 0, size, 0);
    {
        const std::unique_lock alone(launching_);
        driver.submit(std::move(recorder));
    }
    std::vector<std::uint32_t> content(words);
    driver.read_back(copy, 0, std::as_writable_bytes(std::span(content)));
    return content;
}

void Reports::take(driver::Device& driver, const std::function<void(const std::string&)>& show) {
    std::unique_lock taking(taking_);
    const std::vector<std::uint32_t> content = read(driver);
    std::vector<std::string> lines;
    std::optional<Error> error;
    {
        const std::lock_guard lock(mutex_);
        const std::size_t end = content.empty() ? 0 : std::min<std::size_t>(begin + content[0], words);
        std::uint32_t first = 0;
        for (std::size_t at = begin; at < end && content[at] >= head && content[at] <= end - at;
             at += content[at]) {
            const std::span<const std::uint32_t> all(content);
            const Report report{all.subspan(at, content[at])};
            const auto launch = launches_.find(report.launch());
            if (launch == launches_.end()) continue;
            const ReportingCall& call = launch->second.call;
            if (report.kind() == Kind::line) {
                const manifest::Message* const message = find_message(call, report.message());
                std::string text = message != nullptr ? formatted(message->text, report.rest()) : "";
                if (!text.ends_with('\n')) text += '\n';
                lines.push_back(who(call, report) + ": " + text);
            } else if (!error || report.launch() < first) {
                first = report.launch();
                error = report.kind() == Kind::assertion ? assertion_error(call, report)
                                                         : index_error(call, report);
            }
        }
    }
    if (!content.empty() && content[1] != 0)
        lines.push_back("kernelfunctions: " + std::to_string(content[1]) +
                        " more found no room: print less, or wait more often\n");
    // Who shows lines may wait for a thread that waits for these.
    taking.unlock();
    for (const std::string& line : lines) show(line);
    if (error) throw Error(*error);
}

}  // namespace kf::detail
