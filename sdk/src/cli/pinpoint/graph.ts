// The steps of a converted journey, and where they lead.
import { isObject, objectIn, type Resource } from "../resource.ts";

export type Steps = Map<string, Resource>;

const TARGETS = ["next", "then", "else", "on_event", "on_timeout"];

/** The id of a step that no activity has. */
export const freeId = (wanted: string, activities: Resource): string =>
  Object.hasOwn(activities, wanted) ? freeId(`${wanted}_`, activities) : wanted;

/** The step with targets that skip the activities without a counterpart. */
export function withTargets(step: Resource, beyond: (id: string) => string): Resource {
  const config = step[String(step.type)];
  if (!isObject(config)) return step;
  const changed = Object.entries(config).map(([field, value]) => [
    field,
    TARGETS.includes(field) && typeof value === "string" ? beyond(value) : value,
  ]);
  return { ...step, [String(step.type)]: Object.fromEntries(changed) };
}

export function reachableFrom(start: string, steps: ReadonlyMap<string, Resource>): Resource {
  const reached = new Set<string>([start]);
  for (const id of reached) {
    const step = steps.get(id);
    const config = step?.[String(step.type)];
    for (const field of TARGETS) {
      const target = objectIn(config)[field];
      if (typeof target === "string") reached.add(target);
    }
  }
  return Object.fromEntries([...steps].filter(([id]) => reached.has(id)));
}
