#!/usr/bin/python3
"""Makes the models of this folder with Debian's python3-torch: small nets of the shapes that people
train, with random weights, statistics of batch norms taken from data, and what torch answers.

Every folder is a case as ONNX's own: model.onnx, test_data_set_0/{input,output}_N.pb, data.json.
The models are exported as they are trained, with nothing folded, so that the passes have it to do.
"""
import json
import math
import pathlib
import warnings

import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

FOLDER = pathlib.Path(__file__).parent


def conv_norm(inputs, outputs, kernel=3, stride=1, groups=1, activation=nn.ReLU6):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs), activation())


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.keeps_shape = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            conv_norm(inputs, hidden, 1), conv_norm(hidden, hidden, 3, stride, hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return x + self.body(x) if self.keeps_shape else self.body(x)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_norm(3, 8, 3, 2), InvertedResidual(8, 8, 1, 2), InvertedResidual(8, 12, 2, 3),
            InvertedResidual(12, 12, 1, 3), conv_norm(12, 24, 1, activation=nn.SiLU))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(24, 10))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            conv_norm(inputs, outputs, 3, stride, activation=nn.ReLU),
            nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
        self.side = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.side(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            conv_norm(3, 8, 7, 2, activation=nn.ReLU), nn.MaxPool2d(3, 2, 1), BasicBlock(8, 8, 1),
            BasicBlock(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        return self.body(x)


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 1, 1)
        self.layers = nn.ModuleList([self.layer(8 + 4 * i) for i in range(3)])
        self.norm = nn.BatchNorm2d(20)
        self.classifier = nn.Linear(20, 4)

    @staticmethod
    def layer(inputs):
        return nn.Sequential(
            nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, 8, 1, bias=False),
            nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3, 1, 1, bias=False))

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        y = torch.relu(self.norm(torch.cat(features, 1)))
        return self.classifier(torch.flatten(functional.adaptive_avg_pool2d(y, (1, 1)), 1))


class Shuffle(nn.Module):
    """Channel shuffle over dynamic sizes, padding of its own, a transposed convolution."""

    def __init__(self):
        super().__init__()
        self.first = conv_norm(3, 8, activation=nn.Hardswish)
        self.second = conv_norm(8, 8, 1, groups=2, activation=nn.LeakyReLU)
        self.up = nn.ConvTranspose2d(8, 4, 2, 2, bias=False)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        x = self.first(x)
        n, c, h, w = x.shape
        x = x.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        return torch.sigmoid(self.norm(self.up(functional.pad(self.second(x), (1, 1, 1, 1)))))


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads, self.head_size, self.size = heads, size // heads, size
        self.query, self.key, self.value, self.output = (nn.Linear(size, size) for _ in range(4))

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.head_size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.head_size) + mask
        context = torch.matmul(torch.softmax(scores, -1), value).permute(0, 2, 1, 3).contiguous()
        return self.output(context.view(context.size(0), context.size(1), self.size))


class EncoderLayer(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.attention = Attention(size, heads)
        self.norm1, self.norm2 = (nn.LayerNorm(size, eps=1e-12) for _ in range(2))
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.narrow(functional.gelu(self.wide(x))))


class Bert(nn.Module):
    def __init__(self, size=16, heads=4, layers=2):
        super().__init__()
        self.words, self.positions = nn.Embedding(50, size), nn.Embedding(32, size)
        self.norm = nn.LayerNorm(size, eps=1e-12)
        self.layers = nn.ModuleList([EncoderLayer(size, heads) for _ in range(layers)])
        self.pooler = nn.Linear(size, size)

    def forward(self, ids, mask):
        positions = torch.arange(ids.size(1)).unsqueeze(0).expand_as(ids)
        bias = (1.0 - mask[:, None, None, :].float()) * -10000.0
        x = self.norm(self.words(ids) + self.positions(positions))
        for layer in self.layers:
            x = layer(x, bias)
        return x, torch.tanh(self.pooler(x[:, 0]))


def set_statistics(model, inputs):
    model.train()
    with torch.no_grad():
        for _ in range(20):
            model(*inputs)
        for module in model.modules():
            if isinstance(module, (nn.BatchNorm2d, nn.LayerNorm)):
                module.weight.uniform_(0.5, 1.5)
                module.bias.uniform_(-0.5, 0.5)
    model.eval()


def save(name, model, inputs, axes):
    set_statistics(model, inputs)
    folder = FOLDER / name
    data = folder / 'test_data_set_0'
    data.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        model, inputs, str(folder / 'model.onnx'), input_names=list(axes), dynamic_axes=axes,
        opset_version=13, do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)
    outputs = model(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for kind, tensors in (('input', inputs), ('output', outputs)):
        for i, tensor in enumerate(tensors):
            proto = numpy_helper.from_array(tensor.detach().numpy())
            (data / f'{kind}_{i}.pb').write_bytes(proto.SerializeToString())
    (folder / 'data.json').write_text(json.dumps({'atol': 1e-4, 'rtol': 1e-4}) + '\n')


def main():
    warnings.simplefilter('ignore')
    torch.manual_seed(1)
    picture = torch.randn(2, 3, 16, 16)
    batch = {'x': {0: 'N'}}
    save('mobilenet', MobileNet(), (picture,), batch)
    save('resnet', ResNet(), (picture,), batch)
    save('densenet', DenseNet(), (picture,), batch)
    save('shuffle', Shuffle(), (picture,), {'x': {0: 'N', 2: 'H', 3: 'W'}})
    ids = torch.randint(0, 50, (2, 6))
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
    save('bert', Bert(), (ids, mask), {'ids': {0: 'N', 1: 'S'}, 'mask': {0: 'N', 1: 'S'}})


if __name__ == '__main__':
    main()
