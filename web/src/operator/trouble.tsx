import { ApiError } from "../api";
import { strings } from "../strings";

/** What went wrong, in words for an operator. */
export interface Trouble {
  text: string;
  problems: string[];
}

export const troubleOf = (error: unknown): Trouble =>
  error instanceof ApiError
    ? { text: error.message, problems: error.problems }
    : { text: strings.unreachable, problems: [] };

export function Problem({ trouble }: { trouble: Trouble | null }) {
  if (!trouble) return null;
  return (
    <div class="strip error" role="alert">
      <p>{trouble.text}</p>
      {trouble.problems.length > 0 && (
        <ul class="problems">
          {trouble.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
