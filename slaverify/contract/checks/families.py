"""Which family of models a name belongs to, by its prefix: a table of public names, so that no other name hides one.

Only names that their makers use are in it; a name that is not says nothing. Source: names of model cards and
interfaces as of 2026 (*unverified* as a list; a convention).
"""

from __future__ import annotations

import re

_FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gpt": (("gpt-", "gpt4", "chatgpt", "o1-", "o3-", "o4-", "text-davinci"), ("gpt", "openai", "o1", "o3", "o4")),
    "claude": (("claude-",), ("claude", "anthropic")),
    "gemini": (("gemini-", "palm-", "bison"), ("gemini", "palm", "google")),
    "gemma": (("gemma-", "gemma2", "gemma3"), ("gemma", "google")),
    "llama": (("llama-", "llama2", "llama3", "meta-llama"), ("llama", "meta")),
    "mistral": (
        ("mistral-", "mixtral-", "ministral-", "magistral-", "codestral-", "open-mistral", "open-mixtral"),
        ("mistral", "mixtral", "ministral", "magistral", "codestral"),
    ),
    "qwen": (("qwen",), ("qwen", "tongyi", "alibaba")),
    "deepseek": (("deepseek-",), ("deepseek",)),
    "command": (("command-",), ("command", "cohere")),
    "grok": (("grok-",), ("grok", "xai")),
    "phi": (("phi-",), ("phi", "microsoft")),
    "nova": (("amazon.nova", "nova-lite", "nova-micro", "nova-pro"), ("nova", "amazon")),
    "glm": (("glm-", "chatglm"), ("glm", "zhipu")),
    "kimi": (("kimi-", "moonshot-"), ("kimi", "moonshot")),
    "smollm": (("smollm",), ("smollm", "huggingface")),
}
"""Family: prefixes of its models' names; words by which a contract may call it."""


def family_of_name(name: str) -> str | None:
    """Return the family that a model's name gives away, by its prefix, after any `provider/`; None: it says nothing."""
    bare = name.casefold().rsplit("/", 1)[-1]
    for family, (prefixes, _) in _FAMILIES.items():
        if bare.startswith(prefixes):
            return family
    return None


def called(family: str, declared: str) -> bool:
    """Say whether a declared family is one of the words for `family`."""
    words = re.split(r"[^a-z0-9]+", declared.casefold())
    return any(any(word.startswith(own) for word in words) for own in _FAMILIES[family][1])


def families_called(declared: str) -> frozenset[str]:
    """Return the known families that a declared one may be called by."""
    return frozenset(family for family in _FAMILIES if called(family, declared)) | frozenset(
        {found} if (found := family_of_name(declared)) is not None else ()
    )
