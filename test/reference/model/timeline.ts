// The timeline of a person (A5): events, consents, lists and devices, newest first. What became of messages and runs is told by
// the answers about them.
import { type Operation, read } from "./access.ts";
import { limitOf, listing } from "./checks.ts";
import { type Body, Exactly, iso, OrderedBy, type Request } from "./kit.ts";
import { eventsOf } from "./stitching.ts";
import { existing, found, type World } from "./world.ts";

/** Entries of one kind, with their times in milliseconds. */
const KINDS: Record<string, (world: World, subscriber: string) => { at: number; entry: Body }[]> = {
  event: (world, subscriber) =>
    eventsOf(world, subscriber).map(({ id: ref, event_name: title, occurred_at: at, ...of }) => {
      const data = { properties: new Exactly(of.properties), platform: of.platform, source: of.source };
      return { at, entry: { ref, title, state: null, data } };
    }),
  consent: ({ consents }, subscriber) =>
    consents
      .filter(({ subscriber_id }) => subscriber_id === subscriber)
      .map(({ id: ref, channel: title, status: state, express, recorded_at: at, consented_at }) => {
        const data = { channel: title, express, consented_at: iso(consented_at) };
        return { at, entry: { ref, title, state, data } };
      }),
  list: ({ memberships, lists }, subscriber) =>
    memberships
      .filter(({ subscriber_id }) => subscriber_id === subscriber)
      .map(({ of: ref, entered_at: at }) => {
        const title = found(lists, ref)?.name ?? "";
        return { at, entry: { ref, title, state: "entered" } };
      }),
  device: ({ devices }, subscriber) =>
    devices
      .filter(({ subscriber_id }) => subscriber_id === subscriber)
      .map(({ id: ref, platform, fields: { model = null }, status: state, created_at: at }) => {
        return { at, entry: { ref, title: model ?? platform, state, data: { platform, model } } };
      }),
};

export const timelineKinds = Object.keys(KINDS);

function timeline(world: World, request: Request, { id = "" }: Record<string, string>) {
  existing(world.subscribers, id);
  const size = limitOf(request, 50, 100);
  const kinds = request.query.kinds!.split(",");
  const entries = kinds.flatMap((kind) =>
    KINDS[kind]!(world, id).map(({ at, entry }) => ({ kind, at: iso(at), ...entry })),
  );
  const newest = entries.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  return listing("items", new OrderedBy(newest, ({ at }) => at), size);
}

export const timelineOperations: Operation[] = [read("GET /api/v1/subscribers/:id/timeline", timeline)];
