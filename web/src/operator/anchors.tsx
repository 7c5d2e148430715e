import { useState } from "preact/hooks";

import type { Anchor, Forced, Policies, Policy, ScopeFilter } from "./types";
import { words } from "./words";

const said = words.anchors;
const STAR = "*";
const EVERYONE: ScopeFilter = {
  include_current_nodes: [],
  exclude_current_nodes: [],
  include_channels: [],
  exclude_channels: [],
  max_session_age_days: null,
  min_session_age_days: null,
  custom_conditions: [],
};
export const PLAIN: Policy = {
  anchor_content_hash: "",
  anchor_name: "",
  scope_filter: EVERYONE,
  update_downstream: true,
  force_scenario: null,
};

interface AnchorTableProps {
  anchors: Anchor[];
  policies: Policies;
  isEditable: boolean;
  onChange: (policies: Policies) => void;
}

/** The seed's "anchor details", each with its policy. */
export function AnchorTable({ anchors, policies, isEditable, onChange }: AnchorTableProps) {
  const change = (step: string, policy: Policy | null): void => {
    const { [step]: _dropped, ...others } = policies;
    onChange(policy === null ? others : { ...others, [step]: policy });
  };
  const edit = (step: string, name: string) =>
    isEditable && (
      <PolicyEditor
        step={step}
        name={name}
        policy={policies[step] ?? null}
        onChange={(policy) => change(step, policy)}
      />
    );
  return (
    <ul class="anchors">
      {anchors.map((anchor) => (
        <li key={anchor.step} class="anchor-row">
          <AnchorLine anchor={anchor} policy={policies[anchor.step] ?? policies[STAR] ?? PLAIN} />
          {edit(anchor.step, anchor.name)}
        </li>
      ))}
      <li class="anchor-row">
        <div class="anchor-line">
          <strong class="anchor-name">{said.others}</strong>
          <PolicyText policy={policies[STAR] ?? PLAIN} />
        </div>
        {edit(STAR, said.others)}
      </li>
    </ul>
  );
}

function AnchorLine({ anchor, policy }: { anchor: Anchor; policy: Policy }) {
  return (
    <div class="anchor-line">
      <strong class="anchor-name">{anchor.name}</strong>
      <span class={`chip outcome ${anchor.scenario}`}>
        {said.scenarios[anchor.scenario] ?? anchor.scenario}
      </span>
      <span class="anchor-sessions">{words.sessions(anchor.sessions)}</span>
      <div class="anchor-facts">
        {anchor.fields.length > 0 && <p>{said.asks(anchor.fields.join(", "))}</p>}
        {anchor.redirects.map((one) => (
          <p key={one.condition + one.target}>
            <code>{said.redirect(one.condition, one.target)}</code>
          </p>
        ))}
        {anchor.blocked_by.length > 0 && (
          <p class="blocked-by">{said.blocked(anchor.blocked_by.join(", "))}</p>
        )}
        <PolicyText policy={policy} />
      </div>
    </div>
  );
}

function PolicyText({ policy }: { policy: Policy }) {
  return (
    <p class="hint">
      {said.scope(scopeText(policy.scope_filter))} · {policy.update_downstream ? said.updates : said.holds}
      {policy.force_scenario && ` · ${said.forced(said.scenarios[policy.force_scenario] ?? "")}`}
    </p>
  );
}

function scopeText(scope: ScopeFilter): string {
  const parts = [
    scope.include_channels.length ? `${scope.include_channels.join(", ")} only` : "",
    scope.exclude_channels.length ? `not ${scope.exclude_channels.join(", ")}` : "",
    scope.min_session_age_days === null ? "" : `at least ${scope.min_session_age_days} days old`,
    scope.max_session_age_days === null ? "" : `at most ${scope.max_session_age_days} days old`,
    ...scope.custom_conditions,
  ].filter(Boolean);
  return parts.join("; ") || said.everyone;
}

const listed = (text: string, separator: string): string[] =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

interface PolicyEditorProps {
  step: string;
  name: string;
  policy: Policy | null;
  onChange: (policy: Policy | null) => void;
}

