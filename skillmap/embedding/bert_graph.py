"""The encoder layers of a BERT model as an ONNX graph, made from its weights.

Token embeddings go in and hidden states come out: looking vectors up and pooling
them are a few lines of NumPy, and stay outside. Sequences of one batch all have the
same length, so there is no padding and no attention mask.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, NDArray[np.float32]]

# The first operator set with an exact (erf) Gelu as one operator.
_OPSET = 20
_IR_VERSION = 9


@dataclass(frozen=True, slots=True)
class BertShape:
    """Sizes of a BERT encoder.

    Attributes:
        hidden_size: Width of a token's vector.
        n_layers: Encoder layers.
        n_heads: Attention heads; they share ``hidden_size`` equally.
        layer_norm_epsilon: Added to the variance before its root is taken.
    """

    hidden_size: int
    n_layers: int
    n_heads: int
    layer_norm_epsilon: float

    @property
    def head_size(self) -> int:
        """Width of one attention head."""
        return self.hidden_size // self.n_heads


def bert_encoder(weights: Weights, shape: BertShape) -> bytes:
    """Serialised ONNX model of the encoder layers.

    Args:
        weights: Tensors under the names of a Hugging Face BERT checkpoint, fp32.
        shape: Sizes that the weights have.

    Returns:
        A model with one input ``embeddings`` and one output ``hidden``, both fp32
        of shape ``(n_sequences, n_tokens, hidden_size)``. The input is the sum of
        word, position and token type embeddings, not yet normalised.

    Source:
        Devlin et al. (2019), BERT, and Vaswani et al. (2017), section 3. Query, key
        and value are one product, and the scale of the scores is folded into the
        query's weights, which saves a pass over the scores.
    """
    graph = _Graph()
    flat = graph.add("Reshape", "embeddings", graph.shape(-1, shape.hidden_size))
    states = _layer_norm(graph, flat, weights, "embeddings.LayerNorm", shape)
    for index in range(shape.n_layers):
        states = _layer(graph, states, weights, f"encoder.layer.{index}", shape)
    # Only the batch's own shape says how many sequences there are.
    sizes = graph.add("Shape", "embeddings")
    graph.add("Reshape", states, sizes, output="hidden")
    return _serialised(graph, shape.hidden_size)


@dataclass(slots=True)
class _Graph:
    """Nodes and constants in the order they were added, with numbered names."""

    nodes: list[Any] = field(default_factory=list[Any])
    constants: list[Any] = field(default_factory=list[Any])

    def add(
        self, operator: str, *inputs: str, output: str = "", **attributes: object
    ) -> str:
        name = output or f"{operator}_{len(self.nodes)}"
        make_node = cast("Any", helper.make_node)
        self.nodes.append(make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        contiguous = np.asarray(values, order="C")
        self.constants.append(numpy_helper.from_array(contiguous, name))
        return name

    def shape(self, *sizes: int) -> str:
        return self.constant(np.array(sizes, dtype=np.int64))


def _layer(
    graph: _Graph, states: str, weights: Weights, prefix: str, shape: BertShape
) -> str:
    context = _attention(graph, states, weights, f"{prefix}.attention.self", shape)
    mixed = _dense(graph, context, weights, f"{prefix}.attention.output.dense")
    residual = graph.add("Add", mixed, states)
    norm = f"{prefix}.attention.output.LayerNorm"
    attended = _layer_norm(graph, residual, weights, norm, shape)

    wide = _dense(graph, attended, weights, f"{prefix}.intermediate.dense")
    activated = graph.add("Gelu", wide)
    narrow = _dense(graph, activated, weights, f"{prefix}.output.dense")
    residual = graph.add("Add", narrow, attended)
    return _layer_norm(graph, residual, weights, f"{prefix}.output.LayerNorm", shape)


def _attention(
    graph: _Graph, states: str, weights: Weights, prefix: str, shape: BertShape
) -> str:
    projections = _packed_projections(graph, weights, prefix, shape)
    packed = graph.add("Gemm", states, *projections)
    # (tokens, 3 * hidden) -> query, key and value of (sequence, head, token, head size)
    like_batch = graph.add("Shape", "embeddings", start=0, end=2)
    by_head = graph.add(
        "Concat", like_batch, graph.shape(3, shape.n_heads, shape.head_size), axis=0
    )
    heads = graph.add("Reshape", packed, by_head)
    query, key, value = (
        graph.add("Gather", heads, graph.constant(np.array(index)), axis=2)
        for index in range(3)
    )
    query = graph.add("Transpose", query, perm=[0, 2, 1, 3])
    key = graph.add("Transpose", key, perm=[0, 2, 3, 1])
    value = graph.add("Transpose", value, perm=[0, 2, 1, 3])

    scores = graph.add("MatMul", query, key)
    shares = graph.add("Softmax", scores, axis=-1)
    context = graph.add("MatMul", shares, value)
    by_token = graph.add("Transpose", context, perm=[0, 2, 1, 3])
    return graph.add("Reshape", by_token, graph.shape(-1, shape.hidden_size))


def _packed_projections(
    graph: _Graph, weights: Weights, prefix: str, shape: BertShape
) -> tuple[str, str]:
    scale = np.float32(1 / math.sqrt(shape.head_size))
    factors = {"query": scale, "key": np.float32(1), "value": np.float32(1)}
    matrix = np.concatenate(
        [weights[f"{prefix}.{name}.weight"].T * by for name, by in factors.items()],
        axis=1,
    )
    bias = np.concatenate(
        [weights[f"{prefix}.{name}.bias"] * by for name, by in factors.items()]
    )
    return graph.constant(matrix), graph.constant(bias)


def _dense(graph: _Graph, states: str, weights: Weights, prefix: str) -> str:
    matrix = graph.constant(weights[f"{prefix}.weight"].T)
    bias = graph.constant(weights[f"{prefix}.bias"])
    return graph.add("Gemm", states, matrix, bias)


def _layer_norm(
    graph: _Graph, states: str, weights: Weights, prefix: str, shape: BertShape
) -> str:
    return graph.add(
        "LayerNormalization",
        states,
        graph.constant(weights[f"{prefix}.weight"]),
        graph.constant(weights[f"{prefix}.bias"]),
        epsilon=shape.layer_norm_epsilon,
        axis=-1,
    )


def _serialised(graph: _Graph, hidden_size: int) -> bytes:
    sizes = ["n_sequences", "n_tokens", hidden_size]
    tensor = cast("Any", helper.make_tensor_value_info)
    ends = [tensor(end, TensorProto.FLOAT, sizes) for end in ("embeddings", "hidden")]
    model = cast("Any", helper.make_model)(
        helper.make_graph(
            graph.nodes, "bert_encoder", ends[:1], ends[1:], graph.constants
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    return model.SerializeToString()
