"""How the sources' words for boards, networks, precisions and frameworks map to the catalogue's names."""

BOARDS = {
    "K80 (one GK210 die)": "k80",
    "M40": "m40",
    "M60": "m60",
    "P100-SXM2-16GB": "p100-sxm2-16gb",
    "V100-SXM2-16GB": "v100-sxm2-16gb",
    "V100-SXM3-32GB": "v100-sxm3-32gb",
    "GTX 1080": "gtx-1080",
    "GTX 1080 Ti": "gtx-1080-ti",
    "TITAN X (Maxwell)": "titan-x-maxwell",
    "TITAN X (Pascal)": "titan-x-pascal",
    "TITAN V": "titan-v",
    "TITAN Xp (inferred, same figure)": "titan-xp",
    "RTX 2070": "rtx-2070",
    "RTX 2070 Super": "rtx-2070-super",
    "RTX 2080 Ti": "rtx-2080-ti",
    "RTX 3080": "rtx-3080",
    "RTX 3090": "rtx-3090",
    "RTX A6000": "a6000",
    "Quadro RTX 6000": "rtx-6000",
    "Quadro RTX 8000": "rtx-8000",
    # "P100" without a form factor. MXNet's page of 2017 says "P100 (DGX-1)" (docs/how_to/perf.md, section "Nvidia
    # GPU"), so SXM2. tensorpack says "8 P100s"; assumed SXM2, because at 222-228 images/s it is not behind the
    # DGX-1's 219 under the same framework, while the PCIe board has 10 % less fp32 peak.
    "P100": "p100-sxm2-16gb",
}

NETWORKS = {
    "alexnet": "alexnet",
    "alexnet(\\*8)": "alexnet",
    "inceptionv1": "googlenet",
    "inceptionv3": "inception_v3",
    "inception3": "inception_v3",
    "inception4": "inception_v4",
    "densenet161": "densenet161",
    "vgg16": "vgg16",
    "vgg19": "vgg19",
    **{f"resnet{depth}": f"resnet{depth}" for depth in (18, 34, 50, 101, 152, 200)},
}

PRECISIONS = {"FP32": "fp32", "FP16": "fp16"}

# tf_cnn_benchmarks takes these batches when none is given, and the table of cemizm/tf-benchmark-gpu gives none that
# can hold for every network: its printed 64 is ResNet-50's, ResNet-152 at 64 does not fit the RTX 2070's 8 GB.
# Source: tensorflow/benchmarks:scripts/tf_cnn_benchmarks/models/{resnet,inception,alexnet,vgg}_model.py@039fa9550c9e.
TF_CNN_DEFAULT_BATCH = {"resnet50": 64, "resnet152": 32, "inception_v3": 32, "alexnet": 512, "vgg16": 64}


def network(words):
    """Catalogue name of a network; None if the sources' word is not known."""
    return NETWORKS.get(words.lower().replace("-", "").replace(" ", ""))
