// The one naming rule: from a route to its SDK method, operation id and type names.
//
// The surface (`/api/v1`, `/v1`, either with `/in-app`) and a first segment that is the group's own name, also in the
// singular, are dropped.
// What remains is the noun. Then:
//   a parameter at the end      GET get, PATCH update, PUT replace, DELETE delete, POST create, + the noun in singular
//   a collection at the end     GET list + the noun, POST create + the noun in singular
//   the group's own name, if it is no collection   GET get, PUT set
//   any other word at the end   GET get + the word, POST the word itself (it is an action) + the noun after
//                              the own name of the group, others as above
// If two routes of a group get the same name, the one outside `/api/v1` gets `WithServerKey`.
import { providedChannels } from "../rules/channel-types.ts";
import { channels } from "../rules/channels.ts";
import type { Group } from "./endpoint.ts";

const VERBS: Record<string, string> = {
  GET: "get",
  HEAD: "probe",
  POST: "create",
  PUT: "replace",
  PATCH: "update",
  DELETE: "delete",
};
const SURFACE = /^\/(?:(?:api\/)?v1(?:\/in-app)?|\.well-known)(?=\/)/;
const MANAGEMENT = / \/api\/v1\//;

const isParameter = (segment: string | undefined) => segment?.startsWith(":") === true;
const isCollection = (word: string) =>
  /[^su]s$/.test(word) && !/^(stats|counts|series|docs|jwks|preferences)$/.test(word) && !ofChannels.includes(word);
/** The credentials of channels are named after them, as `sms`. */
const ofChannels: readonly string[] = providedChannels.map((type) => channels[type].credentials.path);

/** Collections whose path is in the singular. */
const UNCOUNTED: readonly string[] = ["import"];

export const pascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

export const camel = (text: string): string => {
  const name = pascal(text);
  return name.charAt(0).toLowerCase() + name.slice(1);
};

export const singular = (word: string): string =>
  isCollection(word) ? word.replace(/ies$/, "y").replace(/(?<=ss|x|ch|sh)es$|s$/, "") : word;

/** The significant segments of a path: without its surface, its format and its group's name. */
function wordsOf(group: string, route: string): string[] {
  const path = (route.split(" ")[1] ?? "").replace(SURFACE, "").replace(/\.json$/, "");
  const [first = "", ...rest] = path.split("/").slice(1);
  const isOwn = first === group || (rest.length > 0 && first === singular(group));
  return isOwn && (rest.length > 0 || isCollection(group)) ? rest : [first, ...rest].filter(Boolean);
}

function plainName(group: string, route: string): string {
  const [method = ""] = route.split(" ");
  const words = wordsOf(group, route);
  const literals = words.filter((word) => !isParameter(word));
  const last = literals.at(-1);
  const nouns = (from: readonly string[]) => pascal(from.join("-"));
  if (last === undefined) return words.length === 0 && method === "GET" ? "list" : VERBS[method]!;
  if (isParameter(words.at(-1))) return VERBS[method]! + nouns([...literals.slice(0, -1), singular(last)]);
  const before = literals.slice(0, -1);
  const owners = isParameter(words.at(-2)) ? before.map(singular) : before;
  if (last === group && isCollection(last) && method === "GET") return "list";
  if (last === group) return method === "PUT" && !isCollection(last) ? "set" : VERBS[method]!;
  if (method === "GET" && UNCOUNTED.includes(last)) return `list${nouns([...owners, `${last}s`])}`;
  if (method === "GET") return (isCollection(last) ? "list" : "get") + nouns([...owners, last]);
  if (method !== "POST") return VERBS[method]! + nouns([...owners, last]);
  if (isCollection(last)) return `create${nouns([...owners, singular(last)])}`;
  return camel(last) + nouns(owners.slice(owners.indexOf(group) + 1));
}

/** SDK method of every route of a group. */
export function methodNames({ name, endpoints }: Pick<Group, "name" | "endpoints">): Map<string, string> {
  const names = new Map(endpoints.map(({ route }) => [route as string, plainName(name, route)]));
  for (const [route, method] of names) {
    const sharers = [...names].filter(([, other]) => other === method);
    if (sharers.length > 1 && !MANAGEMENT.test(route)) names.set(route, `${method}WithServerKey`);
  }
  if (new Set(names.values()).size < names.size)
    throw new Error(`Two routes of ${name} come to one name: ${[...names.values()].sort().join(", ")}.`);
  return names;
}

/** The resource of a route: `PATCH /api/v1/team/members/:userId` → `Member`. */
export function resourceName(route: string): string {
  const segments = (route.split(" ")[1] ?? "")
    .replace(SURFACE, "")
    .replace(/\.json$/, "")
    .split("/")
    .slice(1);
  const parameter = segments.findLastIndex(isParameter);
  const word = parameter > 0 ? segments[parameter - 1]! : segments.at(-1)!;
  return pascal(singular(word));
}
