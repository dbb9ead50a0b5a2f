import type { OpenStream } from "../../support/sse.ts";
import { type Body, iso } from "../model/kit.ts";
import type { Reference } from "../model/reference.ts";
import type { Product } from "./product.ts";
import type { Storm } from "./storm.ts";
import type { Bindings, Difference } from "./unify.ts";

export interface Line {
  at: string;
  text: string;
}
export interface Failure extends Difference {
  /** The number of the command after which it was seen; the length of the program: at its end. */
  command: number;
  route: string;
}
export interface Sides {
  product: Product;
  reference: Reference;
  bindings: Bindings;
  handles: Map<string, string>;
  story: Line[];
  counted: { calls: number; spared: number };
  storm?: Storm | undefined;
  /** Connections of apps, by our ids of their people. */
  streams: Map<string, OpenStream[]>;
  /** Tokens of sessions, by the name of their user. */
  tokens: Map<string, Body>;
  /** What should come back as it was last seen, by path. */
  seen: Map<string, string>;
  readsAll: boolean;
}

/** Shortened for a reader. */
export const short = (value: Body) => {
  const text = JSON.stringify(value) ?? "";
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
};

export const tell = ({ product, story }: Sides, text: string) => void story.push({ at: iso(product.now()), text });
