// Endpoints of Pinpoint as subscribers and devices, one after the other: a run that is interrupted can be repeated.
import { createHash } from "node:crypto";
import type { Client } from "../../client.ts";
import { ServiceError } from "../../errors.ts";
import type { DevicesCreateBody, JsonValue, SubscribersUpsertBody } from "../../types.gen.ts";
import { CommandError } from "../command.ts";
import { isObject, type Resource } from "../resource.ts";
import type { Report } from "./report.ts";
import { compact } from "./templates.ts";

const KNOWN = [
  ...["Id", "ChannelType", "Address", "OptOut", "EndpointStatus", "EffectiveDate", "Attributes", "Metrics", "User"],
  ...["Location", "Demographic", "ApplicationId", "CohortId", "RequestId", "CreationDate"],
];
const devices: Record<string, { platform: "ios" | "android"; environment?: "sandbox" | "production" }> = {
  APNS: { platform: "ios", environment: "production" },
  APNS_SANDBOX: { platform: "ios", environment: "sandbox" },
  GCM: { platform: "android" },
};
const phones = ["SMS", "VOICE"];
const PHONE = /^\+[1-9]\d{6,14}$/;
const VERSION = /^\d{1,9}(\.\d{1,9}){0,2}$/;
const SOURCE = "pinpoint";

/** What an endpoint says of its subscriber and its device. */
export interface Person {
  subscriber: SubscribersUpsertBody;
  device?: DevicesCreateBody;
  /** An opt-out of text messages, or of calls: whoever wants no calls gets no texts to the same number. */
  smsOptOut?: { consented_at?: string };
}

const at = ({ Id }: Resource) => ({ kind: "endpoints", name: String(Id) });

const timeOf = (value: unknown) => {
  const time = Date.parse(String(value));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

function localeOf(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text.replaceAll("_", "-"))[0];
  } catch {
    return undefined;
  }
}

/** `ALL` or `NONE`; of anything else nobody knows that it is no opt-out. */
const isOptedOut = ({ OptOut }: Resource): boolean => !["", "NONE"].includes(String(OptOut ?? "").toUpperCase());

/** One value as a text, several as a list. */
const valuesOf = (attributes: unknown): Resource =>
  Object.fromEntries(
    Object.entries(isObject(attributes) ? attributes : {}).map(([name, values]) => [
      name,
      Array.isArray(values) && values.length === 1 ? values[0] : values,
    ]),
  );

/** @returns undefined for an endpoint that names nobody */
export function personOf(endpoint: Resource, report: Report): Person | undefined {
  const user = isObject(endpoint.User) ? endpoint.User : {};
  const external_id = String(user.UserId ?? endpoint.Id ?? "");
  if (external_id === "") return undefined;
  report.rest(at(endpoint), endpoint, KNOWN);
  report.rest(at(endpoint), user, ["UserId", "UserAttributes"], "User.");
  const { email, phone } = addressesOf(endpoint, report);
  const consented_at = timeOf(endpoint.EffectiveDate);
  const hasOptedOut = isOptedOut(endpoint);
  const { timezone, locale, ...placeAttributes } = surroundingsOf(endpoint, report);
  const attributes = compact({
    ...placeAttributes,
    ...(isObject(endpoint.Metrics) ? endpoint.Metrics : {}),
    ...valuesOf(endpoint.Attributes),
    ...valuesOf(user.UserAttributes),
  });
  reportHidden(endpoint, user, report);
  const consent = { status: "opted_out" as const, source: SOURCE, ...(consented_at && { consented_at }) };
  const device = deviceOf(endpoint, external_id, report);
  return {
    subscriber: {
      external_id,
      // They were parsed from JSON.
      attributes: attributes as Record<string, JsonValue>,
      ...(email && { email }),
      ...(phone && { phone }),
      ...(timezone && { timezone }),
      ...(locale && { locale }),
      ...(hasOptedOut && endpoint.ChannelType === "EMAIL" && { consent }),
    },
    ...(device && { device }),
    ...(hasOptedOut &&
      phones.includes(String(endpoint.ChannelType)) && { smsOptOut: consented_at ? { consented_at } : {} }),
  };
}

/** What a user's attribute of the same name hides. */
function reportHidden(endpoint: Resource, user: Resource, report: Report): void {
  const own = valuesOf(user.UserAttributes);
  const others = { Metrics: endpoint.Metrics, Attributes: valuesOf(endpoint.Attributes) };
  for (const [field, values] of Object.entries(others))
    for (const [name, value] of Object.entries(isObject(values) ? values : {}))
      if (Object.hasOwn(own, name) && JSON.stringify(own[name]) !== JSON.stringify(value))
        report.unmapped(
          at(endpoint),
          `${field}.${name}`,
          "is another value than the attribute of the user, which counts",
        );
}

function addressesOf(endpoint: Resource, report: Report): { email?: string; phone?: string } {
  const { ChannelType, Address } = endpoint;
  const address = String(Address ?? "");
  const isReached = ChannelType === "EMAIL" || phones.includes(String(ChannelType));
  if (isReached && endpoint.EndpointStatus === "INACTIVE") {
    report.unmapped(at(endpoint), "EndpointStatus", "is INACTIVE: the address was left out");
    return {};
  }
  if (ChannelType === "EMAIL") return { email: address };
  if (!phones.includes(String(ChannelType))) return {};
  if (PHONE.test(address)) return { phone: address };
  report.unmapped(at(endpoint), "Address", "is no phone number in E.164 form");
  return {};
}

