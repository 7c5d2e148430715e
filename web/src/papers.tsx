import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import type { Attachment } from "./types";

const said = strings.papers;

interface PapersProps {
  chatId: string;
  patientId: string;
  onSource: (opened: Opened) => void;
}

/** What was given in this conversation about the patient, apart from the record's own documents. */
export function Papers({ chatId, patientId, onSource }: PapersProps) {
  const [rows, setRows] = useState<Attachment[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    api.attachments(chatId, patientId).then(
      (found) => isCurrent && setRows(found),
      // A conversation that nobody has written to has none.
      () => isCurrent && setRows([]),
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId]);
  const remove = async (row: Attachment): Promise<void> => {
    setProblem(null);
    try {
      await api.removeAttachment(chatId, patientId, row.attachment_id);
      setRows((before) => before.filter((one) => one !== row));
    } catch (error) {
      setProblem(error instanceof api.ApiError ? error.message : strings.unreachable);
    }
  };
  if (rows.length === 0) return null;
  return (
    <section class="papers" aria-label={said.title}>
      <h3>{said.title}</h3>
      {problem && (
        <p class="strip error" role="alert">
          {problem}
        </p>
      )}
      <ul>
        {rows.map((row) => (
          <li key={row.attachment_id}>
            <button type="button" class="button subtle paper-name" onClick={() => onSource(opened(row))}>
              {row.file_name}
            </button>
            <a
              class="button"
              href={api.attachmentUrl(chatId, patientId, row.attachment_id)}
              download={row.file_name}
              aria-label={said.download(row.file_name)}
              onClick={api.saveWithToken}
            >
              ↓
            </a>
            <button
              type="button"
              class="button"
              aria-label={said.remove(row.file_name)}
              onClick={() => void remove(row)}
            >
              {said.removeShort}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const opened = (row: Attachment): Opened => ({
  citation: { ref: row.ref, title: row.file_name, date: null, quote: null },
  statement: null,
});
