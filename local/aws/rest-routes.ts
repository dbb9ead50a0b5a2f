// The routes of the REST-JSON services: where method, path and query hold the operation and its members.
import type { ServiceName, Wire } from "./stand-in.ts";

/** One line per operation of a REST service; a `{Member}` is a path segment. */
const restRoutes: [service: ServiceName, method: string, path: string, operation: string][] = [
  ["scheduler", "POST", "/schedules/{Name}", "CreateSchedule"],
  ["scheduler", "GET", "/schedules/{Name}", "GetSchedule"],
  ["scheduler", "GET", "/schedules", "ListSchedules"],
  ["scheduler", "POST", "/schedule-groups/{Name}", "CreateScheduleGroup"],
  ["scheduler", "GET", "/schedule-groups", "ListScheduleGroups"],
  ["ses", "POST", "/v2/email/outbound-emails", "SendEmail"],
  ["ses", "GET", "/v2/email/identities/{EmailIdentity}", "GetEmailIdentity"],
  ["ses", "GET", "/v2/email/account", "GetAccount"],
  ["ses", "POST", "/v2/email/tags", "TagResource"],
];

/** Query parameters whose name differs from the member they carry; the others carry their own name. */
const queryMembers: Record<string, string> = {
  groupName: "GroupName",
  ScheduleGroup: "GroupName",
  clientToken: "ClientToken",
};
const queryNumbers = new Set(["MaxResults"]);

export function findRoute(
  method: string,
  path: string,
  query: Record<string, string | string[] | null>,
): { service: ServiceName; operation: string; bound: Wire } | undefined {
  const segments = path.split("/").filter(Boolean);
  for (const [service, verb, pattern, operation] of restRoutes) {
    const bound = verb === method && matchPath(pattern.split("/").slice(1), segments);
    if (bound) return { service, operation, bound: { ...boundQuery(query), ...bound } };
  }
  return undefined;
}

function matchPath(pattern: string[], segments: string[]): Wire | undefined {
  if (pattern.length !== segments.length) return undefined;
  const bound: Wire = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index]!;
    if (part.startsWith("{")) bound[part.slice(1, -1)] = decodeURIComponent(segment);
    else if (part !== segment) return undefined;
  }
  return bound;
}

function boundQuery(query: Record<string, string | string[] | null>): Wire {
  const bound: Wire = {};
  for (const [name, value] of Object.entries(query)) {
    const member = queryMembers[name] ?? name;
    bound[member] = queryNumbers.has(member) ? Number(value) : value;
  }
  return bound;
}
