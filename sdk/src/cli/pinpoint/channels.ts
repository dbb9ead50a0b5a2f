// The channels that converted messages need. Their credentials are given in the console.
import type { Resource } from "../resource.ts";

export type Medium = "email" | "sms" | "push" | "in_app";

const channels: Record<Medium, readonly { name: string; type: string }[]> = {
  email: [{ name: "E-mail", type: "email" }],
  sms: [{ name: "SMS", type: "sms" }],
  push: [
    { name: "iOS push", type: "ios" },
    { name: "Android push", type: "android" },
  ],
  in_app: [{ name: "In-app", type: "in_app" }],
};

/** Files of channels by name, made as they are needed. */
export interface Channels {
  files: Map<string, Resource>;
  /** The names of the channels of a medium. */
  of(medium: Medium): string[];
}

export function createChannels(): Channels {
  const files = new Map<string, Resource>();
  return {
    files,
    of: (medium) =>
      channels[medium].map((channel) => {
        files.set(channel.name, { ...channel });
        return channel.name;
      }),
  };
}
