"""What processes of the fork server have imported when they start."""

import warnings

import skillmap_dagster.runs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import great_expectations
    import onnxruntime
    import tokenizers

__all__ = ["great_expectations", "onnxruntime", "skillmap_dagster", "tokenizers"]
