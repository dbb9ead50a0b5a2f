// The demo workspace, which the first start creates and later ones keep, and what `npm start` prints about it.
import { ApiError } from "../shared/kernel/errors.ts";
import type { State, StateName } from "./state.ts";
import type { NewWorkspace, OwnerPassword, Tenancy } from "./tenancy.ts";

export interface Demo extends Omit<NewWorkspace, "refresh_token" | "agent_key"> {
  /** The key for agents; absent in a workspace that an earlier version made. */
  agent_key?: string;
  subscriber_id: string;
}

export type DemoName = StateName & `${string}demo`;

const EXTERNAL_ID = "ada";
const ATTRIBUTES = { first_name: "Ada" };

/**
 * Creates the demo workspace if there is none, ensures that its subscriber exists, and issues a new access token.
 * @param owner the password of its owner, where it is new
 */
export async function prepareDemo(
  tenancy: Tenancy,
  state: State,
  name: DemoName = "demo",
  owner?: OwnerPassword,
): Promise<Demo> {
  const found = state.read<Omit<Demo, "subscriber_id">>(name);
  const access_token = found && (await tokenOf(tenancy, found.tenant_id));
  if (found && access_token !== undefined) {
    const { id } = await tenancy.upsertSubscriber(found.tenant_id, EXTERNAL_ID, {});
    return { ...found, access_token, subscriber_id: id };
  }
  const { refresh_token: _, ...demo } = await tenancy.createWorkspace({ name: "Demo", owner });
  state.write(name, demo);
  const { id } = await tenancy.upsertSubscriber(demo.tenant_id, EXTERNAL_ID, ATTRIBUTES);
  return { ...demo, subscriber_id: id };
}

/** Undefined if the workspace is gone: another DynamoDB may have lost its data. */
const tokenOf = (tenancy: Tenancy, tenant_id: string): Promise<string | undefined> =>
  tenancy.issueToken({ tenant_id, role: "owner" }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });

const JSON_TYPE = "-H 'Content-Type: application/json'";

/** Three commands to paste: upsert a subscriber, listen to its stream, send to it and read its inbox. */
function tryIt(url: string, { sdk_key, access_token, subscriber_id }: Demo): [string, string, string] {
  const sdk = `-H 'X-SDK-Key: ${sdk_key}'`;
  const reader = `subscriber_id=${subscriber_id}`;
  const subscriber = JSON.stringify({ external_id: EXTERNAL_ID, attributes: ATTRIBUTES });
  const notification = JSON.stringify({
    subscriberIds: [subscriber_id],
    title: "Hello {{ subscriber.first_name }}",
    body: "This was delivered by the whole service.",
  });
  const send = `curl -sw '\\n' '${url}/api/v1/notifications' -H 'Authorization: Bearer ${access_token}' ${JSON_TYPE} -d '${notification}'`;
  const settle = `curl -s -X POST '${url}/_local/settle'`;
  const inbox = `curl -sw '\\n' '${url}/v1/in-app/messages?${reader}' ${sdk}`;
  return [
    `curl -sw '\\n' '${url}/api/v1/subscribers/upsert' ${sdk} ${JSON_TYPE} -d '${subscriber}'`,
    `curl -sN '${url}/v1/in-app/stream?${reader}' ${sdk}`,
    `${send} && ${settle} && ${inbox}`,
  ];
}

/** The demo's address and credentials as a `.env` file, under the names that the examples of the reference use. */
export const demoVariables = (url: string, demo: Demo): string =>
  Object.entries({
    BASE_URL: url,
    TENANT_ID: demo.tenant_id,
    SUBSCRIBER_ID: demo.subscriber_id,
    SDK_KEY: demo.sdk_key,
    SERVER_KEY: demo.server_key,
    ...(demo.agent_key && { AGENT_KEY: demo.agent_key }),
    ACCESS_TOKEN: demo.access_token,
  })
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");

interface Addresses {
  url: string;
  aws: string | undefined;
  folder: string;
  /** The file of `demoVariables`, if there is one. */
  variables: string | undefined;
}

/** The page that `npm start` prints. @param quiet the quiet hours of the demo workspace, where it has some */
export function welcome(
  { url, aws, folder, variables }: Addresses,
  demo: Demo,
  quiet: { start: string; end: string } | null,
): string {
  const [upsert, listen, send] = tryIt(url, demo);
  const facts = [
    ["service", url],
    ["console", `${url}/console#demo`],
    ["reference", `${url}/docs`],
    ...(aws ? [["embedded AWS", aws]] : []),
    ["data", folder === ":memory:" ? "in memory, lost at the end" : folder],
    ...(variables ? [["variables", `${variables}  (in a shell: . ${variables})`]] : []),
    ["workspace", `${demo.name} (${demo.tenant_id}, plan ${demo.plan})`],
    ["owner", `${demo.owner.email}  password ${demo.owner.password}`],
    ["SDK key", demo.sdk_key],
    ["server key", demo.server_key],
    ...(demo.agent_key ? [["agent key", demo.agent_key]] : []),
    ["access token", demo.access_token],
    ...(quiet
      ? [["quiet hours", `${quiet.start} to ${quiet.end}: all but in-app messages wait until they are over`]]
      : []),
  ];
  return `The service is ready.

${facts.map(([name = "", value = ""]) => `  ${name.padEnd(13)} ${value}`).join("\n")}

Three lines to try, the second in a terminal of its own:

  # 1. upsert a subscriber
  ${upsert}

  # 2. open its live stream
  ${listen}

  # 3. send it a notification: it arrives in the stream and in the inbox
  ${send}

The access token expires after 15 minutes. For a new one:
  curl -s '${url}/_local/tokens' -d '{"tenant_id":"${demo.tenant_id}"}'

Stop with Ctrl-C.`;
}
