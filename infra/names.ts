// The names of what is deployed, and the look-up of a resource by the name of its function or queue.

/** The name in AWS of a function or a queue. */
export const deployedName = (stackName: string, name: string): string => `${stackName}-${name}`;

/** `fan-out` → `FanOut`: the logical id of a function, the same in every deployment. */
export const logicalIdOf = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9])([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** @throws an error with the name if there is no such resource */
export function lookUp<Name extends string, Resource>(all: ReadonlyMap<Name, Resource>, name: Name): Resource {
  const found = all.get(name);
  if (found === undefined) throw new Error(`The stack has no "${name}".`);
  return found;
}
