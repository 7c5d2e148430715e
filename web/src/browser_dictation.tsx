import { useEffect, useRef, useState } from "preact/hooks";

import { DictationButton } from "./dictation_button";
import { strings } from "./strings";

const said = strings.dictation;

/** As the Web Speech API has it; no types of it are shipped, and only some browsers have it. */
interface Recognition {
  lang: string;
  continuous: boolean;
  onresult: (event: RecognitionEvent) => void;
  onerror: (event: { error: string }) => void;
  onend: () => void;
  start: () => void;
  stop: () => void;
  abort: () => void;
}
interface RecognitionEvent {
  resultIndex: number;
  results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }>;
}
type RecognitionClass = new () => Recognition;
type Known = { SpeechRecognition?: RecognitionClass; webkitSpeechRecognition?: RecognitionClass };

/** Has the browser's maker write what is said into the draft, never further; says that the sound leaves. */
export function BrowserDictation({ onText }: { onText: (text: string) => void }) {
  const [isListening, setListening] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const recognition = useRef<Recognition | null>(null);
  // The draft may have gone on while somebody was speaking.
  const add = useRef(onText);
  add.current = onText;
  useEffect(() => () => recognition.current?.abort(), []);
  const start = (): void => {
    const known = window as unknown as Known;
    const Maker = known.SpeechRecognition ?? known.webkitSpeechRecognition;
    setProblem(Maker === undefined ? said.unable : null);
    if (Maker === undefined) return;
    const begun = new Maker();
    begun.lang = navigator.language;
    begun.continuous = true;
    begun.onresult = (event) => {
      // At once: each addition stands on the draft that was drawn last.
      const heard = Array.from(event.results).slice(event.resultIndex);
      const words = heard.map((one) => (one.isFinal ? (one[0]?.transcript ?? "").trim() : ""));
      const text = words.filter(Boolean).join(" ");
      if (text !== "") add.current(text);
    };
    begun.onerror = (event) => {
      if (event.error === "no-speech") setProblem(said.nothing);
      else if (event.error !== "aborted")
        setProblem(event.error === "not-allowed" ? said.refused : said.unable);
    };
    begun.onend = () => setListening(false);
    recognition.current = begun;
    begun.start();
    setListening(true);
  };
  const note = problem ?? (isListening ? said.leaves : null);
  return (
    <DictationButton
      isListening={isListening}
      note={note}
      isProblem={problem !== null}
      onPress={() => (isListening ? recognition.current?.stop() : start())}
    />
  );
}
