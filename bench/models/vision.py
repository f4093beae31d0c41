"""Convolutional networks: those of torchvision, and a U-Net."""
import torch
import torchvision
from torch import nn

from models.common import enliven, pictures, set_batch_norm_statistics, write


class TwoConvolutions(nn.Sequential):
    def __init__(self, channels_in, channels_out):
        layers = []
        for channels in (channels_in, channels_out):
            layers += [nn.Conv2d(channels, channels_out, 3, padding=1, bias=False),
                       nn.BatchNorm2d(channels_out), nn.ReLU(inplace=True)]
        super().__init__(*layers)


class UNet(nn.Module):
    """Ronneberger et al. 2015, with padded convolutions and BatchNorm."""

    def __init__(self, width=32, depth=4, classes=2):
        super().__init__()
        widths = [width << i for i in range(depth + 1)]
        self.down = nn.ModuleList(TwoConvolutions(a, b) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * a, a, 2, stride=2) for a in widths[:-1])
        self.merge = nn.ModuleList(TwoConvolutions(2 * a, a) for a in widths[:-1])
        self.classes = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else nn.functional.max_pool2d(x, 2))
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.merge[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.classes(x)


def loud_squeezenet():
    """The last layer's initial weights are too small to judge its answers by."""
    model = torchvision.models.squeezenet1_1()
    nn.init.kaiming_normal_(model.classifier[1].weight)
    return model


def inception():
    return torchvision.models.inception_v3(aux_logits=False, init_weights=False)


MODELS = {  # name: constructor, picture size, images for the statistics
    "resnet50": (torchvision.models.resnet50, 224, 8),
    "vgg16": (torchvision.models.vgg16, 224, 2),
    "mobilenetv2": (torchvision.models.mobilenet_v2, 224, 8),
    "efficientnet_b0": (torchvision.models.efficientnet_b0, 224, 8),
    "shufflenetv2": (torchvision.models.shufflenet_v2_x1_0, 224, 8),
    "densenet121": (torchvision.models.densenet121, 224, 8),
    "squeezenet": (loud_squeezenet, 224, 2),
    "inceptionv3": (inception, 299, 8),
    "unet": (UNet, 256, 4),
}


def make(folder, wanted):
    for seed, (name, (construct, size, images)) in enumerate(MODELS.items()):
        if not wanted(name):
            continue
        torch.manual_seed(seed + 1)
        model = construct()
        enliven(model)
        set_batch_norm_statistics(model, pictures(images, size))
        write(folder, name, model, (pictures(1, size),), ["input"], ["output"],
              others=(pictures(1, size),))
        if name == "mobilenetv2":
            write(folder, name + "_batch", model, (pictures(3, size),), ["input"], ["output"],
                  {"input": {0: "batch"}, "output": {0: "batch"}})
