"""Separates the answer in a streamed text from thoughts, and from tool calls that a model writes as text (pure)."""

import re
from dataclasses import dataclass, field
from typing import Literal

_NAMES = (
    r"(?:\w{1,10}[:_])?"
    r"(?:think(?:_never_used_\w{1,40})?|thinking|antthinking|thoughts?|reasoning|reflection|scratchpad|analysis"
    r"|inner_?monologue)(?::\w{1,16})?"
)
_OPEN = (
    # Qwen, DeepSeek, MiniMax ("mm:think"), Seed, Claude's and Gemini's ways, with attributes or without.
    rf"<{_NAMES}(?:\s[^<>\n]{{0,40}})?>"
    r"|\[THINK(?:ING)?\]|◁think▷"  # Magistral, Kimi-VL
    # OpenThinker, Apertus, Cohere
    r"|<\|(?:begin_of_th(?:ought|inking)|think(?:ing)?|inner_prefix|START_THINKING)\|>"
    r"|<\|(?:(?:im_start|start_header_id)\|>|(?=user\|>))user\b"  # a model that goes on as the person
    r"|<unused94>(?:thought)?|<\|channel>thought"  # MedGemma, Gemma 4
    # gpt-oss without its parser
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary(?! to=))[^<]{0,40}<\|message\|>"
)
_CLOSE = (
    rf"</{_NAMES}\s?>"
    r"|\[/THINK(?:ING)?\]|◁/think▷|<\|(?:end_of_th(?:ought|inking)|/think(?:ing)?|inner_suffix|END_THINKING)\|>"
    r"|<unused95>|<channel\|>"
)
_CHANNEL = r"(?:<\|start\|>assistant)?<\|channel\|>final(?:[^<]|<\|constrain\|>){0,40}<\|message\|>"
_CALL = (
    # Hermes, Qwen, MiniMax, Nemotron, FunctionGemma, Hunyuan
    r"<(?:\w{1,10}:|start_)?(?:tool_?(?:calls?|use)|tools|function_?calls?)(?::\w{1,16})?(?:\s[^<>\n]{0,60})?>"
    r"|<function=[\w.:-]{1,64}>|<invoke name=[^<>\n]{1,80}>|\[TOOL_CALLS?\]"  # Qwen-coder, Llama, Claude, Mistral
    r"|<\|(?:python_tag|tools_prefix|action_start|START_ACTION|open)\|>"  # Llama, Apertus, InternLM, Cohere, Kimi K3
    r"|<\|tool_calls?(?:_section)?(?:_begin|_start)?\|?>"  # Granite, Kimi, LFM2, Gemma 4
    r"|(?:<\|start\|>assistant)?<\|channel\|>commentary to=|<\|start\|>assistant to="  # gpt-oss
    "|<\uff5c(?:tool[▁_]calls[▁_]begin|DSML\uff5c(?:function|tool)_calls)\uff5c?>"  # DeepSeek
)
_STRAY = (
    r"</(?:\w{1,10}:)?(?:tool_?calls?|function_?calls?|function)>|\]?<\]minimax\[>\["
    r"|<\|(?:end|return|call|im_end|eot|eot_id|eom_id|endoftext|end_of_(?:turn|text|turn_token)"
    r"|(?:begin|end)_of_(?:solution|box))\|>"
    "|<end_of_turn>|<eos>|<\uff5cend▁of▁sentence\uff5c>|<[|](?:assistant|observation)[|]>"
    r"|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>"
)
_WRAPPER = r"</?(?:answer|final_answer|response|output)>"
_TAG = re.compile(
    rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<call>{_CALL})"
    rf"|(?P<token>{_CHANNEL}|{_STRAY})|(?P<wrapper>{_WRAPPER})",
    re.IGNORECASE,
)
_THOUGHT_END = re.compile(rf"{_CLOSE}|<\|end\|>|{_CHANNEL}|assistantfinal", re.IGNORECASE)
_BARE = "analysis"
"""The beginning of gpt-oss's thoughts without its tokens: `analysisWe … assistantfinalParis` (textgen#7374)."""
_NEVER = re.compile(r"(?!)")
_PARTIAL_TAG = re.compile(
    r"(?:<[^<>\n]{0,90}|<\|(?:start|channel|im_start|start_header_id)\|>[^\n]{0,80}|\[[A-Za-z_/]{0,12}|◁[^▷\n]{0,8})\Z"
)
"""The end of a text that may be the beginning of a tag."""
_MARK = re.compile(r"[<\[◁]")
_LONGEST_TAG = 128
_LOOKAHEAD = 16
_ITEM = re.compile(r"\s*(?:\d{1,3}[.)]|[-*+])\s*")
_CALLS = 128
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_UNDECIDED = re.compile(r"(?:[ \t]+\w{0,9})?")
"""What is behind a tag while it may still be a word of the answer."""
_NOUN_AFTER = re.compile(r"[ \t]+(?:is|are|was|and|or|tags?|tokens?|blocks?|elements?|means?|marks?)\b")
_PUNCTUATION_AFTER = re.compile(r"[.,;:!?)\]}\"'”»`…]")
_LOWER_AFTER = re.compile(r"[ \t]+[^\W\d_A-ZÀ-ÞА-Я]")
_QUOTES = "\"'`“«([{„"
_ENDS = ".!?…:。！？：*"  # noqa: RUF001 — ends of sentences in full width too


