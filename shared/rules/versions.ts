// Versions of operating systems, applications and SDKs, and the device predicates that compare them (NTF-12, NTF-16).
import { isJsonObject } from "../kernel/objects.ts";
import { namedObject, number, problemsIn } from "./grammar.ts";
import { compilePredicate, type PredicateProblem, validatePredicate } from "./predicates.ts";
import { type Comparison, plainValues } from "./values.ts";

interface Version {
  major: number;
  minor: number;
  patch: number;
}

/** Device keys whose operands are `{major, minor, patch}`. */
export const versionKeys: Readonly<Record<string, { about: string }>> = {
  os_version: { about: "The version of the operating system" },
  sdk_version: { about: "The version of the SDK in the app" },
  app_version: { about: "The version of the app" },
};

const SHAPE = /^(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:[-+][0-9A-Za-z.+-]{1,64})?$/;
const PARTS = ["major", "minor", "patch"] as const;

/**
 * Parses a version such as `17`, `17.4` or `17.4.1`; undefined if the text is not one. Missing parts are 0; a
 * pre-release or build suffix (`-rc.1`, `+45`) is accepted and not compared.
 */
export function parseVersion(text: string): Version | undefined {
  if (text.length > 96) return undefined;
  const parts = SHAPE.exec(text);
  if (!parts) return undefined;
  return { major: Number(parts[1]), minor: Number(parts[2] ?? 0), patch: Number(parts[3] ?? 0) };
}

/** Below 0, 0 or above 0 when `a` is older than, equal to or newer than `b`, part by part. */
export const compareVersions = (a: Version, b: Version): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

const max = Number.MAX_SAFE_INTEGER;

export const VersionOperand = namedObject("Version", {
  about: "A version to compare with. A part that is missing is 0.",
  fields: {
    major: number({ about: "The first number", min: 0, max }),
    minor: number({ about: "The second number", min: 0, max }),
    patch: number({ about: "The third number", min: 0, max }),
  },
  minProperties: 1,
});

export const versionValues: Comparison = {
  valueSchema: VersionOperand.schema(),
  orderSchema: VersionOperand.schema(),
  valueProblem: versionProblem,
  orderProblem: versionProblem,
  oneOf(operands) {
    const wanted = operands.map(versionOf).filter((version) => version !== undefined);
    return (value) => {
      const version = versionOf(value);
      return version !== undefined && wanted.some((other) => compareVersions(version, other) === 0);
    };
  },
  against(operand) {
    const wanted = versionOf(operand);
    return (value) => {
      const version = versionOf(value);
      return version && wanted ? compareVersions(version, wanted) : Number.NaN;
    };
  },
};

const comparisonOf = (key: string): Comparison => (Object.hasOwn(versionKeys, key) ? versionValues : plainValues);

/** `validatePredicate` for devices: the version keys take `{major, minor, patch}` operands (missing parts are 0). */
export const validateDevicePredicate = (value: unknown): PredicateProblem | undefined =>
  validatePredicate(value, comparisonOf);

/**
 * `compilePredicate` for devices: the version keys compare as versions. A device's version may be stored parsed or as
 * text; invalid text is present but equals nothing. Throws TypeError on an invalid predicate.
 */
export const compileDevicePredicate = (predicate: unknown): ((device: Record<string, unknown>) => boolean) =>
  compilePredicate(predicate, comparisonOf);

function versionProblem(operand: unknown): string | undefined {
  const isVersion =
    isJsonObject(operand) && Object.keys(operand).length > 0 && problemsIn(VersionOperand, operand).length === 0;
  return isVersion ? undefined : "must be an object of major, minor and patch, each a whole number";
}

function versionOf(value: unknown): Version | undefined {
  if (typeof value === "string") return parseVersion(value);
  if (!isJsonObject(value)) return undefined;
  const [major = 0, minor = 0, patch = 0] = PARTS.map((part) => (Object.hasOwn(value, part) ? value[part] : 0));
  return isPart(major) && isPart(minor) && isPart(patch) ? { major, minor, patch } : undefined;
}

const isPart = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
