# The settings of NVIDIA/Megatron-LM examples/academic_paper_scripts/sc21: CONFIG.sh and run_figure_13.sh with 8 stages, batch 128.
PP=8
GBS=128
TP=8
MBS=1
MEGATRON_EXTRA_PARAMS="--activations-checkpoint-method uniform "
export MEGATRON_PARAMS=" ${MEGATRON_EXTRA_PARAMS} \
  --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size ${PP} \
  --micro-batch-size ${MBS} --global-batch-size ${GBS} \
  --num-layers 32 --hidden-size 20480 --num-attention-heads 128 \
  --DDP-impl local --seq-length 2048 --max-position-embeddings 2048 \
  --clip-grad 1.0 --fp16 --loss-scale 8192 "
