import { useState } from "preact/hooks";

import * as api from "./api";
import type { ChatSummary } from "./types";

interface ChatListProps {
  current: string;
  onOpen: (chatId: string) => void;
  onNew: () => void;
}

/** The caller's conversations, asked for when opened. */
export function ChatList({ current, onOpen, onNew }: ChatListProps) {
  const [chats, setChats] = useState<ChatSummary[] | null>(null);
  const load = (event: Event): void => {
    const details = event.currentTarget as HTMLDetailsElement;
    if (details.open) api.listChats().then(setChats, () => setChats([]));
  };
  const closeOnEscape = (event: KeyboardEvent): void => {
    if (event.key === "Escape") (event.currentTarget as HTMLDetailsElement).open = false;
  };
  return (
    <div class="chat-list">
      <details onToggle={load} onKeyDown={closeOnEscape}>
        <summary class="button subtle">Conversations</summary>
        <ul class="menu">
          {chats === null && <li class="menu-note">Loading…</li>}
          {chats?.length === 0 && <li class="menu-note">None yet</li>}
          {chats?.map((chat) => (
            <li key={chat.chat_id}>
              <button
                type="button"
                class="menu-item"
                aria-current={chat.chat_id === current ? "true" : undefined}
                onClick={() => onOpen(chat.chat_id)}
              >
                <span class="menu-title">Begun {when(chat.created_at)}</span>
                <time dateTime={chat.updated_at}>last {when(chat.updated_at)}</time>
              </button>
            </li>
          ))}
        </ul>
      </details>
      <button type="button" class="button subtle" onClick={onNew}>
        New
      </button>
    </div>
  );
}

const when = (timestamp: string): string =>
  new Date(timestamp).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
