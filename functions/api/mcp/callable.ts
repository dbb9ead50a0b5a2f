// The endpoints that are tools. Only here does a function know the endpoints of other groups (docs/decisions/0037).
import { actionsOf } from "../../../shared/http/auditing.ts";
import type { Endpoint } from "../../../shared/http/endpoint.ts";
import { annotations } from "../annotations/index.ts";
import { billing } from "../billing/index.ts";
import { campaigns } from "../campaigns/index.ts";
import { channels } from "../channels/index.ts";
import { experiences } from "../experiences/index.ts";
import { insights } from "../insights/index.ts";
import { journeys } from "../journeys/index.ts";
import { lists } from "../lists/index.ts";
import { notifications } from "../notifications/index.ts";
import { recipients } from "../recipients/index.ts";
import { schedules } from "../schedules/index.ts";
import { segments } from "../segments/index.ts";
import { subscribers } from "../subscribers/index.ts";
import { templates } from "../templates/index.ts";
import { topics } from "../topics/index.ts";

const groups = [
  subscribers,
  notifications,
  recipients,
  templates,
  schedules,
  topics,
  campaigns,
  journeys,
  segments,
  channels,
  experiences,
  insights,
  annotations,
  lists,
  billing,
];

/** Route → the name of its operation. */
export const actionOf: ReadonlyMap<string, string> = new Map(groups.flatMap((group) => [...actionsOf(group)]));

/** Route → endpoint, for every endpoint that is marked for agents. */
export const callable: ReadonlyMap<string, Endpoint> = new Map(
  groups
    .flatMap(({ endpoints }) => endpoints)
    .filter(({ access }) => access.agents !== undefined)
    .map((endpoint) => [endpoint.route, endpoint]),
);
