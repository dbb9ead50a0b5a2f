// What must follow from a write follows from the table's stream, here: small messages with ids, nothing else.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { DynamoDBRecord } from "aws-lambda";
import { MINUTE } from "../../../shared/clock.ts";
import type { Message } from "../../../shared/messages.ts";
import { dueQueue, eraseQueue, fanOutQueue, subscriberCounts } from "../../../shared/resources.ts";
import { minuteSchedules } from "../../../shared/schedules.ts";
import type { Item } from "../../../shared/store/model.ts";
import type { DueRow } from "../../../shared/store/timers.ts";
import { streamWorker } from "../../../shared/worker.ts";

/** Due rows nearer than this skip the minute's schedule and go straight to the due queue (decision 13). */
const SOON_MS = 2 * MINUTE;

interface Change {
  tenant: string;
  before: Item | undefined;
  after: Item;
}

export const react = streamWorker(
  "react",
  "Turns writes into the messages that must follow from them.",
  [fanOutQueue, dueQueue, eraseQueue, minuteSchedules, subscriberCounts],
  async (records, { clock, fanOutQueue, dueQueue, eraseQueue, schedules, counts }) => {
    const changes = records.flatMap(changeOf);
    const of = (kind: string) => changes.filter(({ after }) => after.react === kind);

    const rows = of("due").map(({ after }) => after as DueRow);
    const soon = rows.filter(({ at }) => at - clock.now() < SOON_MS);
    const minutes = new Set(rows.filter((row) => !soon.includes(row)).map(({ at }) => Math.floor(at / MINUTE)));
    const jobs = of("job").filter(({ before, after }) => after.status === "queued" && before?.status !== "queued");
    const erasures = of("erasure").filter(({ before }) => before?.erased_at === undefined);
    const created = of("subscriber").filter(({ before }) => before === undefined);

    await dueQueue.send(soon.map(({ pk, sk }) => ({ row: { pk, sk } })));
    for (const minute of minutes) await schedules.ensure(minute);
    await fanOutQueue.send(jobs.map(({ tenant, after }) => ({ tenant, job: String(after.id) })));
    await eraseQueue.send(
      erasures.map(({ tenant, after }): Message<"erase"> => ({ tenant, subscriber: String(after.id), pass: 1 })),
    );
    await counts.add([
      ...created.map(({ tenant, after }) => ({ tenant, id: String(after.id), n: 1 })),
      ...erasures.map(({ tenant, after }) => ({ tenant, id: String(after.id), n: -1 })),
    ]);
  },
);

function changeOf({ dynamodb }: DynamoDBRecord): Change[] {
  if (!dynamodb?.NewImage) return [];
  const after = image(dynamodb.NewImage);
  const before = dynamodb.OldImage && image(dynamodb.OldImage);
  return [{ tenant: after.pk.split("#")[1] ?? "", before, after }];
}

const image = (wire: object) => unmarshall(wire as Record<string, AttributeValue>) as Item;
