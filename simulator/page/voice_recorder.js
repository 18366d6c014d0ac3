// Records a voice message. Without a microphone a recorded file can be chosen.
import { button, el, icon, iconButton } from "./dom.js";
import { playingTime } from "./format.js";

const TYPES = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4"];
const SHORTEST_S = 0.5;

// `onRecorded(item)` gets {kind, file, name, duration}; `onMissing()` is called if recording is impossible.
export class VoiceRecorder {
  #onRecorded;
  #onMissing;
  #recorder = null;
  #startedAt = 0;
  #ticking = null;
  #time = el("span", { class: "recording-time", role: "timer" }, "0:00");

  constructor({ onRecorded, onMissing }) {
    this.#onRecorded = onRecorded;
    this.#onMissing = onMissing;
    const begin = () => this.#start();
    this.button = iconButton("mic", "Record a voice message", {
      class: "mic",
      "data-testid": "record",
      onclick: begin,
    });
    const cancel = () => this.#end(false);
    const send = () => this.#end(true);
    this.root = el(
      "div",
      {
        class: "recording",
        role: "group",
        "aria-label": "Recording",
        "data-testid": "recording",
        hidden: true,
      },
      iconButton("trash", "Discard the recording", { "data-testid": "record-cancel", onclick: cancel }),
      el("span", { class: "recording-dot", "aria-hidden": "true" }),
      this.#time,
      el("span", { class: "recording-hint" }, "Recording…"),
      button(
        {
          class: "send",
          "aria-label": "Send the recording",
          title: "Send the recording",
          "data-testid": "record-send",
          onclick: send,
        },
        icon("send"),
      ),
    );
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.#end(false));
  }

  // The place has changed: the recording was not meant for the new one.
  stop() {
    this.#end(false);
  }

  async #start() {
    if (this.#recorder) return;
    this.button.disabled = true; // Until there is an answer about the microphone, which people may take time for.
    const stream = await this.#microphone();
    this.button.disabled = false;
    if (!stream) return this.#onMissing();
    const type = TYPES.find((one) => MediaRecorder.isTypeSupported(one));
    const recorder = new MediaRecorder(stream, type ? { mimeType: type } : {});
    const chunks = [];
    recorder.addEventListener("dataavailable", ({ data }) => data.size > 0 && chunks.push(data));
    this.#recorder = { recorder, stream, chunks };
    this.#startedAt = performance.now();
    recorder.start();
    this.#time.textContent = "0:00";
    this.#ticking = setInterval(() => (this.#time.textContent = playingTime(this.#seconds)), 250);
    this.root.hidden = false;
    this.root.lastElementChild.focus();
  }

  async #microphone() {
    if (!navigator.mediaDevices || typeof MediaRecorder === "undefined") return null;
    return navigator.mediaDevices.getUserMedia({ audio: true }).catch(() => null);
  }

  #end(isWanted) {
    if (!this.#recorder) return;
    const { recorder, stream, chunks } = this.#recorder;
    const seconds = this.#seconds;
    this.#recorder = null;
    clearInterval(this.#ticking);
    this.root.hidden = true;
    recorder.addEventListener("stop", () => {
      for (const track of stream.getTracks()) track.stop();
      if (isWanted && seconds >= SHORTEST_S && chunks.length > 0)
        this.#onRecorded(voiceOf(chunks, recorder, seconds));
    });
    recorder.stop();
  }

  get #seconds() {
    return (performance.now() - this.#startedAt) / 1000;
  }
}

function voiceOf(chunks, { mimeType }, seconds) {
  const type = mimeType.split(";")[0] || "audio/webm";
  const file = new Blob(chunks, { type });
  return {
    kind: "voice",
    file,
    name: `voice.${type.split("/")[1]}`,
    duration: Math.max(1, Math.round(seconds)),
  };
}
