// The devices of a person: what push can reach.
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { channelName } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Table } from "../../components/table.tsx";

const version = (parts: { major: number; minor: number; patch: number } | null): string =>
  parts ? [parts.major, parts.minor, parts.patch].join(".") : "";

export function Devices({ devices }: { devices: SubscriberProfile["devices"] }) {
  return (
    <Card title="Devices" flush>
      {devices.length === 0 ? (
        <p class="dim inset">There are no devices: push cannot reach this person.</p>
      ) : (
        <Table
          caption="Devices"
          rows={devices}
          keyOf={(device) => device.id}
          columns={[
            { title: "Device", cell: ({ platform, model }) => channelName(platform) + (model ? `, ${model}` : "") },
            {
              title: "Status",
              cell: ({ status, push_enabled }) => <Badge state={push_enabled ? status : "disabled"} />,
            },
            { title: "App", cell: ({ app_version }) => version(app_version) || "–" },
            { title: "Language", cell: ({ locale }) => locale ?? "–" },
            { title: "Time zone", cell: ({ timezone }) => timezone ?? "–" },
            { title: "Last seen", cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          ]}
        />
      )}
    </Card>
  );
}
