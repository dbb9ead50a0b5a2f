// What agents can read beside the tools: the grammars of long arguments, and prompts for common jobs.
import { INVALID_PARAMS, RpcError } from "./protocol.ts";
import { grammars, schemas } from "./tools.gen.ts";
import type { Arguments } from "./tools.ts";

const SCHEME = "grammar:";
const MIME = "application/schema+json";

/** `resources/list` */
export const listedResources = () => ({
  resources: Object.keys(grammars).map((name) => ({
    uri: SCHEME + name,
    name,
    title: `Grammar of ${name}`,
    mimeType: MIME,
  })),
});

/** `resources/read`: the JSON schema of a grammar, with all that it refers to. */
export function readResource({ uri }: Arguments): object {
  const name = typeof uri === "string" && uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : "";
  const others = Object.hasOwn(grammars, name) ? grammars[name] : undefined;
  if (!others) throw new RpcError(INVALID_PARAMS, `Unknown resource: ${String(uri)}`);
  const $defs = Object.fromEntries([name, ...others].map((schemaName) => [schemaName, schemas[schemaName]]));
  const text = JSON.stringify({ ...schemas[name], $defs });
  return { contents: [{ uri, mimeType: MIME, text }] };
}

interface Prompt {
  title: string;
  description: string;
  arguments: readonly { name: string; description: string; required: boolean }[];
  text(args: Readonly<Record<string, string>>): string;
}

const argument = (name: string, description: string) => ({ name, description, required: true });

/** Five common jobs. */
const prompts: Readonly<Record<string, Prompt>> = {
  plan_a_send: {
    title: "Plan a send",
    description: "Drafts a message, plans it and shows who would get it",
    arguments: [argument("message", "What it should say"), argument("audience", "Who should get it")],
    text: ({ message, audience }) =>
      `Plan a send. It should say: ${message}. It should go to: ${audience}. Find the list or segment, call plan_send, ` +
      "show me counts, samples and cost, and wait for my answer before confirm_send.",
  },
  explain_a_person: {
    title: "Why did this person not get it?",
    description: "Explains what became of a message for one person",
    arguments: [argument("person", "An external id, email address or id"), argument("message", "Which message")],
    text: ({ person, message }) =>
      `Why did ${person} get or not get ${message}? Call recipients_get_why with the person and the name of the send, campaign ` +
      "or journey, and answer in one sentence with the reason, then what would change it.",
  },
  report_a_campaign: {
    title: "Report a campaign",
    description: "Sums up the results of a campaign",
    arguments: [argument("campaign", "Its name or id")],
    text: ({ campaign }) =>
      `Report the campaign ${campaign}: sent, delivered, bounced, opened by humans, clicked, converted, and the lift with ` +
      "its interval. Say what is sure and what is not.",
  },
  draft_a_segment: {
    title: "Draft a segment",
    description: "Turns words into a rule and previews it",
    arguments: [argument("people", "Who should be in it, in words")],
    text: ({ people }) =>
      `Draft a segment of: ${people}. Read the resource grammar:SegmentRule, write the rule, preview it, and show me the rule ` +
      "in words with its count before you create it.",
  },
  draft_a_journey: {
    title: "Draft a journey",
    description: "Turns words into a journey and simulates it",
    arguments: [argument("goal", "What it should do, in words")],
    text: ({ goal }) =>
      `Draft a journey that does this: ${goal}. Read the grammars of its steps, create it as a draft, simulate it, and show ` +
      "me its steps in words. A person activates it.",
  },
};

/** `prompts/list` */
export const listedPrompts = () => ({
  prompts: Object.entries(prompts).map(([name, { text: _, ...prompt }]) => ({ name, ...prompt })),
});

/** `prompts/get` */
export function getPrompt({ name, arguments: args = {} }: Arguments): object {
  const prompt = typeof name === "string" && Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (!prompt) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${String(name)}`);
  const texts = Object.fromEntries(
    prompt.arguments.map((argument) => {
      const value = (args as Record<string, unknown>)[argument.name];
      if (typeof value !== "string")
        throw new RpcError(INVALID_PARAMS, `The argument ${argument.name} must be a string`);
      return [argument.name, value];
    }),
  );
  const content = { type: "text", text: prompt.text(texts) };
  return { description: prompt.description, messages: [{ role: "user", content }] };
}
