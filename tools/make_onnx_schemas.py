#!/usr/bin/env python3
"""Writes src/formats/onnx/schemas.inc: what the ONNX standard's versions of its operators take.

    python3 tools/make_onnx_schemas.py >src/formats/onnx/schemas.inc

Needs the `onnx` package; building, testing and running Kheya do not.
"""
import onnx
from onnx import defs

OLDEST, NEWEST = 11, 28
NOT_A_TENSOR = 31


def mask(schema, type_name):
    """The element types of a parameter as bits; bit 31: something that is not a tensor."""
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    bits = 0
    for text in constraints.get(type_name, [type_name]):
        if not text.startswith("tensor("):
            bits |= 1 << NOT_A_TENSOR
            continue
        name = text[len("tensor("):-1].upper()
        bits |= 1 << onnx.TensorProto.DataType.Value(name)
    return bits


def parameters(schema, formal):
    option = defs.OpSchema.FormalParameterOption
    marks = {option.Single: "", option.Optional: "?", option.Variadic: "*"}
    return " ".join(f"{mask(schema, p.type_str):x}{marks[p.option]}" for p in formal)


def attribute(attr):
    value = attr.default_value
    kinds = {onnx.AttributeProto.INT: lambda: f"=i{value.i}",
             onnx.AttributeProto.FLOAT: lambda: f"=f{value.f!r}",
             onnx.AttributeProto.STRING: lambda: f"=s{value.s.decode()}"}
    has_default = value.name != "" and value.type in kinds
    return attr.name + (kinds[value.type]() if has_default else "")


def main():
    history = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST:
            history.setdefault(schema.name, {})[schema.since_version] = schema
    print("// {operator, since opset, inputs, outputs, attributes}: see schemas.h.")
    print("// Made by tools/make_onnx_schemas.py.")
    for name in sorted(history):
        versions = sorted(history[name])
        for version, following in zip(versions, versions[1:] + [NEWEST + 1]):
            schema = history[name][version]
            if following <= OLDEST or schema.deprecated:
                continue
            attributes = " ".join(attribute(schema.attributes[a]) for a in sorted(schema.attributes))
            inputs, outputs = (parameters(schema, p) for p in (schema.inputs, schema.outputs))
            print(f'{{"{name}", {version}, "{inputs}", "{outputs}", "{attributes}"}},')


main()
