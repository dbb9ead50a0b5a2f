// Draws programs from a seed: a few areas at a time, so that their commands meet.
import type { Program } from "../program.ts";
import * as again from "./again.ts";
import * as agents from "./agents.ts";
import * as behaviour from "./behaviour.ts";
import { type Draft, openDraft } from "./draft.ts";
import * as files from "./files.ts";
import * as meetings from "./meetings.ts";
import * as midway from "./midway.ts";
import * as moves from "./moves.ts";
import * as people from "./people.ts";
import * as plans from "./plans.ts";
import * as reports from "./reports.ts";
import * as secondTimes from "./second-times.ts";
import * as seldom from "./seldom.ts";
import * as sends from "./sends.ts";
import * as sessions from "./sessions.ts";
import * as stories from "./stories.ts";
import * as together from "./together.ts";

type Make = (draft: Draft) => void;

/** Commands of an area, each as often as its weight. */
const AREAS: Record<string, [number, Make][]> = {
  people: [
    [6, people.upsert],
    [2, people.consent],
    [1, people.suppression],
    [1, people.suppressionFile],
    [2, people.change],
    [1, people.erase],
    [3, people.device],
    [1, people.logout],
    [1, seldom.search],
  ],
  lists: [[5, people.list]],
  templates: [[3, people.template]],
  topics: [
    [3, people.topic],
    [1, seldom.changeTopic],
  ],
  sends: [
    [8, sends.send],
    [1, sends.cancel],
    [3, sends.link],
    [4, sends.inbox],
    [2, sends.stream],
    [3, sends.interact],
    [1, (draft) => sends.channel(draft)],
  ],
  faults: [
    [2, sends.fault],
    [1, sends.changeChannel],
  ],
  events: [
    [8, behaviour.event],
    [2, behaviour.identify],
    [1, behaviour.tracked],
    [1, behaviour.exportPage],
  ],
  segments: [[5, behaviour.segment]],
  journeys: [
    [6, behaviour.journey],
    [1, seldom.duplicate],
  ],
  campaigns: [
    [6, plans.campaign],
    [1, seldom.remove],
  ],
  schedules: [[4, plans.schedule]],
  experiences: [[6, plans.experience]],
  insights: [
    [3, behaviour.conversion],
    [1, behaviour.annotation],
  ],
  hooks: [[3, plans.hook]],
  imports: [[4, files.importFile]],
  exports: [[2, plans.file]],
  settings: [[2, plans.settings]],
  billing: [[1, plans.cap]],
};

export const areaNames = Object.keys(AREAS);
export const storyNames = (): string[] => STORIES.map(([, { name }]) => name);

