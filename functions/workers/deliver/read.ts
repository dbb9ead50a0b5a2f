// Reads the rows that messages name: each chunk with its job and its claim, and all sends to one subscriber of a batch
// together (docs/decisions/0082).
import type { Message } from "../../../shared/contract/messages.ts";
import { ref, rowOf } from "../../../shared/store/item.ts";
import { type Chunk, getChunk } from "../../../shared/store/sends/chunks/chunks.ts";
import { readContents, type StoredContents, withContents } from "../../../shared/store/sends/jobs/job-content.ts";
import { ContentItem, JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import type { JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { jobOf } from "../../../shared/store/sends/jobs/jobs.ts";
import { singleMessage } from "../../../shared/store/sends/jobs/single.ts";
import { DeviceItem } from "../../../shared/store/subscribers/device-items.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import { presentWorkspace } from "../../../shared/store/workspaces/workspaces.ts";
import { deviceName, type KnownRows, type Work, type WorkerContext, workOf } from "./work.ts";

export async function readChunk(context: WorkerContext, message: Message<"deliver">): Promise<Work[]> {
  const { job, range, chunk: n } = message;
  const found = await getChunk(context.store, { job, range, n });
  if (found) {
    const [whole = found.job] = await context.mails.whole([found.job]);
    return [workOf(context, { message, ...found, job: whole })];
  }
  context.log({ level: "info", message: "a chunk does not exist", job, range, chunk: n });
  return [];
}

interface ReadSingles {
  works: Work[];
  /** Why what others say could not be read. */
  unread: PromiseSettledResult<unknown>[];
}

/** Reads the jobs of messages, with the contents and devices that they name; later reads get what they do not name. */
export async function readSingles(
  context: WorkerContext & { tenant: string },
  messages: readonly Message<"deliver">[],
): Promise<ReadSingles> {
  const { store, log, mails } = context;
  const { wanted, jobs, contents, known } = await readJointly(context, messages);
  const open = jobs.filter(isOpen);
  if (open.length < wanted)
    log({ level: "info", message: "sends were not delivered again", count: wanted - open.length });
  const hashes = open.flatMap(({ content }) => (typeof content === "string" ? content : []));
  const stored = await readContents(store, hashes, contents);
  const whole = await Promise.allSettled(
    open.map(async (job) => mails.whole(await withContents(store, [job], stored))),
  );
  const works = whole
    .flatMap((one) => (one.status === "fulfilled" ? one.value : []))
    .map((job) => {
      const message = singleMessage(store.tenant, job.id);
      return workOf(context, { message, job, chunk: chunkOnJob(job), claim: job.claim, known });
    });
  return { works, unread: whole.filter(({ status }) => status === "rejected") };
}

const isOpen = ({ status, direct }: JobRecord): boolean =>
  direct !== undefined && (status === "queued" || status === "processing");

const chunkOnJob = ({ direct, created_at }: JobRecord): Chunk => ({
  recipients: direct?.recipients ?? [],
  heldOut: [],
  skipped: {},
  next: undefined,
  plannedAt: Date.parse(created_at),
});

interface JointRows {
  /** The number of ids, whether or not each belongs to a job. */
  wanted: number;
  jobs: JobRecord[];
  contents: StoredContents;
  known: KnownRows;
}

async function readJointly(
  { tenant, clock, jointRead }: Pick<WorkerContext, "clock" | "jointRead"> & { tenant: string },
  messages: readonly Message<"deliver">[],
): Promise<JointRows> {
  const ids = [...new Set(messages.map(({ job }) => job))];
  const hashes = [...new Set(messages.flatMap(({ content = [] }) => content))];
  const named = messages.flatMap(({ devices = [] }) => devices);
  const at = clock.now();
  const [owner, ...rows] = await jointRead([
    ref(WorkspaceItem, { tenant }),
    ...ids.map((job) => ref(JobItem, { job })),
    ...hashes.map((hash) => ref(ContentItem, { hash })),
    ...named.map((key) => ref(DeviceItem, key)),
  ]);
  const contents = rows.slice(ids.length, ids.length + hashes.length);
  const devices = rows.slice(ids.length + hashes.length);
  return {
    wanted: ids.length,
    jobs: rows.slice(0, ids.length).flatMap((row) => (row ? [jobOf(rowOf(JobItem, row))] : [])),
    contents: new Map(hashes.flatMap((hash, i) => (contents[i] ? [[hash, rowOf(ContentItem, contents[i])]] : []))),
    known: {
      at,
      owner: presentWorkspace(owner && rowOf(WorkspaceItem, owner)),
      devices: new Map(named.map((key, i) => [deviceName(key), devices[i] && rowOf(DeviceItem, devices[i])])),
    },
  };
}
