// Apps that read their streams on both sides, and whether each was told everything once (AMB-122).
import { Refusal } from "../model/kit.ts";
import { closeStream, framesOf, openStream } from "../model/streams.ts";
import { lookAt } from "./compare.ts";
import type { Stream } from "./program.ts";
import { type Failure, type Sides, tell } from "./sides.ts";
import { differenceOf } from "./unify.ts";

const ROUTE = "GET /v1/in-app/stream";

/** Where an app goes on: the last `id:` line that it has, or, as some clients keep them, the last one that came with data. */
function positionOf(texts: string[], keepsAll: boolean): string | undefined {
  const frames = texts.join("\n").split("\n\n");
  const positions = frames.flatMap((frame) => {
    const id = [...frame.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1];
    return id === undefined ? [] : [{ id, isOfData: frame.includes("data: ") }];
  });
  const kept = keepsAll ? undefined : positions.findLast(({ isOfData }) => isOfData);
  return (kept ?? positions.at(-1))?.id;
}

export async function listen(sides: Sides, { person, does }: Stream, number: number): Promise<Failure | undefined> {
  const { product, reference, bindings, handles, streams } = sides;
  const ours = handles.get(person);
  const theirs = ours && bindings.product.get(ours);
  if (!ours || !theirs || sides.storm) return undefined;
  const before = streams.get(ours) ?? [];
  before.at(-1)?.disconnect();
  closeStream(reference.world, ours);
  tell(sides, `the app of ${person} ${does}s its stream`);
  if (does === "close") return undefined;

  const keepsAll = number % 2 === 0;
  const expected = statusOf(() => openStream(reference.world, ours, !keepsAll));
  const position = positionOf(
    before.map(({ text }) => text),
    keepsAll,
  );
  const stream = await product.stream(theirs, position);
  if (stream.status !== expected)
    return { path: "status", expected, got: stream.status, command: number, route: ROUTE };
  if (expected === 200) streams.set(ours, [...before, stream]);
  return undefined;
}

function statusOf(open: () => unknown): number {
  try {
    open();
    return 200;
  } catch (error) {
    if (error instanceof Refusal) return error.status;
    throw error;
  }
}

/** Nobody waits for a worker that is away. */
export function hangUp({ streams, reference }: Sides): void {
  for (const [person, connections] of streams) {
    connections.at(-1)?.disconnect();
    closeStream(reference.world, person);
  }
}

/** Every frame of every app so far. Its inbox tells the ids of what it may have been told or not. */
export async function compareStreams(sides: Sides, command: number): Promise<Failure | undefined> {
  const { reference, bindings, streams } = sides;
  for (const reader of reference.world.readers) {
    const inbox = { path: "/v1/in-app/messages", query: { subscriber_id: reader.subscriber_id, limit: "200" } };
    const failure = await lookAt(sides, [inbox], command);
    if (failure) return failure;
    const frames = (streams.get(reader.subscriber_id) ?? []).flatMap((stream) => stream.frames());
    const got = frames.map(({ data }) => data);
    const received = got.map(({ id }) => bindings.ours.get(id) ?? "");
    const difference = differenceOf(bindings, framesOf(reference.world, reader, received), got, ".frames");
    if (difference) return { ...difference, command, route: ROUTE };
  }
  return undefined;
}
