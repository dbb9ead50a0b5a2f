// What the sends of a batch need, read in one request: their rows, their workspace, and what their messages name.

import type { Message } from "../../../shared/contract/messages.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import type { RuntimeContext } from "../../../shared/runtime/worker.ts";
import { ref, rowOf } from "../../../shared/store/item.ts";
import type { StoredContents } from "../../../shared/store/sends/jobs/job-content.ts";
import { ContentItem, JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { type JobRecord, jobOf } from "../../../shared/store/sends/jobs/jobs.ts";
import { DeviceItem, type DeviceRow } from "../../../shared/store/subscribers/device-items.ts";
import { type JointRead, openJointReads } from "../../../shared/store/table.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import { presentWorkspace, type WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

/** Rows of a workspace, read with the workspace itself. */
export const jointReads: Capability<"jointRead", JointRead> = {
  as: "jointRead",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:BatchGetItem"], on: "table" }],
  open: (deps) => openJointReads(deps, (tenant) => WorkspaceItem.pk({ tenant })),
};

/** Devices that were read before they are needed. */
export interface KnownDevices {
  /** When the read began, in milliseconds. */
  at: number;
  rows: ReadonlyMap<string, DeviceRow | undefined>;
}

export const deviceName = ({ subscriber, device }: { subscriber: string; device: string }) => `${subscriber}:${device}`;

export interface SingleReads {
  /** When the read began, in milliseconds. */
  asked: number;
  /** How many ids there are, whether or not each is of a job. */
  wanted: number;
  jobs: JobRecord[];
  owner: WorkspaceRecord | undefined;
  contents: StoredContents;
  devices: KnownDevices;
}

/** Messages that name nothing besides their jobs leave the rest to later reads. */
export async function readSingles(
  { tenant, clock, jointRead }: { tenant: string; jointRead: JointRead } & Pick<RuntimeContext, "clock">,
  messages: readonly Message<"deliver">[],
): Promise<SingleReads> {
  const ids = [...new Set(messages.map(({ job }) => job))];
  const hashes = [...new Set(messages.flatMap(({ content = [] }) => content))];
  const named = messages.flatMap(({ devices = [] }) => devices);
  const asked = clock.now();
  const [owner, ...rows] = await jointRead([
    ref(WorkspaceItem, { tenant }),
    ...ids.map((job) => ref(JobItem, { job })),
    ...hashes.map((hash) => ref(ContentItem, { hash })),
    ...named.map((key) => ref(DeviceItem, key)),
  ]);
  const contents = rows.slice(ids.length, ids.length + hashes.length);
  const devices = rows.slice(ids.length + hashes.length);
  return {
    asked,
    wanted: ids.length,
    jobs: rows.slice(0, ids.length).flatMap((row) => (row ? [jobOf(rowOf(JobItem, row))] : [])),
    owner: presentWorkspace(owner && rowOf(WorkspaceItem, owner)),
    contents: new Map(hashes.flatMap((hash, i) => (contents[i] ? [[hash, rowOf(ContentItem, contents[i])]] : []))),
    devices: {
      at: asked,
      rows: new Map(named.map((key, i) => [deviceName(key), devices[i] && rowOf(DeviceItem, devices[i])])),
    },
  };
}
