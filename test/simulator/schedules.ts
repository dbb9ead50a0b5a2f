// Drives the embedded scheduler: up to a minute late, sometimes twice, the recurring sweep in the background.
import type { Deliver, Scheduler, Sqs } from "../../local/aws/index.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Faults } from "./faults.ts";
import type { Kernel } from "./kernel.ts";

const LATEST_MS = 60 * SECOND;

/** What the scheduler calls when a schedule fires: the message is sent a while later. */
export function lateDelivery(kernel: Kernel, sqs: Sqs, faults: Faults): Deliver {
  const { profile } = faults;
  const random = kernel.random.fork();
  const send = async (arn: string, input: string) => {
    kernel.note(`schedule fires ${input}`);
    const { QueueUrl } = await sqs.operate("GetQueueUrl", { QueueName: arn.split(":").at(-1) });
    await sqs.operate("SendMessage", { QueueUrl, MessageBody: input });
  };
  return async ({ arn, input }) => {
    const isSweep = input.includes("sweep");
    if (isSweep && !profile.sweep) return;
    if (!isSweep && faults.strikes(random, profile.scheduleLost)) return kernel.note(`schedule lost ${input}`);
    const times = faults.strikes(random, profile.scheduleTwice) ? 2 : 1;
    for (let time = 0; time < times; time++)
      kernel.after(random.between(0, LATEST_MS - 1), () => void send(arn, input));
  };
}

export function driveSchedules(kernel: Kernel, scheduler: Scheduler) {
  let armed: { at: number; callOff(): void } | undefined;

  const fire = () => scheduler.fireDue(kernel.now(), { recurring: false }).then(arm);
  const arm = () => {
    const at = scheduler.next({ recurring: false });
    if (at === undefined || (armed && armed.at <= at)) return;
    armed?.callOff();
    const callOff = kernel.after(at - kernel.now(), () => {
      armed = undefined;
      void fire();
    });
    armed = { at, callOff };
  };

  const recur = () => {
    const at = scheduler.next();
    if (at === undefined) return;
    const again = () => void scheduler.fireDue(kernel.now(), { collapse: true }).then(recur);
    kernel.after(Math.max(SECOND, at - kernel.now()), again, { background: true });
  };
  recur();

  return { arm };
}
