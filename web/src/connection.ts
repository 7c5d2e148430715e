/** One socket that comes back by itself and misses nothing. */

import ReconnectingWebSocket from "partysocket/ws";

import { socketProtocols, socketUrl } from "./api";
import { isBegun, isOpen, type Turn } from "./chat";
import type { Frame, Press } from "./types";

export type Link = "connecting" | "open" | "lost" | "signed_out";
const SIGNED_OUT = 4401;

interface Watcher {
  /** The turns on the screen, to know what to ask for after a reconnect. */
  turns: () => Turn[];
  onFrame: (frame: Frame) => void;
  onLink: (link: Link) => void;
}

export interface Outgoing {
  content: string;
  client_message_id: string;
  time_zone: string;
  press?: Press;
  /** Whose patient's screen this was said on, while nothing ran that could change it. */
  seen_patient_id?: string;
}

export class Connection {
  private readonly socket: ReconnectingWebSocket;
  private readonly unanswered = new Map<string, Outgoing>();
  private startRun: string | null;
  /** Whether we closed the socket ourselves, to open it elsewhere. */
  private isMoving = false;

  constructor(
    private readonly chatId: string,
    runningRun: string | null,
    private readonly watcher: Watcher,
  ) {
    this.startRun = runningRun;
    this.socket = new ReconnectingWebSocket(() => this.url(), socketProtocols(), {
      maxEnqueuedMessages: 0,
      minReconnectionDelay: 500,
      maxReconnectionDelay: 8_000,
      shouldReconnectOnClose: (event) => event.code !== SIGNED_OUT,
    });
    this.socket.addEventListener("open", () => this.opened());
    this.socket.addEventListener("close", (event) => this.lost(event.code === SIGNED_OUT));
    this.socket.addEventListener("message", (event) => this.received(String(event.data)));
  }

  send(message: Outgoing): void {
    this.unanswered.set(message.client_message_id, message);
    this.deliver({ type: "message", ...message });
  }

  stop(runId: string | null): void {
    this.deliver(runId === null ? { type: "stop" } : { type: "stop", run_id: runId });
  }

  /** Give up a message that never left; false if it may have. */
  withdraw(key: string): boolean {
    return this.socket.readyState !== WebSocket.OPEN && this.unanswered.delete(key);
  }

  /** Show a run that this screen did not begin, such as another device's. */
  watch(runId: string): void {
    this.startRun = runId;
    this.isMoving = true;
    this.socket.reconnect();
  }

  /** The machine says whether it has a network long before a socket notices. */
  hasNetwork(isOnline: boolean): void {
    if (isOnline) this.socket.reconnect();
    else this.watcher.onLink("lost");
  }

  close(): void {
    this.isMoving = true;
    this.socket.close();
  }

  private lost(isSignedOut: boolean): void {
    if (isSignedOut) this.watcher.onLink("signed_out");
    else if (!this.isMoving) this.watcher.onLink("lost");
    this.isMoving = false;
  }

  private url(): string {
    const turn = this.watcher.turns().find(isBegun);
    const run = turn?.runId ?? this.startRun;
    return socketUrl(this.chatId, run ? { run, after: turn?.seq ?? 0 } : null);
  }

  private opened(): void {
    this.startRun = null;
    this.isMoving = false;
    this.watcher.onLink("open");
    const started = new Set(
      this.watcher
        .turns()
        .filter((turn) => isBegun(turn) || !isOpen(turn))
        .map((turn) => turn.key),
    );
    for (const [key, message] of this.unanswered) {
      // The id makes this safe: a message that did arrive is not run twice.
      if (started.has(key)) this.unanswered.delete(key);
      else this.deliver({ type: "message", ...message });
    }
  }

  private received(data: string): void {
    const frame = JSON.parse(data) as Frame;
    const key = frame.metadata?.clientMessageId;
    if (key !== undefined && frame.type !== "CUSTOM") this.unanswered.delete(key);
    this.watcher.onFrame(frame);
  }

  private deliver(frame: object): void {
    // What cannot be sent now goes out when the socket is open again.
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }
}
