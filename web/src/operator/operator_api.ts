/** The operators' half of the server's HTTP side. */

import { ask } from "../api";
import type {
  BulkAct,
  Deployment,
  Done,
  DryRunPage,
  Emergency,
  Graph,
  HistoryEntry,
  Overview,
  Page,
  Plan,
  PlanView,
  Played,
  Policies,
  QualityRow,
  ReviewRow,
  ScenarioCard,
  SessionAct,
  SessionView,
} from "./types";

const base = "/api/operator";
const one = (id: string, rest = ""): string => `${base}/scenarios/${encodeURIComponent(id)}${rest}`;
const paged = (after: string, limit: number): string => `?limit=${limit}&after=${encodeURIComponent(after)}`;

export const scenarios = (): Promise<{
  scenarios: ScenarioCard[];
  operator: string;
  require_approval: boolean;
}> => ask(`${base}/scenarios`);
export const overview = (id: string): Promise<Overview> => ask(one(id));
export const version = (id: string, number: number): Promise<Graph> => ask(one(id, `/versions/${number}`));
export const plan = (id: string): Promise<PlanView> => ask(one(id, "/plan"));
export const dryRun = (id: string, after: string): Promise<DryRunPage> =>
  ask(one(id, `/dry-run${paged(after, 200)}`));
export const review = (id: string, after: string): Promise<Page<ReviewRow>> =>
  ask(one(id, `/review${paged(after, 100)}`));
export const history = async (id: string): Promise<HistoryEntry[]> =>
  (await ask<{ entries: HistoryEntry[] }>(one(id, "/history"))).entries;

export const quality = async (): Promise<QualityRow[]> =>
  (await ask<{ rows: QualityRow[] }>(`${base}/quality`)).rows;

export const emergencies = async (): Promise<Emergency[]> =>
  (await ask<{ emergencies: Emergency[] }>(`${base}/emergencies`)).emergencies;
export const reviewEmergency = (id: string, isJustified: boolean, note: string): Promise<Emergency> =>
  ask(`${base}/emergencies/${encodeURIComponent(id)}/review`, "POST", { is_justified: isJustified, note });

export const validate = (definition: string): Promise<Graph> =>
  ask(`${base}/validate`, "POST", { definition });
export const publish = (definition: string): Promise<Graph> =>
  ask(`${base}/scenarios`, "POST", { definition });
export const propose = (definition: string): Promise<PlanView> =>
  ask(`${base}/plans`, "POST", { definition });
export const setPolicies = (id: string, policies: Policies): Promise<PlanView> =>
  ask(one(id, "/plan/policies"), "PUT", { policies });
export const approve = (id: string): Promise<Plan> => ask(one(id, "/approve"), "POST");
export const cancel = (id: string): Promise<Plan> => ask(one(id, "/cancel"), "POST");
export const deploy = (id: string, share: number): Promise<Deployment> =>
  ask(one(id, "/deploy"), "POST", { share_percent: share });
export const setShare = (id: string, share: number): Promise<Deployment> =>
  ask(one(id, "/share"), "POST", { share_percent: share });
export const pause = (id: string): Promise<Deployment> => ask(one(id, "/pause"), "POST");
export const resume = (id: string): Promise<Deployment> => ask(one(id, "/resume"), "POST");
export const rollback = (id: string, to: number): Promise<PlanView> =>
  ask(one(id, "/rollback"), "POST", { to });
export const setMapping = (id: string, mapping: Record<string, string>): Promise<PlanView> =>
  ask(one(id, "/plan/mapping"), "PUT", { mapping });
export const preview = (definition: string, answers: string[]): Promise<Played> =>
  ask(`${base}/preview`, "POST", { definition, answers });
export const withdraw = (id: string, reason: string): Promise<Overview> =>
  ask(one(id, "/withdraw"), "POST", { reason });
export const offerAgain = (id: string): Promise<Overview> => ask(one(id, "/offer-again"), "POST");
export const session = (id: string, session: string): Promise<SessionView> =>
  ask(one(id, `/sessions/${encodeURIComponent(session)}`));
export const act = (id: string, session: string, act: SessionAct): Promise<Done> =>
  ask(one(id, `/sessions/${encodeURIComponent(session)}/act`), "POST", act);
export const actOnAll = (id: string, act: BulkAct): Promise<Done> =>
  ask(one(id, "/sessions/act"), "POST", act);
