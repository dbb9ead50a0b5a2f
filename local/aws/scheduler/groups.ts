// Schedule groups and their tags; the group `default` always exists.
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import type { Operations } from "../members.ts";
import type { Wire } from "../stand-in.ts";
import { invalid } from "./expressions.ts";
import { conflict, DEFAULT_GROUP, groupArn, nameIn, notFound, pageOf, read } from "./requests.ts";
import type { Group, Schedules } from "./schedules.ts";

export function groupOperations(schedules: Schedules, clock: Clock) {
  const find = (name: string): Group | undefined =>
    schedules.group(name) ?? (name === DEFAULT_GROUP ? { name, createdAt: 0, tags: {} } : undefined);

  const required = (name: string): Group => {
    const group = find(name);
    if (!group) throw notFound("ScheduleGroup", name);
    return group;
  };

  const tagged = (input: Wire): Group => {
    const arn = read.needed(input, "ResourceArn");
    const name = arn.slice(arn.lastIndexOf("/") + 1);
    if (arn !== groupArn(name)) throw invalid(`${arn} is not the ARN of a schedule group.`);
    return required(name);
  };

  const tagsIn = (input: Wire): Record<string, string> =>
    Object.fromEntries(
      read.records(input, "Tags").map((tag) => [read.needed(tag, "Key"), read.text(tag, "Value") ?? ""]),
    );

  const describe = ({ name, createdAt }: Group): Wire => ({
    Arn: groupArn(name),
    Name: name,
    State: "ACTIVE",
    CreationDate: createdAt / SECOND,
    LastModificationDate: createdAt / SECOND,
  });

  const operations: Operations = {
    CreateScheduleGroup: (input) => {
      const name = nameIn(input);
      if (find(name)) throw conflict("ScheduleGroup", name);
      schedules.saveGroup({ name, createdAt: clock.now(), tags: tagsIn(input) });
      return { ScheduleGroupArn: groupArn(name) };
    },
    DeleteScheduleGroup: (input) => {
      const { name } = required(nameIn(input));
      if (name === DEFAULT_GROUP) throw invalid("The default schedule group cannot be deleted.");
      schedules.transaction(() => schedules.removeGroup(name));
      return {};
    },
    GetScheduleGroup: (input) => describe(required(nameIn(input))),
    ListScheduleGroups: (input) => {
      const prefix = read.text(input, "NamePrefix") ?? "";
      const others = schedules.groups().filter(({ name }) => name !== DEFAULT_GROUP);
      const found = [required(DEFAULT_GROUP), ...others].filter(({ name }) => name.startsWith(prefix));
      const { shown, NextToken } = pageOf(input, found, ({ name }) => name);
      return { ScheduleGroups: shown.map(describe), NextToken };
    },
    TagResource: (input) => {
      const group = tagged(input);
      schedules.saveGroup({ ...group, tags: { ...group.tags, ...tagsIn(input) } });
      return {};
    },
    UntagResource: (input) => {
      const group = tagged(input);
      const removed = new Set(read.texts(input, "TagKeys"));
      const kept = Object.entries(group.tags).filter(([key]) => !removed.has(key));
      schedules.saveGroup({ ...group, tags: Object.fromEntries(kept) });
      return {};
    },
    ListTagsForResource: (input) => ({
      Tags: Object.entries(tagged(input).tags).map(([Key, Value]) => ({ Key, Value })),
    }),
  };

  return { require: required, operations };
}
