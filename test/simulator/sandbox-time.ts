// The time of a sandbox, as the row of its workspace says; of another workspace, that of the service.
import type { Item } from "../../shared/store/model.ts";
import { isSandbox } from "../../shared/store/sandbox/sandbox.ts";
import type { SimWorld } from "./world.ts";

export const timeIn = ({ clock_still, clock_offset }: Partial<Item>, now: number): number =>
  Number(clock_still ?? now + Number(clock_offset ?? 0));

export function timeOf({ kernel, mirror }: Pick<SimWorld, "kernel" | "mirror">, tenant: string): number {
  const [row = {}] = isSandbox(tenant) ? mirror.under(`TENANT#${tenant}`).values() : [];
  return timeIn(row, kernel.now());
}
