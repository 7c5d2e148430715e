/** Notices what other screens do: runs that go on elsewhere, and turns that ended there. */

import { useEffect, useRef } from "preact/hooks";

import * as api from "./api";
import { type Chat, isOpen } from "./chat";
import type { Progress } from "./types";

const EVERY_MS = 2_500;

export interface Follower {
  isWanted: boolean;
  current: { current: Chat };
  onVerified: () => void;
  onRunning: (runId: string) => void;
  /** A run was asked for, and nothing of it has come yet. */
  onUnseen: () => void;
  onEnded: () => void;
  onFailed: (error: unknown) => void;
}

/** Asks now and then, while somebody looks; ids only, so that it costs little. */
export function useProgress(chatId: string, follower: Follower): void {
  const latest = useRef(follower);
  latest.current = follower;
  useEffect(() => {
    if (!follower.isWanted) return undefined;
    const seen = new Set<string>();
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible" || !navigator.onLine) return;
      api.progress(chatId).then(
        (found) => {
          latest.current.onVerified();
          if (found) follow(found, seen, latest.current);
        },
        (error: unknown) => latest.current.onFailed(error),
      );
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [chatId, follower.isWanted]);
}

function follow(found: Progress, seen: Set<string>, follower: Follower): void {
  const { turns } = follower.current.current;
  // This screen is busy itself: its own socket tells all.
  if (turns.some(isOpen)) return;
  const isUnseen = (runId: string | null): runId is string =>
    runId !== null && !turns.some((turn) => turn.runId === runId);
  const isNew = (runId: string | null, kind: string): runId is string =>
    isUnseen(runId) && !seen.has(kind + runId);
  const { running_run_id, last_run_id } = found;
  // Each is acted on once: a run may belong to a server that writes nothing of it down.
  if (isNew(running_run_id, "running ")) {
    seen.add(`running ${running_run_id}`);
    follower.onRunning(running_run_id);
  } else if (isNew(last_run_id, "ended ")) {
    seen.add(`ended ${last_run_id}`);
    follower.onEnded();
  } else if (isUnseen(running_run_id)) {
    follower.onUnseen();
  }
}
