import { strings } from "./strings";

const said = strings.dictation;

interface DictationButtonProps {
  isListening: boolean;
  isBusy?: boolean;
  note: string | null;
  isProblem: boolean;
  onPress: () => void;
}

/** Begins and ends a dictation, and says what becomes of it. */
export function DictationButton({
  isListening,
  isBusy = false,
  note,
  isProblem,
  onPress,
}: DictationButtonProps) {
  return (
    <>
      {note && (
        <span class="counter" role={isProblem ? "alert" : "status"}>
          {note}
        </span>
      )}
      <button
        type="button"
        class="button"
        aria-pressed={isListening}
        aria-label={isListening ? said.stop : said.startLong}
        disabled={isBusy}
        onClick={onPress}
      >
        {isListening ? said.stop : said.start}
      </button>
    </>
  );
}
