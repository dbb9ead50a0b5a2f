// What a push opens, as the outbox shows it.
import { expect, it } from "vitest";
import { opensOf } from "../../console/app/push-source.ts";

const buttons = [{ id: "go", title: "Go", url: "https://a.example/" }];
const opens = { url: "https://b.example/", buttons };

it.each([
  ["Android, whose data is text", { token: "t", data: { url: opens.url, buttons: JSON.stringify(buttons) } }, opens],
  ["a browser", { title: "T", data: opens }, opens],
  ["Apple, beside its own part", { aps: { alert: {} }, ...opens }, opens],
  ["an app with other buttons of its own", { data: { buttons: "[{", url: 4 } }, {}],
  ["a text", "T", {}],
])("the outbox says what a push opens that went to %s (CON-3)", (_, payload, expected) => {
  expect(opensOf(payload)).toEqual(expected);
});
