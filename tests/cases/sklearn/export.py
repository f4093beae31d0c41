"""Trains small models of scikit-learn, XGBoost and LightGBM and writes them as ONNX beside their own
predictions, in the layout of ONNX's backend tests. Run in a virtual environment with scikit-learn,
xgboost, lightgbm, skl2onnx and onnxmltools:

    python tests/cases/sklearn/export.py
"""
import json
import pathlib
import shutil

import numpy as np
import onnx
import onnx.helper
from onnx import numpy_helper
import onnxmltools
from onnxmltools.convert.common.data_types import FloatTensorType as MltoolsFloats
import sklearn
from sklearn import (cluster, compose, decomposition, ensemble, impute, linear_model, naive_bayes,
                     neighbors, neural_network, pipeline, preprocessing, svm, tree)
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
import lightgbm
import xgboost

HERE = pathlib.Path(__file__).parent
OPSET = {"": 21, "ai.onnx.ml": 3}
RANDOM = np.random.RandomState(2026)

FEATURES = RANDOM.randn(240, 5).astype(np.float32)
CENTRES = np.array([[1.5, 0, 0, 0, 0], [-1.5, 1, 0, 0, 0], [0, -1.5, 1, 0, 0]])
THREE = np.argmax(FEATURES @ CENTRES.T + 0.3 * RANDOM.randn(240, 3), axis=1)
TWO = (THREE > 0).astype(np.int64)
NAMES = np.array(["ash", "birch", "cedar"])[THREE]
TARGET = (FEATURES @ np.array([1, -2, 0.5, 0, 3]) + np.sin(FEATURES[:, 0])).astype(np.float32)
COUNTS = RANDOM.poisson(3, (240, 5)).astype(np.float32)
ROWS = FEATURES[:12]


def value_file(path, value):
    """A tensor, or the list of dicts that ZipMap gives."""
    if not isinstance(value, list):
        path.write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())
        return
    maps = []
    for row in value:
        keys = list(row)
        kind = onnx.TensorProto.STRING if isinstance(keys[0], str) else onnx.TensorProto.INT64
        scores = [numpy_helper.from_array(np.float32(row[k]).reshape(())) for k in keys]
        values = onnx.helper.make_sequence("", onnx.SequenceProto.TENSOR, scores)
        named = [k.encode() if isinstance(k, str) else k for k in keys]
        maps.append(onnx.helper.make_map("", kind, named, values))
    path.write_bytes(onnx.helper.make_sequence("", onnx.SequenceProto.MAP, maps).SerializeToString())


def write(name, model, inputs, outputs):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    del model.metadata_props[:]
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    (folder / "data.json").write_text(json.dumps({"rtol": 1e-5, "atol": 1e-5}) + "\n")
    for i, value in enumerate(inputs):
        value_file(data / f"input_{i}.pb", value)
    for i, value in enumerate(outputs):
        value_file(data / f"output_{i}.pb", value)


def labels(values):
    values = np.asarray(values)
    return values.astype(object) if values.dtype.kind in "US" else values.astype(np.int64)


def classifier(name, model, y, x=FEATURES, rows=ROWS, zipmap=False, scores="predict_proba",
               options=None):
    model.fit(x, y)
    options = {id(model): options if options is not None else {"zipmap": zipmap}}
    onx = to_onnx(model, initial_types=[("X", FloatTensorType([None, x.shape[1]]))],
                  target_opset=OPSET, options=options)
    found = np.asarray(getattr(model, scores)(rows), dtype=np.float32)
    if zipmap:
        keys = [k if isinstance(k, str) else int(k) for k in model.classes_.tolist()]
        found = [dict(zip(keys, row)) for row in found]
    write(name, onx, [rows], [labels(model.predict(rows)), found])


def regressor(name, model, y=TARGET, x=FEATURES, rows=ROWS):
    model.fit(x, y)
    onx = to_onnx(model, initial_types=[("X", FloatTensorType([None, x.shape[1]]))],
                  target_opset=OPSET)
    write(name, onx, [rows], [np.asarray(model.predict(rows), np.float32).reshape(len(rows), -1)])


def transformer(name, model, x=FEATURES, rows=ROWS):
    model.fit(x)
    onx = to_onnx(model, initial_types=[("X", FloatTensorType([None, x.shape[1]]))],
                  target_opset=OPSET)
    write(name, onx, [rows], [np.asarray(model.transform(rows), np.float32)])


