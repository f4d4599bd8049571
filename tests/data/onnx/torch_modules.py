"""Modules whose exports the tests read: each function returns (model, example), as model/workload/export_onnx.py wants."""
import torch
from torch import nn


def cnn():
    """Convolutions, batch and group norm, a gate: 20,170 parameters."""
    features = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                             nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.GroupNorm(8, 64), nn.SiLU(),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    return features, torch.zeros(2, 3, 32, 32)


class Encoder(nn.Module):
    """Two pre-norm transformer layers between an embedding, a constant scale and a classifier of every token."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 64)
        self.positions = nn.Parameter(torch.zeros(1, 16, 64))
        self.register_buffer("scale", torch.ones(64))
        layer = nn.TransformerEncoderLayer(64, 4, 256, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.classifier = nn.Linear(64, 1000)

    def forward(self, tokens):
        return self.classifier(self.layers(self.embedding(tokens) * self.scale + self.positions))


def encoder():
    return Encoder(), torch.zeros(2, 16, dtype=torch.long)


class Tagger(nn.Module):
    """Two bidirectional LSTM layers, of which the last states are classified."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(1000, 32)
        self.lstm = nn.LSTM(32, 64, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.classifier = nn.Linear(128, 5)

    def forward(self, tokens):
        _, (hidden, _) = self.lstm(self.embedding(tokens))
        return self.classifier(torch.cat([hidden[-2], hidden[-1]], 1))


def lstm():
    return Tagger(), torch.zeros(2, 16, dtype=torch.long)
