// Segments of Pinpoint: dimensional ones become segments, imported ones lists.
import { isObject, objectIn, objectsIn, type Resource } from "../resource.ts";
import type { At, Report } from "./report.ts";
import { combineBy, type RuleResult, rulesOfDimensions, SESSION, unsaid } from "./rules.ts";

export interface Audiences {
  /** Files by kind and name. */
  segments: Map<string, Resource>;
  lists: Map<string, Resource>;
  /** The id of a segment → the list or segment that replaces it, if there is one. */
  byId: Map<string, { type: "segment"; segment: string } | { type: "list"; list: string }>;
  /** The name of the file or folder from which a segment was imported → its list. */
  imported: Map<string, string>;
  ruleOf(id: string): RuleResult;
  /** Reports that another version of a segment was meant than the one of the folder. */
  reportVersion(at: At, field: string, id: unknown, version: unknown): void;
}

const KNOWN = ["Id", "Name", "SegmentType", "Dimensions", "SegmentGroups", "ImportDefinition"];
/** Fields with times and places of Pinpoint, which are made anew here. */
export const BOOKKEEPING = ["ApplicationId", "Arn", "CreationDate", "LastModifiedDate", "Version", "tags"];

export function convertSegments(found: readonly Resource[], report: Report): Audiences {
  const all = new Map(found.map((segment) => [String(segment.Id), segment]));
  const byId: Audiences["byId"] = new Map();
  const imported: Audiences["imported"] = new Map();
  const [segments, lists] = [new Map<string, Resource>(), new Map<string, Resource>()];
  const ruleOf = (id: string, above: readonly string[] = []): RuleResult => {
    const segment = all.get(id);
    if (!segment) return unsaid("SourceSegments", `names the segment ${id}, which is not in the folder`);
    if (above.includes(id)) return unsaid("SourceSegments", "names itself");
    if (segment.SegmentType === "IMPORT")
      return unsaid("SourceSegments", "names an imported segment, which is a list here");
    return ruleOfSegment(segment, (source) => ruleOf(source, [...above, id]));
  };
  const reportVersion: Audiences["reportVersion"] = (at, field, id, version) => {
    const { Version: known } = all.get(String(id)) ?? {};
    if (version === undefined || known === undefined || String(version) === String(known)) return;
    report.unmapped(
      at,
      field,
      `is ${String(version)}: version ${String(known)} of the segment, which is in the folder, counts`,
    );
  };
  for (const segment of found) {
    const id = String(segment.Id);
    const at = { kind: "segments", name: String(segment.Name ?? id) };
    report.rest(at, segment, [...KNOWN, ...BOOKKEEPING]);
    if (segment.SegmentType === "IMPORT") {
      const name = free(at.name, lists);
      lists.set(name, { name, description: `Imported segment ${id} of Pinpoint` });
      byId.set(id, { type: "list", list: name });
      const source = fileOf(segment.ImportDefinition);
      if (source !== undefined) imported.set(source, name);
      report.count("lists written");
      continue;
    }
    reportHidden(segment, at, report);
    for (const source of sourcesOf(segment)) reportVersion(at, "SourceSegments.Version", source.Id, source.Version);
    const ruled = ruleOf(id);
    if (ruled.kind === "unsaid") {
      report.unmapped(at, ruled.field || "Dimensions", `${ruled.reason}: the segment was not converted`);
      continue;
    }
    if (JSON.stringify(ruled.rule).includes(`"${SESSION}"`))
      report.unmapped(at, "Behavior.Recency", `counts ${SESSION} from the move on: before, nobody was active`);
    const name = free(at.name, segments);
    segments.set(name, { name, is_dynamic: true, rule: ruled.rule });
    byId.set(id, { type: "segment", segment: name });
    report.count("segments written");
  }
  return { segments, lists, byId, imported, ruleOf, reportVersion };
}

/** Dimensions beside groups are said again in a group; those that are not do not count. */
function reportHidden({ Dimensions, SegmentGroups }: Resource, at: At, report: Report): void {
  if (!isObject(SegmentGroups) || !Array.isArray(SegmentGroups.Groups) || SegmentGroups.Groups.length === 0) return;
  const groups = JSON.stringify(SegmentGroups);
  for (const [field, value] of Object.entries(objectIn(Dimensions)))
    if (!groups.includes(JSON.stringify(value))) report.rest(at, { [field]: value }, [], "Dimensions.");
}

/** `s3://bucket/fair/users.csv` is the file `users.csv`. */
const fileOf = (definition: unknown): string | undefined =>
  isObject(definition) && typeof definition.S3Url === "string"
    ? definition.S3Url.split("/")
        .slice(3)
        .findLast((part) => part !== "")
    : undefined;

/** The name, or another one where it is taken. */
export function free(name: string, taken: ReadonlyMap<string, unknown>): string {
  for (let n = 2, freeName = name; ; n++) {
    if (!taken.has(freeName)) return freeName;
    freeName = `${name} (${n})`;
  }
}

const sourcesOf = ({ SegmentGroups }: Resource): Resource[] =>
  objectsIn(objectIn(SegmentGroups).Groups).flatMap(({ SourceSegments }) => objectsIn(SourceSegments));

function ruleOfSegment({ Dimensions, SegmentGroups }: Resource, source: (id: string) => RuleResult): RuleResult {
  const { Groups, Include } = objectIn(SegmentGroups);
  const groups = objectsIn(Groups);
  if (groups.length === 0) return rulesOfDimensions(objectIn(Dimensions));
  return combineBy(
    Include ?? "ALL",
    groups.map((group) => ruleOfGroup(group, source)),
  );
}

function ruleOfGroup(
  { Dimensions, Type, SourceSegments, SourceType }: Resource,
  source: (id: string) => RuleResult,
): RuleResult {
  const [dimensions, sources] = [objectsIn(Dimensions), objectsIn(SourceSegments)];
  const parts = [
    ...(dimensions.length > 0 ? [combineBy(Type ?? "ALL", dimensions.map(rulesOfDimensions))] : []),
    ...(sources.length > 0
      ? [
          combineBy(
            SourceType ?? "ALL",
            sources.map(({ Id }) => source(String(Id))),
          ),
        ]
      : []),
  ];
  return combineBy("ALL", parts);
}
