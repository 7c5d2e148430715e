import { strings } from "./strings";
import type { Press, Question } from "./types";

interface QuestionCardProps {
  question: Question;
  isBusy: boolean;
  onAnswer: (text: string, press: Press) => void;
}

const YES_OR_NO = new Set(["clear", "destructive_tool", "new_history"]);

/** The server's one open question; others than yes-or-no are answered in words below. */
export function QuestionCard({ question, isBusy, onAnswer }: QuestionCardProps) {
  const answer = (words: string): void =>
    onAnswer(words, { target_id: question.id, answer: words });
  return (
    <section class="card question" aria-label={strings.question.label}>
      <p>{question.text}</p>
      {YES_OR_NO.has(question.kind) && (
        <div class="actions">
          <button type="button" class="button danger" disabled={isBusy} onClick={() => answer("yes")}>
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
