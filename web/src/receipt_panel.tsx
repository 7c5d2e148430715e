import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import { shownMoment } from "./dates";
import { Sheet } from "./sheet";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import type { Receipt } from "./types";
import { spaced, titled } from "./words";

const said = strings.receipt;
const STATEMENT = "urn:rounds:statement";
const PRINCIPAL = "urn:rounds:principal";

interface ReceiptPanelProps {
  chatId: string;
  runId: string;
  patientId: string | null;
  /** Whose it is: the sheet may lie over the page's own words on that. */
  who: ComponentChildren;
  onSource: (opened: Opened) => void;
  onClose: () => void;
}

/** Who asked, who answered, what was read and done for one answer, as it was stored with it. */
export function ReceiptPanel({ chatId, runId, patientId, who, onSource, onClose }: ReceiptPanelProps) {
  const [receipt, setReceipt] = useState<Receipt | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    api.receipt(chatId, runId, patientId).then(
      (found) => isCurrent && (found ? setReceipt(found) : setProblem(said.none)),
      (error: unknown) =>
        isCurrent && setProblem(error instanceof api.ApiError ? error.message : strings.unreachable),
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, runId, patientId]);
  return (
    <Sheet id="receipt-title" title={said.title} who={who} onClose={onClose}>
      {problem && (
        <p class="strip warning" role="alert">
          {problem}
        </p>
      )}
      {!receipt && !problem && <p role="status">{said.loading}</p>}
      {receipt && (
        <>
          <ReceiptBody facts={factsOf(receipt)} onSource={onSource} />
          <p>
            <a
              class="button"
              href={api.receiptUrl(chatId, runId, patientId)}
              download={`receipt-${runId}.json`}
              onClick={api.saveWithToken}
            >
              {said.save}
            </a>
          </p>
          <p class="sheet-note">{said.hint}</p>
        </>
      )}
    </Sheet>
  );
}

export interface ReceiptFacts {
  asked: string;
  answered: string[];
  recorded: string;
  read: string[];
  done: string[];
  supported: number;
  statements: number;
}

/** What the panel tells of the bundle; the file itself holds more. */
export function factsOf(receipt: Receipt): ReceiptFacts {
  const parts = receipt.entry.map((one) => one.resource);
  const event = parts.find((one) => one.resourceType === "AuditEvent");
  const agents = event?.agent ?? [];
  const asked = agents.find((one) => one.requestor)?.who;
  const entities = event?.entity ?? [];
  const checked = parts
    .flatMap((one) => one.extension ?? [])
    .filter((one) => one.url === STATEMENT)
    .map((one) => one.extension?.find((part) => part.url === "state")?.valueCode);
  return {
    asked: asked?.identifier?.system === PRINCIPAL ? asked.identifier.value : "",
    answered: agents.filter((one) => !one.requestor).map((one) => one.who.display ?? ""),
    recorded: receipt.timestamp,
    read: entities.flatMap((one) => one.what?.reference ?? []),
    done: entities.flatMap((one) => one.name ?? []),
    supported: checked.filter((state) => state === "supported").length,
    statements: checked.length,
  };
}

interface ReceiptBodyProps {
  facts: ReceiptFacts;
  onSource: (opened: Opened) => void;
}

function ReceiptBody({ facts, onSource }: ReceiptBodyProps) {
  return (
    <div class="receipt" tabIndex={0} role="region" aria-label={said.title}>
      <dl>
        <dt>{said.recorded}</dt>
        <dd>
          <time dateTime={facts.recorded}>{shownMoment(facts.recorded)}</time>
        </dd>
        <dt>{said.asked}</dt>
        <dd>{facts.asked}</dd>
        <dt>{said.answered}</dt>
        <dd>{facts.answered.map(spaced).join(", ")}</dd>
        <dt>{said.check}</dt>
        <dd>
          {facts.statements > 0
            ? strings.claims.supported(facts.supported, facts.statements)
            : said.nothingChecked}
        </dd>
        <dt>{said.did}</dt>
        <dd>{facts.done.length > 0 ? facts.done.map(titled).join(", ") : said.nothing}</dd>
        <dt>{said.read}</dt>
        <dd>
          {facts.read.length === 0 && said.nothing}
          <ul>
            {facts.read.map((ref) => (
              <li key={ref}>
                <button
                  type="button"
                  class="source"
                  onClick={() => onSource({ citation: { ref, title: "" }, statement: null })}
                >
                  <code>{ref}</code>
                </button>
              </li>
            ))}
          </ul>
        </dd>
      </dl>
    </div>
  );
}
