// What an entry of the audit trail says: what was done, to which kind of thing, and where that thing is shown.
import type { AuditEntry } from "../../../sdk/src/types.gen.ts";

interface ActionText {
  /** `released`, or after "tried to": `release`. */
  done: string;
  tried: string;
  /** `the campaign`. */
  what: string;
  /** Whether the target is the thing itself, so that its name follows. */
  isNamed: boolean;
}

/** What the operations of a group change: its title among the filters, a noun, and the page of one. */
interface Kind {
  title: string;
  noun: string;
  page?: string;
  folder?: string;
}

export const kinds: Record<string, Kind> = {
  campaigns: { title: "Campaigns", noun: "campaign", page: "campaigns" },
  journeys: { title: "Journeys", noun: "journey", page: "journeys" },
  brakes: { title: "Halted steps", noun: "journey", page: "journeys" },
  notifications: { title: "Sends", noun: "send", page: "activity" },
  templates: { title: "Templates", noun: "template", page: "content", folder: "templates/" },
  schedules: { title: "Schedules", noun: "schedule" },
  experiences: { title: "Experiences", noun: "experience", page: "content", folder: "experiences/" },
  assets: { title: "Images", noun: "image" },
  topics: { title: "Topics", noun: "topic" },
  lists: { title: "Lists", noun: "list", page: "content", folder: "lists/" },
  segments: { title: "Segments", noun: "segment", page: "segments" },
  subscribers: { title: "People", noun: "person", page: "people" },
  suppressions: { title: "Suppressions", noun: "suppression" },
  devices: { title: "Devices", noun: "device" },
  preferences: { title: "Preferences", noun: "person", page: "people" },
  inbox: { title: "Inbox", noun: "message" },
  imports: { title: "Imports and exports", noun: "import", page: "import" },
  channels: { title: "Channels", noun: "channel", page: "channels" },
  webhooks: { title: "Webhooks", noun: "webhook", page: "webhooks" },
  insights: { title: "Conversions", noun: "conversion" },
  annotations: { title: "Annotations", noun: "annotation" },
  account: { title: "Workspace and keys", noun: "workspace" },
  team: { title: "Team", noun: "member" },
  auth: { title: "Sign-in", noun: "identity provider" },
  agency: { title: "Agency", noun: "workspace" },
  billing: { title: "Plan", noun: "plan" },
  hooks: { title: "Automation platforms", noun: "subscription" },
  tests: { title: "Tests", noun: "test" },
};

/** Of these verbs the past follows from their ends. */
const regular = new Set(
  (
    "create change delete duplicate release request approve decline activate publish pause resume cancel end " +
    "archive verify recount dismiss close remove refresh replace redeliver replay save start add move record " +
    "invite erase suppress import lift confirm renew repeat"
  ).split(" "),
);
const irregular: Record<string, string> = {
  begin: "began",
  read: "read",
  send: "sent",
  submit: "submitted",
  withdraw: "withdrew",
};

/** Undefined for a verb that no sentence has. */
const pastOf = (verb: string): string | undefined =>
  regular.has(verb) ? verb.replace(/e?$/, "ed").replace(/([^aeiou])yed$/, "$1ied") : irregular[verb];

/** Methods that are called differently in a sentence. */
const verbs: Record<string, string> = { update: "change", replace: "change", recompute: "recount" };

