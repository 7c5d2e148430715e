import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import * as api from "./api";
import { findPassage } from "./passage";
import { Sheet } from "./sheet";
import { strings } from "./strings";
import type { Citation, SourceText } from "./types";

const said = strings.sources;

/** What a clinician wants to check, and what the answer says of it. */
export interface Opened {
  citation: Citation;
  statement: string | null;
}

interface SourcePanelProps {
  chatId: string;
  patientId: string;
  opened: Opened;
  /** Whose it is: the sheet may lie over the page's own words on that. */
  who: ComponentChildren;
  onClose: () => void;
}

/** The note behind a citation, beside the answer, with the cited words marked. */
export function SourcePanel({ chatId, patientId, opened, who, onClose }: SourcePanelProps) {
  const { citation, statement } = opened;
  const [source, setSource] = useState<SourceText | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    api.source(chatId, patientId, citation.ref).then(
      (found) => isCurrent && setSource(found),
      (error: Error) => isCurrent && setProblem(error.message),
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId, citation.ref]);
  const title = source?.title ?? (citation.title || citation.ref);
  const about = [source?.kind, source?.date ?? citation.date, source?.author].filter(Boolean);
  return (
    <Sheet id="source-title" title={title} who={who} onClose={onClose}>
      <p class="sheet-about">
        {about.join(" · ")} <code>{citation.ref}</code>
      </p>
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      {!source && !problem && <p role="status">{said.loading}</p>}
      {source?.problem && <p class="strip warning">{source.problem}</p>}
      {source?.text && <SourceBody source={source} quote={citation.quote ?? null} statement={statement} />}
    </Sheet>
  );
}

interface SourceBodyProps {
  source: SourceText;
  quote: string | null;
  statement: string | null;
}

function SourceBody({ source, quote, statement }: SourceBodyProps) {
  const mark = useRef<HTMLElement>(null);
  const text = source.text ?? "";
  const span = findPassage(text, quote, statement);
  useLayoutEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [text]);
  return (
    <>
      <p class="sheet-note" role="status">
        {span === null ? said.unmarked : span.isQuote ? said.quoted : said.closest}
      </p>
      <div class="source-text" tabIndex={0} role="region" aria-label={said.text}>
        {span === null ? (
          text
        ) : (
          <>
            {text.slice(0, span.start)}
            {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: readers that name marks say which passage it is */}
            <mark ref={mark} aria-label={said.passage}>
              {text.slice(span.start, span.end)}
            </mark>
            {text.slice(span.end)}
          </>
        )}
      </div>
      {source.left_out_chars > 0 && <p class="sheet-note">{said.leftOut(source.left_out_chars)}</p>}
    </>
  );
}