function PolicyEditor({ step, name, policy, onChange }: PolicyEditorProps) {
  const now = policy ?? PLAIN;
  const scope = now.scope_filter;
  const set = (part: Partial<Policy>): void => onChange({ ...now, ...part });
  const narrow = (part: Partial<ScopeFilter>): void => set({ scope_filter: { ...scope, ...part } });
  const id = (field: string): string => `policy-${step === STAR ? "others" : step}-${field}`;
  return (
    <details class="policy">
      <summary class="button tiny">
        {said.edit}
        <span class="visually-hidden"> {said.of(name)}</span>
        {policy && <span class="own"> · {said.own}</span>}
      </summary>
      <div class="policy-form">
        <label class="check">
          <input
            type="checkbox"
            checked={now.update_downstream}
            onChange={(event) => set({ update_downstream: event.currentTarget.checked })}
          />
          {said.update}
        </label>
        <Field id={id("force")} label={said.force}>
          <select
            id={id("force")}
            value={now.force_scenario ?? ""}
            onChange={(event) =>
              set({ force_scenario: (event.currentTarget.value || null) as Forced | null })
            }
          >
            <option value="">{said.automatic}</option>
            {(["clean_graft", "gap_fill", "re_route"] as const).map((forced) => (
              <option key={forced} value={forced}>
                {said.scenarios[forced]}
              </option>
            ))}
          </select>
        </Field>
        <TextList
          id={id("include")}
          label={said.includeChannels}
          hint={said.commas}
          values={scope.include_channels}
          onChange={(include_channels) => narrow({ include_channels })}
        />
        <TextList
          id={id("exclude")}
          label={said.excludeChannels}
          values={scope.exclude_channels}
          onChange={(exclude_channels) => narrow({ exclude_channels })}
        />
        <Days
          id={id("min")}
          label={said.minAge}
          value={scope.min_session_age_days}
          onChange={(min_session_age_days) => narrow({ min_session_age_days })}
        />
        <Days
          id={id("max")}
          label={said.maxAge}
          value={scope.max_session_age_days}
          onChange={(max_session_age_days) => narrow({ max_session_age_days })}
        />
        <Field id={id("conditions")} label={said.conditions} hint={said.conditionsHint}>
          <textarea
            id={id("conditions")}
            rows={2}
            defaultValue={scope.custom_conditions.join("\n")}
            onChange={(event) => narrow({ custom_conditions: listed(event.currentTarget.value, "\n") })}
          />
        </Field>
        {policy && (
          <button type="button" class="button tiny" onClick={() => onChange(null)}>
            {said.drop}
            <span class="visually-hidden"> {said.of(name)}</span>
          </button>
        )}
      </div>
    </details>
  );
}

interface FieldProps {
  id: string;
  label: string;
  hint?: string;
  children: preact.ComponentChildren;
}

const Field = ({ id, label, hint, children }: FieldProps) => (
  <div class="field">
    <label for={id}>
      {label}
      {hint && <span class="hint"> ({hint})</span>}
    </label>
    {children}
  </div>
);

interface TextListProps {
  id: string;
  label: string;
  hint?: string;
  values: string[];
  onChange: (values: string[]) => void;
}

function TextList({ id, label, hint, values, onChange }: TextListProps) {
  const [text, setText] = useState(values.join(", "));
  return (
    <Field id={id} label={label} {...(hint ? { hint } : {})}>
      <input
        id={id}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onChange={(event) => onChange(listed(event.currentTarget.value, ","))}
      />
    </Field>
  );
}

interface DaysProps {
  id: string;
  label: string;
  value: number | null;
  onChange: (value: number | null) => void;
}

const Days = ({ id, label, value, onChange }: DaysProps) => (
  <Field id={id} label={label}>
    <input
      id={id}
      type="number"
      min="0"
      step="any"
      value={value ?? ""}
      onChange={(event) => {
        const text = event.currentTarget.value;
        onChange(text === "" ? null : Number(text));
      }}
    />
  </Field>
);
