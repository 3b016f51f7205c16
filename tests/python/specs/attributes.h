// What gradients.slang includes.
#pragma once

#define DIFFERENTIABLE [Differentiable]
