// A shared library whose kernels are in a file beside it.
#include "offset.h"

extern "C" float shifted(float value) {
    const kf::Device device = kf::Device::open();
    const consumer::kernels::Module module(device);
    return module.offset(2.0F, device.tensor<float>({value})).to_vector().front();
}
