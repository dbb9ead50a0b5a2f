// An update from the template that was recorded last, and the way back from it: what CloudFormation would replace.
import { describe, expect, it } from "vitest";
import { changesBetween, recorded, resourcesOf } from "./support/recorded.ts";
import { ofType, type Resource, type Template, whole } from "./support/template.ts";

const now = () => resourcesOf(whole());

/** The whole template with a few resources changed; undefined removes one. */
function changed(changes: Record<string, Partial<Resource> | undefined>): Pick<Template, "Resources"> {
  const { Resources } = whole();
  const entries = Object.entries({ ...Resources, ...changes }).flatMap(([id, change]) =>
    change === undefined ? [] : [[id, { ...Resources[id], ...change }]],
  );
  return { Resources: Object.fromEntries(entries) };
}

const [[tableId, table] = []] = ofType(whole(), "AWS::DynamoDB::Table");
const [[queueId, queue] = []] = ofType(whole(), "AWS::SQS::Queue");

describe("an update from the recorded template", () => {
  it("an update from the recorded template replaces and removes nothing, and its rollback replaces nothing that was there", () => {
    expect(changesBetween(recorded(), now())).toEqual([]);
    const back = changesBetween(now(), recorded());
    expect(back.filter(({ kind, stops }) => kind === "replaced" || stops !== undefined)).toEqual([]);
  });

  it("would be one that loses the table, if its key changes", () => {
    const KeySchema = [{ AttributeName: "other", KeyType: "HASH" }];
    const after = resourcesOf(changed({ [tableId!]: { Properties: { ...table!.Properties, KeySchema } } }));
    expect(changesBetween(now(), after)).toEqual([
      { id: tableId, type: "AWS::DynamoDB::Table", kind: "replaced", because: ["KeySchema"] },
    ]);
  });

  it("an update from the recorded template stops where a resource gets another logical id and keeps its name, in both directions", () => {
    const after = resourcesOf(changed({ [queueId!]: undefined, RenamedQueue: queue! }));
    const stops = expect.stringMatching(/^the name AWS::SQS::Queue\.QueueName ".+" is taken$/);
    const removed = { type: "AWS::SQS::Queue", kind: "removed", because: [], stops };
    expect(changesBetween(now(), after)).toEqual([{ id: queueId, ...removed }]);
    expect(changesBetween(after, now())).toEqual([{ id: "RenamedQueue", ...removed }]);
  });

  it("an update from the recorded template refuses a type of which nobody said what replaces it", () => {
    const odd = { Type: "AWS::Unknown::Thing", Properties: {} };
    expect(() => resourcesOf({ Resources: { odd } })).toThrow("AWS::Unknown::Thing");
  });
});
