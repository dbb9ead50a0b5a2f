// The keys of AI agents, with what each may do and until when.
import type { AccountCreateAgentKeyBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { forms } from "../../app/forms.gen.ts";
import { useRows } from "../../app/rows.ts";
import { Time } from "../../components/page.tsx";
import { KeyList } from "./key-list.tsx";

const SCOPES = {
  read: "Read, without personal data",
  "read:pii": "Read, with personal data",
  "write:drafts": "Make drafts",
  "write:send": "Plan sends and confirm them",
};

export function AgentKeys() {
  const rows = useRows("account.listAgentKeys", [], ({ items }) => items);
  const create = useAction("account.createAgentKey");
  return (
    <KeyList
      noun="agent key"
      title="Agent keys"
      about="An AI agent reads, drafts or plans sends with a key of its own, by MCP."
      rows={rows}
      columns={[{ title: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> }]}
      form={{
        schema: forms["account.createAgentKey"],
        texts: { scopes: { options: SCOPES }, expires_in_days: { label: "Ends after days" } },
        action: create,
      }}
      make={async (values: AccountCreateAgentKeyBody) => (await create.run(values))?.answer.key}
      belongs="Give it to the agent as its bearer token."
      revoke="account.deleteAgentKey"
      revoked="The agent that uses it is refused at once."
    />
  );
}
