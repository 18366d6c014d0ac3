"""How many tokens each known chat model takes in one prompt."""

DEFAULT_CONTEXT_WINDOW = 8_192
"""For unknown models: what the smallest models still in use take, so that a prompt rather is too short."""

# Where a vendor states one window for prompt and answer but limits the prompt further (gpt-5: 272,000 of
# 400,000), the prompt's limit is listed. Where hosts or sizes of one family differ, the smaller usual figure.
# OpenAI's figures: its model pages (developers.openai.com/api/docs/models), as collected in LiteLLM 1.109's
# public table `model_prices_and_context_window.json` (max_input_tokens), which the others come from too.
_OPENAI = {
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-0613": 4_096,
    "gpt-35-turbo": 16_385,  # as Azure spells it
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-0125": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-turbo": 128_000,
    "gpt-4o": 128_000,
    "chatgpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "gpt-5": 272_000,
    "gpt-5-chat": 128_000,
    "gpt-5.1-chat": 128_000,
    "gpt-5.2-chat": 128_000,
    "gpt-5.3-chat": 128_000,
    # 1,050,000 less 128,000 of answer; the table has the first figure for 5.4 and 5.5, the second for 5.6.
    "gpt-5.4": 922_000,
    "gpt-5.4-mini": 272_000,
    "gpt-5.4-nano": 272_000,
    "gpt-5.5": 922_000,
    "gpt-5.6": 922_000,
    "gpt-5.6-cyber": 400_000,
    "gpt-6": 922_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4-mini": 200_000,
}
_OPEN_AND_OTHERS = {
    "gpt-oss": 131_072,
    "llama3": 8_192,
    "llama-3": 8_192,
    "llama3.1": 131_072,
    "llama3.2": 131_072,
    "llama3.3": 131_072,
    "llama-3.1": 131_072,
    "llama-3.2": 131_072,
    "llama-3.3": 131_072,
    "llama4": 131_072,
    "llama-4": 131_072,
    "qwen2": 32_768,
    "qwen-2": 32_768,
    "qwen3": 32_768,
    "qwen-3": 32_768,
    "qwen3-coder": 131_072,
    "qwen3-next": 131_072,
    "qwen3.5": 262_144,
    "qwen3.6": 262_144,
    "qwen3.7": 262_144,
    "qwen3.8": 262_144,
    "mistral-7b": 32_768,
    "mistral-nemo": 128_000,
    "open-mistral-nemo": 128_000,
    "mistral-small": 32_000,
    "mistral-medium": 128_000,
    "mistral-large": 32_000,
    "mistral-large-3": 256_000,
    "ministral": 128_000,
    "mixtral-8x7b": 32_768,
    "mixtral-8x22b": 65_536,
    "gemma2": 8_192,
    "gemma-2": 8_192,
    "gemma3": 128_000,
    "gemma-3": 128_000,
    "gemma3:1b": 32_768,  # its model card
    "gemma-3-1b": 32_768,
    "gemma-4": 131_072,
    "gemma4": 131_072,
    "phi-3": 4_096,
    "phi-3.5": 128_000,
    "phi-4": 16_384,
    "phi-4-mini": 131_072,
    "deepseek-chat": 131_072,
    "deepseek-reasoner": 131_072,
    "deepseek-r1": 65_536,
    "deepseek-v3": 65_536,
    "deepseek-v4": 1_000_000,
    "kimi-k2": 131_072,
    "kimi-k2.5": 262_144,
    "kimi-k2.6": 262_144,
    "kimi-k3": 1_000_000,
    "glm-4.5": 128_000,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
    "glm-5": 200_000,
    "command-r": 128_000,
    "claude-haiku-4-5": 200_000,
    "claude-opus-4": 200_000,
    "claude-sonnet-4": 200_000,
    "claude-3": 200_000,
    "gemini-2.5": 1_048_576,
    "gemini-3": 1_048_576,
}
_KNOWN = _OPENAI | _OPEN_AND_OTHERS


def context_window(model: str, override: int | None = None) -> int:
    """The tokens that `model` takes in one prompt: `override` when given, else by the longest known prefix.

    A router's name (`openai/gpt-4o`), Meta's (`Meta-Llama-3.1…`) and a fine-tuned one (`ft:gpt-4o:…`) count as
    the model itself; an unknown model has 8,192. A server may be set to less than its model can (Ollama is, by
    default): then the override is the truth. Raises ValueError on an override below 1.
    """
    if override is not None:
        if override < 1:
            raise ValueError("a context window has at least one token")
        return override
    name = model.lower().rsplit("/", 1)[-1].removeprefix("ft:").removeprefix("meta-")
    known = max((prefix for prefix in _KNOWN if name.startswith(prefix)), key=len, default=None)
    return DEFAULT_CONTEXT_WINDOW if known is None else _KNOWN[known]
