// The public AG-UI client does the main job as a stranger would, and checks runs that were recorded
// over a socket with its own verifier. Tells as JSON what each turn showed.
// Arguments: folder of node_modules, the server's address, a conversation, a file of recorded runs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, base, threadId, recorded] = process.argv.slice(2);
const require = createRequire(`${folder}/walk.js`);
const { HttpAgent, verifyEvents } = require("@ag-ui/client");
const { from, lastValueFrom, toArray } = require("rxjs");

const agent = new HttpAgent({ url: `${base}/api/ag-ui`, threadId });
const turns = [];
const notices = [];
let number = 0;

async function turn(words) {
  number += 1;
  const known = new Set(agent.messages.map((message) => message.id));
  let outcome = null;
  const subscriber = {
    onRunFinishedEvent: ({ event }) => void (outcome = event.outcome),
    onCustomEvent: ({ event }) => void notices.push(event.value.kind),
  };
  if (words.content) agent.addMessage({ id: `u${number}`, role: "user", content: words.content });
  const forwardedProps = { interrupts: words.interrupts ?? true };
  await agent.runAgent(
    { runId: `walk-${number}`, resume: words.resume, forwardedProps, tools: words.tools },
    subscriber,
  );
  const said = agent.messages.filter(
    (message) => message.role === "assistant" && message.content && !known.has(message.id),
  );
  turns.push({
    outcome: outcome.type,
    names: said.map((message) => message.name),
    text: said.map((message) => message.content).join("\n\n"),
    patient: agent.state.patient_id,
    patients: agent.state.all_patient_ids,
    plan: agent.state.plan?.status ?? null,
  });
  return outcome;
}

const asked = await turn({ content: "start tumor board for patient_4" });
const interruptId = asked.interrupts[0].id;
await turn({ resume: [{ interruptId, status: "resolved", payload: { answer: "confirm" } }] });
await turn({ content: "switch to patient_15" });
await turn({ content: "switch to patient_4" });
await turn({ content: "clear patient context" });

// A page that knows of no interrupts: whatever is asked, people go on in plain words.
async function plain(content) {
  const tools = [{ name: "page_tool", description: "Of the page.", parameters: {} }];
  const outcome = await turn({ content, interrupts: false, tools });
  const { text } = turns.at(-1);
  return { text, outcome: outcome.type, question: agent.state.question?.kind ?? null, plan: agent.state.plan?.status ?? null };
}
const plainly = [];
for (const words of [
  "start tumor board for patient_15",
  "which medications does the patient take?",
  "yes proceed",
  "please clear everything",
  "what is the latest ECOG?",
  "please clear everything",
  "no",
  "clear patient context",
]) {
  plainly.push(await plain(words));
}

const runs = JSON.parse(readFileSync(recorded, "utf8"));
for (const events of runs) {
  await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()));
}
console.log(JSON.stringify({ turns: turns.slice(0, 5), plainly, notices, verified: runs.length }));
