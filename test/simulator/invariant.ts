// An invariant: told of every commit and of the end, it says when a promise was broken.
import type { Commit } from "./mirror.ts";
import type { SimWorld } from "./world.ts";

export interface Watch {
  /** Right after a write was committed. */
  commit?(commit: Commit): void;
  /** When the world has come to rest. */
  end?(): void | Promise<void>;
}

export interface Invariant {
  name: string;
  watch(world: SimWorld, broken: (text: string, ...entities: string[]) => void): Watch;
}

export interface Violation {
  invariant: string;
  text: string;
  /** Ids whose story explains it. */
  entities: string[];
  at: number;
}

export interface Scenario {
  name: string;
  start(world: SimWorld): Promise<void>;
}
