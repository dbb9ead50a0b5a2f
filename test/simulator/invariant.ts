// What a scenario and an invariant are. Each is one file and one line in its index: see docs/simulator.md.
import type { Commit } from "./mirror.ts";
import type { SimWorld } from "./world.ts";

export interface Watch {
  /** Right after a write was committed. */
  commit?(commit: Commit): void;
  /** When the world has come to rest. */
  end?(): void | Promise<void>;
}

/** Checked at every commit and at the end; reports broken promises. */
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

/** Makes workspaces and people, and says what clients do when. */
export interface Scenario {
  name: string;
  start(world: SimWorld): Promise<void>;
}
