import { strings } from "./strings";
import type { Press, Question } from "./types";

interface QuestionCardProps {
  question: Question;
  isBusy: boolean;
  onAnswer: (text: string, press: Press) => void;
}

const YES_OR_NO = new Set([
  "clear",
  "compare",
  "destructive_tool",
  "new_history",
  "retire_statement",
  "undo_clear",
]);
const CHOICE = /^(\d)\. (.+)$/;
/** In every language in which the server asks. */
const YES_NO = /\s*\b(?:yes|ja|oui|sí) \/ (?:no|nein|non)$/gmu;

interface Choice {
  number?: string;
  name: string;
}

/** The patients that a question offers: the ids in its first sentence, up to the question mark. */
function patientsOf(question: Question): Choice[] {
  const [asked, rest] = question.text.split("?", 2);
  if (rest === undefined) return [];
  return [...(asked ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => ({ name: name ?? "" }));
}

/** The numbered lines of a question that asks which one is meant, or the patients it offers. */
function choicesOf(question: Question): Choice[] {
  if (question.kind === "which_patient") return patientsOf(question);
  if (question.kind !== "which_entity" && question.kind !== "subject") return [];
  return question.text.split("\n").flatMap((line) => {
    const [, number, name] = CHOICE.exec(line) ?? [];
    return number && name ? [{ number, name: name.replaceAll("*", "") }] : [];
  });
}

/** What the card asks, without the marks of its Markdown; where buttons answer, it need not say so. */
function wordsOf(question: Question, hasChoices: boolean): string {
  const text = hasChoices ? (/^[^\n?]*\??/.exec(question.text)?.[0] ?? "") : question.text;
  const plain = text.replaceAll(/[*`]/g, "");
  return YES_OR_NO.has(question.kind) ? plain.replaceAll(YES_NO, "") : plain;
}

/** The server's one open question; what no button can answer is answered in words below. */
export function QuestionCard({ question, isBusy, onAnswer }: QuestionCardProps) {
  const answer = (words: string): void => onAnswer(words, { target_id: question.id, answer: words });
  const choices = choicesOf(question);
  return (
    <section class="card question" aria-label={strings.question.label}>
      {question.waiting?.map((message) => (
        <p key={message} class="waiting">
          {strings.question.waiting(message)}
        </p>
      ))}
      <p>{wordsOf(question, choices.length > 0)}</p>
      {choices.length > 0 && (
        <div class="actions">
          {choices.map(({ number, name }) => (
            <button
              key={name}
              type="button"
              class="button"
              disabled={isBusy}
              onClick={() => answer(number ?? name)}
            >
              {number ? `${number}. ${name}` : name}
            </button>
          ))}
          <button type="button" class="button" disabled={isBusy} onClick={() => answer("no")}>
            {strings.question.noneOfThese}
          </button>
        </div>
      )}
      {YES_OR_NO.has(question.kind) && (
        <div class="actions">
          <button
            type="button"
            class={question.kind === "compare" ? "button primary" : "button danger"}
            disabled={isBusy}
            onClick={() => answer("yes")}
          >
            {strings.question.yes}
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={() => answer("no")}>
            {strings.question.no}
          </button>
        </div>
      )}
    </section>
  );
}
