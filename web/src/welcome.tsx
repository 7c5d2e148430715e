import type { Session } from "./types";

interface WelcomeProps {
  session: Session;
  patientId: string | null;
  onPick: (text: string) => void;
}

export function Welcome({ session, patientId, onPick }: WelcomeProps) {
  const patient = patientId ?? session.patient_id_example;
  const examples = [
    `start tumor board for ${patient}`,
    `What is the current status of ${patient}?`,
    `Show the treatment timeline of ${patient}`,
  ];
  return (
    <section class="welcome" aria-label="Getting started">
      <h2>Ask about a patient</h2>
      <p>
        Name a patient to open that chart. Each patient's history stays apart; the bar above always
        shows whose chart is open.
      </p>
      <ul class="examples">
        {examples.map((text) => (
          <li key={text}>
            <button type="button" class="example" onClick={() => onPick(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      <details class="team">
        <summary>Who answers here</summary>
        <dl>
          {session.agents.map((agent) => (
            <div key={agent.name}>
              <dt>{agent.name}</dt>
              <dd>{agent.description}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}
