import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { shownMoment } from "./dates";
import { Finder } from "./finder";
import { strings } from "./strings";
import type { ChatSummary } from "./types";

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
}: SideBarProps) {
  const [chats, setChats] = useState<ChatSummary[] | null>(null);
  const [isUnreadable, setUnreadable] = useState(false);
  useEffect(() => {
    if (!isReachable) return undefined;
    let isCurrent = true;
    api.listChats().then(
      (found) => {
        if (!isCurrent) return;
        setChats(found);
        setUnreadable(false);
      },
      () => isCurrent && setUnreadable(true),
    );
    return () => {
      isCurrent = false;
    };
  }, [current, version, isReachable]);
  return (
    <nav id="side-bar" class="side-bar" aria-label={said.title}>
      <Finder isBusy={isBusy || !isReachable} onPatient={onPatient} />
      <a class="side-item side-title" href="#/rounds">
        {strings.rounds.title}
      </a>
      <div class="side-head">
        <h2>{said.title}</h2>
        <button type="button" class="button" aria-label={said.newLong} onClick={onNew}>
          {said.new}
        </button>
      </div>
      {isUnreadable && <p class="side-note">{said.unreadable}</p>}
      {chats === null && !isUnreadable && <p class="side-note">{said.loading}</p>}
      {chats?.length === 0 && <p class="side-note">{said.none}</p>}
      <ul class="side-list">
        {chats?.map((chat) => (
          <li key={chat.chat_id}>
            <button
              type="button"
              class="side-item"
              aria-current={chat.chat_id === current ? "true" : undefined}
              onClick={() => onOpen(chat.chat_id)}
            >
              <span class="side-title" dir="auto">
                {titleOf(chat)}
              </span>
              <span class="side-details">{chat.patient_ids.join(", ")}</span>
              <time dateTime={chat.updated_at}>{said.lastUsed(shownMoment(chat.updated_at))}</time>
            </button>
          </li>
        ))}
      </ul>
      {api.hasSignedInHere() && (
        <button type="button" class="button" onClick={() => void api.signOut()}>
          {strings.signIn.signOut}
        </button>
      )}
    </nav>
  );
});

/** People are known by their names; who has none noted, by the id. */
const titleOf = (chat: ChatSummary): string =>
  chat.patients.map((one) => one.name || one.patient_id).join(", ") || said.withoutPatient;
