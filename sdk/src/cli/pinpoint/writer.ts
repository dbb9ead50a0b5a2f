// Writes endpoints of Pinpoint as subscribers and devices, one after the other: a run that is interrupted can be repeated.
import { createHash } from "node:crypto";
import type { Client } from "../../client.ts";
import { ServiceError } from "../../errors.ts";
import type { SubscribersUpsertBody } from "../../types.gen.ts";
import { CommandError } from "../command.ts";
import type { Resource } from "../resource.ts";
import { at, type Person, SOURCE } from "./people.ts";
import type { Report } from "./report.ts";

/** The data of a user that was written before. */
interface SeenUser {
  email: boolean;
  phone: boolean;
  /** Of the attributes, zone and language of the first endpoint that has some: a digest, because an export may have millions of users. */
  traits: string | undefined;
}

/** @returns undefined for an endpoint without data of its user */
function traitsOf({ attributes = {}, timezone, locale }: SubscribersUpsertBody): string | undefined {
  const said = Object.entries({ ...attributes, timezone, locale }).filter(([, value]) => value !== undefined);
  if (said.length === 0) return undefined;
  return createHash("sha256").update(JSON.stringify(said.sort())).digest("base64url").slice(0, 12);
}

/** Writes people, and remembers who had an address before: the first one counts. */
export function createWriter(client: Client, report: Report) {
  const users = new Map<string, SeenUser>();
  const running = new Map<string, Promise<string | undefined>>();
  /** @returns the id of the subscriber; undefined if the service refused the endpoint */
  const write = async (endpoint: Resource, { subscriber, device, smsOptOut }: Person): Promise<string | undefined> => {
    const { email, phone, ...rest } = subscriber;
    const traits = traitsOf(subscriber);
    const before = users.get(subscriber.external_id);
    const hasNewEmail = email !== undefined && !before?.email;
    const hasNewPhone = phone !== undefined && !before?.phone;
    users.set(subscriber.external_id, {
      email: before?.email || hasNewEmail,
      phone: before?.phone || hasNewPhone,
      traits: before?.traits ?? traits,
    });

    if (email !== undefined && !hasNewEmail)
      report.unmapped(at(endpoint), "Address", "is a second email address of its user");
    if (phone !== undefined && !hasNewPhone)
      report.unmapped(at(endpoint), "Address", "is a second phone number of its user");
    if (before?.traits && traits && before.traits !== traits)
      report.unmapped(
        at(endpoint),
        "Attributes",
        "differ from those of another endpoint of its user: of one that both have, one value is kept",
      );

    const written = async (body: SubscribersUpsertBody): Promise<string> => {
      const { id } = await client.subscribers.upsert(body);
      if (smsOptOut)
        await client.subscribers.createConsent(id, {
          channel: "sms",
          status: "opted_out",
          source: SOURCE,
          ...smsOptOut,
        });
      return id;
    };

    const refused = (error: unknown) => reportRefused(error, endpoint, report);
    const body = { ...rest, ...(hasNewEmail && { email }), ...(hasNewPhone && { phone }) };
    const id = await written(body).catch(refused);
    if (id === undefined) {
      // Another address of the user counts in place of one that was refused.
      const seen = users.get(subscriber.external_id);
      if (seen) Object.assign(seen, { email: seen.email && !hasNewEmail, phone: seen.phone && !hasNewPhone });
      if (body.consent || smsOptOut) return keptOptOut(written, body, { endpoint, report });
      return undefined;
    }

    if (device && (await client.devices.create(device).catch(refused)) === undefined) return id;
    report.count("endpoints written");
    return id;
  };
  /** Endpoints of one user are written one after the other: which address counts depends on those before. */
  return (endpoint: Resource, person: Person): Promise<string | undefined> => {
    const { external_id } = person.subscriber;
    const before = running.get(external_id);
    const work = before ? before.then(() => write(endpoint, person)) : write(endpoint, person);
    running.set(external_id, work);
    const isDone = () => {
      if (running.get(external_id) === work) running.delete(external_id);
    };
    work.then(isDone, isDone);
    return work;
  };
}

/** An opt-out is not lost with what was refused beside it. @returns the id of its subscriber */
async function keptOptOut(
  written: (body: SubscribersUpsertBody) => Promise<string>,
  { external_id, email, phone, consent }: SubscribersUpsertBody,
  { endpoint, report }: { endpoint: Resource; report: Report },
): Promise<string | undefined> {
  const opted = { external_id, ...(consent && { consent }) };
  for (const body of [{ ...opted, ...(email && { email }), ...(phone && { phone }) }, opted]) {
    const id = await written(body).catch((error: unknown) => {
      if (!isRefused(error)) throw error;
    });
    if (id === undefined) continue;
    report.count("opt-outs kept of endpoints refused");
    return id;
  }
  report.unmapped(at(endpoint), "OptOut", "is lost with what was refused");
  return undefined;
}

const isRefused = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && [400, 422].includes(error.status);

/** @throws errors other than refusals */
function reportRefused(error: unknown, endpoint: Resource, report: Report): undefined {
  if (!isRefused(error)) throw error;
  const [[field = "", reason = error.message] = []] = Object.entries(error.fields ?? {});
  report.unmapped(at(endpoint), field, `was refused: ${reason}`);
  report.count("endpoints refused");
}

/** Runs `work` for each item, several at once. */
export async function forEachOf<T>(items: AsyncIterable<T>, atOnce: number, work: (item: T) => Promise<void>) {
  const running = new Set<Promise<void>>();
  let failure: unknown;
  for await (const item of items) {
    if (failure) break;
    const task = work(item).catch((error: unknown) => {
      failure ??= error;
    });
    running.add(task);
    void task.then(() => running.delete(task));
    if (running.size >= atOnce) await Promise.race(running);
  }
  await Promise.all(running);
  if (failure) throw failure instanceof Error ? failure : new CommandError(String(failure));
}
