// Tokens of Google: a message whose token is refused was not sent, and a token is asked for once (NTF-23).
import { expect, it } from "vitest";
import type { SinkRequest } from "../../local/providers/sink.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { answeringNetwork } from "../support/networks.ts";
import { GOOGLE_TOKEN, sendBy } from "../support/provider-messages.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it.each([
  [400, { error: "invalid_grant" }, "rejected"],
  [401, { error: "invalid_client" }, "rejected"],
  [429, {}, "retryable"],
  [500, {}, "retryable"],
  [200, {}, "retryable"],
])(
  "Google's token endpoint %i: the message is %s, because nothing of it was sent (NTF-23)",
  async (code, body, kind) => {
    const world = await fresh();
    const network = answeringNetwork(() => ({ status: code, body }));
    const providers = openProviders({ ...world.depsFor("test"), network });
    expect(await sendBy(providers, "android")).toMatchObject({ kind });
  },
);

it("a token is requested once, and again after a refusal or its expiry (NTF-23)", async () => {
  const world = await fresh();
  const asked: string[] = [];
  let status = 200;
  const sink = ({ host }: SinkRequest) => {
    asked.push(host);
    return host === "oauth2.googleapis.com" ? GOOGLE_TOKEN : { status, body: {} };
  };
  const providers = openProviders({ ...world.depsFor("test"), network: answeringNetwork(sink) });
  const tokens = () => asked.filter((host) => host === "oauth2.googleapis.com").length;
  await sendBy(providers, "android");
  await sendBy(providers, "android");
  expect(tokens()).toBe(1);
  await world.advance(3_600_000);
  await sendBy(providers, "android");
  expect(tokens()).toBe(2);
  status = 401;
  await sendBy(providers, "android");
  await sendBy(providers, "android");
  expect(tokens()).toBe(3);
});
