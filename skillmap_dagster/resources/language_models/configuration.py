"""What a person says of the language models that skillmap may ask."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skillmap_dagster.resources.language_models.device import DeviceChoice, Precision

Kind = Literal["openai", "openai_batch", "vllm_server", "vllm_engine", "transformers"]


class LanguageModel(BaseModel):
    """A language model, where it answers and how it is decoded.

    Attributes:
        kind: ``openai`` for any server that speaks its interface, a running vLLM
            among them; ``openai_batch`` for the batch files of the same;
            ``vllm_server`` to start a vLLM server and ask it; ``vllm_engine`` for
            vLLM without a server; ``transformers`` for a folder on this machine.
        served_name: Name that the server knows the model by; its name here if not
            given.
        base_url: Where the server is; OpenAI's own if not given.
        api_key_variable: Environment variable that holds the key.
        folder: Of the weights, for the kinds that load them; "smollm2" for the
            packaged model.
        interpreter: Python of the environment that vLLM is installed in.
        device: What a model that is loaded computes on; CUDA where there is some, if
            not given.
        precision: Of its weights and sums.
        options: Further options of vLLM, by the names of ``vllm.LLM``.
        revision: Version of the model, where its name does not fix it.
        temperature: 0 for the most likely answer, None for the server's default.
        top_p: Share of the probability that is sampled from, or None.
        seed: Of the sampling, or None.
        max_tokens: Most tokens of an answer.
        max_concurrency: Most calls at once.
        requests_per_minute: Most calls in a minute, or None.
        tokens_per_minute: Most tokens in a minute, or None.
        timeout_seconds: Longest wait for one answer.
        n_tries: Times that a call is tried before it is given up.
        continues_messages: Whether the server goes on with a turn that the prompt
            began, as vLLM can when it is told so.
        usd_per_million_prompt_tokens: Price, or None where none is known.
        usd_per_million_completion_tokens: Price, or None where none is known.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind = "openai"
    served_name: str | None = None
    base_url: str | None = None
    api_key_variable: str | None = None
    folder: str | None = None
    interpreter: str | None = None
    device: DeviceChoice = "auto"
    precision: Precision = "auto"
    options: dict[str, Any] = {}
    revision: str | None = None
    temperature: float | None = Field(default=0.0, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = None
    max_tokens: int = Field(default=1024, ge=1)
    max_concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    timeout_seconds: float = Field(default=120, gt=0)
    n_tries: int = Field(default=6, ge=1)
    continues_messages: bool = False
    usd_per_million_prompt_tokens: float | None = Field(default=None, ge=0)
    usd_per_million_completion_tokens: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _has_weights(self) -> "LanguageModel":
        loads = self.kind in {"vllm_server", "vllm_engine", "transformers"}
        if loads and self.folder is None:
            raise ValueError(f"kind {self.kind!r} needs `folder`, with the weights")
        prices = (
            self.usd_per_million_prompt_tokens,
            self.usd_per_million_completion_tokens,
        )
        if prices.count(None) == 1:
            raise ValueError("prices of prompt and completion tokens go together")
        return self


class Responder(BaseModel):
    """An evaluated model: a language model, asked in one way.

    Attributes:
        language_model: Name among the language models.
        prompt: Name of a prompt that comes with skillmap, or a file of that form.
        epochs: Times that each item is asked.
        max_tokens: Most tokens of an answer, if not the language model's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language_model: str
    prompt: str = "direct"
    epochs: int = Field(default=1, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)


class AnnotatorModel(BaseModel):
    """A language model that names the skills of items.

    Attributes:
        language_model: Name among the language models.
        prompt: ``rationale`` for skills read out of a solution step by step;
            ``direct`` for a bare list, to compare with.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language_model: str
    prompt: Literal["rationale", "direct"] = "rationale"


class OfflineAnnotator(BaseModel):
    """Finds skills without a language model: sentences close to a vocabulary.

    Attributes:
        vocabulary: A vocabulary file, or None for the one that comes with skillmap.
        threshold: Least cosine of a sentence and a skill.
        most_per_sentence: Skills of a sentence, at most.
        annotates_all: Whether items that have skills from elsewhere get these too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    vocabulary: str | None = None
    threshold: float = Field(default=0.3, ge=-1, le=1)
    most_per_sentence: int = Field(default=2, ge=1)
    annotates_all: bool = False


class Verification(BaseModel):
    """How much verifiers check, and how far negatives are from an item's skills.

    Attributes:
        seed: Of every draw.
        n_items: Items of a benchmark, at most.
        n_listed: Skills of an item, at most.
        n_easy: Easy negatives an item, at most.
        n_hard: Hard negatives an item, at most.
        easy_below: An easy negative's cosine to every skill of the item is below it.
        hard_from: A hard negative's cosine to some skill is at least this.
        hard_below: And that to every skill is below this.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    n_items: int = Field(default=100, ge=1)
    n_listed: int = Field(default=4, ge=1)
    n_easy: int = Field(default=2, ge=0)
    n_hard: int = Field(default=2, ge=0)
    easy_below: float = 0.3
    hard_from: float = 0.5
    hard_below: float = 0.75


class Probing(BaseModel):
    """Small questions that test whether a skill hangs together.

    Attributes:
        maker: Language model that makes the questions out of rationales.
        language_models: Those that are probed.
        judge: Language model that says whether answers agree.
        n_skills: Skills with the lowest, middle and highest accuracy, of each.
        n_steps: Steps of rationales a skill, at most.
        fewest_items: Items that a skill must have.
        temperature: Of the probed models: one question is asked three times.
        seed: Of the draws.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    maker: str
    language_models: tuple[str, ...] = Field(min_length=1)
    judge: str
    n_skills: int = Field(default=20, ge=1)
    n_steps: int = Field(default=20, ge=1)
    fewest_items: int = Field(default=25, ge=1)
    temperature: float = Field(default=0.7, gt=0)
    seed: int = 0
