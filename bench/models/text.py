"""Transformers as PyTorch exports them, with attention and Gelu spelled out."""
import math

import torch
from torch import nn

from models.common import enliven, pictures, write

WORDS = 30522


def sharpen(*linears):
    """Larger queries and keys, so that attention is not nearly uniform."""
    for linear in linears:
        with torch.no_grad():
            linear.weight *= 1.4


class EncoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-12), nn.LayerNorm(width, 1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1]) + mask
        mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.output(mixed))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Encoder(nn.Module):
    """BERT's shape (Devlin et al. 2018)."""

    def __init__(self, layers, width=768, heads=12, words=WORDS, positions=512):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(positions, width)
        self.types = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.ModuleList(EncoderLayer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)
        enliven(self)
        for layer in self.layers:
            sharpen(layer.query, layer.key)

    def forward(self, input_ids, attention_mask, token_type_ids):
        place = torch.arange(input_ids.shape[1]).unsqueeze(0)
        x = self.norm(self.words(input_ids) + self.positions(place) + self.types(token_type_ids))
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, mask)
        return torch.tanh(self.pooler(x[:, 0])), x


class ViTBlock(nn.Module):
    """One linear for queries, keys and values, and the norms before, as timm writes it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        split = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        weights = ((query * self.scale) @ key.transpose(-2, -1)).softmax(-1)
        return self.project((weights @ value).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class ViT(nn.Module):
    """ViT-B/16 (Dosovitskiy et al. 2020)."""

    def __init__(self, layers=12, width=768, heads=12, size=224, patch=16, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.5 * torch.randn(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*[ViTBlock(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, classes)
        enliven(self)
        for block in self.blocks:
            sharpen(block.qkv)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


ENCODERS = {  # name: constructor arguments, dynamic axes, opset
    "bert6": ({"layers": 6}, False, 13),
    "bert6_dynamic": ({"layers": 6}, True, 13),
    "bert_base": ({"layers": 12}, False, 13),
    "minilm": ({"layers": 6, "width": 384}, True, 17),
}


def make_encoder(folder, name, arguments, dynamic, opset):
    torch.manual_seed(2)
    model = Encoder(**arguments).eval()
    batch = 2 if name == "bert6_dynamic" else 1
    ids, others = torch.randint(0, WORDS, (2, batch, 128))
    mask = torch.ones(batch, 128, dtype=torch.int64)
    mask[0, 100:] = 0
    types = (torch.arange(128) >= 60).long().expand(batch, -1).contiguous()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    outputs = ["pooled", "hidden"]
    axes = {each: {0: "batch", 1: "length"} for each in names}
    axes.update({"pooled": {0: "batch"}, "hidden": {0: "batch", 1: "length"}})
    write(folder, name, model, (ids, mask, types), names, outputs, axes if dynamic else None,
          opset, others=(others, mask, types))


def make(folder, wanted):
    for name, (arguments, dynamic, opset) in ENCODERS.items():
        if wanted(name):
            make_encoder(folder, name, arguments, dynamic, opset)
    if wanted("vit_b16"):
        torch.manual_seed(3)
        write(folder, "vit_b16", ViT().eval(), (pictures(1, 224),), ["input"], ["output"],
              opset=17, others=(pictures(1, 224),))
