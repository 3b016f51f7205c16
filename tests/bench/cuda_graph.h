// What is timed on CUDA: calls captured once and run often, so that launching doesn't limit small sizes.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "cuda_bench.h"

class Graph {
public:
    Graph(cudaStream_t stream, const std::function<void()>& calls) : stream_(stream) {
        cudaGraph_t graph = nullptr;
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        calls();
        check(cudaStreamEndCapture(stream, &graph));
        check(cudaGraphInstantiate(&graph_, graph, 0));
        check(cudaGraphDestroy(graph));
        check(cudaEventCreate(&start_));
        check(cudaEventCreate(&stop_));
    }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() {
        cudaGraphExecDestroy(graph_);
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }

    /// Microseconds.
    double run() {
        check(cudaEventRecord(start_, stream_));
        check(cudaGraphLaunch(graph_, stream_));
        check(cudaEventRecord(stop_, stream_));
        check(cudaEventSynchronize(stop_));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start_, stop_));
        return milliseconds * 1000.0;
    }

private:
    cudaStream_t stream_;
    cudaGraphExec_t graph_ = nullptr;
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};
