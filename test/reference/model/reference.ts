// The reference: every operation over one world of plain arrays.
import { admit, type Operation } from "./access.ts";
import { addressOperations } from "./addresses.ts";
import { agentOperations } from "./agents.ts";
import { annotationOperations } from "./annotations.ts";
import { recordCall } from "./audit.ts";
import { campaignOperations } from "./campaigns.ts";
import { addChannel, channelOperations } from "./channels.ts";
import { deviceOperations } from "./devices.ts";
import { eventOperations } from "./events.ts";
import { experienceOperations } from "./experiences.ts";
import { exportOperations } from "./exports.ts";
import { hookOperations } from "./hooks.ts";
import { importOperations } from "./imports.ts";
import { inboxOperations } from "./inbox.ts";
import { insightOperations } from "./insights.ts";
import { interactionOperations } from "./interactions.ts";
import { journeyOperations } from "./journeys.ts";
import { type Answer, Refusal, type Request } from "./kit.ts";
import { listOperations } from "./lists.ts";
import { notificationOperations } from "./notifications.ts";
import { askOwner } from "./opt-in.ts";
import { previewOperations } from "./previews.ts";
import { removalOperations } from "./removals.ts";
import { scheduleOperations } from "./schedules.ts";
import { segmentOperations } from "./segments.ts";
import { subscriberOperations } from "./subscribers.ts";
import { templateOperations } from "./templates.ts";
import { testSendOperations } from "./test-sends.ts";
import { timelineOperations } from "./timeline.ts";
import { topicOperations } from "./topics.ts";
import { trackingOperations } from "./tracking.ts";
import { whyOperations } from "./why.ts";
import { workspaceOperations } from "./workspace.ts";
import { createWorld, type Fault, runDue, type World } from "./world.ts";

/** Import before list ids: a literal segment goes before `:id` (route traps). */
const operations: Operation[] = [
  ...[...importOperations, ...subscriberOperations, ...deviceOperations, ...listOperations, ...templateOperations],
  ...[...topicOperations, ...channelOperations, ...interactionOperations, ...notificationOperations],
  ...[...inboxOperations, ...eventOperations, ...segmentOperations, ...journeyOperations, ...insightOperations],
  ...[...campaignOperations, ...scheduleOperations, ...experienceOperations, ...hookOperations, ...exportOperations],
  ...[
    ...addressOperations,
    ...annotationOperations,
    ...workspaceOperations,
    ...removalOperations,
    ...agentOperations,
    ...testSendOperations,
    ...previewOperations,
    ...trackingOperations,
    ...timelineOperations,
    ...whyOperations,
  ],
];

const routes = operations.map((operation) => {
  const [method, path] = operation.route.split(" ") as [string, string];
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  return { operation, method, names, pattern: new RegExp(`^${path.replace(/:\w+/g, "([^/]+)")}$`) };
});

export interface Reference {
  world: World;
  call(request: Request): Answer;
  /** Lets everything happen that is due up to `now`. */
  advance(now: number): void;
  /** The same, but nothing of it before `now`: workers are late. */
  beLate(now: number): void;
  addFault(fault: Fault): void;
  clearFaults(): void;
}

interface ReferenceOptions {
  now: number;
  bucket: World["bucket"];
}

export function createReference({ now, bucket }: ReferenceOptions): Reference {
  const world = createWorld(now, bucket);
  world.askOwner = (subscriber, row) => askOwner(world, subscriber, row);
  // D-INAPP-CH: one in-app channel is created with the workspace.
  addChannel(world, "in_app", "In-app", "active");
  return {
    world,
    call: (request) => answer(world, request),
    advance: (time) => runDue(world, time),
    beLate: (time) => {
      world.now = time;
      runDue(world, time);
    },
    addFault: (fault) => void world.faults.push({ ...fault }),
    clearFaults: () => {
      world.faults = [];
    },
  };
}

function attempt(world: World, operation: Operation, request: Request, params: Record<string, string>): Answer {
  try {
    admit(world, operation, request);
    return operation.run(world, request, params);
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, body: error.body };
    throw error;
  }
}

function answer(world: World, request: Request): Answer {
  for (const { operation, method, names, pattern } of routes) {
    const match = method === request.method ? pattern.exec(request.path) : null;
    if (!match) continue;
    const params = Object.fromEntries(names.map((name, index) => [name, match[index + 1]!]));
    const given = attempt(world, operation, request, params);
    recordCall(world, operation, request, given);
    return given;
  }
  throw new Error(`The reference has no ${request.method} ${request.path}`);
}
