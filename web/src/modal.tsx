import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { strings } from "./strings";

interface ModalProps {
  id: string;
  title: string;
  /** Whose chart is open: the dialog may lie over the page's own words on that. */
  who: ComponentChildren;
  /** Told once it is closed and the focus is back where it was. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog in front of the page; Escape, a press beside it and its button close it. */
export function Modal({ id, title, who, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before any effect of what is inside: opening it moves the focus, and a field inside wants it last.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const closeOutside = (event: MouseEvent): void => {
    if (event.target === dialog.current) dialog.current?.close();
  };
  // Escape is the dialog's; what lies behind it does not close too.
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Escape") event.stopPropagation();
  };
  return (
    <dialog
      ref={dialog}
      class="modal"
      aria-labelledby={id}
      onClose={onClose}
      onClick={closeOutside}
      onKeyDown={key}
    >
      <div class="sheet-inside">
        <p class="sheet-who">{who}</p>
        <div class="sheet-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {strings.close}
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
