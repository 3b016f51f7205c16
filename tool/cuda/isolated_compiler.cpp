// NVRTC in a child process: requests and answers cross as CBOR.
#include "cuda/isolated_compiler.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "process/worker_process.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using process::WorkerProcess;

/// Programs are any bytes, which JSON's strings may not be.
Json bytes_json(const std::string& text) { return Json::binary({text.begin(), text.end()}); }
std::string bytes_text(const Json& json) {
    const auto& bytes = json.get_binary();
    return {bytes.begin(), bytes.end()};
}

std::string to_bytes(const Json& json) {
    std::string bytes;
    Json::to_cbor(json, bytes);
    return bytes;
}

Json errors_json(const Diagnostics& errors) {
    Json all = Json::array();
    for (const Diagnostic& error : errors) all.push_back({error.id, error.message, error.notes});
    return all;
}

Diagnostics errors_of(const Json& json) {
    Diagnostics errors;
    for (const Json& one : json) {
        errors.push_back({Severity::error,
                          one.at(0).get<std::string>(),
                          {},
                          one.at(1).get<std::string>(),
                          one.at(2).get<std::vector<std::string>>()});
    }
    return errors;
}

/// A name that nobody can know before.
fs::path new_folder() {
    std::random_device random;
    std::error_code failed;
    const fs::path folder = fs::temp_directory_path(failed);
    return failed ? fs::path() : folder / ("kfgen-" + std::to_string(random()) + std::to_string(random()));
}

/// Holds back signals while it lives, so that the process finishes what it does.
class HeldSignals {
public:
    HeldSignals() {
        sigset_t held;
        sigemptyset(&held);
        for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGIO}) sigaddset(&held, one);
        sigprocmask(SIG_BLOCK, &held, &before_);
    }
    ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

private:
    sigset_t before_{};
};

/// The last prelude that was asked for, precompiled in a file without a name. In the child.
class Precompiled {
public:
    Precompiled(const CudaCompiler& compiler, fs::path folder)
        : compiler_(compiler), folder_(std::move(folder)) {}
    ~Precompiled() { forget(); }
    Precompiled(const Precompiled&) = delete;
    Precompiled& operator=(const Precompiled&) = delete;

    /// The file; empty where there is none.
    std::string of(const std::string& prelude, const std::string& architecture) {
        if (prelude != prelude_ || architecture != architecture_) {
            forget();
            make(prelude, architecture);
            prelude_ = prelude;
            architecture_ = architecture;
        }
        return file_ < 0 ? std::string() : "/proc/self/fd/" + std::to_string(file_);
    }

private:
    /// NVRTC writes a file of some 30 MB by its name, which is gone before anything can end the process.
    void make(const std::string& prelude, const std::string& architecture) {
        const HeldSignals held;
        if (folder_.empty() || ::mkdir(folder_.c_str(), 0700) != 0) return;
        const std::string name = (folder_ / "prelude.pch").string();
        if (compiler_.precompile(prelude, architecture, name))
            file_ = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
        ::unlink(name.c_str());
        ::rmdir(folder_.c_str());
    }

    void forget() {
        if (file_ >= 0) ::close(file_);
        file_ = -1;
    }

    const CudaCompiler& compiler_;
    fs::path folder_;
    std::string prelude_;
    std::string architecture_;
    int file_ = -1;
};

class IsolatedCompiler final : public CudaCompiler {
public:
    IsolatedCompiler(std::shared_ptr<const CudaCompiler> compiler, const CudaLimits& limits, bool many)
        : compiler_(std::move(compiler)),
          limits_(limits),
          many_(many),
          folder_(new_folder()),
          worker_([precompiled = std::make_shared<Precompiled>(*compiler_, folder_), compiler = compiler_](
                      const std::string& request) { return answer(request, *compiler, *precompiled); }) {}

    [[nodiscard]] std::string version() const override { return compiler_->version(); }
    [[nodiscard]] std::vector<std::string> architectures() const override {
        return compiler_->architectures();
    }
    [[nodiscard]] std::string build() const override { return compiler_->build(); }
    [[nodiscard]] std::vector<fs::path> files() const override { return compiler_->files(); }
    [[nodiscard]] std::vector<fs::path> headers(const std::string& source) const override {
        return compiler_->headers(source);
    }
    [[nodiscard]] bool precompile(const std::string&, const std::string&, const std::string&) const override {
        return false;
    }

