A=x
A=$A$A
--tensor-model-parallel-size $A --bf16 "--seq-length 1" ${B:-"c"} <<E
--x
E
$(