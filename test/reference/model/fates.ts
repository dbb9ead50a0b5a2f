// What becomes of a mail after its provider took it, as that tells it: at once, or late (AMB-128, AMB-139, AMB-142).
import { suppressByReport } from "./addresses.ts";
import { conclude } from "./closing.ts";
import { Unpromised } from "./kit.ts";
import type { Delivery, Mail, Recipient } from "./records/sends.ts";
import { ownerOf } from "./stitching.ts";
import { shownState } from "./tallies.ts";
import { found, type World } from "./world.ts";

/** AMB-139, AMB-142: what comes back later changes every number that was made before; the address is suppressed (AMB-128). */
export function comeBack(
  world: World,
  recipient: Recipient,
  delivery: Delivery,
  fate: string,
  happened = world.now,
): void {
  refuseShared(world, recipient, delivery);
  if (found(world.subscribers, recipient.subscriber_id)) suppressByReport(world, delivery.to, fate, happened);
  if (fate === "complaint") {
    recipient.hasComplained = true;
    return;
  }
  Object.assign(delivery, { state: "bounced", delivered_at: null });
  recipient.at = world.now;
  conclude(recipient);
}

/** Of two sends of one instant to an address that turns out to be dead, either may be the one that is told so. */
export function refuseShared(world: World, recipient: Recipient, delivery: Delivery): void {
  const others = world.jobs.flatMap(({ recipients }) => recipients.filter((one) => one !== recipient));
  const isOther = ({ subscriber_id, at, deliveries }: Recipient) =>
    (subscriber_id === recipient.subscriber_id && at === world.now) ||
    deliveries.some(({ to, attempts }) => to === delivery.to && attempts.at(-1) === world.now);
  if (others.some(isOther)) throw new Unpromised("two sends of one instant go to an address that is dead");
}

/** Whether somebody converted after a mail, by what its provider had told by then: what a report changes of that is open. */
const hasConverted = (world: World, { subscriber_id, at }: Mail): boolean =>
  world.events.some(
    (event) => event.looks.length > 0 && event.occurred_at >= at && ownerOf(world, event) === subscriber_id,
  );

/** The delivery that a mail was, of a person who is known. */
export function deliveryOf(world: World, mail: Mail) {
  const { job_id, subscriber_id, to } = mail;
  const recipient = found(world.jobs, job_id)?.recipients.find((one) => one.subscriber_id === subscriber_id);
  const delivery = recipient?.deliveries.find((one) => one.class === "email" && one.to === to);
  const isKnown = found(world.subscribers, subscriber_id) && !hasConverted(world, mail);
  return recipient && delivery && isKnown ? { recipient, delivery } : undefined;
}

/** A report that comes later than what it tells of. Of what came back nothing more is told but a complaint, once. */
export function report(world: World, mail: Mail, fate: "bounce" | "complaint" | "arrival", happened: number): void {
  const told = deliveryOf(world, mail);
  if (!told) return;
  const { recipient, delivery } = told;
  const isUnsure = shownState({ ...delivery, deliveries: [delivery] }) === "uncertain";
  if (fate === "arrival") {
    if (!isUnsure) return;
    Object.assign(delivery, { state: "delivered", delivered_at: mail.at });
    conclude(recipient);
    return;
  }
  const isOver = fate === "bounce" ? delivery.state !== "delivered" && !isUnsure : recipient.hasComplained;
  if (isOver) suppressByReport(world, delivery.to, fate, happened);
  else comeBack(world, recipient, delivery, fate, happened);
}
