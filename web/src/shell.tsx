import type { ComponentChildren, ComponentType } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

import type { ChartPartName } from "./chart_pane";
import type { People } from "./chat";
import { CONTROL, useShortcuts } from "./keys";
import { strings } from "./strings";
import type { SharedState } from "./types";

const said = strings.palette;

/** What of the page's own can be opened from anywhere. */
export type Shown = "palette" | "shortcuts" | "appearance";

/** What can be done from anywhere. */
export interface Deeds {
  openPatient: (patientId: string) => void;
  openChat: (chatId: string) => void;
  newChat: () => void;
  search: () => void;
  showChart: (part: ChartPartName) => void;
  showMemory: () => void;
}

export interface ShellProps {
  chatId: string;
  state: SharedState;
  people: People;
  who: ComponentChildren;
  /** While an answer is on its way no other chart is opened. */
  isBusy: boolean;
  deeds: Deeds;
  show: (wanted: Shown) => void;
  onClose: () => void;
}

/** One opening of a dialog: the same may be wanted again before its end has been told. */
interface Opening {
  what: Shown;
  count: number;
}

interface Shell {
  shown: Opening | null;
  show: (wanted: Shown) => void;
  close: (which: Opening) => void;
}

/** Which dialog of the page's own is open; the keyboard opens them too. */
export function useShell(): Shell {
  const [shown, setShown] = useState<Opening | null>(null);
  const show = useCallback((what: Shown) => setShown((now) => ({ what, count: (now?.count ?? 0) + 1 })), []);
  // One that has led to another tells of its own end later.
  const close = useCallback((which: Opening) => setShown((now) => (now === which ? null : now)), []);
  useShortcuts(show);
  return { shown, show, close };
}

type Dialogs = ComponentType<ShellProps & { shown: Shown }>;

/** Seldom used, so fetched when first wanted. */
export function ShellDialog({ shell, ...props }: Omit<ShellProps, "show" | "onClose"> & { shell: Shell }) {
  const [Found, setFound] = useState<Dialogs | null>(null);
  const { shown, show, close } = shell;
  const isMissing = Found === null;
  useEffect(() => {
    if (shown === null || !isMissing) return;
    import("./shell_dialogs").then(
      (loaded) => setFound(() => loaded.ShellDialogs),
      () => {
        close(shown);
        alert(strings.unreachable);
      },
    );
  }, [shown, isMissing, close]);
  if (shown === null || Found === null) return null;
  const { what, count } = shown;
  return <Found key={count} shown={what} show={show} onClose={() => close(shown)} {...props} />;
}

/** Ways into the dialogs, beneath the conversations. */
export function ShellButtons({ onShow }: { onShow: (wanted: Shown) => void }) {
  return (
    <div class="side-foot">
      <button type="button" class="button subtle" onClick={() => onShow("palette")}>
        {said.title} <kbd>{CONTROL ?? said.control} K</kbd>
      </button>
      <button type="button" class="button subtle" onClick={() => onShow("appearance")}>
        {strings.appearance.title}
      </button>
      <button type="button" class="button subtle" onClick={() => onShow("shortcuts")}>
        {strings.shortcuts.title}
      </button>
    </div>
  );
}
