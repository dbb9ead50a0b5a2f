// Random operations, the same on two engines, compared answer by answer.
import { isAwsFailure } from "../../local/aws/index.ts";
import { randomFrom } from "../simulator/random.ts";
import { type Outcome, outcomeOf, sameOutcome } from "./answers.ts";
import { explain, takesOnly } from "./differences.ts";
import { type Engine, embedded } from "./engines.ts";
import { type Request, requestsOf } from "./requests.ts";
import { createInput, parityTables } from "./tables.ts";

interface Disagreement {
  at: number;
  request: Request;
  ours: Outcome;
  theirs: Outcome;
}

export interface Comparison {
  operations: number;
  agreed: number;
  refusals: number;
  /** How often each known difference was met. */
  explained: Map<string, number>;
  unexplained: Disagreement[];
}

/** Operations on the same tables before they are created again. */
const EPISODE = 250;

export async function compare(
  theirs: Engine,
  options: { operations: number; seed: number; most?: number },
): Promise<Comparison> {
  const next = requestsOf(randomFrom(options.seed));
  const found: Comparison = { operations: 0, agreed: 0, refusals: 0, explained: new Map(), unexplained: [] };
  while (found.operations < options.operations && found.unexplained.length < (options.most ?? 20)) {
    const ours = embedded();
    for (const engine of [ours, theirs]) await makeTables(engine);
    for (let step = 0; step < EPISODE && found.operations < options.operations; step++) {
      const request = next();
      const at = found.operations++;
      const outcome = await outcomeOf(ours, request);
      const other = await outcomeOf(theirs, request);
      if (outcome.refused) found.refusals++;
      if (sameOutcome(outcome, other)) {
        found.agreed++;
        if (await othersMadeAnItem(ours, request, outcome)) break;
        continue;
      }
      const known = explain(request, outcome, other);
      if (known) for (const why of known) found.explained.set(why, (found.explained.get(why) ?? 0) + 1);
      else found.unexplained.push({ at, request, ours: outcome, theirs: other });
      // What one of them stored and the other did not would be reported repeatedly.
      if (!outcome.refused !== !other.refused || !(outcome.refused || known)) break;
      if (await othersMadeAnItem(ours, request, outcome)) break;
    }
    await ours.close();
  }
  return found;
}

/** Of its key alone, by an update that only takes away: from then on they hold what we do not. */
async function othersMadeAnItem(ours: Engine, request: Request, { refused }: Outcome): Promise<boolean> {
  if (refused || !takesOnly({ request })) return false;
  const { TableName, Key } = request.input;
  return (await ours.operate("GetItem", { TableName, Key })).Item === undefined;
}

async function makeTables(engine: Engine): Promise<void> {
  for (const table of parityTables) {
    await engine.operate("DeleteTable", { TableName: table.name }).catch(ignoreAbsent);
    await untilDone(() => engine.operate("CreateTable", createInput(table)));
  }
  for (const { name } of parityTables)
    await untilDone(async () => {
      const { Table } = (await engine.operate("DescribeTable", { TableName: name })) as {
        Table: { TableStatus: string };
      };
      if (engine.name !== "ours" && Table.TableStatus !== "ACTIVE") throw new Error("not yet");
    });
}

function ignoreAbsent(error: unknown): void {
  if (!isAwsFailure(error) || error.name !== "ResourceNotFoundException") throw error;
}

async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++)
    try {
      return void (await work());
    } catch (error) {
      if (attempt > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
}
