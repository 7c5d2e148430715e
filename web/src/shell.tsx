import type { ComponentChildren, ComponentType } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

import { strings } from "./strings";

/** What of the page's own can be opened from anywhere. */
export type Shown = "appearance";

export interface ShellProps {
  who: ComponentChildren;
  onClose: () => void;
}

interface Shell {
  shown: Shown | null;
  show: (wanted: Shown) => void;
  close: () => void;
}

export function useShell(): Shell {
  const [shown, setShown] = useState<Shown | null>(null);
  const show = useCallback((wanted: Shown) => setShown(wanted), []);
  const close = useCallback(() => setShown(null), []);
  return { shown, show, close };
}

type Dialogs = ComponentType<ShellProps & { shown: Shown }>;

/** Seldom used, so fetched when first wanted. */
export function ShellDialog({ shown, ...props }: ShellProps & { shown: Shown | null }) {
  const [Found, setFound] = useState<Dialogs | null>(null);
  const { onClose } = props;
  const isMissing = shown !== null && Found === null;
  useEffect(() => {
    if (!isMissing) return;
    import("./shell_dialogs").then(
      (loaded) => setFound(() => loaded.ShellDialogs),
      () => {
        onClose();
        alert(strings.unreachable);
      },
    );
  }, [isMissing, onClose]);
  return shown !== null && Found !== null ? <Found shown={shown} {...props} /> : null;
}

/** Ways into the dialogs, beneath the conversations. */
export function ShellButtons({ onShow }: { onShow: (wanted: Shown) => void }) {
  return (
    <div class="side-foot">
      <button type="button" class="button subtle" onClick={() => onShow("appearance")}>
        {strings.appearance.title}
      </button>
    </div>
  );
}
