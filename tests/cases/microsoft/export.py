#!/usr/bin/env python3
"""Makes the models of this folder with ONNX Runtime 1.32's quantizers and optimizer from those of
tests/cases/models, and what ONNX Runtime answers.

Every folder is a case as ONNX's own: model.onnx, test_data_set_0/{input,output}_N.pb, data.json.
"""
import json
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import matmul_nbits_quantizer, shape_inference
from onnxruntime.transformers import optimizer

FOLDER = pathlib.Path(__file__).parent
MODELS = FOLDER.parent / "models"


def inputs_of(name):
    model = onnx.load(MODELS / name / "model.onnx")
    data = sorted((MODELS / name / "test_data_set_0").glob("input_*.pb"))
    tensors = [onnx.load_tensor(str(path)) for path in data]
    return {value.name: numpy_helper.to_array(tensor)
            for value, tensor in zip(model.graph.input, tensors)}


class Reader(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def source(name, scratch):
    path = scratch / f"{name}.onnx"
    shape_inference.quant_pre_process(str(MODELS / name / "model.onnx"), str(path),
                                      skip_symbolic_shape=True)
    return str(path)


def save(name, model, feeds, relative):
    folder = FOLDER / name
    (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    options = onnxruntime.SessionOptions()
    # Without rewriting, so that the answers are those of the model as it is written.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options,
                                           providers=["CPUExecutionProvider"])
    outputs = session.run(None, feeds)
    for kind, names, arrays in (("input", [i.name for i in session.get_inputs()],
                                 [feeds[i.name] for i in session.get_inputs()]),
                                ("output", [o.name for o in session.get_outputs()], outputs)):
        for i, (value, array) in enumerate(zip(names, arrays)):
            onnx.save_tensor(numpy_helper.from_array(array, value),
                             str(folder / "test_data_set_0" / f"{kind}_{i}.pb"))
    (folder / "data.json").write_text(json.dumps({"atol": relative, "rtol": relative}) + "\n")
    print(name, (folder / "model.onnx").stat().st_size,
          sorted({f"{n.domain}.{n.op_type}" for n in model.graph.node}))


def quantize_static(name, scratch, style, **options):
    feeds = inputs_of(name)
    path = str(scratch / "out.onnx")
    quantization.quantize_static(source(name, scratch), path, Reader([feeds]),
                                 quant_format=style, **options)
    return onnx.load(path), feeds


def session_model(path, scratch):
    """The model as a session of ONNX Runtime has rewritten it for itself."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(scratch / "session.onnx")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return onnx.load(options.optimized_model_filepath)


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    style = quantization.QuantFormat
    kind = quantization.QuantType
    for name in ("resnet", "mobilenet"):
        model, feeds = quantize_static(name, scratch, style.QDQ, per_channel=True,
                                       activation_type=kind.QUInt8, weight_type=kind.QInt8)
        save(f"{name}_qdq", model, feeds, 1e-4)
        model, feeds = quantize_static(name, scratch, style.QOperator,
                                       activation_type=kind.QUInt8, weight_type=kind.QInt8)
        save(f"{name}_qoperator", model, feeds, 1e-4)
    model, feeds = quantize_static("bert", scratch, style.QDQ, activation_type=kind.QUInt16,
                                   weight_type=kind.QInt8)
    save("bert_qdq16", model, feeds, 1e-4)
    model, feeds = quantize_static("bert", scratch, style.QOperator,
                                   activation_type=kind.QUInt8, weight_type=kind.QInt8)
    save("bert_qoperator", model, feeds, 1e-4)

    feeds = inputs_of("bert")
    path = str(scratch / "dynamic.onnx")
    quantization.quantize_dynamic(source("bert", scratch), path, weight_type=kind.QInt8)
    save("bert_dynamic", onnx.load(path), feeds, 1e-4)

    for bits in (4, 8):
        quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(
            onnx.load(source("bert", scratch)), bits=bits, block_size=16, is_symmetric=False)
        quantizer.process()
        save(f"bert_nbits{bits}", quantizer.model.model, feeds, 1e-4)

    options = optimizer.FusionOptions("bert")
    fused = optimizer.optimize_model(source("bert", scratch), "bert", opt_level=0,
                                     optimization_options=options)
    save("bert_optimized", fused.model, feeds, 1e-4)
    path = str(scratch / "fused.onnx")
    onnx.save(fused.model, path)
    out = str(scratch / "fused_dynamic.onnx")
    quantization.quantize_dynamic(path, out, weight_type=kind.QInt8)
    save("bert_optimized_dynamic", onnx.load(out), feeds, 1e-4)

    for name, model in (("bert", MODELS / "bert"), ("resnet", MODELS / "resnet"),
                        ("resnet_qdq", FOLDER / "resnet_qdq"),
                        ("mobilenet_qdq", FOLDER / "mobilenet_qdq")):
        save(f"{name}_session", session_model(model / "model.onnx", scratch),
             inputs_of(name.split("_")[0]), 1e-4)


main()
