import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareVersions,
  compileDevicePredicate,
  parseVersion,
  validateDevicePredicate,
} from "../../shared/rules/versions.ts";

const v = (major: number, minor = 0, patch = 0) => ({ major, minor, patch });

describe("versions", () => {
  it.each([
    ["17", v(17)],
    ["17.4", v(17, 4)],
    ["17.4.1", v(17, 4, 1)],
    ["0.0.0", v(0)],
    ["22.04", v(22, 4)],
    ["1.10.0-rc.1", v(1, 10)],
    ["2.0.0+build.7", v(2)],
    ["999999999.1.1", v(999_999_999, 1, 1)],
  ])("the rule of versions reads %s (NTF-16, D-DEV)", (text, version) => {
    expect(parseVersion(text)).toEqual(version);
  });

  it.each([
    [""],
    ["v1.2.3"],
    ["1."],
    [".1"],
    ["1..2"],
    ["1.2.3.4"],
    ["1.x"],
    [" 1.2"],
    ["1.2 "],
    ["-1"],
    ["1.2.3-"],
    ["1,2"],
    ["1234567890"],
    [`1.2.3-${"a".repeat(100)}`],
  ])("the rule of versions refuses %j as a version (NTF-16)", (text) => {
    expect(parseVersion(text)).toBeUndefined();
  });

  const says = (operator: string, operand: unknown, version: unknown, key = "os_version") =>
    compileDevicePredicate({ [key]: { [operator]: operand } })(version === undefined ? {} : { [key]: version });

  it.each(["os_version", "sdk_version", "app_version"])(
    "the rule of versions compares %s as a version, not as text (NTF-16)",
    (key) => {
      expect(says("$gt", { major: 9 }, v(10), key)).toBe(true);
      expect(says("$gt", { major: 1, minor: 9, patch: 9 }, v(1, 10, 0), key)).toBe(true);
      expect(says("$lt", { major: 1, minor: 9, patch: 9 }, v(1, 10, 0), key)).toBe(false);
      expect(says("$gt", { major: 1, minor: 0, patch: 9 }, v(1, 0, 10), key)).toBe(true);
    },
  );

  const table: [string, unknown, unknown[], unknown[]][] = [
    ["$eq", { major: 17, minor: 4 }, [v(17, 4), "17.4", "17.4.0"], [v(17, 4, 1), v(17), "abc", undefined]],
    ["$ne", { major: 17 }, [v(17, 1), "abc", undefined], [v(17), "17"]],
    ["$gt", { major: 17 }, [v(17, 0, 1), v(18), "17.1"], [v(17), v(16, 9, 9), "abc", 18, null, undefined]],
    ["$gte", { major: 17 }, [v(17), v(18)], [v(16, 9), undefined]],
    ["$lt", { major: 17 }, [v(16, 99, 99), v(0)], [v(17), undefined, "abc"]],
    ["$lte", { major: 17, minor: 1 }, [v(17, 1), v(17), v(2)], [v(17, 1, 1), undefined]],
    ["$in", [{ major: 1 }, { major: 2, patch: 3 }], [v(1), v(2, 0, 3)], [v(2), undefined]],
    ["$in", [], [], [v(1), undefined]],
    ["$nin", [{ major: 1 }], [v(2), "abc", undefined], [v(1)]],
    ["$exists", true, [v(1), "abc"], [undefined]],
    ["$exists", false, [undefined], [v(1)]],
    ["$gt", { minor: 4 }, [v(0, 5), v(1)], [v(0, 4)]],
  ];

  it.each(table)("{%s: %j} decides on each side (NTF-16)", (operator, operand, accepted, refused) => {
    expect(accepted.filter((version) => !says(operator, operand, version))).toEqual([]);
    expect(refused.filter((version) => says(operator, operand, version))).toEqual([]);
  });

  it.each([
    ["17.4"],
    [17],
    [null],
    [{}],
    [[17]],
    [{ major: "17" }],
    [{ major: -1 }],
    [{ major: 1.5 }],
    [{ major: 1, build: 2 }],
    [{ major: Number.NaN }],
  ])("the rule of versions refuses the operand %j on a version key (NTF-16)", (operand) => {
    for (const operator of ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]) {
      expect(validateDevicePredicate({ os_version: { [operator]: operand } })?.path).toBe(`os_version.${operator}`);
    }
    expect(validateDevicePredicate({ os_version: { $in: [{ major: 1 }, operand] } })?.path).toBe("os_version.$in[1]");
  });

  it("the rule of versions compares the other device keys as plain values (NTF-12)", () => {
    const predicate = { platform: { $in: ["ios", "android"] }, os_version: { $gte: { major: 17 } } };
    expect(validateDevicePredicate(predicate)).toBeUndefined();
    expect(compileDevicePredicate(predicate)({ platform: "ios", os_version: v(17) })).toBe(true);
    expect(compileDevicePredicate(predicate)({ platform: "web", os_version: v(17) })).toBe(false);
    expect(validateDevicePredicate({ platform: { $eq: { major: 1 } } })?.path).toBe("platform.$eq");
  });

  it("the rule of versions orders versions as their parts (NTF-16)", () => {
    const version = fc.record({ major: fc.nat(20), minor: fc.nat(20), patch: fc.nat(20) });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const weight = (x: typeof a) => x.major * 1e6 + x.minor * 1e3 + x.patch;
        expect(Math.sign(compareVersions(a, b))).toBe(Math.sign(weight(a) - weight(b)));
        expect(says("$gt", b, a)).toBe(weight(a) > weight(b));
        expect(says("$gt", b, `${a.major}.${a.minor}.${a.patch}`)).toBe(weight(a) > weight(b));
      }),
    );
  });
});
