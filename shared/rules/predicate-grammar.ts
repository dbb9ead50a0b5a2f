// The grammars of predicates: conditions on attributes, on properties of events and on devices.
import { fieldPath } from "./field-path.ts";
import { described, type Grammar, named, type Path, type Report } from "./grammar.ts";
import type { JsonSchema } from "./json-schema.ts";
import {
  operatorSchemas,
  PREDICATE_KEYS,
  PREDICATE_OPERANDS,
  type PredicateProblem,
  validatePredicate,
} from "./predicates.ts";
import { type Comparison, plainValues } from "./values.ts";
import { validateDevicePredicate, versionKeys, versionValues } from "./versions.ts";

/** A part of a predicate; the predicate is checked as a whole. */
const part = (schema: () => JsonSchema): Grammar => ({ check: () => undefined, schema });

const operatorsOver = (comparison: Comparison, { about: description }: { about: string }): Grammar =>
  part(() => ({
    type: "object",
    description,
    properties: operatorSchemas(comparison),
    minProperties: 1,
    additionalProperties: false,
  }));

export const Operators = named(
  "Operators",
  operatorsOver(plainValues, {
    about:
      "One or more conditions on one value; all of them must hold. Values of different types are never equal, and a " +
      "number is not compared with a text. Two texts that are times compare as instants, and what is no time is neither " +
      "before nor after one. Email addresses are equal in any case.",
  }),
);

const checkedBy =
  (problemOf: (value: unknown) => PredicateProblem | undefined) =>
  (value: unknown, path: Path, report: Report): undefined => {
    const problem = problemOf(value);
    if (problem) report([fieldPath(...path, problem.path)], problem.reason);
  };

export const AttributePredicate = named("AttributePredicate", {
  check: checkedBy(validatePredicate),
  schema: () => ({
    type: "object",
    description:
      `Conditions by key, all of which must hold. At most ${PREDICATE_KEYS} keys and ${PREDICATE_OPERANDS} operands; each ` +
      "element of `$in` and `$nin` counts. A key with dots is a path through at most four levels of objects, and any " +
      "element of lists, unless there is an attribute of that very name. A missing value matches `$ne`, `$nin` and `$exists: false` only. `{}` matches " +
      "everything.",
    additionalProperties: Operators.schema(),
    maxProperties: PREDICATE_KEYS,
  }),
});

export const VersionOperators = named(
  "VersionOperators",
  operatorsOver(versionValues, {
    about: "One or more conditions on a version; all of them must hold. Versions compare part by part.",
  }),
);

export const DevicePredicate = named("DevicePredicate", {
  check: checkedBy(validateDevicePredicate),
  schema: () => ({
    type: "object",
    description:
      "Conditions on a device by field, all of which must hold: `platform`, `model`, `locale`, `timezone`, " +
      "`environment`, `push_enabled` and the versions.",
    properties: Object.fromEntries(
      Object.entries(versionKeys).map(([key, what]) => [key, described(what, VersionOperators).schema()]),
    ),
    additionalProperties: Operators.schema(),
    maxProperties: PREDICATE_KEYS,
  }),
});
