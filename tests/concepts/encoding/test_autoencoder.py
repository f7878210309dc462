import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from skillmap.concepts.encoding.autoencoder import (
    Architecture,
    Autoencoder,
    normalised,
    read_autoencoder,
    write_autoencoder,
)
from skillmap.errors import InvalidInputError, ParseError
from tests.concepts.encoding.autoencoders import random_autoencoder, vectors

KINDS: list[Architecture] = ["standard", "topk", "jumprelu", "gated"]


def hand_made(architecture: Architecture, **weights: list[float]) -> Autoencoder:
    """One number in, three latents: the vector itself, its double, its opposite."""
    arrays = {name: np.array(values, np.float32) for name, values in weights.items()}
    return Autoencoder(
        architecture,
        {"W_enc": np.array([[1, 2, -1]], np.float32), **arrays},
        k=1 if architecture == "topk" else None,
    )


def test_a_standard_encoder_cuts_off_what_is_below_0() -> None:
    autoencoder = hand_made("standard", b_enc=[0, -1, 0])

    activations = autoencoder.encode(np.array([[3], [-2]], np.float32))

    assert activations.tolist() == [[3, 5, 0], [0, 0, 2]]


def test_a_jump_is_strictly_above_its_threshold() -> None:
    autoencoder = hand_made("jumprelu", b_enc=[0, 0, 0], threshold=[3, 5, -9])

    activations = autoencoder.encode(np.array([[3], [-1]], np.float32))

    # 3 is not above 3; what is above a negative threshold is still cut off at 0.
    assert activations.tolist() == [[0, 6, 0], [0, 0, 1]]


def test_the_k_largest_are_kept_unless_they_are_below_0() -> None:
    autoencoder = hand_made("topk", b_enc=[0, 0, -9])

    activations = autoencoder.encode(np.array([[3], [-2]], np.float32))

    assert activations.tolist() == [[0, 6, 0], [0, 0, 0]]


def test_a_gate_decides_and_another_path_tells_how_much() -> None:
    autoencoder = hand_made(
        "gated", b_gate=[-4, 0, 0], b_mag=[0, 1, 0], r_mag=[0, float(np.log(2)), 0]
    )

    activations = autoencoder.encode(np.array([[3]], np.float32))

    # 3 - 4 shuts the first; the second is 6 · 2 + 1.
    assert activations == pytest.approx(np.array([[0, 13, 0]]))


def test_the_centre_is_taken_off_only_if_the_configuration_says_so() -> None:
    centred = hand_made("standard", b_enc=[0, 0, 0], b_dec=[1])
    plain = Autoencoder("standard", centred.weights, is_centred=False)

    assert centred.encode(np.array([[3]], np.float32)).tolist() == [[2, 4, 0]]
    assert plain.encode(np.array([[3]], np.float32)).tolist() == [[3, 6, 0]]


def test_vectors_are_normalised_by_their_own_mean_and_spread() -> None:
    vector = np.array([[1, 2, 3, 6]], np.float32)

    by_layer = normalised(np, vector, "layer_norm")
    by_norm = normalised(np, vector, "constant_norm_rescale")

    # Mean 3, sum of squares around it 14, over 3 degrees of freedom.
    assert by_layer == pytest.approx((vector - 3) / (14 / 3) ** 0.5, rel=1e-5)
    assert np.linalg.norm(by_norm) == pytest.approx(2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_centred", [True, False])
def test_what_is_written_is_read_again(
    kind: Architecture, *, is_centred: bool, tmp_path: Path
) -> None:
    autoencoder = random_autoencoder(
        kind, is_centred=is_centred, metadata={"hook_name": "model.layers.3"}
    )

    write_autoencoder(autoencoder, tmp_path)
    read = read_autoencoder(tmp_path)

    assert np.array_equal(read.encode(vectors(9)), autoencoder.encode(vectors(9)))
    assert read.metadata == {"hook_name": "model.layers.3"}
    assert len(read.file_hash) == 16


def test_weights_of_half_precision_come_out_as_float32(tmp_path: Path) -> None:
    autoencoder = random_autoencoder("topk")

    write_autoencoder(autoencoder, tmp_path, dtype="float16")
    read = read_autoencoder(tmp_path)

    assert read.weights["W_enc"].dtype == np.float32
    assert read.weights["W_enc"] == pytest.approx(
        autoencoder.weights["W_enc"], rel=1e-3, abs=1e-4
    )


def test_bfloat16_is_the_upper_half_of_a_float32(tmp_path: Path) -> None:
    # 1, -2 and 3.140625: float32 whose lower halves are 0.
    values = np.array([1, -2, 3.140625], np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    header = {
        "b_enc": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]},
        "W_enc": {"dtype": "F32", "shape": [1, 3], "data_offsets": [6, 18]},
    }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    data = halves.tobytes() + np.ones(3, "<f4").tobytes()
    (tmp_path / "sae_weights.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + data
    )
    (tmp_path / "cfg.json").write_text('{"architecture": "standard"}', "utf-8")

    read = read_autoencoder(tmp_path)

    assert read.weights["b_enc"].tolist() == values.tolist()


