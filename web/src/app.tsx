import { useEffect, useMemo, useState } from "preact/hooks";

import * as api from "./api";
import { Banner } from "./banner";
import { visibleTurns } from "./chat";
import { ChatList } from "./chat_list";
import { Composer } from "./composer";
import { allowLinksTo } from "./markdown";
import { PlanCard } from "./plan_card";
import { QuestionCard } from "./question_card";
import { Transcript } from "./transcript";
import type { Session } from "./types";
import { isBusy, useChat } from "./use_chat";
import { Welcome } from "./welcome";

const chatInAddress = (): string | null => {
  const match = /^#\/chats\/(.+)$/.exec(location.hash);
  return match?.[1] ? decodeURIComponent(match[1]) : null;
};

const showInAddress = (chatId: string): void => {
  history.replaceState(null, "", `#/chats/${encodeURIComponent(chatId)}`);
};

export function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [chatId, setChatId] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  const openNew = async (): Promise<void> => {
    const created = await api.createChat();
    showInAddress(created);
    setChatId(created);
  };

  useEffect(() => {
    const start = async (): Promise<void> => {
      const found = await api.session();
      allowLinksTo(found.link_hosts);
      setSession(found);
      const given = chatInAddress();
      if (given) setChatId(given);
      else await openNew();
    };
    start().catch((error: Error) => setProblem(error.message));
    const follow = (): void => setChatId((before) => chatInAddress() ?? before);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);

  if (problem) return <Stopped text={problem} />;
  if (!session || !chatId) return <p class="loading">Opening Rounds…</p>;
  const open = (id: string): void => {
    showInAddress(id);
    setChatId(id);
  };
  return (
    <Room
      key={chatId}
      chatId={chatId}
      session={session}
      onOpen={open}
      onNew={() => void openNew().catch((error: Error) => setProblem(error.message))}
    />
  );
}

function Stopped({ text }: { text: string }) {
  return (
    <main class="stopped">
      <h1>Rounds</h1>
      <p role="alert">{text}</p>
      <button type="button" class="button primary" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}

interface RoomProps {
  chatId: string;
  session: Session;
  onOpen: (chatId: string) => void;
  onNew: () => void;
}

function Room({ chatId, session, onOpen, onNew }: RoomProps) {
  const { chat, link, problem, isLoading, send, stop, showEarlier } = useChat(chatId);
  const [draft, setDraft] = useState("");
  const turns = useMemo(() => visibleTurns(chat), [chat]);
  const agents = useMemo(() => session.agents.map((agent) => agent.name), [session]);
  const busy = isBusy(chat);
  const { plan, question } = chat.state;
  const showsPlan = plan !== null && (plan.status === "proposed" || plan.status === "running");
  return (
    <div class="room">
      <Banner
        chatId={chatId}
        state={chat.state}
        isOffline={session.model_kind === "offline"}
        isBusy={busy}
        onSwitch={(patientId) => send(`switch to ${patientId}`)}
      >
        <ChatList current={chatId} onOpen={onOpen} onNew={onNew} />
      </Banner>
      <main class="middle">
        {turns.length === 0 && !isLoading ? (
          <Welcome session={session} patientId={chat.state.patient_id} onPick={send} />
        ) : (
          <Transcript
            turns={turns}
            agents={agents}
            origin={session.model_kind === "offline" ? "Rule-based" : "AI-generated"}
            onEarlier={chat.earlier.has(chat.state.patient_id) ? showEarlier : null}
          />
        )}
      </main>
      <footer class="bottom">
        {showsPlan && (
          <PlanCard key={plan.plan_id} plan={plan} isBusy={busy} onAnswer={send} onChange={setDraft} />
        )}
        {question && <QuestionCard question={question} isBusy={busy} onAnswer={send} />}
        {link !== "open" && !isLoading && <LinkStatus isSignedOut={link === "signed_out"} />}
        {problem && (
          <p class="strip error" role="alert">
            {problem}
          </p>
        )}
        <Composer
          draft={draft}
          onDraft={setDraft}
          isBusy={busy}
          canSend={link !== "signed_out"}
          patientId={chat.state.patient_id}
          onSend={(text) => send(text)}
          onStop={stop}
        />
      </footer>
    </div>
  );
}

function LinkStatus({ isSignedOut }: { isSignedOut: boolean }) {
  return (
    <p class="strip warning" role="status">
      {isSignedOut
        ? "You were signed out. Reload the page to go on."
        : "Connection lost. Trying again; running answers are kept."}
    </p>
  );
}
