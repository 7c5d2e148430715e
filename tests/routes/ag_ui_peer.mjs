// The public AG-UI client, run as a stranger would: two turns of one thread, told as JSON.
// Arguments: folder of node_modules, the server's address, a bearer token, a file of recorded runs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, base, token, recorded] = process.argv.slice(2);
const require = createRequire(`${folder}/peer.js`);
const { HttpAgent, verifyEvents } = require("@ag-ui/client");
const { from, lastValueFrom, toArray } = require("rxjs");

const agent = new HttpAgent({
  url: `${base}/api/ag-ui`,
  headers: { Authorization: `Bearer ${token}` },
  threadId: "thread-of-peer",
});
const outcomes = [];
const subscriber = {
  onRunFinishedEvent: ({ event }) => void outcomes.push(event.outcome),
};

agent.addMessage({ id: "u1", role: "user", content: "start tumor board for patient_4" });
await agent.runAgent({ runId: "peer-run-1", forwardedProps: { interrupts: true } }, subscriber);
const [interrupt] = outcomes[0].interrupts;
const plan = agent.state.plan.status;
const resume = [{ interruptId: interrupt.id, status: "resolved", payload: "confirm" }];
await agent.runAgent({ runId: "peer-run-2", resume }, subscriber);

for (const events of JSON.parse(readFileSync(recorded, "utf8"))) {
  await lastValueFrom(from(events).pipe(verifyEvents(false), toArray()));
}

const said = agent.messages.filter((message) => message.role === "assistant" && message.content);
console.log(
  JSON.stringify({
    outcomes: outcomes.map((outcome) => outcome.type),
    interrupt: interrupt.id,
    plan: [plan, agent.state.plan.status],
    patient: agent.state.patient_id,
    names: said.map((message) => message.name),
    first: said[0].content,
  }),
);
