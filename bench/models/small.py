"""Models whose runs are short: recurrent layers and a tabular network."""
import torch
from torch import nn

from models.common import enliven, write


class Recurrent(nn.Module):
    def __init__(self, kind, inputs=128, hidden=256, layers=2):
        super().__init__()
        self.layers = kind(inputs, hidden, layers)
        self.head = nn.Linear(hidden, 32)
        enliven(self)
        for name, parameter in self.layers.named_parameters():
            if "weight" in name:
                nn.init.normal_(parameter, 0.0, 1.5 * parameter.shape[1] ** -0.5)

    def forward(self, x):
        return self.head(self.layers(x)[0])


def mlp():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                          nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    enliven(model)
    return model


def make(folder, wanted):
    for name, kind in (("lstm", nn.LSTM), ("gru", nn.GRU)):
        if wanted(name):
            torch.manual_seed(4)
            write(folder, name, Recurrent(kind), (torch.randn(100, 1, 128),), ["input"],
                  ["output"], opset=14, others=(torch.randn(100, 1, 128),))
    if wanted("mlp"):
        torch.manual_seed(5)
        write(folder, "mlp", mlp(), (torch.randn(1, 64),), ["input"], ["output"],
              others=(torch.randn(1, 64),))