def test_old_files_name_k_one_level_down(tmp_path: Path) -> None:
    write_autoencoder(random_autoencoder("topk"), tmp_path)
    file = tmp_path / "cfg.json"
    content = json.loads(file.read_text("utf-8"))
    content["activation_fn_kwargs"] = {"k": content.pop("k")}
    file.write_text(json.dumps(content), "utf-8")

    assert read_autoencoder(tmp_path).k == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": "temporal"}, "architecture must be one of standard, topk"),
        ({"reshape_activations": "hook_z"}, "reshape_activations must be none"),
        ({"normalize_activations": "expected_average_only_in"}, "sae-lens folds it"),
        ({"k": 0}, "k must be from 1 to 96, got 0"),
    ],
)
def test_what_is_not_done_here_is_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    write_autoencoder(random_autoencoder("topk"), tmp_path)
    file = tmp_path / "cfg.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **change}))

    with pytest.raises(ParseError, match=message):
        read_autoencoder(tmp_path)


def test_a_folder_without_its_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"cfg\.json"):
        read_autoencoder(tmp_path)

    (tmp_path / "cfg.json").write_text("[]", "utf-8")
    with pytest.raises(ParseError, match="must hold an object, got list"):
        read_autoencoder(tmp_path)

    (tmp_path / "cfg.json").write_text("{}", "utf-8")
    (tmp_path / "sae_weights.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ParseError, match=r"sae_weights\.safetensors"):
        read_autoencoder(tmp_path)


def test_missing_and_misshapen_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "cfg.json").write_text('{"architecture": "gated"}', "utf-8")
    one = np.zeros((2, 3), np.float32)
    save_file({"W_enc": one}, tmp_path / "sae_weights.safetensors")
    with pytest.raises(ParseError, match="lack b_gate, r_mag, b_mag"):
        read_autoencoder(tmp_path)

    with pytest.raises(InvalidInputError, match=r"b_enc must have shape \(3,\)"):
        Autoencoder("standard", {"W_enc": one, "b_enc": np.zeros(2, np.float32)})
    with pytest.raises(InvalidInputError, match="lack W_dec"):
        Autoencoder(
            "topk",
            {"W_enc": one, "b_enc": np.zeros(3, np.float32)},
            k=1,
            is_scaled=True,
        )


def test_scaled_latents_compete_by_the_lengths_of_their_rows() -> None:
    weights = {
        "W_enc": np.array([[1, 1]], np.float32),
        "b_enc": np.zeros(2, np.float32),
        "W_dec": np.array([[1], [3]], np.float32),
        "b_dec": np.zeros(1, np.float32),
    }
    autoencoder = Autoencoder("topk", weights, k=1, is_scaled=True)

    activations = autoencoder.encode(np.array([[2]], np.float32))

    assert activations.tolist() == [[0, 6]]
    # 6 of a row of length 3 is 2 of the row itself.
    assert autoencoder.decode(activations).tolist() == [[6]]
