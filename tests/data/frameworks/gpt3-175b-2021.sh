# The settings of NVIDIA/Megatron-LM examples/pretrain_gpt3_175B.sh, April 2021 (128 nodes of 8).
options=" \
  --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 \
  --num-layers 96 --hidden-size 12288 --num-attention-heads 96 \
  --seq-length 2048 --max-position-embeddings 2048 \
  --micro-batch-size 1 --global-batch-size 1536 --rampup-batch-size 16 16 5859375 \
  --train-samples 146484375 --lr 6.0e-5 --lr-decay-style cosine --clip-grad 1.0 \
  --fp16 --checkpoint-activations "
python -u pretrain_gpt.py $@ ${options}