    using CudaCompiler::compile;

    [[nodiscard]] Outcome<CudaCode> compile(const CudaProgram& program, const std::string& architecture,
                                            const std::string&) const override {
        const Outcome<Json> answered = ask("compile", program, architecture);
        if (!answered) return answered.errors();
        const Json& json = answered.value();
        if (json.size() == 1) return errors_of(json.at(0));
        return CudaCode{bytes_text(json.at(0)), bytes_text(json.at(1)), json.at(2).get<std::string>()};
    }

    [[nodiscard]] Diagnostics check(const std::string& source,
                                    const std::string& architecture) const override {
        const Outcome<Json> answered = ask("check", {"the device header", {}, source}, architecture);
        return answered ? errors_of(answered.value().at(0)) : answered.errors();
    }

private:
    static std::string answer(const std::string& request, const CudaCompiler& compiler,
                              Precompiled& precompiled) {
        const Json json = Json::from_cbor(request);
        const CudaProgram program{json.at(2).get<std::string>(), bytes_text(json.at(3)),
                                  bytes_text(json.at(4))};
        const auto architecture = json.at(5).get<std::string>();
        if (json.at(0) == "check")
            return to_bytes(Json::array({errors_json(compiler.check(program.text, architecture))}));
        const std::string file =
            json.at(1).get<bool>() ? precompiled.of(program.prelude, architecture) : std::string();
        const Outcome<CudaCode> compiled = compiler.compile(program, architecture, file);
        if (!compiled) return to_bytes(Json::array({errors_json(compiled.errors())}));
        const CudaCode& code = compiled.value();
        return to_bytes(Json::array({bytes_json(code.cubin), bytes_json(code.ptx), code.log}));
    }

    [[nodiscard]] Outcome<Json> ask(const std::string& what, const CudaProgram& program,
                                    const std::string& architecture) const {
        const auto call = [&](bool precompiles) {
            const WorkerProcess::Reply reply = worker_.call(
                to_bytes(Json::array({what, precompiles, program.name, bytes_json(program.prelude),
                                      bytes_json(program.text), architecture})),
                limits_.time, limits_.memory);
            // A child that was ended while it wrote there left it.
            std::error_code ignored;
            if (reply.result != WorkerProcess::Result::answered && !folder_.empty())
                fs::remove_all(folder_, ignored);
            return reply;
        };
        WorkerProcess::Reply reply = call(many_ && !program.prelude.empty());
        // A new child is tried once more: some crashes depend on where memory happens to lie.
        if (reply.result == WorkerProcess::Result::died) reply = call(false);
        const std::string compiling = "compiling " + program.name + " for " + architecture;
        switch (reply.result) {
            case WorkerProcess::Result::answered: break;
            case WorkerProcess::Result::timed_out:
                return failure("nvrtc-timeout", "NVRTC was stopped: " + compiling + " took " + reply.text);
            case WorkerProcess::Result::too_large:
                return failure("nvrtc-memory", "NVRTC was stopped: " + compiling + " took " + reply.text +
                                                   "; --max-memory sets the limit");
            case WorkerProcess::Result::died:
                return failure("nvrtc-internal", "NVRTC crashed when " + compiling + ": " + reply.text);
        }
        try {
            return Json::from_cbor(reply.text);
        } catch (const Json::exception& error) {
            return failure("nvrtc-internal",
                           "NVRTC's answer when " + compiling + " is malformed: " + error.what());
        }
    }

    static Diagnostic failure(std::string id, std::string message) {
        return {Severity::error, std::move(id), {}, std::move(message), {}};
    }

    std::shared_ptr<const CudaCompiler> compiler_;
    CudaLimits limits_;
    bool many_;
    fs::path folder_;  ///< there while a prelude is precompiled
    mutable WorkerProcess worker_;
};

}  // namespace

std::unique_ptr<const CudaCompiler> make_isolated(std::shared_ptr<const CudaCompiler> compiler,
                                                  const CudaLimits& limits, bool many) {
    return std::make_unique<IsolatedCompiler>(std::move(compiler), limits, many);
}

}  // namespace kf::gen
