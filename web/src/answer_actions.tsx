/** What one can do with a finished answer: look behind it, ask again, say what one thinks of it. */

import { useContext, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import type { Turn } from "./chat";
import { AnswersContext } from "./opinions";
import { strings } from "./strings";
import { timesOffered } from "./times";
import type { TurnActions } from "./transcript";
import type { Opinion, Reason } from "./types";

const said = strings.feedback;
const TEXT_LIMIT_CHARS = 4_000;

interface AnswerActionsProps {
  turn: Turn;
  actions: TurnActions;
}

/** A finished turn in which an agent has said something left a receipt. */
export function AnswerActions({ turn, actions }: AnswerActionsProps) {
  const { newest } = useContext(AnswersContext);
  const { runId, patientId } = turn;
  if (turn.status !== "done" || runId === null || !turn.items.some((item) => item.kind === "agent")) {
    return null;
  }
  const times = turn.key === newest && typeof patientId === "string" ? timesOffered(turn) : [];
  return (
    <div class="answer-actions">
      {times.length > 0 && (
        <div class="times" role="group" aria-label={said.times}>
          {times.map((time) => (
            <button
              type="button"
              class="button"
              key={time}
              onClick={() => actions.onRepeat(time, patientId as string)}
            >
              {time}
            </button>
          ))}
        </div>
      )}
      <button type="button" class="button tiny" onClick={() => actions.onReceipt(runId)}>
        {strings.receipt.show}
      </button>
      {turn.isRepeatable && typeof patientId === "string" && turn.key === newest && (
        <button
          type="button"
          class="button tiny"
          aria-description={said.againLong}
          onClick={() => actions.onRepeat(turn.text, patientId)}
        >
          {strings.transcript.resend}
        </button>
      )}
      {patientId !== undefined && <Thumbs runId={runId} patientId={patientId} before={turn.opinion} />}
    </div>
  );
}

interface ThumbsProps {
  runId: string;
  patientId: string | null;
  before: Opinion | null;
}

function Thumbs({ runId, patientId, before }: ThumbsProps) {
  const { given, give } = useContext(AnswersContext);
  const inHere = given.get(runId);
  const opinion = inHere === undefined ? before : inHere;
  const [isAsked, setAsked] = useState(false);
  const [told, setTold] = useState("");
  const down = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setAsked(false);
    down.current?.focus();
  };
  const send = (given: Opinion | null): void => {
    setTold("");
    give(runId, patientId, given).then(
      () => {
        setTold(given === null ? said.takenBack : said.kept);
        if (isAsked) close();
      },
      (error: unknown) => setTold(error instanceof api.ApiError ? error.message : strings.unreachable),
    );
  };
  return (
    <>
      <span class="thumbs" role="group" aria-label={said.label}>
        <button
          type="button"
          class="button tiny"
          aria-label={said.up}
          aria-pressed={opinion?.verdict === "up"}
          onClick={() => send(opinion?.verdict === "up" ? null : { verdict: "up", reason: null, text: "" })}
        >
          <Thumb />
        </button>
        <button
          ref={down}
          type="button"
          class="button tiny down"
          aria-label={said.down}
          aria-pressed={opinion?.verdict === "down"}
          aria-expanded={isAsked}
          onClick={() => setAsked(!isAsked)}
        >
          <Thumb />
        </button>
      </span>
      <span class="told" role="status">
        {told}
      </span>
      {isAsked && <Why runId={runId} before={opinion} onSend={send} onClose={close} />}
    </>
  );
}

interface WhyProps {
  runId: string;
  before: Opinion | null;
  onSend: (opinion: Opinion | null) => void;
  onClose: () => void;
}

/** Asks what is wrong; nothing needs to be said. */
function Why({ runId, before, onSend, onClose }: WhyProps) {
  const [reason, setReason] = useState<Reason | null>(before?.reason ?? null);
  const [text, setText] = useState(before?.text ?? "");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  return (
    <form
      ref={form}
      class="why"
      onSubmit={(event) => {
        event.preventDefault();
        onSend({ verdict: "down", reason, text: text.trim() });
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <fieldset>
        <legend>{said.why}</legend>
        {(Object.keys(said.reasons) as Reason[]).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name={`why-${runId}`}
              checked={reason === one}
              onChange={() => setReason(one)}
            />{" "}
            {said.reasons[one]}
          </label>
        ))}
      </fieldset>
      <label class="in-words">
        {said.words}
        <textarea
          rows={2}
          maxLength={TEXT_LIMIT_CHARS}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="why-buttons">
        <button type="submit" class="button primary">
          {said.send}
        </button>{" "}
        {before?.verdict === "down" && (
          <button type="button" class="button" onClick={() => onSend(null)}>
            {said.takeBack}
          </button>
        )}{" "}
        <button type="button" class="button" onClick={onClose}>
          {said.cancel}
        </button>
      </p>
    </form>
  );
}

function Thumb() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path
        d="M1.5 7h2.6v7H1.5zM5.6 13.2V7.3L8.4 1.6c1 0 1.7.8 1.5 1.8L9.4 6h4c.9 0 1.5.8 1.3 1.6l-1.2 5c-.2.7-.8 1.2-1.5 1.2H7.3c-.7 0-1.2-.2-1.7-.6z"
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linejoin="round"
      />
    </svg>
  );
}
