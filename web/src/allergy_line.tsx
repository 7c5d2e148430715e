import { strings } from "./strings";
import { useChartPart } from "./use_chart_part";

const said = strings.allergyLine;
const NAMES_SHOWN = 4;

interface AllergyLineProps {
  chatId: string;
  patientId: string;
  onOpen: () => void;
}

/** The allergies of the open patient, always in view; opens the list. What cannot be read is never shown as none. */
export function AllergyLine({ chatId, patientId, onOpen }: AllergyLineProps) {
  const { view, problem } = useChartPart(chatId, patientId, "allergies");
  if (view === null && problem === null) return null;
  const active = view?.rows.filter((row) => !strings.chart.over.includes(row.status)) ?? [];
  const names = [...new Set(active.map((row) => row.name))];
  const told = said.told(names.slice(0, NAMES_SHOWN), Math.max(names.length - NAMES_SHOWN, 0));
  const none = view?.rows.length ? said.noneActive : said.noneRecorded;
  return (
    <button type="button" class={`allergy-line ${names.length > 0 ? "has-allergies" : ""}`} onClick={onOpen}>
      {problem !== null ? said.unread : names.length > 0 ? told : none}
    </button>
  );
}
