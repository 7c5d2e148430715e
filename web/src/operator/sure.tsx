import { useEffect, useRef } from "preact/hooks";

import { words } from "./words";

interface SureProps {
  question: string;
  onYes: () => void;
  onNo: () => void;
}

/** Asks before anything that sessions would notice. */
export function Sure({ question, onYes, onNo }: SureProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="sure" aria-labelledby="sure-question" onClose={onNo}>
      <p id="sure-question">{question}</p>
      <div class="actions">
        <button type="button" class="button primary" onClick={onYes}>
          {words.sure.yes}
        </button>
        <button type="button" class="button" onClick={onNo}>
          {words.sure.no}
        </button>
      </div>
    </dialog>
  );
}
