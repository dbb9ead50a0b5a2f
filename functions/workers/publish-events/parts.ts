// A batch in parts that fit into the memory of the worker: events of 6 MB of records may be some hundred MB unpacked.
import type { DynamoDBRecord } from "aws-lambda";
import { unpackedBytes } from "../../../shared/store/events/packing.ts";

/** Of a part, unpacked, unless it is one record. Its objects and texts take some twenty times as much. */
const PART_BYTES = 8 * 1_024 * 1_024;

/** The records in their order, by parts. */
export function partsOf(records: readonly DynamoDBRecord[]): DynamoDBRecord[][] {
  const parts: DynamoDBRecord[][] = [];
  let room = 0;
  for (const record of records) {
    const size = sizeOf(record);
    const open = parts.at(-1);
    if (open && size <= room) open.push(record);
    else {
      parts.push([record]);
      room = PART_BYTES;
    }
    room -= size;
  }
  return parts;
}

/** Rows that are not packed are as large as the batch has them. */
function sizeOf({ dynamodb }: DynamoDBRecord): number {
  const { react, events } = dynamodb?.NewImage ?? {};
  return react?.S === "block" && events?.B !== undefined ? unpackedBytes(Buffer.from(events.B, "base64")) : 0;
}
