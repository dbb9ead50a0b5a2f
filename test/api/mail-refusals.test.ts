// Mails that a server refuses, each in words of its own.
import { expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { send } from "../support/people.ts";
import { openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a send ends whose recipients a mail server refuses by their addresses, and keeps none of these (D-EMAIL)", async () => {
  const { world, tenant } = await withTenant();
  const { email } = await openChannels(world, tenant, "email");
  await fill(world, tenant, 450, { email: "p0@example.com" });
  await spoil(world, { channel: "email", outcome: "permanent" });

  const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [email] });

  expect(job).toMatchObject({ status: "failed", fail_reasons: { "554 5.7.1 Message refused": 450 } });
});
