// When a message that failed is delivered again.
import { expect, it } from "vitest";
import { awsFailure } from "../local/aws/index.ts";
import { MAX_RECEIVES, VISIBILITY_SECONDS } from "../shared/contract/messages.ts";
import { SECOND } from "../shared/kernel/clock.ts";
import { delaySeconds } from "../shared/runtime/worker.ts";
import { testWorld } from "./support/world.ts";

it("the delays grow from seconds to the visibility timeout, half of each at random (D-HEALTH)", () => {
  const delays = (random: number) => Array.from({ length: 6 }, (_, n) => delaySeconds(n + 1, random));
  expect(delays(0)).toEqual([5, 20, 80, 320, VISIBILITY_SECONDS, VISIBILITY_SECONDS]);
  expect(delays(1)).toEqual([3, 10, 40, 160, 180, 180]);
});

it("a failed message is tried again within seconds, then later and later, and ends among the dead letters (D-HEALTH)", async () => {
  const attempts: number[] = [];
  let isBroken = true;
  const world = await testWorld({
    hooks: (name) => ({
      before: (service) => {
        if (name !== "end-experience" || service !== "dynamodb") return;
        attempts.push(world.clock.now());
        if (isBroken) throw awsFailure("ValidationException", "broken");
      },
    }),
  });
  const { id: tenant } = await world.tenant();
  const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName: "end-experience" });
  const message = { tenant, experience: "e", since: 0 };
  const send = () => world.sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify(message) });
  await send();
  await world.advance(40 * 60 * SECOND);
  expect(attempts).toHaveLength(MAX_RECEIVES);
  const gaps = attempts.slice(1).map((at, n) => (at - attempts[n]!) / SECOND);
  for (const [n, gap] of gaps.entries()) {
    expect(gap).toBeGreaterThanOrEqual(delaySeconds(n + 1, 1));
    expect(gap).toBeLessThanOrEqual(delaySeconds(n + 1, 0));
  }
  expect(world.sqs.depth("end-experience-dead").visible).toBe(1);

  isBroken = false;
  await send();
  await world.settle();
  expect(world.sqs.depth("end-experience")).toMatchObject({ visible: 0, delayed: 0 });
});

it("a line of the log about a message that failed names its workspace, also where messages are worked on together (D-HEALTH)", async () => {
  const world = await testWorld({
    hooks: (name) => ({
      before: (service) => {
        if (["end-experience", "mail-event"].includes(name) && service === "dynamodb")
          throw awsFailure("ValidationException", "broken");
      },
    }),
  });
  const { id: tenant } = await world.tenant();
  const send = async (QueueName: string, message: object) => {
    const { QueueUrl } = await world.sqs.operate("GetQueueUrl", { QueueName });
    await world.sqs.operate("SendMessage", { QueueUrl, MessageBody: JSON.stringify(message) });
  };

  await send("end-experience", { tenant, experience: "e", since: 0 });
  const delivered = { fate: "delivered", at: 0, reason: "", emails: [], tries: 0 };
  await send("mail-event", { tenant, job: "j", subscriber: "s", ...delivered });
  await world.settle();

  const failed = world.logs.filter(({ message }) => message === "a message failed");
  expect(failed.map(({ worker }) => worker).sort()).toEqual(["end-experience", "mail-event"]);
  for (const line of failed) expect(line).toMatchObject({ tenant });
});
