// Walks an existing or an imagined subscriber through the steps of a journey, or runs the journey on past events.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { HistorySimulation, JourneysSimulateAnswer, JourneysSimulateBody } from "../../types.gen.ts";
import { type Call, CommandError, command, EXIT, usageError } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Io } from "../io.ts";
import { idOf, subscriberId } from "../names.ts";
import { patiently } from "../patience.ts";
import { parsed } from "../resource.ts";

const POLL_MS = 2_000;

type Walk = Extract<JourneysSimulateAnswer, { steps: unknown }>;

const declared = {
  subscriber: { type: "string", value: "<external id>", about: "A subscriber, with what is known of it now" },
  attributes: { type: "string", value: "<json>", about: "Or a subscriber that there is not, by its attributes" },
  events: {
    type: "string",
    value: "<file>",
    about: "A JSON file with events: [{event_name, occurred_at, properties}]",
  },
  from: { type: "string", value: "<time>", about: "Instead of a subscriber: the stored events from here on" },
  to: { type: "string", value: "<time>", about: "The end of that window, at most 90 days later" },
  percent: { type: "string", value: "<n>", about: "The share of subscribers that is looked at (default: 100)" },
  start: { type: "string", value: "<time>", about: "When the run begins (default: with its event, else now)" },
} as const;

function jsonOf(text: string, of: string): unknown {
  const value = parsed(text);
  if (value === undefined) throw usageError(`${of} is not JSON.`);
  return value;
}

function readJson(io: Io, file: string): unknown {
  try {
    return jsonOf(readFileSync(resolve(io.cwd, file), "utf8"), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new CommandError(`There is no file ${file}.`);
    throw error;
  }
}

async function bodyOf({ io, options }: Call<typeof declared>, connection: Connection): Promise<object> {
  const { subscriber, attributes, events, start } = options;
  return {
    ...(subscriber !== undefined && { subscriber_id: await subscriberId(connection, subscriber) }),
    ...(attributes !== undefined && { sample: { attributes: jsonOf(attributes, "--attributes") } }),
    ...(events !== undefined && { events: readJson(io, events) }),
    ...(start !== undefined && { start_at: start }),
  };
}

/** @throws CommandError if the simulation fails or is canceled. */
async function simulateHistory(
  io: Io,
  { client }: Connection,
  journey: string,
  body: Pick<JourneysSimulateBody, "from" | "to" | "sample">,
): Promise<HistorySimulation> {
  const answer = await client.journeys.simulate(journey, body);
  if (!("result" in answer)) throw new CommandError("The service did not simulate on history.");
  let simulation: HistorySimulation = answer;
  while (simulation.status === "pending" || simulation.status === "processing") {
    io.progress(`${Math.round(simulation.progress * 100)}%`);
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

function historyLinesOf({ result }: HistorySimulation): string[] {
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

export const simulate = command({
  name: "simulate",
  args: "<journey>",
  summary: "Walk a subscriber through a journey, or run it on past events; nothing is sent",
  about: "The journey is named by its name or id, and may be a draft.",
  options: declared,
  run: async (call) => {
    const { io, options, args } = call;
    const [journey = ""] = args;
    if ((options.from === undefined) !== (options.to === undefined))
      throw usageError("--from and --to belong together: both ends of the window are required.");
    const { subscriber, attributes, from: window } = options;
    if ([subscriber, attributes, window].filter((option) => option !== undefined).length !== 1)
      throw usageError("One of --subscriber, --attributes, or --from with --to is required, and only one.");
    return withConnection(io, options, async (connection) => {
      const id = await idOf(connection, "journeys", journey);
      const { from, to, percent } = options;
      if (from !== undefined && to !== undefined) {
        const sample = percent === undefined ? undefined : Number(percent);
        const simulation = await simulateHistory(io, connection, id, {
          from,
          to,
          ...(sample !== undefined && { sample }),
        });
        for (const line of options.json ? [JSON.stringify(simulation)] : historyLinesOf(simulation)) io.out(line);
        return EXIT.ok;
      }
      const body = await bodyOf(call, connection);
      const result = (await connection.call("journeys.simulate", id, body)) as unknown as Walk;
      if (options.json) {
        io.out(JSON.stringify(result));
        return EXIT.ok;
      }
      for (const { at, step, type, outcome, rendering } of result.steps) {
        io.out(`${at}  ${step} (${type})  ${outcome}`);
        if (rendering) io.out(`    ${rendering.title}: ${rendering.body}`);
      }
      const { ended } = result;
      io.out(`${ended.at}  ${ended.status} on ${ended.step}${ended.reason ? `: ${ended.reason}` : ""}`);
      return EXIT.ok;
    });
  },
});
