import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { strings } from "./strings";
import type { Plan, PlanStep, Press } from "./types";
import { spaced } from "./words";

const said = strings.plan;
const STEP_LIMIT_CHARS = 500;

const MARKS: Record<PlanStep["status"], string> = {
  pending: "○",
  running: "◐",
  done: "●",
  skipped: "–",
};

interface PlanCardProps {
  plan: Plan;
  isBusy: boolean;
  onAnswer: (text: string, press?: Press) => void;
  onChange: (draft: string) => void;
}

export function PlanCard(props: PlanCardProps) {
  return props.plan.status === "proposed" ? <Proposal {...props} /> : <Course {...props} />;
}

/** The plan at work: how far it is, and all steps for who wants them; one that rests is gone on with. */
function Course({ plan, isBusy, onAnswer }: PlanCardProps) {
  const wanted = plan.steps.filter((step) => step.status !== "skipped");
  const done = wanted.filter((step) => step.status === "done").length;
  const place = wanted.findIndex((step) => step.status === "running");
  const current = wanted[place];
  return (
    <section class="card plan" aria-label={said.label}>
      <div class="course">
        <h2 id="plan-progress">{said.progress(done, wanted.length)}</h2>
        <progress value={done} max={wanted.length} aria-labelledby="plan-progress" />
      </div>
      <p class="course-step" role="status">
        {current && (
          <>
            <strong>{said.current(place + 1, wanted.length, spaced(current.agent))}</strong> {current.text}
          </>
        )}
      </p>
      <details>
        <summary>{said.showSteps}</summary>
        <ol class="steps" tabIndex={0}>
          {plan.steps.map((step) => (
            <li key={step.number} class={`step ${step.status}`}>
              <span class="mark" aria-hidden="true">
                {MARKS[step.status]}
              </span>
              <span class="step-text">
                <strong>{spaced(step.agent)}</strong> {step.text}
                <span class="visually-hidden"> ({said.statuses[step.status]})</span>
              </span>
            </li>
          ))}
        </ol>
      </details>
      {!isBusy && (
        <div class="actions">
          <button type="button" class="button primary" onClick={() => onAnswer(said.goOnWords)}>
            {said.goOn}
          </button>
        </div>
      )}
    </section>
  );
}

/** A step as the clinician would have it. */
interface Draft {
  number: number;
  agent: string;
  proposed: string;
  text: string;
  isWanted: boolean;
}

const draftOf = (plan: Plan): Draft[] =>
  plan.steps.map(({ number, agent, text }) => ({ number, agent, proposed: text, text, isWanted: true }));

/** What the press says beyond "confirm": nothing, if the plan was left as it is. */
export function pressOf(plan: Plan, drafts: Draft[]): Press {
  const press: Press = { target_id: plan.plan_id, answer: "confirm" };
  const wanted = drafts.filter((draft) => draft.isWanted);
  const isAsProposed =
    wanted.length === plan.steps.length &&
    wanted.every((draft, place) => draft.number === plan.steps[place]?.number);
  if (!isAsProposed) press.steps = wanted.map((draft) => draft.number);
  const edits = wanted.filter(isEdited).map(({ number, text }) => ({ number, text: text.trim() }));
  if (edits.length > 0) press.edits = edits;
  return press;
}

const isEdited = (draft: Draft): boolean => draft.text.trim() !== "" && draft.text.trim() !== draft.proposed;

