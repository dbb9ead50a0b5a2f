// A journey on the events of the past: begun, waited for, and printed as numbers.
import type { HistorySimulation, JourneysSimulateBody } from "../../types.gen.ts";
import { CommandError } from "../command.ts";
import type { Connection } from "../connection.ts";
import type { Io } from "../io.ts";
import { patiently } from "../patience.ts";

const POLL_MS = 2_000;

/** @throws CommandError if the simulation fails or is canceled. */
export async function simulateHistory(
  io: Io,
  { client }: Connection,
  journey: string,
  body: Pick<JourneysSimulateBody, "from" | "to" | "sample">,
): Promise<HistorySimulation> {
  const answer = await client.journeys.simulate(journey, body);
  if (!("result" in answer)) throw new CommandError("The service did not simulate on history.");
  let simulation: HistorySimulation = answer;
  while (simulation.status === "pending" || simulation.status === "processing") {
    io.progress(`${Math.round(simulation.progress * 100)} %`);
    const { id } = simulation;
    const read = () => client.journeys.getSimulation(journey, id);
    if (io.signal.aborted) {
      await client.journeys.cancelSimulation(journey, id);
      simulation = await read();
      continue;
    }
    await io.pause(POLL_MS);
    simulation = (await patiently(io, read)) ?? simulation;
  }
  if (simulation.status === "completed") return simulation;
  throw new CommandError(`The simulation is ${simulation.status}${simulation.error ? `: ${simulation.error}` : ""}.`);
}

const without = (unpriced: readonly string[]): string =>
  unpriced.length > 0 ? `, without ${unpriced.join(", ")}, of which no price is set` : "";

export function linesOf({ result }: HistorySimulation): string[] {
  const { entered, subscribers, runs, edges, sends, skipped, deferred, cost } = result;
  const numbers = Object.entries(runs).map(([status, n]) => `${n} ${status}`);
  return [
    `${entered} runs of ${subscribers} subscribers: ${numbers.join(", ")}`,
    ...edges.map(({ from, by, to, taken }) => `${taken}  ${from} -> ${to ?? "the end"} (${by})`),
    ...sends.map(({ day, channel, sent }) => `${day}  ${sent} by ${channel}`),
    ...Object.entries(skipped).map(([reason, n]) => `${n} skipped: ${reason}`),
    ...(deferred > 0 ? [`${deferred} after quiet hours`] : []),
    `cost at list prices: $${cost.dollars}${without(cost.unpriced)}`,
  ];
}
