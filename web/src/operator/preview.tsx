import { useState } from "preact/hooks";

import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Played } from "./types";
import { words } from "./words";

const said = words.preview;

/** Plays the version in the form with made-up answers; nothing is stored and no tool runs. */
export function Preview({ definition }: { definition: string }) {
  const [answers, setAnswers] = useState<string[]>([]);
  const [play, setPlay] = useState<Played | null>(null);
  const [text, setText] = useState("");
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const go = (all: string[]): void => {
    setTrouble(null);
    api
      .preview(definition, all)
      .then((found) => {
        setAnswers(all);
        setPlay(found);
        setText((now) => (now === text ? "" : now));
      })
      .catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <section class="panel" aria-labelledby="preview-title">
      <div class="panel-head">
        <h3 id="preview-title">{said.title}</h3>
        <button type="button" class="button" onClick={() => go([])}>
          {play ? said.again : said.start}
        </button>
      </div>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {play && (
        <ol class="play" aria-live="polite" aria-label={said.title}>
          {play.lines.map((line, place) => (
            <li key={place} class={`play-${line.who}`}>
              <span class="hint">{said.who[line.who] ?? line.who}</span> {line.text}
            </li>
          ))}
        </ol>
      )}
      {play && !play.is_over && (
        <form
          class="field inline"
          onSubmit={(event) => {
            event.preventDefault();
            go([...answers, text.trim() || play.suggestion]);
          }}
        >
          <label for="preview-answer">{said.answer(play.suggestion)}</label>
          <input id="preview-answer" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <button type="submit" class="button">
            {said.send}
          </button>
        </form>
      )}
    </section>
  );
}
