// Breaking changes against the last release: within v1 only announced removals are allowed (D-VER).
import { type Deprecation, faultOfDeprecation } from "../../shared/http/deprecation.ts";
import type { Field, RouteSignature, Signature } from "./signature.ts";

export interface Release {
  version: string;
  /** The day: `2026-11-21`. */
  released: string;
  routes: Signature;
}

/** Everything that would break a client of the release. @param today decides which announced removals are due. */
export function breaksOf(release: Release, now: Signature, today: string): string[] {
  return Object.entries(release.routes).flatMap(([route, before]) => {
    const after = now[route];
    if (before.deprecated && before.deprecated.sunset <= today && !faultOfDeprecation(before.deprecated)) return [];
    const found = after
      ? [
          ...before.by.filter((who) => !after.by.includes(who)).map((who) => `no longer takes the credential ${who}`),
          ...announcementBreaks(release, before, after),
          ...requestBreaks(before, after),
          ...responseBreaks(before, after),
        ]
      : ["is gone"];
    return found.map((text) => `${route}: ${text}`);
  });
}

type Announcement = Pick<Deprecation, "since" | "sunset"> | undefined;

function announcementBreaks({ released }: Release, before: RouteSignature, { deprecated }: RouteSignature): string[] {
  const fault = deprecated && faultOfDeprecation(deprecated);
  if (fault) return [`its deprecation is wrong: ${fault}`];
  const found: Announcement = before.deprecated;
  if (!found && deprecated && deprecated.since < released)
    return [`its deprecation is dated ${deprecated.since}, before the release that did not have it`];
  if (found && deprecated && deprecated.sunset < found.sunset) return [`goes earlier than was announced`];
  return [];
}

function requestBreaks(before: RouteSignature, after: RouteSignature): string[] {
  const gone = Object.keys(before.in).filter((path) => !after.in[path] && isTop(path, before.in, after.in));
  const needed = Object.entries(after.in).filter(
    ([path, field]) =>
      !field.optional && (before.in[path]?.optional || (!before.in[path] && isTop(path, after.in, before.in))),
  );
  return [
    ...gone.map((path) => `no longer takes ${path}`),
    ...needed.map(([path]) => `now needs ${path}`),
    ...both(before.in, after.in).flatMap(([path, was, is]) => narrowings(was, is).map((how) => `${path} ${how}`)),
  ];
}

function responseBreaks(before: RouteSignature, after: RouteSignature): string[] {
  const gone = Object.keys(before.out).filter((path) => !after.out[path] && isTop(path, before.out, after.out));
  return [
    ...gone.map((path) => `no longer answers ${path}`),
    ...both(before.out, after.out).flatMap(([path, was, is]) => [
      ...(is.optional && !was.optional ? [`${path} may now be missing`] : []),
      ...is.types.filter((type) => !was.types.includes(type)).map((type) => `${path} may now be ${type}`),
    ]),
  ];
}

/** Its parent is on both sides: fields inside a new or removed parent are not reported separately. */
function isTop(path: string, there: Record<string, Field>, elsewhere: Record<string, Field>): boolean {
  const parent = path.endsWith("[]") ? path.slice(0, -2) : path.slice(0, Math.max(0, path.lastIndexOf(".")));
  return !(parent in there) || parent in elsewhere;
}

const both = (before: Record<string, Field>, after: Record<string, Field>) =>
  Object.entries(before).flatMap(([path, was]): [string, Field, Field][] => {
    const is = after[path];
    return is ? [[path, was, is]] : [];
  });

const UUID_LENGTH = 36;

/** How a field accepts less than before. */
function narrowings(was: Field, is: Field): string[] {
  const types = was.types.filter((type) => !is.types.includes(type) && !is.types.includes("any"));
  const values = is.enum && (was.enum ? was.enum.filter((value) => !is.enum?.includes(value)) : ["any other value"]);
  const before = was.bounds?.format === "uuid" ? { maxLength: UUID_LENGTH, ...was.bounds } : was.bounds;
  const bounds = Object.entries(is.bounds ?? {}).filter(([name, bound]) => isNarrower(name, before?.[name], bound));
  return [
    ...types.map((type) => `no longer takes ${type}`),
    ...(values ?? []).map((value) => `no longer takes ${value}`),
    ...bounds.map(([name, bound]) => `has ${name} ${bound} instead of ${before?.[name] ?? "none"}`),
  ];
}

function isNarrower(name: string, was: number | string | undefined, is: number | string): boolean {
  if (was === undefined) return !(name === "minLength" || name === "minItems") || is !== 0;
  if (typeof was !== "number" || typeof is !== "number") return was !== is;
  return /^(min|exclusiveMin)/.test(name) ? is > was : is < was;
}
