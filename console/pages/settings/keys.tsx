// The publishable key of apps and browsers, and the keys of servers and of agents with their scopes.
import { useState } from "preact/hooks";
import type { AccountCreateAgentKeyBody, AccountCreateServerKeyBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { usePages, useRows } from "../../app/rows.ts";
import { Collection } from "../../components/collection.tsx";
import { Card, Code, Time } from "../../components/page.tsx";
import { OnlyNow } from "../../components/schema-dialog.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { KeyList } from "./key-list.tsx";

export function Keys() {
  const sdk = useQuery("account.getSdkKey", []);
  return (
    <>
      <Card title="Publishable key">
        <p class="dim">For apps and browsers. It can register devices and read inboxes; it is no secret.</p>
        <Loaded query={sdk} skeleton={<Skeleton rows={1} />}>
          {({ sdk_key }) => <Code text={sdk_key} />}
        </Loaded>
      </Card>
      <ServerKeys />
      <AgentKeys />
      <IdentityKeys />
    </>
  );
}

const SCOPES = {
  "events:write": "Report events",
  "events:read": "Read events",
  "subscribers:read": "Read people",
  "subscribers:write": "Change people",
  "messages:read": "Read sends",
  "messages:send": "Send messages",
  "hooks:read": "Read webhooks",
  "hooks:write": "Change webhooks",
  "test:write": "Move the clock of a sandbox",
};

function ServerKeys() {
  const rows = usePages("account.listServerKeys", [{}], ({ items }) => items);
  const create = useAction("account.createServerKey");
  return (
    <KeyList
      noun="server key"
      title="Server keys"
      scopes={SCOPES}
      rows={rows}
      form={{
        schema: forms["account.createServerKey"],
        texts: { scopes: { label: "What it may do", options: SCOPES, required: true } },
        initial: { scopes: ["events:write"] },
        action: create,
      }}
      make={async (values: AccountCreateServerKeyBody) => (await create.run(values))?.answer.key}
      belongs="Store it where your server keeps its secrets."
      revoke="account.deleteServerKey"
      revoked="Servers that use it are refused at once."
    />
  );
}

function IdentityKeys() {
  const rows = useRows("account.listIdentityKeys", [], ({ items }) => items);
  const create = useAction("account.createIdentityKey");
  const [made, setMade] = useState("");
  const press = async () => {
    const done = await create.run();
    if (done) setMade(done.answer.key);
  };
  return (
    <Collection
      noun="identity key"
      card="Identity keys"
      rows={rows}
      usual={1}
      keyOf={({ id }) => id}
      nameOf={({ id }) => `the key ${id.slice(-4)}`}
      empty={{
        about: "Your backend signs the ID of a user with it, so that nobody reads another's inbox.",
        action: null,
      }}
      columns={[
        { title: "Key", cell: ({ id }) => <code>…{id.slice(-4)}</code> },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{
        operation: "account.createIdentityKey",
        label: "New identity key",
        isMinor: true,
        by: { press: () => void press(), isBusy: create.isBusy },
      }}
      remove={{
        operation: "account.deleteIdentityKey",
        about: "Hashes under it are refused at once. Let your backend use the other key first.",
        act: "Delete the key",
        said: () => "The key is deleted.",
        typed: () => undefined,
      }}
    >
      {create.error && <Failure error={create.error} />}
      {made && (
        <OnlyNow
          title="The new identity key"
          about="Your backend keeps it as a secret, and sends X-User-Hash."
          text={made}
          close={() => setMade("")}
        />
      )}
    </Collection>
  );
}

const AGENT_SCOPES = {
  read: "Read, without personal data",
  "read:pii": "Read, with personal data",
  "write:drafts": "Make drafts",
  "write:send": "Plan sends and confirm them",
};

function AgentKeys() {
  const rows = usePages("account.listAgentKeys", [{}], ({ items }) => items);
  const create = useAction("account.createAgentKey");
  return (
    <KeyList
      noun="agent key"
      title="Agent keys"
      scopes={AGENT_SCOPES}
      about="An AI agent reads, drafts or plans sends with a key of its own, by MCP."
      rows={rows}
      columns={[{ title: "Expires", cell: ({ expires_at }) => <Time at={expires_at} /> }]}
      form={{
        schema: forms["account.createAgentKey"],
        texts: {
          scopes: { label: "What it may do", options: AGENT_SCOPES },
          expires_in_days: { label: "Days until it expires" },
        },
        action: create,
      }}
      make={async (values: AccountCreateAgentKeyBody) => (await create.run(values))?.answer.key}
      belongs="Give it to the agent as its bearer token."
      revoke="account.deleteAgentKey"
      revoked="The agent that uses it is refused at once."
    />
  );
}
