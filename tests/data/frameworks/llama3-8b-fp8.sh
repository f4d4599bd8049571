# The settings of NVIDIA/Megatron-LM examples/llama/train_llama3_8b_h100_fp8.sh, 2025.
TP_SIZE=1
CP_SIZE=1
MICRO_BATCH_SIZE=1
GLOBAL_BATCH_SIZE=128
SEQ_LENGTH=8192
DTYPE="fp8"
DISTRIBUTED_ARGS=( --nproc_per_node 8 --nnodes 1 )
MODEL_ARGS=(
  --use-mcore-models --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336
  --group-query-attention --num-query-groups 8 --seq-length $SEQ_LENGTH
  --swiglu --attention-backend fused --untie-embeddings-and-output-weights
)
TRAINING_ARGS=(
  --micro-batch-size $MICRO_BATCH_SIZE --global-batch-size $GLOBAL_BATCH_SIZE
  --bf16 --grad-reduce-in-bf16 --cross-entropy-loss-fusion --clip-grad 1.0
)
DTYPE_ARGS=()
if [[ "$DTYPE" == "fp8" ]]; then
  DTYPE_ARGS+=(
    "--fp8-format hybrid"
    "--fp8-amax-history-len 1024"
    "--fp8-param-gather"
  )
fi
MODEL_PARALLEL_ARGS=(
  --tensor-model-parallel-size $TP_SIZE
  --context-parallel-size $CP_SIZE
  # --pipeline-model-parallel-size $PP_SIZE
  --sequence-parallel
)
DDP_ARGS=(
  --use-distributed-optimizer
  --overlap-grad-reduce
  --overlap-param-gather
)
TRAINING_ARGS+=("${DDP_ARGS[@]}")
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${MODEL_ARGS[@]} ${TRAINING_ARGS[@]} ${DTYPE_ARGS[@]} ${MODEL_PARALLEL_ARGS[@]}
