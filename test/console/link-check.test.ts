// The links of a message that is about to go out.
import { expect, it } from "vitest";
import { checkLinks } from "../../console/components/link-check.ts";

const OWN = "https://mail.shop.dev";
const mail = (html: string) => [{ body: "", html }];

it.each([
  ["one without an address", "#", "A link leads nowhere."],
  ["one without its scheme", "shop.dev/sale", "“shop.dev/sale” is not a whole address: it begins with https://."],
  [
    "one to a placeholder",
    "https://example.com/x",
    "https://example.com/x is a placeholder: nobody outside can open it.",
  ],
  [
    "one to this machine",
    "http://localhost:3000/",
    "http://localhost:3000/ is a placeholder: nobody outside can open it.",
  ],
  ["one that is not encrypted", "http://shop.dev/", "http://shop.dev/ is not encrypted: it begins with http://."],
])("of the links of a mail, %s is named (CON-3)", (_, href, fault) => {
  expect(checkLinks(mail(`<a class="b" href="${href}">Go</a>`), OWN).faults).toEqual([fault]);
});

it("links that can be followed are counted once, with their sites; those of the service are left out (CON-3)", () => {
  const html = `<a href="https://shop.dev/?a=1&amp;b=2">1</a><a href='https://shop.dev/?a=1&b=2'>2</a>
    <a href="mailto:help@shop.dev">3</a><a href="${OWN}/u/token">4</a><a href="https://recipient.invalid/">Unsubscribe</a>`;
  const push = { url: "https://app.shop.dev/cart", buttons: [{ id: "a", title: "Later", url: "" }] };
  const found = checkLinks([...mail(html), { body: "See https://shop.dev/terms.", push }], OWN);
  expect(found).toEqual({ count: 4, hosts: ["shop.dev", "app.shop.dev"], faults: [] });
});