/** Waits for the clinician: nothing runs before the answer. */
function Proposal({ plan, isBusy, onAnswer, onChange }: PlanCardProps) {
  const [drafts, setDrafts] = useState(() => draftOf(plan));
  const [isEditing, setEditing] = useState(false);
  const [moved, setMoved] = useState("");
  const pressed = useRef<HTMLButtonElement | null>(null);
  // A row that changes its place loses the focus on the way.
  useLayoutEffect(() => pressed.current?.focus(), [moved]);
  const wanted = drafts.filter((draft) => draft.isWanted);
  const press = pressOf(plan, drafts);
  const isChanged = press.steps !== undefined || press.edits !== undefined;
  const change = (place: number, changes: Partial<Draft>): void =>
    setDrafts(drafts.with(place, { ...(drafts[place] as Draft), ...changes }));
  const move = (place: number, by: 1 | -1, button: HTMLButtonElement): void => {
    pressed.current = button;
    const draft = drafts[place] as Draft;
    setDrafts(drafts.toSpliced(place, 1).toSpliced(place + by, 0, draft));
    setMoved(said.moved(spaced(draft.agent), place + by + 1, drafts.length));
  };
  return (
    <section class="card plan" aria-label={said.label}>
      <h2>{said.proposed}</h2>
      <p class="card-hint">{said.hint}</p>
      <ol class="steps">
        {drafts.map((draft, place) => (
          <DraftRow
            key={draft.number}
            draft={draft}
            isBusy={isBusy}
            isEditing={isEditing}
            isFirst={place === 0}
            isLast={place === drafts.length - 1}
            onChange={(changes) => change(place, changes)}
            onMove={(by, button) => move(place, by, button)}
          />
        ))}
      </ol>
      <p class="visually-hidden" role="status">
        {moved}
      </p>
      <div class="actions">
        <button
          type="button"
          class="button primary"
          disabled={isBusy || wanted.length === 0}
          onClick={() => onAnswer(said.confirm, press)}
        >
          {isChanged ? said.confirmChanged : said.confirm}
        </button>
        <button type="button" class="button" aria-pressed={isEditing} onClick={() => setEditing(!isEditing)}>
          {isEditing ? said.editDone : said.edit}
        </button>
        {isChanged && (
          <button type="button" class="button" onClick={() => setDrafts(draftOf(plan))}>
            {said.reset}
          </button>
        )}
        <button type="button" class="button" disabled={isBusy} onClick={() => onChange(said.changeDraft)}>
          {said.change}
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => onAnswer(said.cancel, { target_id: plan.plan_id, answer: "cancel" })}
        >
          {said.cancel}
        </button>
      </div>
    </section>
  );
}

interface DraftRowProps {
  draft: Draft;
  isBusy: boolean;
  isEditing: boolean;
  isFirst: boolean;
  isLast: boolean;
  onChange: (changes: Partial<Draft>) => void;
  onMove: (by: 1 | -1, button: HTMLButtonElement) => void;
}

function DraftRow({ draft, isBusy, isEditing, isFirst, isLast, onChange, onMove }: DraftRowProps) {
  const { text, proposed, isWanted } = draft;
  const agent = spaced(draft.agent);
  return (
    <li class={isWanted ? "step" : "step skipped"}>
      <label class="step-choice">
        <input
          type="checkbox"
          checked={isWanted}
          disabled={isBusy}
          onChange={() => onChange({ isWanted: !isWanted })}
        />
        <span class="step-text">
          <strong>{agent}</strong> {!isEditing && (text.trim() || proposed)}
        </span>
      </label>
      {isEditing && (
        <>
          <input
            class="step-edit"
            value={text}
            maxLength={STEP_LIMIT_CHARS}
            disabled={!isWanted}
            aria-label={said.words(agent)}
            placeholder={proposed}
            onInput={(event) => onChange({ text: event.currentTarget.value })}
          />
          <Mover label={said.up(agent)} sign="↑" isOff={isFirst} onPress={(button) => onMove(-1, button)} />
          <Mover label={said.down(agent)} sign="↓" isOff={isLast} onPress={(button) => onMove(1, button)} />
        </>
      )}
    </li>
  );
}

interface MoverProps {
  label: string;
  sign: string;
  isOff: boolean;
  onPress: (button: HTMLButtonElement) => void;
}

/** At the end of its way it keeps the focus, which a disabled button would lose. */
function Mover({ label, sign, isOff, onPress }: MoverProps) {
  return (
    <button
      type="button"
      class="button tiny"
      aria-label={label}
      aria-disabled={isOff}
      onClick={(event) => !isOff && onPress(event.currentTarget)}
    >
      {sign}
    </button>
  );
}
