// Everything that a user of the runtime includes.
#pragma once

#include <kf/buffer.h>
#include <kf/device.h>
#include <kf/encoder.h>
#include <kf/error.h>
#include <kf/generator.h>
#include <kf/graph.h>
#include <kf/matrix.h>
#include <kf/module.h>
#include <kf/pointer.h>
#include <kf/prepared.h>
#include <kf/profile.h>
#include <kf/sampler.h>
#include <kf/scalar_arg.h>
#include <kf/tensor.h>
#include <kf/texture.h>
#include <kf/types.h>
#include <kf/value.h>
