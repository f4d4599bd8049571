#include "model/cli/verb_help.hpp"

namespace tbdsim {
namespace {

struct VerbExample {
  const char *verb, *question, *command;
};

constexpr VerbExample kExamples[] = {
    {"predict", "How fast does ResNet-50 train on a DGX-1?", "predict --hw dgx1 --model resnet50"},
    {"predict", "What do 90 epochs of ImageNet take and cost in the cloud?",
     "predict --hw aws-p3.16xlarge --model resnet50 --samples 1281167 --epochs 90"},
    {"predict", "Which kernels are long and use the GPU badly?", "predict --hw titan-xp --model resnet50 --kernels"},
    {"compare", "Does a more expensive GPU help my recurrent network?",
     "compare --hw p4000,titan-xp,v100-pcie-16gb --model sockeye --stack mxnet-0.12"},
    {"compare", "What is cheapest over three years, bought or rented?",
     "compare --hw rtx-4090,rtx-5090,l40s --model resnet50 --precision amp --duty 60% --power-price 0.2USD/kWh"},
    {"compare", "Which batch is large enough?", "compare --hw titan-xp --model resnet50 --batch 4..128*2"},
    {"plan", "How should 1,024 GPUs be divided to train a language model?",
     "plan --hw dgx-h100 --gpus 1024 --model llama-3-70b --global-batch 1536 --seq-len 8192"},
    {"plan", "Which number of GPUs is cheapest?",
     "plan --hw dgx-h100 --gpus 64..1024*2 --model llama-3-8b --global-batch 1024 --seq-len 8192 --objective cost"},
    {"sweep", "All machines and batches, into a file that may be resumed?",
     "sweep --hw dgx1,dgx2 --model resnet50,vgg16 --batch 1..64 -o sweep.db"},
    {"explain", "What limits my training, and what would help most?", "explain --hw dgx1 --model resnet50 --stack mxnet-1.2"},
    {"explain", "My job runs slower than predicted: why?",
     "explain --hw dgx1 --model resnet50 --precision amp --measured 2600images/s"},
    {"network", "Do two machines pay on 10 Gb/s, and which layers wait?",
     "network --hw p4000 --nodes 2 --network 10gbe --stack mxnet-1.2 --exchange ps --model vgg11"},
    {"scale", "How far does it scale over the GPUs of one machine?",
     "scale --hw dgx1 --model resnet50 --gpus 1,2,4,8 --samples 1281167"},
    {"memory", "What fills the memory, and which batch still fits?", "memory --hw titan-xp --model resnet50 --max-batch"},
    {"memory", "Which layers hold most?", "memory --hw titan-xp --model resnet50 --by layer"},
    {"validate", "How good are the predictions?", "validate scenarios/published/mxnet_1_2.csv"},
    {"validate", "Does a publication's claim hold?", "validate scenarios/seeds/gpu_comparison.toml"},
    {"topology", "Which GPUs are joined, and what do rings reach?", "topology --hw dgx1"},
    {"topology", "What does NCCL reach over sizes?", "topology --hw dgx1 --collective all-reduce --bytes 1KiB..1GiB"},
    {"list", "Which networks are there?", "list models"},
    {"list", "How long does a petabyte take?", "list data-paths --bytes 1PB"},
    {"show", "What is known of a GPU, and from where?", "show titan-xp"},
};

}  // namespace

std::vector<Example> examples(const std::string& verb) {
  std::vector<Example> found;
  for (const VerbExample& example : kExamples) {
    if (verb == example.verb) found.push_back({example.question, example.command});
  }
  return found;
}

}  // namespace tbdsim
