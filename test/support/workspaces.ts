// Workspaces that the control surface makes.
import { expect } from "vitest";
import type { TestWorld } from "./world.ts";

/** Makes a workspace. @returns its credentials */
export const make = async (world: TestWorld, body: object = {}) => {
  const answer = await world.call("POST /_local/workspaces", { body });
  expect(answer.status).toBe(201);
  return answer.body;
};
