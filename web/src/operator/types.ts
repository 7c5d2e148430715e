/** What `/api/operator/…` says; `GET /api/openapi.json` describes it. */

export interface ScenarioCard {
  scenario_id: string;
  name: string;
  versions: number[];
  active: number | null;
  plan_status: string | null;
  deployment_state: string | null;
}

export interface VersionCounts {
  version: number;
  sessions: number;
  marked: number;
  pinned: number;
  flagged: number;
}

export interface Deployment {
  plan_id: string;
  from_version: number;
  to_version: number;
  state: "approved" | "archived" | "staged" | "flipped" | "deployed";
  marked: number;
  seen: number;
  total: number;
  paused: boolean;
  share_percent: number;
  started_by: string;
}

export interface Overview {
  scenario_id: string;
  name: string;
  versions: number[];
  deployed: number[];
  active: number | null;
  share_percent: number;
  plan: Plan | null;
  deployment: Deployment | null;
  withdrawn: string;
  counts: VersionCounts[];
}

export type NodeState = "anchor" | "modified" | "deleted" | "inserted" | "plain";

export interface GraphNode {
  id: string;
  name: string;
  intent: string;
  kind: string;
  state: NodeState;
  fork: "" | "unchanged" | "changed" | "new";
  partner: string | null;
  is_checkpoint: boolean;
  is_required_action: boolean;
  collects: string[];
  sessions: number;
}

export interface GraphEdge {
  source: string;
  target: string;
  condition: string;
  is_changed: boolean;
}

export interface Graph {
  scenario_id: string;
  name: string;
  version: number;
  checksum: string;
  entry: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface ScopeFilter {
  include_current_nodes: string[];
  exclude_current_nodes: string[];
  include_channels: string[];
  exclude_channels: string[];
  max_session_age_days: number | null;
  min_session_age_days: number | null;
  custom_conditions: string[];
}

export type Forced = "clean_graft" | "gap_fill" | "re_route";

export interface Policy {
  anchor_content_hash: string;
  anchor_name: string;
  scope_filter: ScopeFilter;
  update_downstream: boolean;
  force_scenario: Forced | null;
}

export type Policies = Record<string, Policy>;

export interface Warning {
  severity: "info" | "warning" | "critical";
  code: string;
  anchor_name: string;
  message: string;
}

export interface Plan {
  id: string;
  scenario_id: string;
  from_version: number;
  to_version: number;
  status: "pending" | "approved" | "deployed" | "superseded" | "cancelled";
  anchor_policies: Policies;
  created_at: string;
  created_by: string | null;
  approved_at: string | null;
  approved_by: string | null;
  summary: {
    total_anchors: number;
    anchors_with_clean_graft: number;
    anchors_with_gap_fill: number;
    anchors_with_re_route: number;
    nodes_deleted: number;
    estimated_sessions_affected: number;
    warnings: Warning[];
    fields_to_collect: {
      field_name: string;
      display_name: string;
      affected_anchors: string[];
      reason: string;
    }[];
  };
}

export interface Anchor {
  step: string;
  name: string;
  target: string | null;
  target_name: string | null;
  scenario: string;
  sessions: number;
  fields: string[];
  redirects: { fork: string; condition: string; target: string }[];
  blocked_by: string[];
  policy: Policy;
  has_own_policy: boolean;
}

export interface PlanView {
  plan: Plan;
  changes: string[];
  old: Graph;
  new: Graph;
  anchors: Anchor[];
}

export interface DryRunRow {
  session: string;
  version: number;
  step_before: string;
  effect: string;
  why: string;
  step_after: string;
  collect: string[];
  confirm: string[];
  execute: string[];
  sources: Record<string, string>;
  blocked_by: string;
}

export interface ReviewRow {
  session: string;
  version: number;
  step_hash: string;
  channel: string;
  created_at: string;
  reason: string;
}

export type SessionAction = "move" | "resume" | "ask_again" | "end" | "pin";

export interface SessionAct {
  action: SessionAction;
  reason: string;
  step?: string;
  fields?: string[];
}

export interface BulkAct extends SessionAct {
  at_step?: string;
  version?: number;
  review?: string;
  after?: string;
}

export interface Done {
  done: number;
  refused: { session: string; why: string }[];
  cursor: string;
}

export interface SessionView {
  session: string;
  version: number;
  step: string;
  step_name: string;
  is_left: boolean;
  way: { step: string; name: string; at: string; is_skipped: boolean }[];
  fields: {
    name: string;
    label: string;
    value: unknown;
    source: string;
    turn: number;
    quote: string;
  }[];
  missing: string[];
  checkpoints: string[];
  reason: string;
  pinned: string;
  steps: Record<string, string>;
  next: {
    version: number;
    effect: string;
    why: string;
    step_after: string;
    asks: string[];
    runs: string[];
  } | null;
}

export interface Played {
  lines: { who: string; text: string }[];
  step: string;
  suggestion: string;
  is_over: boolean;
}

export interface Score {
  to_version: number;
  foretold: number;
  met: number;
  right: number;
  wrong: Record<string, number>;
}

export interface DryRunPage extends Page<DryRunRow> {
  score: Score | null;
}

export interface Page<Row> {
  rows: Row[];
  cursor: string;
}

export interface HistoryEntry {
  time: string;
  operator: string;
  action: string;
  note: string;
  outcome: "done" | "refused";
}

/** Counts of one agent and model since the server began. */
export interface QualityRow {
  agent: string;
  model: string;
  supported: number;
  unsupported: number;
  contradicted: number;
  repaired: number;
  answered: number;
  asked: number;
  refused: number;
  like: number;
  dislike: number;
}

/** A chart that somebody opened in an emergency. */
export interface Emergency {
  grant_id: string;
  principal: string;
  patient_id: string;
  reason: string;
  granted_at: string;
  expires_at: string;
  review: { by: string; at: string; is_justified: boolean; note: string } | null;
}
