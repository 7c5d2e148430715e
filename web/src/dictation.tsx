import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { DictationButton } from "./dictation_button";
import { strings } from "./strings";

const said = strings.dictation;
/** Speech is understood at this rate, and many minutes of it fit into what the server takes. */
const BITS_PER_SECOND = 24_000;
const LIMIT_MS = 300_000;
const KINDS = ["audio/webm", "audio/mp4", "audio/ogg"];

interface DictationProps {
  patientId: string | null;
  /** What was said, to be added to the draft, and whose chart was open when it was begun. */
  onText: (text: string, spokenFor: string | null) => void;
}

/** Writes what is said into the draft, never further; the sound is let go as soon as it is written. */
export function Dictation({ patientId, onText }: DictationProps) {
  const [state, setState] = useState<"idle" | "listening" | "writing">("idle");
  const [problem, setProblem] = useState<string | null>(null);
  const recorder = useRef<MediaRecorder | null>(null);
  // The draft may have gone on while the server was writing.
  const add = useRef(onText);
  add.current = onText;
  const isHere = useRef(true);
  useEffect(
    () => () => {
      isHere.current = false;
      recorder.current?.stop();
    },
    [],
  );
  const write = async (audio: Blob, spokenFor: string | null): Promise<void> => {
    if (!isHere.current) return;
    setState("writing");
    try {
      const text = await api.writeDown(audio);
      if (!isHere.current) return;
      if (text === "") setProblem(said.nothing);
      else add.current(text, spokenFor);
    } catch (error) {
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
    }
    setState("idle");
  };
  const start = async (): Promise<void> => {
    setProblem(null);
    try {
      const begun = await listen((audio) => void write(audio, patientId));
      if (!isHere.current) return begun.stop();
      recorder.current = begun;
      setState("listening");
    } catch {
      setProblem(said.refused);
    }
  };
  const isListening = state === "listening";
  const note = problem ?? { idle: null, listening: said.listening, writing: said.writing }[state];
  return (
    <DictationButton
      isListening={isListening}
      isBusy={state === "writing"}
      note={note}
      isProblem={problem !== null}
      onPress={() => (isListening ? recorder.current?.stop() : void start())}
    />
  );
}

/** Records from now until it is stopped, five minutes at most; then the microphone is free again. */
async function listen(onAudio: (audio: Blob) => void): Promise<MediaRecorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind)) ?? "";
  const recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: BITS_PER_SECOND });
  const parts: Blob[] = [];
  const limit = setTimeout(() => recorder.stop(), LIMIT_MS);
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = () => {
    clearTimeout(limit);
    for (const track of stream.getTracks()) track.stop();
    onAudio(new Blob(parts, { type: (parts[0]?.type ?? mimeType).split(";", 1)[0] ?? "" }));
  };
  recorder.start();
  return recorder;
}
