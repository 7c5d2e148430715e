import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./operator_api";
import { Preview } from "./preview";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Graph, ScenarioCard } from "./types";
import { words } from "./words";

const said = words.uploadForm;

interface UploadProps {
  scenarios: ScenarioCard[];
  onStored: (scenarioId: string) => Promise<void>;
  onClose: () => void;
}

/** Takes a definition, says everything that is wrong with it, and stores it when nothing is. */
export function Upload({ scenarios, onStored, onClose }: UploadProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const result = useRef<HTMLDivElement>(null);
  const [text, setText] = useState("");
  const written = useRef(text);
  written.current = text;
  const [checked, setChecked] = useState<Graph | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  // The button was off while it worked, which takes the focus from whoever has no pointer.
  useEffect(() => result.current?.focus(), [checked]);
  const isFirst = !scenarios.some(
    (card) => card.scenario_id === checked?.scenario_id && card.active !== null,
  );
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    setTrouble(null);
    setBusy(true);
    try {
      await act();
    } catch (error) {
      setChecked(null);
      setTrouble(troubleOf(error));
    }
    setBusy(false);
  };
  const change = (value: string): void => {
    setText(value);
    setChecked(null);
    setTrouble(null);
  };
  const check = (): Promise<void> =>
    attempt(async () => {
      const found = await api.validate(text);
      // What was changed meanwhile is not checked.
      if (written.current === text) setChecked(found);
    });
  const store = (): Promise<void> =>
    attempt(async () => {
      const id = isFirst ? (await api.publish(text)).scenario_id : (await api.propose(text)).plan.scenario_id;
      await onStored(id);
    });
  return (
    <dialog ref={dialog} class="upload" aria-labelledby="upload-title" onClose={onClose}>
      <div class="panel-head">
        <h2 id="upload-title">{said.title}</h2>
        <button type="button" class="button subtle" onClick={onClose}>
          {said.close}
        </button>
      </div>
      <p class="hint">{said.hint}</p>
      <div class="field">
        <label for="upload-file">{said.file}</label>
        <input
          id="upload-file"
          type="file"
          accept=".yaml,.yml,.json"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) void file.text().then(change);
          }}
        />
      </div>
      <div class="field">
        <label for="upload-text">{said.text}</label>
        <textarea
          id="upload-text"
          class="code"
          rows={14}
          spellcheck={false}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
        />
      </div>
      {trouble && trouble.problems.length > 0 ? (
        <Problem trouble={{ ...trouble, text: said.problems(trouble.problems.length) }} />
      ) : (
        <Problem trouble={trouble} />
      )}
      {checked && (
        <div ref={result} class="strip success" role="status" tabIndex={-1}>
          <p>{said.good(checked.name, checked.version, checked.nodes.length)}</p>
          {isFirst && <p>{said.first}</p>}
        </div>
      )}
      {checked && <Preview key={checked.checksum} definition={text} />}
      <div class="actions">
        <button
          type="button"
          class={`button ${checked ? "" : "primary"}`}
          disabled={isBusy || text.trim() === ""}
          onClick={() => void check()}
        >
          {said.check}
        </button>
        {checked && (
          <button type="button" class="button primary" disabled={isBusy} onClick={() => void store()}>
            {isFirst ? said.publish : said.propose}
          </button>
        )}
      </div>
    </dialog>
  );
}
