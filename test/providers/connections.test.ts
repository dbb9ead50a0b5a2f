// What is known of a message whose connection fails, or that gets no answer.
import { expect, it } from "vitest";
import { HANGS, type SinkRequest } from "../../local/providers/sink.ts";
import type { Outcome } from "../../shared/providers/provider.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { providedChannels } from "../../shared/rules/channel-types.ts";
import { answeringNetwork, onLines } from "../support/networks.ts";
import { addresses, GOOGLE_TOKEN, sendBy, verifyBy } from "../support/provider-messages.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const overHttp = providedChannels.filter((channel) => channel !== "email");

it.each(overHttp)(
  "%s: a connection that fails after the request leaves the outcome unknown (NTF-23)",
  async (channel) => {
    const world = await fresh();
    const cut = onLines((line) => line.once("data", () => line.destroy()));
    const tokenThenCut = answeringNetwork(() => GOOGLE_TOKEN);
    const network = {
      ...cut,
      connect: (target: Parameters<typeof cut.connect>[0], signal: AbortSignal) =>
        (target.host === "oauth2.googleapis.com" ? tokenThenCut : cut).connect(target, signal),
    };
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await sendBy(providers, channel)).toMatchObject({ kind: "unknown" });
  },
);

it.each(overHttp)("%s: a failed connection is retryable (NTF-23)", async (channel) => {
  const world = await fresh();
  const refused = { ...onLines(() => undefined), connect: async () => Promise.reject(new Error("refused")) };
  const providers = openProviders({ ...world.depsFor("test"), network: refused });
  expect(await sendBy(providers, channel)).toMatchObject({ kind: "retryable" });
  expect(await verifyBy(providers, channel)).toMatchObject({ kind: "undecided" });
});

it.each(overHttp)(
  "%s: without an answer the outcome is unknown after the time limit, not before (NTF-23)",
  async (channel) => {
    const world = await fresh();
    const sink = ({ host }: SinkRequest) => (host === "oauth2.googleapis.com" ? GOOGLE_TOKEN : HANGS);
    const providers = openProviders({ ...world.depsFor("test"), network: answeringNetwork(sink) });
    let outcome: Outcome | undefined;
    // Another host than the push service of a browser has less.
    const address = { ...addresses.web_push, endpoint: "https://fcm.googleapis.com/send/abc" };
    const message = channel === "web_push" ? { address } : {};
    const sending = sendBy(providers, channel, message).then((found) => {
      outcome = found;
    });
    await world.advance(9_999);
    expect(outcome).toBeUndefined();
    await world.advance(1);
    await sending;
    expect(outcome).toEqual({ kind: "unknown", reason: "no answer in time" });
  },
);
