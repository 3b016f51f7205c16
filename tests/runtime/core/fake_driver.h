// A driver in host memory that records what it is told to do; dispatches run a function of the test's.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <kf/error.h>

#include "core/driver.h"
#include "runtime/core/record_place.h"

namespace kf::test {

struct FakeAllocation : driver::Allocation {
    std::vector<std::byte> bytes;
};

struct FakeTimestamp : driver::Timestamp {
    double nanoseconds = 0;
};

struct FakeKernel : driver::Kernel {
    manifest::Kernel description;
};

/// One thing that the driver was told.
struct Command {
    std::string what;  ///< "dispatch", "fill", "copy", "upload", "read_back", "flush", "wait", "submit"
    std::string kernel;
    driver::Grid groups{};
    std::vector<std::byte> block;
    std::vector<driver::Use> uses;
    manifest::Kernel description;
    std::vector<driver::Resource> resources = {};
    std::string label = {};

    /// A number of the block: number `index` of a record's member, the first where no name is given.
    template <class T>
    T field(manifest::RecordKind kind, std::int64_t argument = -1, const std::string& member = {},
            std::size_t index = 0) const {
        const std::size_t at = record_place(description, "fake", kind, argument, member);
        T value;
        std::memcpy(&value, block.data() + at + index * sizeof value, sizeof value);
        return value;
    }
};

class FakeDevice : public driver::Device {
public:
    FakeDevice() {
        info_.backend = "fake";
        info_.name = "Fake";
        info_.features = {"float16"};
        info_.processors = 2;
    }

    std::vector<Command> commands;
    std::function<void(FakeDevice&, const Command&)> on_dispatch;
    int kernels_loaded = 0;
    bool fail_kernels = false;
    bool maps = false;  ///< has memory that the host has too
    bool tells_time = false;
    double clock = 0;  ///< nanoseconds: each dispatch takes a microsecond
    bool labels = false;
    driver::Info& editable_info() { return info_; }
    /// Where the next allocation lies.
    [[nodiscard]] std::uint64_t next_address() const { return next_; }
    void set_next_address(std::uint64_t address) { next_ = address; }

    /// Host memory behind a device address.
    std::byte* at(std::uint64_t address) {
        for (const auto& [base, weak] : memory_) {
            const auto allocation = weak.lock();
            if (allocation && address >= base && address < base + allocation->bytes.size()) {
                return allocation->bytes.data() + (address - base);
            }
        }
        throw std::logic_error("no memory at that address");
    }
    std::size_t count(const std::string& what) const {
        std::size_t n = 0;
        for (const Command& command : commands) {
            n += command.what == what ? 1U : 0U;
        }
        return n;
    }
    const Command& last_dispatch() const {
        for (std::size_t i = commands.size(); i-- > 0;) {
            if (commands[i].what == "dispatch") {
                return commands[i];
            }
        }
        throw std::logic_error("nothing was dispatched");
    }

    const driver::Info& info() const override { return info_; }
    std::shared_ptr<driver::Allocation> allocate(std::uint64_t size) override {
        auto allocation = std::make_shared<FakeAllocation>();
        allocation->address = next_;
        allocation->size = size;
        allocation->bytes.assign(size, std::byte{0xcd});
        memory_[next_] = allocation;
        next_ += (size + 511) / 256 * 256;
        return allocation;
    }
    std::shared_ptr<driver::Allocation> allocate_mapped(std::uint64_t size) override {
        if (!maps || size > driver::most_mapped) return nullptr;
        auto allocation = allocate(size);
        allocation->host = bytes(allocation);
        return allocation;
    }
    std::shared_ptr<driver::Allocation> wrap(driver::ForeignMemory) override {
        throw std::logic_error("nobody else has memory here");
    }
    std::shared_ptr<driver::Kernel> load_kernel(const manifest::Kernel& kernel) override {
        if (fail_kernels) {
            throw DeviceError(ErrorCode::missing_feature, "kernel '" + kernel.name + "' needs float16");
        }
        ++kernels_loaded;
        auto loaded = std::make_shared<FakeKernel>();
        loaded->description = kernel;
        return loaded;
    }
    void dispatch(const driver::Dispatch& dispatch) override { run(record(dispatch)); }
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override {
        commands.push_back({"fill", {}, {}, {}, {}, {}});
        if (offset % 4 != 0 || size % 4 != 0 || offset + size > target->size) {
            throw std::logic_error("a bad fill");
        }
        for (std::uint64_t i = 0; i < size; i += 4) {
            std::memcpy(bytes(target) + offset + i, &word, 4);
        }
    }
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override {
        commands.push_back({"copy", {}, {}, {}, {}, {}});
        std::memmove(bytes(target) + target_offset, bytes(source) + source_offset, size);
    }
    void upload(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset,
                std::span<const std::byte> source) override {
        commands.push_back({"upload", {}, {}, {}, {}, {}});
        check(target, offset, source.size());
        std::memcpy(bytes(target) + offset, source.data(), source.size());
    }
    void read_back(const std::shared_ptr<driver::Allocation>& source, std::uint64_t offset,
                   std::span<std::byte> target) override {
        commands.push_back({"read_back", {}, {}, {}, {}, {}});
        check(source, offset, target.size());
        std::memcpy(target.data(), bytes(source) + offset, target.size());
    }
    [[nodiscard]] bool shows_labels() const override { return labels; }
    std::shared_ptr<driver::Timestamp> mark_time() override {
        if (!tells_time) return nullptr;
        auto made = std::make_shared<FakeTimestamp>();
        made->nanoseconds = clock;
        return made;
    }
    [[nodiscard]] double nanoseconds(const driver::Timestamp& from,
                                     const driver::Timestamp& to) const override {
        return dynamic_cast<const FakeTimestamp&>(to).nanoseconds -
               dynamic_cast<const FakeTimestamp&>(from).nanoseconds;
    }
    void flush() override { commands.push_back({"flush", {}, {}, {}, {}, {}}); }
    void wait() override { commands.push_back({"wait", {}, {}, {}, {}, {}}); }
    std::unique_ptr<driver::Recorder> make_recorder() override;
    void submit(std::unique_ptr<driver::Recorder> recorder) override;

