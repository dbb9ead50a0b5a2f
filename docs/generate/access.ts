// Who may call what: every route and credential, with permission or scope, plan feature and effect.
import { optInScopes } from "../../shared/contract/roles.ts";
import type { Access, Credential } from "../../shared/http/access.ts";
import { type Contents, operationsOf } from "./contents.ts";
import {
  ANYBODY_UNITS,
  type CostRecord,
  dearCallOf,
  eachOf,
  LARGE_UNITS,
  publicUnits,
  recordedCosts,
  shownCost,
} from "./costs.ts";

const kinds: readonly Credential[] = ["sdk", "server", "dashboard", "agent"];

function cellOf({ credentials = [], forbidden = [], permission, scope, agents }: Access, kind: Credential): string {
  if (forbidden.includes(kind)) return "403";
  if (kind === "agent" && agents) return `tool: \`${agents}\``;
  if (!credentials.includes(kind)) return "";
  if (kind === "dashboard" && permission) return `\`${permission}\``;
  if (kind === "server" && scope) return `\`${scope}\``;
  return "yes";
}

const PUBLIC = "public";

/** Under what a cell says: its dearest call, of a rare one its bound and why. */
function withCost(
  cell: string,
  cost: CostRecord["routes"][string][Credential | "public"],
  { rare, each }: { rare?: ReturnType<typeof dearCallOf>; each?: ReturnType<typeof eachOf> },
): string {
  if (cell === "" || cell === "403" || !cost) return cell;
  const most = rare?.units ?? (cell === PUBLIC ? publicUnits(cost) : undefined);
  const why = rare?.why ?? (each && `and ${each.units} u for each ${each.of}`);
  return `${cell}<br>${shownCost(cost, most)}${why ? `<br>(${why})` : ""}`;
}

const COSTS = (costs: CostRecord) => `
Under each is its dearest call among ${costs.requests.toLocaleString("en")} random ones (\`npm run fuzz -- --cost --record\`, rounded up):
write and read units of the table (u), size of the answer, and processor time that nine of ten calls stay below, with the
checks of the fuzzer. Profiles were as large as the publishable key may make them, 64 attributes and 16 KB; a larger one, which
a server key wrote, costs a unit more for each KB. A long request costs up to 4 units for each KB, and its answer may have it
four times; a preview of a template has it once for each of eight channels. A call without the credential is refused for at most ${shownCost(costs.refused)}.
S3 is not in these numbers: a mail of more than 100 KB is stored for what eight write units cost, and read for two thirds of one. A tool costs what it costs in the dashboard, and the call of \`/v1/mcp\`. A live stream is none of these calls: what it costs is in
[deploy.md](deploy.md#what-it-costs), and what it brings of the inbox when it opens costs as much as in a list.

Nothing that is public costs more than ${ANYBODY_UNITS} units and 64 KB, and nothing with the SDK key more than 40 units, 15 for a consent, 8 for each
event, of which the profile of another person is 4, 3 for each choice of topic, one for each KB of the request, and one for each 8 KB of the answer, such as an inbox of long messages, and one for each 4 KB of the messages that a list by \`status\`, or the reading of all, passes by; the rows of the exceptions say what they cost at most and why, and [0112](decisions/0112-what-a-call-may-cost.md) has them together.
\`npm run fuzz -- --cost\` fails at a dearer call of those two. What a workspace's other credentials read depends on what it stored: there
it fails at five times as much as is shown. What names many, or passes many by, costs more for each of them, as its row says (\`test/api/named-costs.test.ts\`, \`test/api/filtered-costs.test.ts\`, \`test/api/page-costs.test.ts\`, \`test/api/entry-costs.test.ts\`).
The numbers are of campaigns, journeys, templates and people of a few KB. A larger one, of at most 400 KB, is read and written as a whole:
${LARGE_UNITS} units for each KB of it at most (\`test/api/large-costs.test.ts\`). What a call sets in motion afterwards, such as a change of segments, is not in these
numbers: [0139](decisions/0139-what-a-call-sets-in-motion.md) has it.
`;

/** docs/access.md */
export function accessPage(contents: Contents): string {
  const costs = recordedCosts();
  const sections = Map.groupBy(operationsOf(contents), ({ group }) => group);
  const tables = [...sections].map(([group, operations]) => {
    const rows = operations.map(({ endpoint: { route, access } }) => {
      const open = access.credentials.length === 0;
      const [rare, each] = [dearCallOf(route), eachOf(route)];
      const cells = [
        `\`${route}\``,
        ...kinds.map((kind) =>
          open
            ? withCost(PUBLIC, kind === "sdk" ? costs?.routes[route]?.public : undefined, { rare })
            : withCost(cellOf(access, kind), costs?.routes[route]?.[kind], kind === "sdk" ? { rare } : { each }),
        ),
        access.feature ? `\`${access.feature}\`` : "",
        access.effect,
        access.openWhileSuspended || access.effect === "session" || open ? "open" : "",
      ];
      return `| ${cells.join(" | ")} |`;
    });
    return `## ${group}

| route | SDK key | server key | dashboard | agent key | plan feature | effect | while suspended |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
  });
  return `<!-- Generated by \`npm run docs\`; never edited. -->

# Access

An empty cell is a 401. A name under a credential is the permission (dashboard token) or scope (server key) that is
required. \`tool\` is what an agent key with this scope may call through \`/v1/mcp\`. A server key made without explicit scopes has all but ${[...optInScopes].map((scope) => `\`${scope}\``).join(", ")}. A read-only token may not \`write\`. The order of the checks: 401,
429, workspace closed, read-only token, permission or scope, plan, 400 or 422.
${costs ? COSTS(costs) : ""}
${tables.join("\n")}`;
}
