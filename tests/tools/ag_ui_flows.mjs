// Stock clients walk every flow as a page of somebody else's would, and tell as JSON what each run
// showed. Arguments: folder of node_modules, `ag-ui` or `copilotkit`, the server's address, a
// conversation for questions in plain words and one for interrupts.
import { createRequire } from "node:module";

const [folder, kind, base, plainThread, interruptThread] = process.argv.slice(2);
const home = kind === "copilotkit" ? `${folder}/@copilotkit/core/x.js` : `${folder}/x.js`;
const require = createRequire(home);
const { HttpAgent } = require("@ag-ui/client");

function driverOf(agent) {
  if (kind === "ag-ui") return { run: (given) => agent.runAgent(given), stop: () => agent.abortRun() };
  const { CopilotKitCore } = createRequire(`${folder}/x.js`)("@copilotkit/core");
  agent.agentId = "rounds";
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { rounds: agent } });
  return {
    run: (given) => core.runAgent({ agent, ...given }),
    stop: () => core.stopAgent({ agent }),
  };
}

function page(threadId, { interrupts }) {
  const agent = new HttpAgent({ url: `${base}/api/ag-ui`, threadId });
  const driver = driverOf(agent);
  let seen = null;
  agent.subscribe({
    onTextMessageContentEvent: () => {
      seen.deltas += 1;
      // As a button does, which is no part of the client's own work.
      if (seen.stops && seen.deltas === 1) setTimeout(driver.stop, 0);
    },
    onRunFinishedEvent: ({ event }) => void (seen.outcome = event.outcome ?? { type: "success" }),
    onRunErrorEvent: ({ event }) => void (seen.error = event.code ?? event.message),
    onRunFailed: ({ error }) => void (seen.error ??= error.message),
  });
  async function turn({ content, resume, stops = false }) {
    const known = new Set(agent.messages.map((message) => message.id));
    const id = crypto.randomUUID();
    seen = { deltas: 0, outcome: null, error: null, stops };
    if (content) agent.addMessage({ id, role: "user", content });
    const forwardedProps = interrupts ? { interrupts: true } : {};
    const awake = setInterval(() => {}, 1_000);
    try {
      await driver.run({ runId: `run-${id}`, resume, forwardedProps });
    } catch (error) {
      seen.error ??= error.message;
    }
    clearInterval(awake);
    const said = agent.messages.filter(
      (message) => message.role === "assistant" && message.content && !known.has(message.id),
    );
    return {
      outcome: seen.outcome?.type ?? null,
      interrupts: seen.outcome?.interrupts ?? [],
      error: seen.error,
      deltas: seen.deltas,
      text: said.map((message) => message.content).join("\n\n"),
      plan: agent.state?.plan?.status ?? null,
      question: agent.state?.question?.kind ?? null,
    };
  }
  return turn;
}

const told = {};
const plainly = page(plainThread, { interrupts: false });
told.proposed = await plainly({ content: "start tumor board for patient_4" });
told.streamed = await plainly({ content: "yes proceed" });
told.plain = await plainly({ content: "What is the current stage?" });
told.closed = await plainly({ content: "please clear everything" });
told.no = await plainly({ content: "no" });
await plainly({ content: "start tumor board for patient_4" });
told.stopped = await plainly({ content: "yes proceed", stops: true });
told.afterStop = await plainly({ content: "What is the latest ECOG?" });
told.refused = await plainly({ content: "x".repeat(200_000) });
const again = page(plainThread, { interrupts: false });
told.afterRefusal = await again({ content: "What is the current stage?" });

const asking = page(interruptThread, { interrupts: true });
told.interrupted = await asking({ content: "start tumor board for patient_4" });
const [{ id: interruptId }] = told.interrupted.interrupts;
const answer = (payload) => ({ resume: [{ interruptId, status: "resolved", payload }] });
told.wrong = await asking(answer({ text: "yes" }));
told.nothing = await asking(answer(undefined));
told.right = await asking(answer({ answer: "confirm" }));
console.log(JSON.stringify(told));
process.exit(0);
