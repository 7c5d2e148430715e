import { strings } from "./strings";
import type { Session } from "./types";
import { spaced } from "./words";
import { Today } from "./worklist";

const said = strings.welcome;

interface WelcomeProps {
  session: Session;
  patientId: string | null;
  onPick: (text: string) => void;
}

export function Welcome({ session, patientId, onPick }: WelcomeProps) {
  const patient = patientId ?? session.patient_id_example;
  return (
    <section class="welcome" aria-label={said.label}>
      {patientId === null && <Today />}
      <h2>{said.title}</h2>
      <p>{said.text}</p>
      <ul class="examples">
        {said.examples(patient).map((text) => (
          <li key={text}>
            <button type="button" class="example" onClick={() => onPick(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      <details class="team">
        <summary>{said.team}</summary>
        <dl>
          {session.agents.map((agent) => (
            <div key={agent.name}>
              <dt>{spaced(agent.name)}</dt>
              <dd>{agent.description}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
