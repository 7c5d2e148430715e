import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { allowLinksTo } from "./markdown";
import { Room } from "./room";
import { isRounds, RoundsPage } from "./rounds_page";
import { SignIn } from "./sign_in";
import { Stopped } from "./stopped";
import { strings } from "./strings";
import type { Session } from "./types";

const chatInAddress = (): string | null => {
  const match = /^#\/chats\/(.+)$/.exec(location.hash);
  return match?.[1] ? decodeURIComponent(match[1]) : null;
};

/** The page's first conversation takes the place of its bare address; "back" leads to those before. */
const showInAddress = (chatId: string): void => {
  const address = `#/chats/${encodeURIComponent(chatId)}`;
  if (chatInAddress() === null) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
};

/** Who is here and which conversation is open; everything else is the room's. */
export function App() {
  const [session, setSession] = useState<Session | null>(null);
  const [chatId, setChatId] = useState<string | null>(null);
  const [onRounds, setOnRounds] = useState(isRounds);
  const [needsKey, setNeedsKey] = useState(false);
  const [login, setLogin] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // What was begun to be written in each conversation: signing in again must not lose it.
  const drafts = useRef(new Map<string, string>());

  const openNew = useCallback(async (): Promise<void> => {
    const created = await api.createChat();
    showInAddress(created);
    setChatId(created);
  }, []);

  const enter = useCallback(async (): Promise<void> => {
    await api.takeLaunch();
    const found = await api.session();
    allowLinksTo(found.link_hosts);
    const given = chatInAddress();
    if (given) setChatId(given);
    else if (!isRounds()) await openNew();
    setSession(found);
    setNeedsKey(false);
  }, [openNew]);

  const failed = (error: unknown): void => {
    if (api.isSignedOut(error)) {
      // Providers let nobody sign in inside a frame.
      setLogin(error instanceof api.ApiError && !api.isFramed() ? error.signIn : null);
      setNeedsKey(true);
    } else setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
  };

  useEffect(() => {
    enter().catch(failed);
    const follow = (): void => {
      setChatId((before) => chatInAddress() ?? before);
      setOnRounds(isRounds());
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [enter]);

  useEffect(() => {
    if (session && !onRounds && !chatId) openNew().catch(failed);
  }, [session, onRounds, chatId]);

  if (needsKey) return <SignIn login={login} onSignIn={enter} />;
  if (problem) return <Stopped text={problem} />;
  if (session && onRounds) return <RoundsPage onSignedOut={failed} />;
  if (!session || !chatId) {
    return (
      <main class="loading">
        <p role="status">{strings.opening}</p>
      </main>
    );
  }
  const open = (id: string): void => {
    showInAddress(id);
    setChatId(id);
  };
  return (
    <Room
      key={chatId}
      chatId={chatId}
      session={session}
      drafts={drafts.current}
      onOpen={open}
      onNew={() => void openNew().catch(failed)}
      onSignIn={() => {
        // A session by cookie ended: the server says where the user signs in again.
        if (api.hasSignedInHere()) api.session().then(() => location.reload(), failed);
        else setNeedsKey(true);
      }}
    />
  );
}
