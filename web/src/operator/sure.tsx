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
  const no = useRef<HTMLButtonElement>(null);
  const isAnswered = useRef(false);
  useEffect(() => {
    dialog.current?.showModal();
    // A second press of Enter must not be the yes.
    no.current?.focus();
  }, []);
  // Closing, and not only going away, gives the focus back to the button that asked.
  const close = (): void => {
    // The browser tells of the close a moment later, when the button may have asked again already.
    isAnswered.current = true;
    dialog.current?.close();
    onNo();
  };
  const agree = (): void => {
    close();
    onYes();
  };
  const closedByBrowser = (): void => {
    if (!isAnswered.current) onNo();
  };
  return (
    <dialog ref={dialog} class="sure" aria-labelledby="sure-question" onClose={closedByBrowser}>
      <p id="sure-question">{question}</p>
      <div class="actions">
        <button type="button" class="button primary" onClick={agree}>
          {words.sure.yes}
        </button>
        <button ref={no} type="button" class="button" onClick={close}>
          {words.sure.no}
        </button>
      </div>
    </dialog>
  );
}
