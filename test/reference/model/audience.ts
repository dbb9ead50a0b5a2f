// Who a send is for: ids, target and filters (NTF-2 to NTF-16, AMB-57, AMB-93, AMB-125).
import { type Body, invalid, isRecord } from "./kit.ts";
import { isPredicate, matches } from "./predicates.ts";
import type { Device, Subscriber } from "./records/people.ts";
import { found, type World } from "./world.ts";

/** NTF-5 to NTF-8, AMB-93. `all` needs nothing, the others an id that is known here. */
export function checkTarget(world: World, target: Body, field = "target"): void {
  if (!isRecord(target) || !["all", "list", "segment"].includes(target.type)) invalid();
  if (target.type === "list" && !found(world.lists, target.list_id)) invalid(`${field}.list_id`);
  if (target.type === "segment" && !found(world.segments, target.segment_id)) invalid(`${field}.segment_id`);
}

export function checkFilters({ device_filters, subscriber_filters }: Body): void {
  if (subscriber_filters !== undefined && !isPredicate(subscriber_filters)) invalid();
  if (device_filters !== undefined && !isPredicate(device_filters)) invalid();
}

/** The members of a target now. */
export function targetMembers(world: World, target: Body): Subscriber[] {
  if (target.type === "all") return [...world.subscribers];
  const rows = target.type === "list" ? world.memberships : world.members;
  const id = target.type === "list" ? target.list_id : target.segment_id;
  const members = rows.filter(({ of }) => of === id);
  return members.flatMap(({ subscriber_id }) => found(world.subscribers, subscriber_id) ?? []);
}

export const deviceMatches = (world: World, device: Device, filters: Body): boolean =>
  filters === undefined || matches(world, filters, deviceFields(device));

const deviceFields = ({ platform, push_enabled, fields }: Device): Record<string, Body> => {
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return { platform, push_enabled, ...Object.fromEntries(known) };
};

/** Filters are ANDed; a device filter wants a device of the subscriber that matches. One that is gone is none (D-DEV). */
function passesFilters(world: World, { device_filters, subscriber_filters }: Body, subscriber: Subscriber): boolean {
  if (subscriber_filters && !matches(world, subscriber_filters, subscriber.attributes)) return false;
  if (!device_filters) return true;
  return world.devices.some(
    (device) =>
      device.subscriber_id === subscriber.id &&
      device.status !== "invalid" &&
      deviceMatches(world, device, device_filters),
  );
}

/** Everybody a send resolves to, and the ids that name nobody. */
export function audienceOf(world: World, spec: Body): { subscribers: Subscriber[]; unknown: string[] } {
  const passing = (all: Subscriber[]) => all.filter((subscriber) => passesFilters(world, spec, subscriber));
  if (spec.target) return { subscribers: passing(targetMembers(world, spec.target)), unknown: [] };

  const names: string[] = [...new Set<string>(spec.subscriberIds ?? spec.external_ids)];
  const find = (name: string) =>
    spec.subscriberIds
      ? found(world.subscribers, name)
      : world.subscribers.find(({ external_id }) => external_id === name);
  const known = names.flatMap((name) => find(name) ?? []);
  return { subscribers: passing(known), unknown: names.filter((name) => !find(name)) };
}
