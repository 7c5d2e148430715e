import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { ConversationRow } from "./conversation_row";
import { shownMoment } from "./dates";
import { strings } from "./strings";
import type { ChatSummary, FoundTurns } from "./types";

const said = strings.chats;
const PAUSE_MS = 300;
const LIMIT_CHARS = 200;

interface ConversationsProps {
  current: string;
  /** Changes when the list may have changed. */
  version: string;
  isReachable: boolean;
  onOpen: (chatId: string) => void;
  onNew: () => void;
}

/** The caller's conversations, from the server: by title, searched, or those put away. */
export function Conversations({ current, version, isReachable, onOpen, onNew }: ConversationsProps) {
  const [isArchive, setArchive] = useState(false);
  const [changes, setChanges] = useState(0);
  const [query, setQuery] = useState("");
  const { chats, isUnreadable } = useChats(isArchive, `${current} ${version} ${changes}`, isReachable);
  const found = useHits(query.trim());
  return (
    <>
      <div class="side-head">
        <h2>{said.title}</h2>
        <button type="button" class="button" aria-label={said.newLong} onClick={onNew}>
          {said.new}
        </button>
      </div>
      <form
        class="finder"
        role="search"
        aria-label={said.search}
        onSubmit={(event) => event.preventDefault()}
      >
        <label for="chat-search">{said.search}</label>
        <input
          id="chat-search"
          type="text"
          autocomplete="off"
          maxLength={LIMIT_CHARS}
          placeholder={said.searchHint}
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && setQuery("")}
        />
        <p class={found ? "side-note" : "visually-hidden"} role="status">
          {found && noteOf(found)}
        </p>
      </form>
      {found && <Hits found={found} chats={chats ?? []} onOpen={onOpen} />}
      {isUnreadable && <p class="side-note">{said.unreadable}</p>}
      {chats === null && !isUnreadable && <p class="side-note">{said.loading}</p>}
      {chats?.length === 0 && <p class="side-note">{isArchive ? said.noneArchived : said.none}</p>}
      <ul class="side-list">
        {chats?.map((chat) => (
          <ConversationRow
            key={chat.chat_id}
            chat={chat}
            isCurrent={chat.chat_id === current}
            isArchived={isArchive}
            onOpen={onOpen}
            onChanged={() => setChanges((count) => count + 1)}
          />
        ))}
      </ul>
      <button
        type="button"
        class="button side-archive"
        aria-pressed={isArchive}
        onClick={() => setArchive((was) => !was)}
      >
        {said.archived}
      </button>
    </>
  );
}

interface HitsProps {
  found: FoundTurns;
  chats: ChatSummary[];
  onOpen: (chatId: string) => void;
}

function Hits({ found, chats, onOpen }: HitsProps) {
  return (
    <ul class="side-list" aria-label={said.search}>
      {found.hits.map((hit) => (
        <li key={`${hit.chat_id} ${hit.patient_id} ${hit.turn_id}`}>
          <button type="button" class="side-item" onClick={() => onOpen(hit.chat_id)}>
            <span class="side-title" dir="auto">
              {nameIn(chats, hit.patient_id) || said.withoutPatient}
            </span>
            <span class="side-details" dir="auto">
              {hit.snippet}
            </span>
            <time dateTime={hit.timestamp}>{shownMoment(hit.timestamp)}</time>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Two identifiers, where the list has them. */
const nameIn = (chats: ChatSummary[], patientId: string | null): string => {
  const known = chats.flatMap((chat) => chat.patients).find((one) => one.patient_id === patientId);
  return [known?.name, patientId].filter(Boolean).join(" · ");
};

const noteOf = (found: FoundTurns): string => {
  if (!found.is_complete) return said.notAll;
  return found.hits.length === 0 ? said.nothingFound : said.found(found.hits.length);
};

/** Reads the list whenever `version` changes; what was read last stays until then. */
function useChats(archived: boolean, version: string, isReachable: boolean) {
  const [chats, setChats] = useState<ChatSummary[] | null>(null);
  const [isUnreadable, setUnreadable] = useState(false);
  useEffect(() => {
    if (!isReachable) return undefined;
    let isCurrent = true;
    api.listChats(archived).then(
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
  }, [archived, version, isReachable]);
  return { chats, isUnreadable };
}

function useHits(query: string): FoundTurns | null {
  const [found, setFound] = useState<FoundTurns | null>(null);
  useEffect(() => {
    setFound(null);
    if (query === "") return undefined;
    let isCurrent = true;
    const pause = setTimeout(() => {
      api.searchChats(query).then(
        (hits) => isCurrent && setFound(hits),
        () => isCurrent && setFound(null),
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(pause);
    };
  }, [query]);
  return found;
}
