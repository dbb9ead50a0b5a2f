// What a folder has of one thing several times: its versions, or the answers of two calls. The newest counts.
import type { Resource } from "../resource.ts";
import type { Thing } from "./read.ts";
import type { Report } from "./report.ts";
import { hasContent } from "./templates.ts";

const nameOf = ({ Name, TemplateName, Id }: Resource): string => String(Name ?? TemplateName ?? Id);

const idOf = (kind: Thing, thing: Resource): string =>
  kind === "templates" ? `${String(thing.TemplateType)} ${nameOf(thing)}` : String(thing.Id);

const versionOf = ({ Version }: Resource): number => Number(Version ?? 0);
const timeOf = ({ LastModifiedDate }: Resource): number => Date.parse(String(LastModifiedDate)) || 0;

/** What lists of templates return has no content. */
const isListed = (kind: Thing, thing: Resource): boolean => kind === "templates" && !hasContent(thing);

/** Of each thing its newest version, in the place of the first. */
export function newestOf(kind: Thing, found: readonly Resource[], report: Report): Resource[] {
  const byId = new Map<string, Resource[]>();
  for (const thing of found) byId.set(idOf(kind, thing), [...(byId.get(idOf(kind, thing)) ?? []), thing]);
  return [...byId.values()].map((all) => {
    const whole = all.filter((thing) => !isListed(kind, thing));
    const given = whole.length > 0 ? whole : all.slice(0, 1);
    const newest = given.reduce((a, b) => (isOlder(b, a) ? a : b));
    for (const thing of given)
      if (JSON.stringify(thing) !== JSON.stringify(newest)) reportOlder({ kind, name: nameOf(newest) }, thing, report);
    return newest;
  });
}

const isOlder = (a: Resource, b: Resource): boolean =>
  versionOf(a) === versionOf(b) ? timeOf(a) < timeOf(b) : versionOf(a) < versionOf(b);

function reportOlder(at: { kind: Thing; name: string }, { Version, LastModifiedDate }: Resource, report: Report): void {
  const which = Version === undefined ? `one of ${String(LastModifiedDate)}` : `version ${String(Version)}`;
  report.unmapped(at, "Version", `is several times in the folder: ${which} was left out for a newer one`);
}
