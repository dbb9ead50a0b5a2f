// What the mail provider reports afterwards: mails that arrived, came back, or led to a complaint; some of it twice.
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { Call } from "./providers.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

interface Receipt {
  call: Call;
  fate: "delivered" | "bounced" | "complained";
  at: number;
}

const SHARE = 0.4;
const books = new WeakMap<SimWorld, Receipt[]>();

export const receiptsOf = (world: SimWorld): readonly Receipt[] => books.get(world) ?? [];

export function withReceipts(world: SimWorld, tenant: Tenant): void {
  const { random, kernel } = world;
  const receipts: Receipt[] = [];
  books.set(world, receipts);
  world.onProviderCall((call) => {
    if (call.channel !== "email" || call.isRefusedForNow || !random.chance(SHARE)) return;
    const fate = random.pick(["delivered", "bounced", "complained"] as const);
    const { job, subscriber, message } = call;
    const emails = fate === "delivered" ? [] : [(message.address as { email: string }).email];
    const event = { tenant: tenant.id, job, subscriber, at: message.at, fate, reason: "", emails, tries: 0 };
    for (let copies = random.chance(0.2) ? 2 : 1; copies > 0; copies--)
      kernel.after(random.between(10, MINUTE + 30 * SECOND), () => {
        // What the provider rejected has no later events.
        if (call.told?.kind === "rejected") return;
        if (!receipts.some((one) => one.call === call)) receipts.push({ call, fate, at: kernel.now() });
        void world.queues.send("mail-event", event);
      });
  });
}
