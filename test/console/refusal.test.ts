// What the API refused, as people read it.
import { expect, it } from "vitest";
import { pathText, refusalText } from "../../console/app/refusal.ts";

it.each([
  ["name", "Name"],
  ["messages[1].content.by_channel.email.html", "Message 2, email, HTML"],
  ["content.by_channel.in_app.actions[0].url", "In-app, action 1, URL"],
  ["content", "Content"],
  ["steps.steps.send_1.send.channel_ids", "Steps, steps, send 1, send, channels"],
])("the field %s is called %s (CON-3)", (path, text) => {
  expect(pathText(path)).toBe(text);
});

it("a refusal says each of its fields, and without fields what the API says (CON-3)", () => {
  const fields = { cron_expression: "is not valid", "quiet_hours.days": "is required" };
  expect(refusalText({ fields, message: "raw" })).toBe("Cron expression: is not valid; Quiet hours, days: is required");
  expect(refusalText({ fields: {}, message: "The name is taken." })).toBe("The name is taken.");
  expect(refusalText({ fields: undefined, message: "The name is taken." })).toBe("The name is taken.");
});
