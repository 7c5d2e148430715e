import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { strings } from "./strings";

/** Room for what is opened to stand beside the conversation instead of over it. */
export const BESIDE = "(min-width: 48rem) and (min-height: 26.01rem)";

interface SheetProps {
  id: string;
  title: string;
  /** Whose it is: on a phone the sheet may lie over the page's own words on that. */
  who: ComponentChildren;
  onClose: () => void;
  children: ComponentChildren;
}

/** What was opened: beside the conversation, which stays readable; on a phone over it. */
export function Sheet({ id, title, who, onClose, children }: SheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBeside] = useState(() => matchMedia(BESIDE).matches);
  useEffect(() => {
    if (isBeside) dialog.current?.show();
    else dialog.current?.showModal();
  }, [isBeside]);
  const closeOutside = (event: MouseEvent): void => {
    if (event.target === dialog.current) dialog.current?.close();
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isBeside) dialog.current?.close();
  };
  return (
    <dialog
      ref={dialog}
      class={isBeside ? "sheet beside" : "sheet"}
      aria-labelledby={id}
      onClose={onClose}
      onClick={isBeside ? undefined : closeOutside}
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