def boosted(name, model, y, convert, classes):
    model.fit(FEATURES, y)
    onx = convert(model, initial_types=[("X", MltoolsFloats([None, 5]))], target_opset=15)
    if classes:
        outputs = [labels(model.predict(ROWS)), model.predict_proba(ROWS).astype(np.float32)]
        if len(onx.graph.output) == 2 and onx.graph.output[1].type.WhichOneof("value") == "sequence_type":
            outputs[1] = [dict(enumerate(row.tolist())) for row in outputs[1]]
    else:
        outputs = [np.asarray(model.predict(ROWS), np.float32).reshape(-1, 1)]
    write(name, onx, [ROWS], outputs)


def columns():
    """Strings and numbers through encoders of their own into one classifier."""
    import pandas
    colours = np.array(["red", "green", "blue"])[RANDOM.randint(0, 3, 240)]
    sizes = RANDOM.randint(0, 4, 240).astype(np.int64)
    frame = pandas.DataFrame({"colour": colours, "size": sizes, "weight": FEATURES[:, 0]})
    y = ((colours == "red") ^ (FEATURES[:, 0] > 0)).astype(np.int64)
    model = pipeline.make_pipeline(
        compose.ColumnTransformer([
            ("colour", preprocessing.OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("size", preprocessing.OneHotEncoder(), ["size"]),
            ("weight", preprocessing.StandardScaler(), ["weight"])]),
        linear_model.LogisticRegression())
    model.fit(frame, y)
    types = [("colour", StringTensorType([None, 1])), ("size", Int64TensorType([None, 1])),
             ("weight", FloatTensorType([None, 1]))]
    onx = to_onnx(model, initial_types=types, target_opset=OPSET,
                  options={id(model): {"zipmap": False}})
    part = frame[:12]
    inputs = [part["colour"].to_numpy().astype(object).reshape(-1, 1),
              part["size"].to_numpy().reshape(-1, 1),
              part["weight"].to_numpy(np.float32).reshape(-1, 1)]
    write("column_transformer", onx, inputs,
          [labels(model.predict(part)), model.predict_proba(part).astype(np.float32)])


def main():
    linear = linear_model
    classifier("logistic_two_classes", linear.LogisticRegression(), TWO)
    classifier("logistic_three_classes", linear.LogisticRegression(), THREE, zipmap=True)
    classifier("logistic_names", linear.LogisticRegression(), NAMES, zipmap=True)
    classifier("sgd_log_loss", linear.SGDClassifier(loss="log_loss", random_state=0), THREE)
    classifier("linear_svc", svm.LinearSVC(), THREE, scores="decision_function",
               options={"raw_scores": True})
    classifier("decision_tree", tree.DecisionTreeClassifier(max_depth=4, random_state=0), THREE)
    classifier("decision_tree_two_classes", tree.DecisionTreeClassifier(max_depth=3, random_state=0),
               TWO)
    classifier("random_forest", ensemble.RandomForestClassifier(8, max_depth=4, random_state=0), NAMES)
    classifier("extra_trees", ensemble.ExtraTreesClassifier(8, max_depth=4, random_state=0), TWO)
    classifier("gradient_boosting", ensemble.GradientBoostingClassifier(
        n_estimators=10, max_depth=2, random_state=0), TWO)
    classifier("gradient_boosting_three", ensemble.GradientBoostingClassifier(
        n_estimators=5, max_depth=2, random_state=0), THREE)
    classifier("ada_boost", ensemble.AdaBoostClassifier(n_estimators=5, random_state=0), TWO)
    classifier("bagging", ensemble.BaggingClassifier(
        tree.DecisionTreeClassifier(max_depth=3), n_estimators=5, random_state=0), THREE)
    classifier("voting", ensemble.VotingClassifier([
        ("a", linear.LogisticRegression()), ("b", naive_bayes.GaussianNB())], voting="soft",
        flatten_transform=False), THREE)
    classifier("k_nearest", neighbors.KNeighborsClassifier(3), THREE)
    classifier("gaussian_naive_bayes", naive_bayes.GaussianNB(), THREE)
    classifier("multinomial_naive_bayes", naive_bayes.MultinomialNB(), THREE, COUNTS, COUNTS[:12])
    classifier("bernoulli_naive_bayes", naive_bayes.BernoulliNB(), THREE)
    classifier("neural_network", neural_network.MLPClassifier((8,), max_iter=200, random_state=0),
               THREE)
    classifier("svc_rbf", svm.SVC(probability=True, random_state=0), TWO)
    classifier("svc_rbf_three", svm.SVC(probability=True, random_state=0), THREE)
    classifier("svc_polynomial", svm.SVC(kernel="poly", degree=3, random_state=0,
                                         decision_function_shape="ovo"), THREE,
               scores="decision_function", options={"raw_scores": True, "zipmap": False})
    classifier("nu_svc", svm.NuSVC(nu=0.3, probability=True, random_state=0), TWO)
    classifier("scaled_pipeline", pipeline.make_pipeline(
        impute.SimpleImputer(), preprocessing.StandardScaler(),
        preprocessing.PolynomialFeatures(2), linear.LogisticRegression(max_iter=500)), THREE)

    regressor("linear_regression", linear.LinearRegression())
    regressor("ridge", linear.Ridge())
    regressor("elastic_net", linear.ElasticNet(alpha=0.1))
    regressor("svr", svm.SVR())
    regressor("linear_svr", svm.LinearSVR(random_state=0))
    regressor("decision_tree_regressor", tree.DecisionTreeRegressor(max_depth=4, random_state=0))
    regressor("two_targets", tree.DecisionTreeRegressor(max_depth=3, random_state=0),
              np.stack([TARGET, -2 * TARGET], axis=1))
    regressor("random_forest_regressor", ensemble.RandomForestRegressor(
        8, max_depth=4, random_state=0))
    regressor("gradient_boosting_regressor", ensemble.GradientBoostingRegressor(
        n_estimators=10, max_depth=2, random_state=0))
    regressor("k_nearest_regressor", neighbors.KNeighborsRegressor(3))
    regressor("neural_network_regressor", neural_network.MLPRegressor(
        hidden_layer_sizes=(8,), max_iter=200, random_state=0))

    transformer("standard_scaler", preprocessing.StandardScaler())
    transformer("min_max_scaler", preprocessing.MinMaxScaler())
    transformer("robust_scaler", preprocessing.RobustScaler())
    transformer("normalizer", preprocessing.Normalizer("l1"))
    transformer("binarizer", preprocessing.Binarizer(threshold=0.25))
    transformer("principal_components", decomposition.PCA(2))
    with_holes = FEATURES.copy()
    with_holes[::7, 1] = np.nan
    transformer("imputer", impute.SimpleImputer(), with_holes, with_holes[:12])

    means = cluster.KMeans(3, n_init=2, random_state=0).fit(FEATURES)
    onx = to_onnx(means, initial_types=[("X", FloatTensorType([None, 5]))], target_opset=OPSET)
    write("k_means", onx, [ROWS], [labels(means.predict(ROWS)),
                                   means.transform(ROWS).astype(np.float32)])
    forest = ensemble.IsolationForest(n_estimators=5, random_state=0).fit(FEATURES)
    onx = to_onnx(forest, initial_types=[("X", FloatTensorType([None, 5]))], target_opset=OPSET)
    write("isolation_forest", onx, [ROWS],
          [labels(forest.predict(ROWS)).reshape(-1, 1),
           forest.decision_function(ROWS).astype(np.float32).reshape(-1, 1)])
    columns()

    boosted("xgboost_two_classes", xgboost.XGBClassifier(n_estimators=8, max_depth=3), TWO,
            onnxmltools.convert_xgboost, True)
    boosted("xgboost_three_classes", xgboost.XGBClassifier(n_estimators=5, max_depth=3), THREE,
            onnxmltools.convert_xgboost, True)
    boosted("xgboost_regressor", xgboost.XGBRegressor(n_estimators=8, max_depth=3), TARGET,
            onnxmltools.convert_xgboost, False)
    boosted("lightgbm_two_classes", lightgbm.LGBMClassifier(n_estimators=8, max_depth=3, verbose=-1),
            TWO, onnxmltools.convert_lightgbm, True)
    boosted("lightgbm_three_classes", lightgbm.LGBMClassifier(
        n_estimators=5, max_depth=3, verbose=-1), THREE, onnxmltools.convert_lightgbm, True)
    boosted("lightgbm_regressor", lightgbm.LGBMRegressor(n_estimators=8, max_depth=3, verbose=-1),
            TARGET, onnxmltools.convert_lightgbm, False)
    print(f"scikit-learn {sklearn.__version__}, xgboost {xgboost.__version__}, "
          f"lightgbm {lightgbm.__version__}: {len(list(HERE.glob('*/model.onnx')))} models")


if __name__ == "__main__":
    main()
