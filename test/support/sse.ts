// A live stream as a browser sees it: opened through the gateway, read line by line.
import { addPeople, send } from "./people.ts";
import type { Headers, Tenant, TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

interface Frame {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads JSON of any shape
  data: any;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  /** Everything received so far. */
  readonly text: string;
  readonly ended: boolean;
  /** The blocks that carry a message, in order. */
  frames(): Frame[];
  /** The values of `retry:` lines, in order. */
  retries(): number[];
  /** How many keepalive comments were received. */
  comments(): number;
  /** Closes the connection. */
  disconnect(): void;
}

/** Opens a stream and runs what follows. */
export async function openStream(
  world: TestWorld,
  query: string,
  headers: Headers,
  sourceIp = "203.0.113.7",
): Promise<OpenStream> {
  let status = 0;
  let answered: OpenStream["headers"] = {};
  let text = "";
  let ended = false;
  let listening = true;
  const request = {
    method: "GET",
    path: `/v1/in-app/stream${query}`,
    headers,
    body: Buffer.alloc(0),
    sourceIp,
  };
  void world.gateway
    .stream(request, {
      start: (code, fields) => {
        status = code;
        answered = fields;
      },
      write: (chunk) => {
        if (listening) text += chunk.toString();
        return listening;
      },
      end: () => undefined,
    })
    .then(() => {
      ended = true;
    });
  await world.settle();
  const blocks = () => text.split("\n\n").slice(0, -1);
  return {
    get status() {
      return status;
    },
    get headers() {
      return answered;
    },
    get text() {
      return text;
    },
    get ended() {
      return ended;
    },
    frames: () =>
      blocks()
        .filter((block) => block.includes("data: "))
        .map((block) => {
          const line = (name: string) =>
            block
              .split("\n")
              .findLast((each) => each.startsWith(`${name}: `))
              ?.slice(name.length + 2) ?? "";
          return { id: line("id"), data: JSON.parse(line("data")) };
        }),
    retries: () => [...text.matchAll(/^retry: (\d+)$/gm)].map(([, ms]) => Number(ms)),
    comments: () => blocks().filter((block) => block.startsWith(":")).length,
    disconnect: () => {
      listening = false;
    },
  };
}

/** A subscriber with functions that open live streams and send messages. */
export async function addReader(world: TestWorld, tenant: Tenant) {
  const [id] = (await addPeople(world, tenant, 1)) as [string];
  const open = (headers: Headers = {}, query = "") =>
    openStream(world, `?subscriber_id=${id}${query}`, { ...tenant.sdk, ...headers });
  const tell = async (title: string, body: object = {}) =>
    (await send(world, tenant, { subscriberIds: [id], title, ...body })).job.id as string;
  return { id, open, tell };
}

/** A world with a workspace and a subscriber in it who opens live streams. */
export const reading =
  ({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) =>
  async (options: Parameters<typeof withTenant>[0] = {}) => {
    const { world, tenant } = await withTenant(options);
    return { world, tenant, ...(await addReader(world, tenant)) };
  };
