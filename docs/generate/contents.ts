// The source of the reference pages, the SDK and the sample events: functions/index.ts.
import { groups, operator, stream, workers } from "../../functions/index.ts";
import type { Endpoint, Group } from "../../shared/http/endpoint.ts";

export interface Contents {
  groups: readonly Group[];
  workers: typeof workers;
  stream: Pick<typeof stream, "name" | "about" | "endpoint">;
  operator: Pick<typeof operator, "name" | "about" | "input">;
}

export const contents: Contents = { groups, workers, stream, operator };

/** One endpoint, and the group whose Lambda, tag and SDK property it belongs to. */
export interface Operation {
  group: string;
  endpoint: Endpoint;
  isStream: boolean;
}

/** Every endpoint in the order of the contents page, the live stream last. */
export const operationsOf = ({ groups, stream }: Contents): Operation[] => [
  ...groups.flatMap(({ name, endpoints }) => endpoints.map((endpoint) => ({ group: name, endpoint, isStream: false }))),
  { group: stream.name, endpoint: stream.endpoint, isStream: true },
];
