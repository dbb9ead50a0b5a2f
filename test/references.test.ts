// Whatever code, tests and pages cite is in the repository.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { requirements, requirementsPage } from "../docs/generate/requirements.ts";
import { deadCitations, type Targets, targetsOfTree, textsOfTree } from "./support/references.ts";

const pathOf = (path: string) => new URL(`../${path}`, import.meta.url);
const readOf = (path: string) => (existsSync(pathOf(path)) ? readFileSync(pathOf(path), "utf8") : "");

it("every id, decision, page and link that is cited leads somewhere", () => {
  const targets = targetsOfTree();
  const texts = textsOfTree();
  expect(texts.length).toBeGreaterThan(500);
  expect(texts.flatMap(([path, text]) => deadCitations(path, text, targets))).toEqual([]);
});

it("each line of docs/requirements.md has an id of its own, and a test that names it", () => {
  expect(requirements.length).toBeGreaterThan(700);
  const ids = requirements.map(({ id }) => id);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(requirementsPage().match(/^\| .* \| {2}\|$/gm) ?? []).toEqual([]);
});

it("docs/limits.md has every limit of attempts that the code counts (D11)", () => {
  const page = readOf("docs/generate/limits-page.ts");
  const sources = textsOfTree().filter(([path]) => /^(?:functions|shared)\//.test(path));
  const limits = sources.flatMap(([, text]) => [
    ...text.matchAll(/const (\w+)(?:: AttemptLimit)? = \{ kind: .*windowMs/g),
  ]);
  const names = limits.map(([, name = ""]) => name);

  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => !page.includes(`often(${name})`))).toEqual([]);
});

it("SECURITY.md names files that are there, and titles that their tests have", () => {
  const rows = readOf("SECURITY.md").match(/^\| .* \| `.* \|$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(20);
  const faults = rows.flatMap((row) => {
    const [, , places = "", proofs = ""] = row.split("|").map((cell) => cell.trim());
    const missing = places.split(", ").filter((place) => !existsSync(pathOf(place.replaceAll("`", ""))));
    const untold = proofs.split("; ").filter((proof) => {
      const [, path, title = ""] = /^`(.+?)`: (.+)$/.exec(proof) ?? [];
      return path === undefined || !readOf(`test/${path}.test.ts`).includes(title);
    });
    return [...missing, ...untold];
  });
  expect(faults).toEqual([]);
});

describe("planted citations", () => {
  const files = [
    "docs/edge.md",
    "docs/decisions/0013-the-send-ledger.md",
    "README.md",
    "sdk/README.md",
    "shared/kernel/clock.ts",
  ];
  const targets: Targets = {
    ids: new Set(["SUB-1", "SUB-2", "ATH-R3", "D-NTF", "F9", "T4", "E10"]),
    decisions: new Map([["0013", new Set(["what"])]]),
    exists: (path) => files.includes(path),
    anchorsOf: () => new Set(["caching"]),
  };
  const faultsOf = (line: string, path = "shared/planted.ts") => deadCitations(path, line, targets);

  it.each([
    "// SUB-1, SUB-1 to SUB-2, ATH-R3, D-NTF, F9, T4 and E10",
    "// UTF-8, SHA-256, AES-256-GCM, ISO-8601, CVE-2026-1234, P-256, RFC-3339, 2026-11-20T10:00:00Z, X-SDK-Key",
    "// S3, V8, F99x, %F0%9F",
    "// docs/decisions/0013 and docs/decisions/0013#what and docs/decisions/0013-the-send-ledger.md",
    "// docs/edge.md, edge.md, README.md, sdk/README.md",
    "// a decision, and 13 more",
    '"Date: Fri, 20 Nov 2026 12:00:00 +0000", "[::0001]", f(1000)',
  ])("the check of citations finds nothing wrong with %s", (line) => {
    expect(faultsOf(line)).toEqual([]);
  });

  it.each([
    ["// SUB-3", "SUB-3 is not in docs/requirements.md"],
    ["// SUB-1 to SUB-3", "SUB-3 is not in docs/requirements.md"],
    ["// ATH-3", "ATH-3 is not in docs/requirements.md"],
    ["// D-NTF-LIST", "D-NTF-LIST is not in docs/requirements.md"],
    ["// F23", "F23 is not in docs/requirements.md"],
    ["// T40", "T40 is not in docs/requirements.md"],
    ["// E11", "E11 is not in docs/requirements.md"],
    ["// docs/decisions/0014", "docs/decisions/0014 leads nowhere"],
    ["// docs/decisions/0013#why", "docs/decisions/0013#why leads nowhere"],
    ["// decision 7", "decision 7 is not docs/decisions/NNNN"],
    ["// decision 0013", "decision 0013 is not docs/decisions/NNNN"],
    ["// Decision record 0013", "Decision record 0013 is not docs/decisions/NNNN"],
    ["// decisions 7, 8", "decisions 7 is not docs/decisions/NNNN"],
    ["// found by a scan (0013)", "(0013) is not docs/decisions/NNNN"],
    ["// as reliability.md says", "reliability.md is not in the tree"],
  ])("the check of citations finds %s", (line, fault) => {
    expect(faultsOf(line)).toEqual([`shared/planted.ts:1: ${fault}`]);
  });

  it.each([
    ["README.md", "[edge](docs/edge.md)", []],
    ["README.md", "[edge](docs/edge.md#caching) and [AWS](https://aws.amazon.com/x.md)", []],
    ["docs/edge.md", "[below](#caching), [ledger](decisions/0013-the-send-ledger.md), [up](../README.md)", []],
    ["README.md", "[edge](docs/ledge.md)", ["README.md:1: the link docs/ledge.md leads nowhere"]],
    ["README.md", "[edge](docs/edge.md#cash)", ["README.md:1: the link docs/edge.md#cash leads nowhere"]],
    ["docs/edge.md", "[below](#cash)", ["docs/edge.md:1: the link #cash leads nowhere"]],
    ["docs/edge.md", "[up](README.md)", ["docs/edge.md:1: the link README.md leads nowhere"]],
    ["docs/decisions/0013-the-send-ledger.md", "as before (0013)", []],
    ["docs/decisions/0013-the-send-ledger.md", "(0014)", ["(0014) is not docs/decisions/NNNN"]],
  ])("in %s: %s", (path, line, faults) => {
    expect(faultsOf(line, path)).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  });

  it("the check of citations names the line", () => {
    expect(faultsOf("// one\n// SUB-3\n")).toEqual(["shared/planted.ts:2: SUB-3 is not in docs/requirements.md"]);
  });
});