@dataclass(slots=True)
class AnswerText:
    """The text of one reply as it streams in.

    A tag counts at the start of the reply or a line, behind the end of a sentence, and if it follows text directly. In
    code, in quotes and as a word of a sentence ("the <think> tag") it is text. An open thought without an end is a
    thought to the end. With an end alone, all before it was a thought, because some chat templates write the
    beginning into the prompt.
    """

    # True if the model's last reply was one with an end alone: nothing is shown before it.
    begins_inside: bool = False
    has_end_alone: bool = False
    _mode: Literal["text", "thought", "call", "unknown"] = "text"
    _end: re.Pattern[str] = _NEVER
    # The part of the text that is not yet decided, and how much of it has been searched for an end.
    _rest: str = ""
    # The text before an end that may come, while it may be no thought.
    _held: list[str] = field(default_factory=list[str])
    # The text before an end that came alone.
    _before_end: str = ""
    # The pieces of the text with 0, and those of its calls with the call's number.
    _pieces: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    _call: int = 0
    _has_thoughts: bool = False
    # True if a tag of a thought is a word of the text.
    _has_word: bool = False
    # The present line, and the texts behind those that it has read.
    _line: "_Line" = field(default_factory=lambda: _Line())
    _unread: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        """Begin within a thought that may be none."""
        if self.begins_inside:
            self._mode, self._end = "unknown", _THOUGHT_END

    def add(self, piece: str) -> None:
        """Add the next piece."""
        is_plain = self._pieces or not piece.startswith(_BARE[0])
        if self._mode == "text" and not self._rest and is_plain and not _MARK.search(piece):
            self._show(piece)  # nearly always
            return
        if self._mode == "unknown":
            self._held.append(piece)
        self._rest += piece
        self._read(is_final=False)

    def finish(self) -> None:
        """Decide about the rest of the text."""
        self._read(is_final=True)
        if self._mode == "unknown":
            self._mode = "text"
            self._show("".join(self._held))
        if self.has_end_alone and not self.text():
            self._show(self._before_end)  # nothing came behind the end: what came before it is the answer

    def text(self) -> str:
        """Return the answer so far, without blank edges if there were thoughts."""
        text = "".join([text for text, call in self._pieces if not call])
        if not self._call:
            self._pieces = [(text, 0)]  # so that the next call joins two pieces
        return text.strip() if self._has_thoughts else text

    def calls(self) -> list[str]:
        """Return the calls that are written as text, with their tags."""
        calls: dict[int, list[str]] = {}
        for text, call in self._pieces:
            if call:
                calls.setdefault(call, []).append(text)
        return ["".join(texts) for texts in calls.values()]

    def _read(self, *, is_final: bool) -> None:
        at, is_waiting = 0, self._mode == "text" and not (self._pieces or is_final) and self._is_bare()
        while at < len(self._rest) and not is_waiting:
            step = self._read_text if self._mode == "text" else self._skip
            at, is_waiting = step(at, is_final)
        self._rest = self._rest[at:]

    def _is_bare(self) -> bool:
        """Return True while the beginning may be a thought without tags. Begin such a thought if it is one."""
        if self._rest.startswith(_BARE) and self._rest.removeprefix(_BARE)[:1].isupper():
            self._mode, self._end = "unknown", _THOUGHT_END
            self._held.append(self._rest)
        return _BARE.startswith(self._rest)

    def _read_text(self, at: int, is_final: bool) -> tuple[int, bool]:
        """Read from `at` to the next tag or the end. Return the place reached, and True if it waits for more."""
        rest = self._rest
        match = _TAG.search(rest, at)
        if match is None:
            partial = None if is_final else _PARTIAL_TAG.search(rest, max(at, len(rest) - _LONGEST_TAG))
            end = partial.start() if partial else len(rest)
            self._show(rest[at:end])
            return end, True
        self._show(rest[at : match.start()])
        if not is_final and _UNDECIDED.fullmatch(rest, match.end()):
            return match.start(), True
        self._take(match)
        return match.end(), False

    def _skip(self, at: int, is_final: bool) -> tuple[int, bool]:
        """Read from `at` within a thought or a call, as `_read_text` does."""
        rest = self._rest
        match = self._find_end(at, is_final)
        end = match.end() if match else len(rest) if is_final else max(at, len(rest) - _LONGEST_TAG)
        if self._mode == "unknown" and match is not None:
            self._has_thoughts = self.has_end_alone = True
            self._before_end = "".join(self._held).partition(match[0])[0]
        if self._mode == "call" and end > at and self._call <= _CALLS:
            self._pieces.append((rest[at:end], self._call))
        if match is not None:
            self._mode = "text"
        return end, match is None

    def _find_end(self, at: int, is_final: bool) -> re.Match[str] | None:
        """Return the end of the thought or call. One in backticks is quoted."""
        rest = self._rest
        for match in self._end.finditer(rest, at):
            is_undecided = match.end() == len(rest) and not is_final
            if rest[match.start() - 1 : match.start()] != "`":
                return match
            if rest[match.end() : match.end() + 1] != "`" and not is_undecided:
                return match
        return None

    def _take(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or ""
        after = self._rest[match.end() : match.end() + _LOOKAHEAD]
        self._line.read("".join(self._unread))
        self._unread.clear()
        is_end, is_thinker = kind in ("close", "token", "wrapper"), self._has_thoughts
        is_text = (kind == "wrapper" and not is_thinker) or (kind == "close" and self._has_word)
        if is_text or self._line.is_word(match[0], after, is_end=is_end, is_thinker=is_thinker):
            self._has_word = self._has_word or kind == "open"
            self._show(match[0])
        elif kind == "open":
            self._mode, self._end, self._has_thoughts = "thought", _THOUGHT_END, True
        elif kind == "call":
            self._mode, self._end, self._call = "call", _end_of_call(match[0]), self._call + 1
            self._pieces.append((match[0], self._call))
        elif kind == "close":
            self._before_end = self.text()
            self._pieces.clear()
            self._line = _Line()
            self._has_thoughts = self.has_end_alone = True

    def _show(self, text: str) -> None:
        if text:
            self._pieces.append((text, 0))
            self._unread.append(text)


@dataclass(slots=True)
class _Line:
    """The present line of a text, and the code block around it."""

    _head: str = ""
    _ticks: int = 0
    _tail: str = ""
    _fence: str = ""

    def is_word(self, tag: str, after: str, *, is_end: bool, is_thinker: bool) -> bool:
        """Return True if a tag at this place, with this text behind it, is code or a word of the text.

        A model that has written a thought before may write the next one within a sentence.
        """
        if self._fence or self._ticks % 2 == 1:
            return True
        before = self._tail.rstrip(" \t")
        last = self._tail[-1:]
        if before and (last in _QUOTES or (last in "*_" and after[:1] == last)):
            return True
        if last.isalnum() and tag[1:2].isupper() and not tag.isupper():  # List<Thought>
            return True
        is_spaced = before != self._tail
        if is_end:
            return is_spaced and bool(_LOWER_AFTER.match(after) or _PUNCTUATION_AFTER.match(after))
        has_lower = _LOWER_AFTER.match(after)
        if not before:  # the line begins here
            is_ended = after[:1] not in _QUOTES and bool(_PUNCTUATION_AFTER.match(after))
            return is_ended or bool(_NOUN_AFTER.match(after))
        if before[-1] == ":" or _ITEM.fullmatch(self._head):
            return is_spaced and bool(has_lower or _PUNCTUATION_AFTER.match(after))
        is_within = before[-1] not in _ENDS and not is_thinker
        return is_spaced and (is_within or bool(_NOUN_AFTER.match(after)))

    def read(self, text: str) -> None:
        """Go on to the end of `text`."""
        lines = text.split("\n")
        for number, part in enumerate(lines):
            if number:
                self._end_line()
            if len(self._head) < _LOOKAHEAD:
                self._head = (self._head + part)[:_LOOKAHEAD]
            self._ticks += part.count("`")
            self._tail = (self._tail + part[-4:])[-4:]

    def _end_line(self) -> None:
        if fence := _FENCE.match(self._head):
            if not self._fence:
                self._fence = fence[1]
            elif fence[1].startswith(self._fence):
                self._fence = ""
        self._head, self._ticks, self._tail = "", 0, ""


def _end_of_call(tag: str) -> re.Pattern[str]:
    if tag.startswith("<function="):
        return re.compile(r"</function>", re.IGNORECASE)
    if tag.startswith("<invoke"):
        return re.compile(r"</invoke>", re.IGNORECASE)
    if tag[0] == "[" or not tag[1].isalpha() or tag.startswith("<start_"):
        return _NEVER  # up to the end: a model that calls says nothing behind it
    return re.compile(re.escape(f"</{tag[1:-1].split()[0]}>"), re.IGNORECASE)