/** Operations whose names do not say it. After `of`, `to` and `from` the noun of the group follows. */
const own: Record<string, string> = {
  "campaigns.request": "request the release of",
  "campaigns.approve": "approve the release of",
  "campaigns.decline": "decline the release of",
  "campaigns.withdraw": "withdraw the requested release of",
  "subscribers.delete": "erase the person",
  "subscribers.bulkDelete": "erase people",
  "subscribers.createConsent": "record a consent of",
  "subscribers.upsert": "record a consent of",
  "subscribers.upsertWithServerKey": "record a consent of",
  "suppressions.create": "suppress an address",
  "suppressions.import": "import suppressed addresses",
  "suppressions.delete": "lift the suppression",
  "devices.delete": "remove the device",
  "notifications.create": "start the send",
  "notifications.cancelWithServerKey": "cancel the send",
  "notifications.resumeWithServerKey": "resume the send",
  "hooks.create": "create the subscription",
  "tests.testNotifications": "send a test message",
  "tests.clock": "move the sandbox clock",
  "preferences.set": "change the preferences of",
  "journeys.cancelSimulation": "cancel a simulation of",
  "journeys.createMigration": "move runs of",
  "journeys.cancelRun": "cancel a run of",
  "brakes.resume": "resume a halted step of",
  "brakes.cancel": "cancel a halted step of",
  "channels.iosPushCredentials": "save the credentials of",
  "channels.androidPushCredentials": "save the credentials of",
  "channels.vapidCredentials": "save the credentials of",
  "channels.smsCredentials": "save the credentials of",
  "channels.chatAppCredentials": "save the credentials of",
  "channels.emailCredentials": "save the credentials of",
  "channels.createChatAppTemplate": "create a chat-app template of",
  "channels.submitChatAppTemplate": "submit a chat-app template of",
  "channels.refreshChatAppTemplate": "refresh a chat-app template of",
  "assets.create": "add the image",
  "inbox.readMessages": "read inbox messages",
  "inbox.readMessage": "read an inbox message",
  "inbox.dismissMessage": "dismiss an inbox message",
  "inbox.closeStream": "close a live stream",
  "imports.importLists": "start the import",
  "imports.rehearse": "start the dry run of the import",
  "imports.createListsImportUpload": "start the upload",
  "imports.cancelListImport": "cancel the import",
  "imports.createExport": "start the export",
  "insights.config": "save a conversion",
  "insights.deleteConfig": "delete the conversion",
  "webhooks.rotateSecret": "replace the secret of",
  "webhooks.test": "send a test to",
  "webhooks.redeliverDelivery": "redeliver an event to",
  "webhooks.replay": "replay events to",
  "lists.createSubscriber": "add a person to",
  "lists.removeSubscribers": "remove people from",
  "account.createServerKey": "create the server key",
  "account.deleteServerKey": "delete the server key",
  "account.createAgentKey": "create the agent key",
  "account.deleteAgentKey": "delete the agent key",
  "account.createIdentityKey": "create the identity key",
  "account.deleteIdentityKey": "delete the identity key",
  "account.updateWorkspace": "change settings of the workspace",
  "auth.replaceIdentityProvider": "change the identity provider",
  "auth.deleteIdentityProvider": "remove the identity provider",
  "auth.changePassword": "change their password",
  "auth.resendEmail": "repeat the mail that confirms their address",
  "auth.beginSecondFactor": "begin a second factor",
  "auth.confirmSecondFactor": "confirm a second factor",
  "auth.removeSecondFactor": "remove their second factor",
  "auth.renewRecoveryCodes": "renew their recovery codes",
  "auth.deleteSession": "end a session of theirs",
  "team.createInvitation": "invite the colleague",
  "team.deleteInvitation": "withdraw the invitation",
  "agency.createWorkspace": "create the workspace",
  "team.updateMember": "change the role of",
  "team.deleteMember": "remove the member",
  "billing.update": "change the monthly cap",
  "billing.replacePlan": "change the plan",
};

const splitOnce = (text: string, mark: string): [string, string] => {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
};

/** Undefined for an operation that has no words here. */
export function textOf(action: string): ActionText | undefined {
  const [group, method] = splitOnce(action, ".");
  const noun = kinds[group]?.noun;
  if (noun === undefined) return undefined;
  const [verb, object] = splitOnce(own[action] ?? `${verbs[method] ?? method} the ${noun}`, " ");
  const done = pastOf(verb);
  if (done === undefined) return undefined;
  const isRelation = / (of|to|from)$/.test(` ${object}`);
  return {
    done,
    tried: verb,
    what: isRelation ? `${object} the ${noun}` : object,
    isNamed: isRelation || object.startsWith("the "),
  };
}

/** A release that was taken and not done asked a second person (RDA-26); a dry run imports nothing. */
export function saidBy({ action, status, dry_run }: Pick<AuditEntry, "action" | "status" | "dry_run">): string {
  if (action === "campaigns.release" && status === 202) return "campaigns.request";
  return action === "imports.importLists" && dry_run ? "imports.rehearse" : action;
}

export const groupOf = ({ action }: Pick<AuditEntry, "action">): string => splitOnce(action, ".")[0];

/** What the sentence names: the first id, where an operation has several. */
export const idOf = ({ target }: Pick<AuditEntry, "target">): string => splitOnce(target ?? "", "/")[0];
