// The part of PartiQL that the embedded service understands: INSERT of one item, UPDATE of one item by its key.
import { validation } from "./errors.ts";
import type { AttributeValue } from "./values.ts";

/** A `?` is a parameter, by its position from 0. */
type Operand = { parameter: number } | { value: AttributeValue };

export interface Test {
  name: string;
  is: "=" | "<=" | "missing";
  than?: Operand;
}

export type Statement =
  | { kind: "insert"; table: string; item: [name: string, operand: Operand][] }
  | { kind: "update"; table: string; set: [name: string, operand: Operand][]; remove: string[]; where: Test[] };

interface Token {
  kind: "word" | "quoted" | "text" | "number" | "symbol" | "end";
  text: string;
  at: number;
}

const PATTERN =
  /\s*(?:(?<word>[A-Za-z_][A-Za-z0-9_]*)|"(?<quoted>(?:[^"]|"")*)"|'(?<text>(?:[^']|'')*)'|(?<number>-?\d+(?:\.\d+)?)|(?<symbol><=|[?=,{}:;().<>+*-]))/y;

/** @returns the statement and how many parameters it takes. */
export function readStatement(text: string): { statement: Statement; parameters: number } {
  const tokens = tokensOf(text);
  let at = 0;
  let parameters = 0;
  const peek = () => tokens[at]!;
  const fail = (): never => {
    const { text: found, at: position, kind } = peek();
    throw malformed(kind === "end" ? "unexpected end" : `unexpected ${found} at ${position + 1}`);
  };
  const takes = (wanted: string) => {
    const { kind, text: found } = peek();
    const isIt = kind === "symbol" ? found === wanted : kind === "word" && found.toUpperCase() === wanted;
    if (isIt) at++;
    return isIt;
  };
  const expect = (wanted: string) => takes(wanted) || fail();
  const take = (...kinds: Token["kind"][]) => (kinds.includes(peek().kind) ? tokens[at++]!.text : fail());
  const name = () => take("word", "quoted");

  const operand = (): Operand => {
    if (takes("?")) return { parameter: parameters++ };
    const { kind } = peek();
    if (kind === "text") return { value: { S: take("text") } };
    if (kind === "number") return { value: { N: take("number") } };
    if (takes("TRUE")) return { value: { BOOL: true } };
    if (takes("FALSE")) return { value: { BOOL: false } };
    if (takes("NULL")) return { value: { NULL: true } };
    return fail();
  };

  const insert = (): Statement => {
    expect("INTO");
    const table = name();
    expect("VALUE");
    expect("{");
    const item: [string, Operand][] = [];
    do {
      const attribute = take("text", "quoted");
      expect(":");
      item.push([attribute, operand()]);
    } while (takes(","));
    expect("}");
    return { kind: "insert", table, item };
  };

  const test = (): Test => {
    const attribute = name();
    if (takes("IS")) {
      expect("MISSING");
      return { name: attribute, is: "missing" };
    }
    const is = takes("<=") ? "<=" : "=";
    if (is === "=") expect("=");
    return { name: attribute, is, than: operand() };
  };

  const update = (): Statement => {
    const table = name();
    const set: [string, Operand][] = [];
    const remove: string[] = [];
    for (;;) {
      if (takes("SET"))
        do {
          const attribute = name();
          expect("=");
          set.push([attribute, operand()]);
        } while (takes(","));
      else if (takes("REMOVE")) remove.push(name());
      else break;
    }
    if (set.length + remove.length === 0) fail();
    expect("WHERE");
    const where = [test()];
    while (takes("AND")) where.push(test());
    return { kind: "update", table, set, remove, where };
  };

  const statement = takes("INSERT") ? insert() : takes("UPDATE") ? update() : unsupported(peek().text);
  takes(";");
  if (peek().kind !== "end") fail();
  return { statement, parameters };
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (text.slice(at).trim() !== "") {
    PATTERN.lastIndex = at;
    const match = PATTERN.exec(text);
    if (!match) throw malformed(`unexpected ${text.slice(at).trim()[0]} at ${at + 1}`);
    const [kind, found] = Object.entries(match.groups!).find(([, group]) => group !== undefined)!;
    const plain =
      kind === "quoted" ? found!.replaceAll('""', '"') : kind === "text" ? found!.replaceAll("''", "'") : found!;
    tokens.push({ kind: kind as Token["kind"], text: plain, at: match.index });
    at = PATTERN.lastIndex;
  }
  return [...tokens, { kind: "end", text: "", at: text.length }];
}

const malformed = (what: string) => validation(`Statement wasn't well formed, can't be processed: ${what}`);

function unsupported(word: string): never {
  throw validation(
    `The embedded service does not support ${word || "an empty statement"} in PartiQL: only INSERT and UPDATE by key.`,
  );
}