/** Drawn in every program that may have all their areas. */
const STORIES: [string[], Make][] = [
  [["hooks", "sends", "faults"], meetings.toldOfAnEnd],
  [["events", "journeys"], stories.lateWait],
  [["sends", "settings"], stories.capAtBoundary],
  [["sends", "settings", "insights", "events"], stories.lateSkip],
  [["sends", "faults", "insights", "events", "campaigns"], again.lastTouch],
  [["sends", "faults", "insights", "events", "campaigns", "journeys"], again.severalMessages],
  [["hooks"], again.sentOnceMore],
  [["settings"], sessions.derivedSessions],
  [["experiences", "sends"], again.seenAgain],
  [["events", "journeys", "billing"], again.beyondTheCap],
  [["events", "segments", "journeys"], stories.windowEnd],
  [["sends", "settings", "lists", "topics"], stories.confirmation],
  [["campaigns", "schedules", "templates"], meetings.heldSchedule],
  [["schedules", "templates"], meetings.lateTicks],
  [["sends", "settings"], meetings.quietNights],
  [["events", "segments", "journeys"], meetings.severalNames],
  [["sends"], meetings.fiveMessages],
  [["sends", "topics"], meetings.savedPreferences],
  [["sends", "settings"], meetings.testedSend],
  [["experiences", "sends"], meetings.readWhileHidden],
  [["sends"], agents.previewed],
  [["sends", "templates", "lists", "segments"], agents.plannedSend],
  [["experiences", "sends"], meetings.liveStream],
  [["imports", "topics", "lists"], files.topicsOfFiles],
  [["sends", "settings", "billing", "faults"], files.overMonthsEnd],
  [["imports", "lists"], files.platformFile],
  [["imports", "lists"], files.numbersFile],
  [["sends", "campaigns", "templates", "segments", "lists"], seldom.goneByThen],
  [["sends", "settings"], seldom.nightsOfTheirOwn],
  [["sends"], seldom.hundredMessages],
  [["sends", "billing", "segments", "schedules", "experiences", "hooks", "journeys"], seldom.otherPlan],
  [["campaigns", "faults"], midway.pausedBetweenTries],
  [["sends", "faults", "settings"], midway.changedOvernight],
  [["sends", "faults"], midway.deadTokens],
  [["events", "journeys", "settings"], midway.leftInAJourney],
  [["events", "journeys", "settings"], midway.behindTheNight],
  [["sends"], midway.someDevices],
  [["sends", "settings", "segments"], seldom.bareDays],
  [["events", "journeys"], seldom.endedByWhoTheyAre],
  [["sends", "campaigns", "topics"], seldom.topicInUse],
  [["experiences"], moves.movedExperience],
  [["sends"], moves.movedMessages],
  [["hooks"], moves.movedHook],
  [["schedules", "templates"], moves.movedSchedule],
  [["events", "segments", "journeys"], moves.movedByHistory],
  [["exports"], moves.movedSuppression],
  [["sends", "billing"], moves.movedCap],
  [["sends", "campaigns", "settings"], meetings.secondPerson],
  [["sends", "settings"], secondTimes.refusedThenCapped],
  [["sends"], secondTimes.readAgain],
  [["experiences", "billing"], secondTimes.unsentExperience],
  [["imports", "sends"], secondTimes.numberOfAFile],
  [["sends", "campaigns", "journeys", "events", "insights"], reports.lateReport],
  [["sends", "billing"], reports.nearQuota],
  [["imports", "lists"], reports.longFile],
  [["imports", "segments", "journeys"], files.quietFile],
  [["campaigns", "templates", "lists"], reports.renamed],
  [["sends", "faults", "settings"], together.cappedTogether],
  [["sends", "lists", "topics", "settings"], together.listAndTopic],
  [["hooks"], together.someMissing],
  [["hooks"], together.rotatedSecret],
];
/** How many commands in a hundred begin one. */
const STORIES_PERCENT = 15;

interface Scope {
  areas: readonly string[];
  /** Commands at most. */
  length?: number;
  /** Nothing but stories of this name. */
  story?: string;
}

const STARTS = [
  ...["2026-11-20T12:00:00Z", "2026-11-20T12:00:00Z"],
  // The clocks of Europe and of New York go back, and forward; a leap day comes; a year ends.
  ...[
    "2026-10-24T22:30:00Z",
    "2026-10-31T21:00:00Z",
    "2027-03-27T20:00:00Z",
    "2028-02-28T12:00:00Z",
    "2026-12-31T11:00:00Z",
  ],
];
const startOf = (seed: number): number => Date.parse(STARTS[seed % STARTS.length]!);

export function programOf(seed: number, { areas, length, story }: Scope): Program {
  const start = startOf(seed);
  const draft = openDraft(seed, start);
  const { random } = draft;
  const chosen = new Set(["people", ...random.some(areas, random.between(2, Math.min(6, areas.length)))]);
  const commands = areas.filter((area) => chosen.has(area)).flatMap((area) => AREAS[area]!);
  const total = commands.reduce((sum, [weight]) => sum + weight, 0);
  const count = length ?? (random.chance(0.85) ? random.between(20, 80) : random.between(80, 400));

  for (let n = random.between(1, 4); n > 0; n--) people.upsert(draft);
  for (const type of random.some(["email", "sms", "ios", "android"], random.between(1, 3))) sends.channel(draft, type);
  const only = STORIES.map(([, make]) => make).filter(({ name }) => name === story);
  const told = STORIES.filter(([needed]) => needed.every((area) => areas.includes(area))).map(([, make]) => make);
  while (draft.commands.length < count) {
    const isStory = only.length > 0 || (told.length > 0 && random.chance(STORIES_PERCENT / 100));
    (isStory ? random.pick(only.length > 0 ? only : told) : makerAt(commands, random.next() * total))(draft);
  }
  return { seed, start, commands: draft.commands };
}

/** The command into whose stretch of all weights a number falls. */
function makerAt(commands: [number, Make][], drawn: number): Make {
  let reached = 0;
  for (const [weight, make] of commands) {
    reached += weight;
    if (drawn < reached) return make;
  }
  return commands.at(-1)![1];
}
