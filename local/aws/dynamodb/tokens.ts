// Cuts an expression into tokens and words a syntax error the way DynamoDB does.

/** A fault in an expression; the caller puts `Invalid <kind>Expression: ` before it. */
interface ExpressionFault {
  readonly fault: string;
}

export const expressionFault = (fault: string): ExpressionFault => ({ fault });

export const isExpressionFault = (error: unknown): error is ExpressionFault =>
  typeof error === "object" && error !== null && "fault" in error;

export interface Token {
  kind: "word" | "name" | "value" | "number" | "symbol" | "end";
  text: string;
  start: number;
  end: number;
}

const MAX_EXPRESSION_BYTES = 4096;
const SPACE = /[ \t\r\n]*/y;
const PATTERNS: [Token["kind"], RegExp][] = [
  ["word", /[A-Za-z][A-Za-z0-9_]*/y],
  ["name", /#[A-Za-z0-9_]+/y],
  ["value", /:[A-Za-z0-9_]+/y],
  ["number", /0|[1-9][0-9]*/y],
  ["symbol", /<>|<=|>=|./suy],
];

function tokenAt(text: string, from: number): Token {
  SPACE.lastIndex = from;
  SPACE.exec(text);
  const start = SPACE.lastIndex;
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match) return { kind, text: match[0], start, end: start + match[0].length };
  }
  return { kind: "end", text: "<EOF>", start, end: start };
}

export interface Cursor {
  peek(): Token;
  /** The token after the next one. */
  second(): Token;
  next(): Token;
  /** Whether the next token is this symbol or (in any case) this word. */
  sees(text: string): boolean;
  /** Takes the next token if it is `text`. */
  takes(text: string): boolean;
  /** Takes the next token, which must be `text`. */
  expect(text: string): void;
  /** Takes the next token, which must be of this kind. */
  expectKind(kind: Token["kind"]): Token;
  /** Rejects `token` (default: the next one). */
  fail(token?: Token): never;
  /** The token at a position, from the first one. */
  at(position: number): Token;
}

/** Tokenizes `text`. @param tellsSize whether the error for this kind of expression contains its size. */
export function readTokens(text: string, tellsSize = true): Cursor {
  if (text === "") throw expressionFault("The expression can not be empty;");
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_EXPRESSION_BYTES)
    throw expressionFault(
      `Expression size has exceeded the maximum allowed size;${tellsSize ? ` expression size: ${bytes}` : ""}`,
    );

  const tokens: Token[] = [];
  let at = 0;
  const token = (index: number): Token => {
    while (tokens.length <= index) tokens.push(tokenAt(text, tokens.at(-1)?.end ?? 0));
    return tokens[index]!;
  };
  const same = (found: Token, wanted: string) =>
    found.kind === "symbol" || found.kind === "word" ? found.text.toUpperCase() === wanted : false;

  const cursor: Cursor = {
    peek: () => token(at),
    second: () => token(at + 1),
    next: () => token(at++),
    sees: (wanted) => same(token(at), wanted),
    takes: (wanted) => {
      if (!same(token(at), wanted)) return false;
      at++;
      return true;
    },
    expect: (wanted) => {
      if (!cursor.takes(wanted)) cursor.fail();
    },
    expectKind: (kind) => (token(at).kind === kind ? token(at++) : cursor.fail()),
    at: token,
    fail: (refused = token(at)) => {
      const index = tokens.indexOf(refused);
      const near = text.slice(index === 0 ? 0 : token(index - 1).start, token(index + 1).end);
      throw expressionFault(`Syntax error; token: "${refused.text}", near: "${near}"`);
    },
  };
  return cursor;
}

/** More open parentheses than an expression within the limits can need: each takes more than one operator. */
const ABYSS = 450;

/** Rejects expressions that are nested too deeply: unclosed or redundant parentheses. */
export function refuseAbyss(cursor: Cursor): void {
  let depth = 0;
  let deepest = 0;
  for (let position = 0; ; position++) {
    const token = cursor.at(position);
    if (token.text === "(") depth++;
    if (token.text === ")") depth--;
    deepest = Math.max(deepest, depth);
    if (token.kind !== "end") continue;
    if (deepest <= ABYSS) return;
    if (depth > 0) cursor.fail(token);
    throw expressionFault("The expression has redundant parentheses;");
  }
}
