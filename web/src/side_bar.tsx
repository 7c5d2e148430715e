import { memo } from "preact/compat";

import * as api from "./api";
import { Conversations } from "./conversations";
import { Finder } from "./finder";
import { ShellButtons, type Shown } from "./shell";
import { strings } from "./strings";
import { Today } from "./worklist";

const said = strings.chats;

interface SideBarProps {
  current: string;
  /** Changes when the list may have changed. */
  version: string;
  /** Whether the server can be asked; what was read last stays on the screen until it can. */
  isReachable: boolean;
  isBusy: boolean;
  onPatient: (patientId: string) => void;
  onOpen: (chatId: string) => void;
  onNew: () => void;
  onShow: (wanted: Shown) => void;
}

/** The caller's conversations, from the server; this page keeps nothing. Not drawn anew while an answer grows. */
export const SideBar = memo(function SideBar({
  current,
  version,
  isReachable,
  isBusy,
  onPatient,
  onOpen,
  onNew,
  onShow,
}: SideBarProps) {
  return (
    <nav id="side-bar" class="side-bar" aria-label={said.title}>
      <Finder isBusy={isBusy || !isReachable} onPatient={onPatient} />
      <Today isCompact />
      <a class="side-item side-title" href="#/rounds">
        {strings.rounds.title}
      </a>
      <Conversations
        current={current}
        version={version}
        isReachable={isReachable}
        onOpen={onOpen}
        onNew={onNew}
      />
      {api.hasSignedInHere() && (
        <button type="button" class="button" onClick={() => void api.signOut()}>
          {strings.signIn.signOut}
        </button>
      )}
      <ShellButtons onShow={onShow} />
    </nav>
  );
});
