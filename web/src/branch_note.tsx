import { strings } from "./strings";
import type { BranchOrigin } from "./types";

interface BranchNoteProps {
  origin: BranchOrigin;
  onOpen: (chatId: string) => void;
}

/** Says where the beginning of this conversation comes from. */
export function BranchNote({ origin, onOpen }: BranchNoteProps) {
  return (
    <p class="strip info branch-note" role="note">
      {strings.branch.from(origin.before_turn)}{" "}
      <button type="button" class="button tiny" onClick={() => onOpen(origin.conversation_id)}>
        {strings.branch.open}
      </button>
    </p>
  );
}
