#!/usr/bin/env python3
"""Trains gradient-boosted trees with LightGBM and exports them: 500 trees of depth 6, 30 features.

Usage: python bench/make_trees.py FOLDER

Needs lightgbm, scikit-learn, onnxmltools and numpy (a virtual environment of its own). Writes
gbt500.onnx (a regressor) and gbt500_class.onnx (three classes), with a dynamic batch, and beside each
NAME_input_0.npy (1000 rows) and NAME_output_I.npy (what LightGBM computes).
"""
import os
import sys

import lightgbm
import numpy as np
import onnx
from onnxmltools import convert_lightgbm
from onnxmltools.convert.common.data_types import FloatTensorType

FEATURES, ROWS, TREES = 30, 20000, 500
SETTINGS = {"n_estimators": TREES, "max_depth": 6, "num_leaves": 48, "learning_rate": 0.05,
            "random_state": 1, "n_jobs": 1, "verbose": -1, "deterministic": True}


def save(folder, name, model, rows, outputs):
    converted = convert_lightgbm(model, initial_types=[("input", FloatTensorType([None, FEATURES]))],
                                 target_opset=15, zipmap=False)
    for output in converted.graph.output:  # the converter says one row
        output.type.tensor_type.shape.dim[0].Clear()
        output.type.tensor_type.shape.dim[0].dim_param = "rows"
    path = os.path.join(folder, name)
    onnx.save(converted, path + ".onnx")
    np.save(path + "_input_0.npy", rows)
    for i, value in enumerate(outputs):
        np.save(f"{path}_output_{i}.npy", value)
        print(f"{name} output {i} {list(value.shape)}: spread {value.std():.3f}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(1)
    features = random.standard_normal((ROWS, FEATURES)).astype(np.float32)
    mix = random.standard_normal((FEATURES, 3))
    scores = np.sin(features @ mix) + 0.3 * features[:, :3] * features[:, 3:6]
    target = scores.sum(1) + 0.1 * random.standard_normal(ROWS)
    rows = random.standard_normal((1000, FEATURES)).astype(np.float32)
    model = lightgbm.LGBMRegressor(**SETTINGS).fit(features, target)
    save(folder, "gbt500", model, rows, [model.predict(rows).astype(np.float32)[:, None]])
    classes = scores.argmax(1)
    model = lightgbm.LGBMClassifier(**{**SETTINGS, "n_estimators": TREES // 3})
    model.fit(features, classes)
    save(folder, "gbt500_class", model, rows,
         [model.predict(rows).astype(np.int64), model.predict_proba(rows).astype(np.float32)])


if __name__ == "__main__":
    main()
