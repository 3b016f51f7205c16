#!/usr/bin/env bash
# Prints the specs that the GPU suite needs, one a line. Run it in the repository's root.
#
# KF_GPU_PRODUCTS: "full" (the default) takes the specs with full products, where there are any; "pairs" leaves them out,
# which takes half the time.
set -euo pipefail
"${PYTHON:-python3}" tests/conformance/modules.py build/conformance
for spec in tests/python/specs/*.kf.json tests/runtime/*/*.kf.json tests/tool/check/specs/*.kf.json \
    tests/gpu/specs/*.kf.json build/conformance/*.kf.json tests/bench/*.kf.json samples/*/*.kf.json; do
    full=$(dirname "$spec")/full/$(basename "$spec")
    [ ! -e "$full" ] || [ "${KF_GPU_PRODUCTS:-full}" != full ] || spec=$full
    echo "$spec"
done