interface PlaceAttributes extends Resource {
  timezone?: string;
  locale?: string;
}

function surroundingsOf(endpoint: Resource, report: Report): PlaceAttributes {
  const location = isObject(endpoint.Location) ? endpoint.Location : {};
  const demographic = isObject(endpoint.Demographic) ? endpoint.Demographic : {};
  report.rest(at(endpoint), location, ["Country", "City", "Region", "PostalCode"], "Location.");
  const deviceFields = devices[String(endpoint.ChannelType)] ? ["AppVersion", "Model", "PlatformVersion"] : [];
  report.rest(at(endpoint), demographic, ["Timezone", "Locale", ...deviceFields], "Demographic.");
  const timezone = String(demographic.Timezone ?? "");
  const locale = localeOf(String(demographic.Locale ?? ""));
  if (timezone !== "" && !isTimeZone(timezone))
    report.unmapped(at(endpoint), "Demographic.Timezone", "is no time zone");
  if (demographic.Locale && !locale) report.unmapped(at(endpoint), "Demographic.Locale", "is no language");
  return compact({
    country: location.Country,
    city: location.City,
    region: location.Region,
    postal_code: location.PostalCode,
    ...(timezone !== "" && isTimeZone(timezone) && { timezone }),
    ...(locale && { locale }),
  });
}

function deviceOf(endpoint: Resource, external_id: string, report: Report): DevicesCreateBody | undefined {
  if (endpoint.ChannelType === undefined && endpoint.Address === undefined) return undefined;
  const type = String(endpoint.ChannelType);
  const kind = devices[type];
  if (!kind) {
    if (!["EMAIL", ...phones].includes(type))
      report.unmapped(at(endpoint), "ChannelType", `${type} has no counterpart`);
    return undefined;
  }
  if (endpoint.EndpointStatus === "INACTIVE") {
    report.unmapped(at(endpoint), "EndpointStatus", "is INACTIVE: the device was left out");
    return undefined;
  }
  const { AppVersion, Model, PlatformVersion } = isObject(endpoint.Demographic) ? endpoint.Demographic : {};
  const versions = Object.entries({ app_version: AppVersion, os_version: PlatformVersion }).filter(
    ([name, version]) => {
      if (version === undefined || VERSION.test(String(version))) return version !== undefined;
      report.unmapped(
        at(endpoint),
        name === "app_version" ? "Demographic.AppVersion" : "Demographic.PlatformVersion",
        "is no version",
      );
      return false;
    },
  );
  return {
    ...kind,
    external_id,
    device_id: String(endpoint.Id),
    token: String(endpoint.Address ?? ""),
    ...Object.fromEntries(versions.map(([name, version]) => [name, String(version)])),
    ...(typeof Model === "string" && Model !== "" && { model: Model }),
    ...(isOptedOut(endpoint) && { push_enabled: false }),
  };
}

/** What was written of a user before. */
interface Seen {
  email: boolean;
  phone: boolean;
  /** Of the attributes, zone and language of the first endpoint that has some: a digest, because an export may have millions of users. */
  traits: string | undefined;
}

/** @returns undefined of an endpoint that says nothing of its user */
function traitsOf({ attributes = {}, timezone, locale }: SubscribersUpsertBody): string | undefined {
  const said = Object.entries({ ...attributes, timezone, locale }).filter(([, value]) => value !== undefined);
  if (said.length === 0) return undefined;
  return createHash("sha256").update(JSON.stringify(said.sort())).digest("base64url").slice(0, 12);
}

/** Writes people, and remembers who had an address before: the first one counts. */
export function createWriter(client: Client, report: Report) {
  const users = new Map<string, Seen>();
  /** @returns the id of the subscriber; undefined if the service refused the endpoint */
  return async (endpoint: Resource, { subscriber, device, smsOptOut }: Person): Promise<string | undefined> => {
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
      report.unmapped(at(endpoint), "Address", "is a second e-mail address of its user");
    if (phone !== undefined && !hasNewPhone)
      report.unmapped(at(endpoint), "Address", "is a second phone number of its user");
    if (before?.traits && traits && before.traits !== traits)
      report.unmapped(
        at(endpoint),
        "Attributes",
        "differ from those of another endpoint of its user: of one that both have, one value is kept",
      );
    try {
      const body = { ...rest, ...(hasNewEmail && { email }), ...(hasNewPhone && { phone }) };
      const { id } = await client.subscribers.upsert(body);
      if (device) await client.devices.create(device);
      if (smsOptOut)
        await client.subscribers.createConsent(id, {
          channel: "sms",
          status: "opted_out",
          source: SOURCE,
          ...smsOptOut,
        });
      report.count("endpoints written");
      return id;
    } catch (error) {
      if (!(error instanceof ServiceError) || ![400, 422].includes(error.status)) throw error;
      const [[field = "", reason = error.message] = []] = Object.entries(error.fields ?? {});
      report.unmapped(at(endpoint), field, `was refused: ${reason}`);
      report.count("endpoints refused");
      return undefined;
    }
  };
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