    static Command describe(const driver::Dispatch& dispatch) {
        const auto& kernel = dynamic_cast<const FakeKernel&>(*dispatch.kernel);
        return {"dispatch",
                kernel.description.name,
                dispatch.groups,
                {dispatch.block.begin(), dispatch.block.end()},
                {dispatch.uses.begin(), dispatch.uses.end()},
                kernel.description,
                {dispatch.resources.begin(), dispatch.resources.end()},
                std::string(dispatch.label)};
    }

private:
    static std::byte* bytes(const std::shared_ptr<driver::Allocation>& allocation) {
        return dynamic_cast<FakeAllocation&>(*allocation).bytes.data();
    }
    static void check(const std::shared_ptr<driver::Allocation>& allocation, std::uint64_t offset,
                      std::size_t size) {
        if (offset + size > allocation->size) {
            throw std::logic_error("a transfer out of bounds");
        }
    }
    Command record(const driver::Dispatch& dispatch) {
        commands.push_back(describe(dispatch));
        return commands.back();
    }
    void run(const Command& command) {
        clock += 1000;
        if (on_dispatch) {
            on_dispatch(*this, command);
        }
    }

    driver::Info info_;
    std::map<std::uint64_t, std::weak_ptr<FakeAllocation>> memory_;
    std::uint64_t next_ = 0x10000;
};

class FakeRecorder : public driver::Recorder {
public:
    explicit FakeRecorder(FakeDevice& device) : device_(device) {}
    void dispatch(const driver::Dispatch& dispatch) override {
        std::vector<std::shared_ptr<driver::Allocation>> owned;
        for (const driver::Use& use : dispatch.uses) owned.push_back(use.allocation->shared_from_this());
        steps_.push_back([this, kernel = dispatch.kernel->shared_from_this(), groups = dispatch.groups,
                          block = std::vector(dispatch.block.begin(), dispatch.block.end()), owned,
                          uses = std::vector(dispatch.uses.begin(), dispatch.uses.end()),
                          resources = std::vector(dispatch.resources.begin(), dispatch.resources.end())] {
            device_.dispatch({kernel.get(), groups, block, uses, resources});
        });
    }
    void fill(const std::shared_ptr<driver::Allocation>& target, std::uint64_t offset, std::uint64_t size,
              std::uint32_t word) override {
        steps_.push_back([=, this] { device_.fill(target, offset, size, word); });
    }
    void copy(const std::shared_ptr<driver::Allocation>& target, std::uint64_t target_offset,
              const std::shared_ptr<driver::Allocation>& source, std::uint64_t source_offset,
              std::uint64_t size) override {
        steps_.push_back([=, this] { device_.copy(target, target_offset, source, source_offset, size); });
    }
    void run() {
        for (const auto& step : steps_) {
            step();
        }
    }

private:
    FakeDevice& device_;
    std::vector<std::function<void()>> steps_;
};

inline std::unique_ptr<driver::Recorder> FakeDevice::make_recorder() {
    return std::make_unique<FakeRecorder>(*this);
}

inline void FakeDevice::submit(std::unique_ptr<driver::Recorder> recorder) {
    commands.push_back({"submit", {}, {}, {}, {}, {}});
    dynamic_cast<FakeRecorder&>(*recorder).run();
}

}  // namespace kf::test
