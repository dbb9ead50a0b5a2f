// Which shapes of responses are named components, and their names. Shapes are compared by identity.
import { type GenericSchema, getTitle } from "valibot";
import { pascal, resourceName } from "../../shared/http/operation-names.ts";
import { byText } from "../../shared/kernel/order.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import type { Operation } from "./contents.ts";
import { schemaOf } from "./json-schema.ts";

export type Shapes = Readonly<Record<string, GenericSchema>>;

interface Deps {
  type: string;
  entries?: Record<string, GenericSchema>;
  item?: GenericSchema;
  wrapped?: GenericSchema;
}

const partsOf = (shape: GenericSchema): Deps => shape as unknown as Deps;
const isObject = (shape: GenericSchema) => partsOf(shape).entries !== undefined;

/** The items of a list: the elements of an array directly under the response. */
const elementsOf = (shape: GenericSchema): GenericSchema[] =>
  Object.values(partsOf(shape).entries ?? {}).flatMap((entry) => {
    const { type, item } = partsOf(entry);
    return type === "array" && item && isObject(item) ? [item] : [];
  });

/** Name → shape, for every resource that an endpoint returns or lists: its `v.title`, else its route's noun. */
export function namedShapes(operations: readonly Operation[], reserved: readonly string[]): Shapes {
  const shapes = new Map<string, GenericSchema>();
  const named = new Set<GenericSchema>();
  const add = (name: string, group: string, shape: GenericSchema) => {
    if (named.has(shape)) return;
    named.add(shape);
    const wanted = getTitle(shape) ?? name;
    const isTaken = shapes.has(wanted) || reserved.includes(wanted);
    const unique = isTaken ? pascal(`${group}-${wanted}`) : wanted;
    if (shapes.has(unique)) throw new Error(`Two shapes of the group ${group} would be called ${unique}.`);
    shapes.set(unique, shape);
  };
  const answers = operations.flatMap(({ group, endpoint: { route, shape } }) =>
    shape.returns && isObject(shape.returns) ? [{ group, route, returns: shape.returns }] : [],
  );
  const uses = (wanted: GenericSchema) => answers.filter(({ returns }) => returns === wanted).length;
  for (const { group, route, returns } of answers) if (getTitle(returns)) add(resourceName(route), group, returns);
  for (const { group, route, returns } of answers)
    if (route.includes("/:") && (uses(returns) > 1 || /:\w+$/.test(route))) add(resourceName(route), group, returns);
  for (const { group, route, returns } of answers)
    if (!named.has(returns) && uses(returns) > 1)
      add(resourceName(route) + (elementsOf(returns).length > 0 ? "Page" : ""), group, returns);
  for (const { group, route, returns } of answers)
    if (route.startsWith("GET ") && !named.has(returns))
      for (const element of elementsOf(returns)) add(resourceName(route.replace(/\/:\w+$/, "")), group, element);
  return Object.fromEntries([...shapes].sort(byText(([name]) => name)));
}

/** The schema of each shape, referring to the others. */
export const schemasOf = (shapes: Shapes, direction: "input" | "output"): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const { [name]: _, ...others } = shapes;
      return [name, schemaOf(shape, direction, others)];
    }),
  );
