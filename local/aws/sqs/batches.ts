// The entries of a batch call: at most ten, each with its own id.
import { type AwsFailure, awsFailure, isAwsFailure, type Wire } from "../stand-in.ts";
import { type Attributes, read, readAttributes, sizeOf } from "./contents.ts";

export function readEntries(input: Wire): Wire[] {
  const entries = read.records(input, "Entries");
  if (entries.length === 0) throw awsFailure("EmptyBatchRequest", "There should be at least one entry in the request.");
  if (entries.length > 10) {
    const message = `Maximum number of entries per request are 10. You have sent ${entries.length}.`;
    throw awsFailure("TooManyEntriesInBatchRequest", message);
  }
  const seen = new Set<string>();
  for (const entry of entries) {
    const id = read.needed(entry, "Id");
    if (!/^[A-Za-z0-9_-]{1,80}$/.test(id)) {
      throw awsFailure(
        "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores.",
      );
    }
    if (seen.has(id)) throw awsFailure("BatchEntryIdsNotDistinct", `Id ${id} repeated.`);
    seen.add(id);
  }
  return entries;
}

/** The limit of a request, whatever the queue allows for one message. */
const MAX_BATCH = 1_048_576;

/** An invalid entry counts with its body alone, because it is rejected by itself later. */
export function checkBatchSize(input: Wire): void {
  let size = 0;
  for (const entry of readEntries(input)) size += sizeOf(read.text(entry, "MessageBody") ?? "", soundAttributes(entry));
  if (size > MAX_BATCH) {
    const message = `Batch requests cannot be longer than ${MAX_BATCH} bytes. You have sent ${size} bytes.`;
    throw awsFailure("BatchRequestTooLong", message);
  }
}

function soundAttributes(entry: Wire): Attributes {
  try {
    return readAttributes(entry);
  } catch (error) {
    if (isAwsFailure(error)) return {};
    throw error;
  }
}

export const failedEntry = (entry: Wire, error: AwsFailure): Wire => ({
  Id: entry.Id,
  SenderFault: error.status < 500,
  Code: error.name,
  Message: error.message,
});
