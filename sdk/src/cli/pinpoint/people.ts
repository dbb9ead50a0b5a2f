// Endpoints of Pinpoint as subscribers and devices.
import type { DevicesCreateBody, JsonValue, SubscribersUpsertBody } from "../../types.gen.ts";
import { objectIn, type Resource } from "../resource.ts";
import type { Report } from "./report.ts";
import { compact } from "./templates.ts";
import { keyOf, localeOf } from "./texts.ts";

const KNOWN = [
  "Id",
  "ChannelType",
  "Address",
  "OptOut",
  "EndpointStatus",
  "EffectiveDate",
  "Attributes",
  "Metrics",
  "User",
  "Location",
  "Demographic",
  "ApplicationId",
  "CohortId",
  "RequestId",
  "CreationDate",
];
const devices: Record<string, { platform: "ios" | "android"; environment?: "sandbox" | "production" }> = {
  APNS: { platform: "ios", environment: "production" },
  APNS_SANDBOX: { platform: "ios", environment: "sandbox" },
  GCM: { platform: "android" },
};
const phones = ["SMS", "VOICE"];
/** Their addresses are the subscriber's own, not those of a device. */
const contacts = ["EMAIL", ...phones];
const PHONE = /^\+[1-9]\d{6,14}$/;
const VERSION = /^\d{1,9}(\.\d{1,9}){0,2}$/;
export const SOURCE = "pinpoint";

/** The subscriber and the device of an endpoint. */
export interface Person {
  subscriber: SubscribersUpsertBody;
  device?: DevicesCreateBody;
  /** An opt-out of text messages, or of calls: a user who wants no calls gets no texts to the same number. */
  smsOptOut?: { consented_at?: string };
}

export const at = ({ Id }: Resource) => ({ kind: "endpoints", name: String(Id) });

/** A time in the future is dropped: the opt-out then counts from its receipt. */
const timeOf = (value: unknown, now: number) => {
  const time = Date.parse(String(value));
  return Number.isNaN(time) || time > now ? undefined : new Date(time).toISOString();
};

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }) !== undefined;
  } catch {
    return false;
  }
}

/** An empty value and `NONE` are no opt-outs. Any other value counts as one, because its meaning is not known. */
const isOptedOut = ({ OptOut }: Resource): boolean => !["", "NONE"].includes(String(OptOut ?? "").toUpperCase());

/** A member of a segment that is named by its user has no channel, so its opt-out is for all channels. */
const isOf = ({ ChannelType }: Resource, channels: readonly string[]): boolean =>
  ChannelType === undefined || channels.includes(String(ChannelType));

/** One value as a text, several as a list. */
const valuesOf = (attributes: unknown): Resource =>
  Object.fromEntries(
    Object.entries(objectIn(attributes)).map(([name, values]) => [
      name,
      Array.isArray(values) && values.length === 1 ? values[0] : values,
    ]),
  );

/** The user of an endpoint. Imported files may name only an address. */
function ownerOf({ Id, ChannelType, Address }: Resource, { UserId }: Resource): string {
  const isContact = contacts.includes(String(ChannelType));
  return String(UserId ?? Id ?? (isContact ? String(Address).trim().toLowerCase() : ""));
}

/**
 * @param now milliseconds
 * @returns undefined for an endpoint that names nobody
 */
export function personOf(endpoint: Resource, report: Report, now: number): Person | undefined {
  const user = objectIn(endpoint.User);
  const external_id = ownerOf(endpoint, user);
  if (external_id === "") return undefined;

  report.rest(at(endpoint), endpoint, KNOWN);
  report.rest(at(endpoint), user, ["UserId", "UserAttributes"], "User.");
  const { email, phone } = addressesOf(endpoint, report);
  const consented_at = timeOf(endpoint.EffectiveDate, now);
  const hasOptedOut = isOptedOut(endpoint);
  const { timezone, locale, ...placeAttributes } = surroundingsOf(endpoint, report);

  const fields = {
    ...objectIn(endpoint.Metrics),
    ...valuesOf(endpoint.Attributes),
    ...valuesOf(user.UserAttributes),
  };
  for (const name of Object.keys(fields))
    if (keyOf(name) !== name) report.unmapped(at(endpoint), name, `is the attribute ${keyOf(name)} here`);
  const keyedFields = Object.fromEntries(Object.entries(fields).map(([name, value]) => [keyOf(name), value]));
  const attributes = compact({ ...placeAttributes, ...keyedFields });
  reportHidden(endpoint, user, placeAttributes, report);
  const consent = { status: "opted_out" as const, source: SOURCE, ...(consented_at && { consented_at }) };
  const device = deviceOf(endpoint, external_id, report);

  return {
    subscriber: {
      external_id,
      // The cast holds because the attributes were parsed from JSON.
      attributes: attributes as Record<string, JsonValue>,
      ...(email && { email }),
      ...(phone && { phone }),
      ...(timezone && { timezone }),
      ...(locale && { locale }),
      ...(hasOptedOut && isOf(endpoint, ["EMAIL"]) && { consent }),
    },
    ...(device && { device }),
    ...(hasOptedOut && isOf(endpoint, phones) && { smsOptOut: consented_at ? { consented_at } : {} }),
  };
}

/** Reports hidden attributes: of one name, that of the user counts, then that of the endpoint. */
function reportHidden(endpoint: Resource, user: Resource, places: Resource, report: Report): void {
  const layers = [
    { field: "Location", own: places },
    { field: "Metrics", own: objectIn(endpoint.Metrics) },
    { field: "Attributes", own: valuesOf(endpoint.Attributes) },
    { field: "User.UserAttributes", own: valuesOf(user.UserAttributes) },
  ];
  for (const [i, { field, own: layerValues }] of layers.entries())
    for (const [name, value] of Object.entries(layerValues)) {
      const above = layers.slice(i + 1).findLast((layer) => Object.hasOwn(layer.own, name));
      if (value === undefined || !above || JSON.stringify(above.own[name]) === JSON.stringify(value)) continue;
      const whose = above.field === "User.UserAttributes" ? "of the user" : `among its ${above.field}`;
      report.unmapped(at(endpoint), `${field}.${name}`, `is another value than the attribute ${whose}, which counts`);
    }
}

function addressesOf(endpoint: Resource, report: Report): { email?: string; phone?: string } {
  const { ChannelType, Address } = endpoint;
  const address = String(Address ?? "");
  if (contacts.includes(String(ChannelType)) && endpoint.EndpointStatus === "INACTIVE") {
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
  const location = objectIn(endpoint.Location);
  const demographic = objectIn(endpoint.Demographic);
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
    ...(isTimeZone(timezone) && { timezone }),
    ...(locale && { locale }),
  });
}

function deviceOf(endpoint: Resource, external_id: string, report: Report): DevicesCreateBody | undefined {
  if (endpoint.ChannelType === undefined && endpoint.Address === undefined) return undefined;
  const type = String(endpoint.ChannelType);
  const kind = devices[type];
  if (!kind) {
    if (!contacts.includes(type)) report.unmapped(at(endpoint), "ChannelType", `${type} has no counterpart`);
    return undefined;
  }
  if (endpoint.EndpointStatus === "INACTIVE") {
    report.unmapped(at(endpoint), "EndpointStatus", "is INACTIVE: the device was left out");
    return undefined;
  }
  const { AppVersion, Model, PlatformVersion } = objectIn(endpoint.Demographic);
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
