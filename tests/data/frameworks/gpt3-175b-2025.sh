# The settings of NVIDIA/Megatron-LM examples/gpt3/train_gpt3_175b_distributed.sh, 2025.
GPUS_PER_NODE=8
NUM_NODES=1   # "Change for multinode config"
DISTRIBUTED_ARGS=(
  --nproc_per_node $GPUS_PER_NODE
  --nnodes $NUM_NODES
  --master_addr localhost
)
ARGS=(
  --num-layers 96 --hidden-size 12288 --num-attention-heads 96
  --seq-length 2048 --max-position-embeddings 2048
  --attention-backend auto # Can use (flash/fused/unfused/local)
  --micro-batch-size 1 --global-batch-size 1536 --rampup-batch-size 16 16 5859375
  --train-iters 500000 --weight-decay 0.1 --clip-grad 1.0 --fp16 --lr 6.0e-5
)
MODEL_PARALLEL_ARGS=(
  --tensor-model-parallel-size 8
  --pipeline-model-parallel-size 16
)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${ARGS[@]} ${MODEL_PARALLEL_ARGS[@]} --save $CHECKPOINT_PATH
