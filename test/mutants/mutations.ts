// The mutations of a file: small changes of its code, each of which a test should notice.
import { stripTypeScriptTypes } from "node:module";

export const operators = ["comparison", "condition", "await", "constant", "return"] as const;
type Operator = (typeof operators)[number];

export interface Mutation {
  /** Relative to the repository. */
  file: string;
  operator: Operator;
  /** Offsets in the file's text. */
  from: number;
  to: number;
  replacement: string;
}

const COMPARISONS: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
};

/** The calls of `shared/store/conditions.ts` that guard a write. */
const CONDITION = /(?<=[(,?:=]\s*)\b(?:absent|present|is|isNot|oneOf|below|atMost|lessThan|all|any)\(/g;

/** A condition that always holds. */
const ALWAYS = '() => "attribute_exists(pk) OR attribute_not_exists(pk)"';

/** Every mutation of a file, in the order of its text. */
export function mutationsOf(file: string, text: string): Mutation[] {
  const code = codeOf(text);
  const found: Mutation[] = [];
  const add = (operator: Operator, from: number, to: number, replacement: string) =>
    void found.push({ file, operator, from, to, replacement });
  for (const { 1: sign = "", index } of code.matchAll(/(?<= )(===|!==|<=|>=|<|>|&&|\|\|)(?= )/g))
    add("comparison", index, index + sign.length, COMPARISONS[sign]!);
  if (text.includes("conditions.ts"))
    for (const { index } of code.matchAll(CONDITION)) {
      const end = endOfCall(code, index);
      if (end !== undefined) add("condition", index, end, ALWAYS);
    }
  for (const { index } of code.matchAll(/(?<=^ +)await (?=\S)/gm))
    add("await", index, index + "await ".length, "void ");
  for (const { 0: digits, index } of code.matchAll(/(?<![\w.$#])\d[\d_]*(?![\w.])/g))
    add(
      "constant",
      index,
      index + digits.length,
      digits === "1" ? "0" : String(Number(digits.replaceAll("_", "")) + 1),
    );
  for (const { 0: word, index } of code.matchAll(/(?<![\w.$])(?:true|false)(?![\w:])/g))
    add("constant", index, index + word.length, word === "true" ? "false" : "true");
  for (const { 1: value = "", index } of code.matchAll(/\breturn ([^;{\n]+);/g)) {
    const from = index + "return ".length;
    if (text.slice(from, from + value.length) !== "undefined") add("return", from, from + value.length, "undefined");
  }
  return found.sort((a, b) => a.from - b.from);
}

/** The line of a mutation, and what it makes of it. */
export function describe({ file, from, to, replacement }: Mutation, text: string): string {
  const line = text.slice(0, from).split("\n").length;
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const before = text.slice(start, text.indexOf("\n", from)).trim();
  const old = text.slice(from, to).replaceAll(/\s+/g, " ");
  return `${file}:${line}  ${old} -> ${replacement}\n    ${before}`;
}

/** The text with everything blanked that is not run: types, imports, comments, and what is quoted. */
function codeOf(text: string): string {
  const blank = (part: string) => part.replaceAll(/[^\n]/g, " ");
  return stripTypeScriptTypes(text)
    .replaceAll(/^import [\s\S]*?;$/gm, blank)
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, blank);
}

/** The offset after the call that begins here. */
function endOfCall(code: string, from: number): number | undefined {
  let depth = 0;
  for (let at = code.indexOf("(", from); at < code.length; at++) {
    if (code[at] === "(") depth++;
    if (code[at] !== ")") continue;
    depth--;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
