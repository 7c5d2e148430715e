import { useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { shownMoment } from "./dates";
import { strings } from "./strings";
import type { ChatSummary } from "./types";

const said = strings.chats;
const LIMIT_CHARS = 120;

interface ConversationRowProps {
  chat: ChatSummary;
  isCurrent: boolean;
  isArchived: boolean;
  onOpen: (chatId: string) => void;
  onChanged: () => void;
}

/** One conversation: opened, called otherwise, put away or back. */
export function ConversationRow({ chat, isCurrent, isArchived, onOpen, onChanged }: ConversationRowProps) {
  const [isNaming, setNaming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const change = (changed: { title?: string; archived?: boolean }): void => {
    api.nameChat(chat.chat_id, changed).then(
      () => {
        setNaming(false);
        setProblem(null);
        onChanged();
      },
      (error: unknown) => setProblem(error instanceof api.ApiError ? error.message : said.notChanged),
    );
  };
  const title = chat.title || patientsOf(chat);
  return (
    <li class="side-row">
      <button
        type="button"
        class="side-item"
        aria-current={isCurrent ? "true" : undefined}
        onClick={() => onOpen(chat.chat_id)}
      >
        <span class="side-title" dir="auto">
          {patientsOf(chat)}
        </span>
        {chat.title && (
          <span class="side-question" dir="auto">
            {chat.title}
          </span>
        )}
        <span class="side-details">{chat.patient_ids.join(", ")}</span>
        {chat.problem ? (
          <span class="side-details">{said.damaged(chat.chat_id)}</span>
        ) : (
          <time dateTime={chat.updated_at}>{said.lastUsed(shownMoment(chat.updated_at))}</time>
        )}
      </button>
      {isNaming ? (
        <Naming
          title={chat.title}
          onSave={(text) => change({ title: text })}
          onCancel={() => setNaming(false)}
        />
      ) : (
        <span class="side-deeds">
          <button type="button" aria-label={said.renameLong(title)} onClick={() => setNaming(true)}>
            {said.rename}
          </button>
          <button
            type="button"
            aria-label={(isArchived ? said.restoreLong : said.archiveLong)(title)}
            onClick={() => change({ archived: !isArchived })}
          >
            {isArchived ? said.restore : said.archive}
          </button>
        </span>
      )}
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

interface NamingProps {
  title: string;
  onSave: (title: string) => void;
  onCancel: () => void;
}

function Naming({ title, onSave, onCancel }: NamingProps) {
  const [text, setText] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <form
      class="side-naming"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(text);
      }}
    >
      <input
        ref={field}
        type="text"
        aria-label={said.titleLabel}
        placeholder={said.titleHint}
        maxLength={LIMIT_CHARS}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && onCancel()}
      />
      <span class="side-deeds">
        <button type="submit">{said.save}</button>
        <button type="button" onClick={onCancel}>
          {said.cancel}
        </button>
      </span>
    </form>
  );
}

/** People are known by their names; who has none noted, by the id. */
const patientsOf = (chat: ChatSummary): string =>
  chat.patients.map((one) => one.name || one.patient_id).join(", ") || said.withoutPatient;
