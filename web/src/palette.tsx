import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { QUERY_LIMIT_CHARS, useFound } from "./finder";
import { isComposing } from "./keys";
import { Modal } from "./modal";
import { type Group, groupsOf, type Option } from "./palette_options";
import type { ShellProps } from "./shell";
import { strings } from "./strings";
import type { ChatSummary } from "./types";

const said = strings.palette;

/** One field that leads to patients, conversations and everything the page can do. */
export function Palette(props: ShellProps) {
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState<string | null>(null);
  const { found, problem } = useFound(query.trim());
  const groups = groupsOf(props, query, useChats(), found);
  const possible = groups.flatMap((group) => group.options).filter((option) => option.isPossible);
  const current = possible.find((option) => option.id === active) ?? possible[0];
  useEffect(() => field.current?.focus(), []);
  // What is marked stays so when patients are found meanwhile: Enter opens what was seen.
  useEffect(() => setActive(current?.id ?? null), [current?.id, active]);
  useEffect(() => {
    if (current) document.getElementById(current.id)?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);
  const run = (option: Option): void => {
    if (!option.isPossible) return;
    field.current?.closest("dialog")?.close();
    option.run();
  };
  const key = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isComposing(event) || (step === undefined && event.key !== "Enter")) return;
    event.preventDefault();
    if (current === undefined) return;
    if (step === undefined) run(current);
    else setActive(possible.at((possible.indexOf(current) + step) % possible.length)?.id ?? null);
  };
  return (
    <Modal id="palette" title={said.title} who={props.who} onClose={props.onClose}>
      <input
        ref={field}
        type="text"
        class="palette-field"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        maxLength={QUERY_LIMIT_CHARS}
        aria-label={said.label}
        placeholder={said.label}
        aria-expanded={groups.length > 0}
        aria-controls={groups.length > 0 ? "palette-list" : undefined}
        aria-autocomplete="list"
        aria-activedescendant={current?.id}
        value={query}
        onInput={(event) => {
          setActive(null);
          setQuery(event.currentTarget.value);
        }}
        onKeyDown={key}
      />
      {props.isBusy && <p class="sheet-note">{said.busy}</p>}
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      <p class={groups.length === 0 ? "sheet-note" : "visually-hidden"} role="status">
        {groups.length === 0 ? said.nothing : said.count(possible.length)}
      </p>
      {found?.is_whole === false && <p class="sheet-note">{strings.finder.more}</p>}
      {groups.length > 0 && <Options groups={groups} current={current} onRun={run} />}
    </Modal>
  );
}

interface OptionsProps {
  groups: Group[];
  current: Option | undefined;
  onRun: (option: Option) => void;
}

function Options({ groups, current, onRun }: OptionsProps) {
  return (
    <div id="palette-list" class="palette-list" role="listbox" aria-label={said.title}>
      {groups.map((group) => (
        <div key={group.title} role="group" aria-label={group.title}>
          <p class="palette-group" aria-hidden="true">
            {group.title}
          </p>
          {group.options.map((option) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the option
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={option.id}
              id={option.id}
              class="palette-option"
              role="option"
              aria-selected={option === current}
              aria-disabled={option.isPossible ? undefined : "true"}
              onClick={() => onRun(option)}
            >
              <span class="side-title" dir="auto">
                {option.label}
              </span>
              {option.details && <span class="side-details">{option.details}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

/** The caller's conversations; without them the rest of the palette is still of use. */
function useChats(): ChatSummary[] {
  const [chats, setChats] = useState<ChatSummary[]>([]);
  useEffect(() => {
    let isCurrent = true;
    api.listChats().then(
      (found) => isCurrent && setChats(found),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  return chats;
}
